// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Which CPU each vCPU thread of a VM is bound to.
#include "vmm/pin.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "vmm/internal.h"

static bool in_use(const struct vmm_pin_plan *plan, unsigned int nr, const struct vmm_pin_cpu *cpus,
		   unsigned int nr_cpus, unsigned int core)
{
	for (unsigned int v = 0; v < nr; v++)
		for (unsigned int i = 0; i < nr_cpus; i++)
			if (plan->cpu[v] == (int)cpus[i].cpu && cpus[i].core == core)
				return true;
	return false;
}

static bool cpu_taken(const struct vmm_pin_plan *plan, unsigned int nr, unsigned int cpu)
{
	for (unsigned int v = 0; v < nr; v++)
		if (plan->cpu[v] == (int)cpu)
			return true;
	return false;
}

/* The first CPU on a core nobody uses; else the first CPU nobody uses; else none. */
static const struct vmm_pin_cpu *next_cpu(const struct vmm_pin_plan *plan, unsigned int nr,
					  const struct vmm_pin_cpu *cpus, unsigned int nr_cpus)
{
	for (unsigned int i = 0; i < nr_cpus; i++)
		if (!in_use(plan, nr, cpus, nr_cpus, cpus[i].core))
			return &cpus[i];
	for (unsigned int i = 0; i < nr_cpus; i++)
		if (!cpu_taken(plan, nr, cpus[i].cpu))
			return &cpus[i];
	return NULL;
}

void vmm_pin_spread(const struct vmm_pin_cpu *cpus, unsigned int nr_cpus, unsigned int nr_vcpus,
		    struct vmm_pin_plan *plan)
{
	plan->nr_distinct = 0;
	for (unsigned int v = 0; v < nr_vcpus; v++) {
		const struct vmm_pin_cpu *c = next_cpu(plan, v, cpus, nr_cpus);

		if (c) {
			plan->cpu[v] = (int)c->cpu;
			plan->nr_distinct++;
		} else {
			plan->cpu[v] = plan->cpu[v % plan->nr_distinct];
		}
	}
}

static bool read_topology(unsigned int cpu, const char *file, unsigned int *value)
{
	char path[96];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fscanf(f, "%u", value) == 1;
	fclose(f);
	return ok;
}

/* A number for the core of @cpu. Where sysfs does not tell, every CPU counts as a core. */
static unsigned int core_of(unsigned int cpu)
{
	unsigned int package, core;

	if (read_topology(cpu, "physical_package_id", &package) &&
	    read_topology(cpu, "core_id", &core))
		return package << 16 | (core & 0xffff);
	return 1U << 31 | cpu;
}

static unsigned int allowed_cpus(const cpu_set_t *set, struct vmm_pin_cpu *cpus, unsigned int max)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < VMM_MAX_CPUS && n < max; i++)
		if (CPU_ISSET(i, set))
			cpus[n++] = (struct vmm_pin_cpu){i, core_of(i)};
	return n;
}

static int plan_list(const struct vmm_config *config, unsigned int nr_vcpus, const cpu_set_t *set,
		     struct vmm_pin_plan *plan, struct vmm_error *error)
{
	for (unsigned int v = 0; v < nr_vcpus; v++) {
		unsigned int cpu = config->pin_cpus[v % config->nr_pin_cpus];

		if (!CPU_ISSET(cpu, set))
			return vmm_error_set(
				error, -EINVAL,
				"cannot pin vCPU %u to CPU %u: this process may not use "
				"that CPU",
				v, cpu);
		if (!cpu_taken(plan, v, cpu))
			plan->nr_distinct++;
		plan->cpu[v] = (int)cpu;
	}
	return 0;
}

int vmm_pin_plan_make(const struct vmm_config *config, unsigned int nr_vcpus,
		      struct vmm_pin_plan *plan, struct vmm_error *note, struct vmm_error *error)
{
	/* Two per vCPU and some more: enough to find different cores among SMT siblings. */
	struct vmm_pin_cpu cpus[4 * VMM_MAX_VCPUS];
	unsigned int nr_cpus;
	cpu_set_t set;
	int err;

	plan->nr_distinct = 0;
	for (unsigned int v = 0; v < VMM_MAX_VCPUS; v++)
		plan->cpu[v] = -1;
	if (config->pin == VMM_PIN_NONE ||
	    (config->pin == VMM_PIN_DEFAULT && !vmm_guest_find(config->guest)->apart))
		return 0;
	if (sched_getaffinity(0, sizeof(set), &set)) {
		err = -errno;
		return vmm_error_set(error, err, "cannot read the CPU affinity: %s",
				     strerror(-err));
	}
	if (config->pin == VMM_PIN_LIST) {
		err = plan_list(config, nr_vcpus, &set, plan, error);
		if (err)
			return err;
	} else {
		nr_cpus = allowed_cpus(&set, cpus, sizeof(cpus) / sizeof(cpus[0]));
		if (!nr_cpus)
			return vmm_error_set(error, -EINVAL, "no usable CPU below %d",
					     VMM_MAX_CPUS);
		vmm_pin_spread(cpus, nr_cpus, nr_vcpus, plan);
	}
	if (plan->nr_distinct < nr_vcpus)
		vmm_error_set(note, 0,
			      "%u vCPUs share %u CPU%s: halt polling cannot help, the kernel stops "
			      "polling as soon as another task wants the CPU",
			      nr_vcpus, plan->nr_distinct, plan->nr_distinct == 1 ? "" : "s");
	return 0;
}

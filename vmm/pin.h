/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which CPU each vCPU thread of a VM is bound to. */
#ifndef VHALT_VMM_PIN_H
#define VHALT_VMM_PIN_H

#include "vmm/vmm.h"

/** A CPU that may be used. */
struct vmm_pin_cpu {
	unsigned int cpu;
	unsigned int core; /* equal for hardware threads of one core, whatever the number */
};

/** The outcome: one CPU per vCPU. */
struct vmm_pin_plan {
	int cpu[VMM_MAX_VCPUS];	  /* -1: not pinned */
	unsigned int nr_distinct; /* different CPUs in use, 0 when nothing is pinned */
};

/**
 * vmm_pin_spread - give each of @nr_vcpus vCPUs a CPU of its own, on different cores where there
 * are enough; when CPUs run out they are used again from the first. Pure, cannot fail.
 * @cpus: @nr_cpus (1 or more) usable CPUs, in order of preference
 */
void vmm_pin_spread(const struct vmm_pin_cpu *cpus, unsigned int nr_cpus, unsigned int nr_vcpus,
		    struct vmm_pin_plan *plan);

/**
 * vmm_pin_plan_make - the plan for @config on this machine, from the calling thread's affinity.
 * @note: receives a remark when vCPUs must share a CPU, else is left alone
 * Return: 0; -EINVAL (a listed CPU is not in the affinity; named in @error) or -errno.
 */
int vmm_pin_plan_make(const struct vmm_config *config, unsigned int nr_vcpus,
		      struct vmm_pin_plan *plan, struct vmm_error *note, struct vmm_error *error);

#endif

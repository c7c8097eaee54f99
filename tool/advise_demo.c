// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The VMs of `vhalt advise --demo`: a few of our own, each in a process of its own.
#include "tool/advise_demo.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* They outlive the recording by this much, so that it ends them and not their own clock. */
#define SPARE_NS 5000000000ULL

/*
 * What a host sees in daily life: guests that tick at the two usual rates, an idle one, two vCPUs
 * that wait for each other, and bursts of short halts between long ones.
 */
static const struct {
	const char *guest;
	uint32_t nr_vcpus;
	uint64_t hz, think_ns; /* 0: the guest's default */
} vms[ADVISE_DEMO_VMS] = {
	{"tick", 1, 250, 0}, {"tick", 1, 1000, 0}, {"idle", 1, 0, 0},
	{"burst", 1, 0, 0},  {"rr", 2, 0, 20000},
};

static int missing(char reason[ADVISE_REASON_BYTES], int err)
{
	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		snprintf(reason, ADVISE_REASON_BYTES,
			 "/dev/kvm is missing: no KVM on this machine, or its module is not "
			 "loaded%s",
			 geteuid() ? "; root is missing too" : "");
		break;
	case -EACCES:
	case -EPERM:
		snprintf(reason, ADVISE_REASON_BYTES,
			 "root is missing: /dev/kvm may not be opened");
		break;
	default:
		snprintf(reason, ADVISE_REASON_BYTES, "/dev/kvm cannot be opened: %s",
			 strerror(-err));
	}
	return err;
}

int advise_demo_possible(char reason[ADVISE_REASON_BYTES])
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return missing(reason, -errno);
	close(fd);
	return 0;
}

static int start_vm(struct advise_demo *demo, uint32_t index, uint64_t for_ns,
		    char reason[ADVISE_REASON_BYTES])
{
	struct vmm_config config;
	struct vmm_error error = {""};
	int err = vmm_config_init(&config, vms[index].guest);

	config.duration_ns = for_ns + SPARE_NS;
	if (vms[index].hz)
		config.hz = vms[index].hz;
	if (vms[index].think_ns)
		config.think_ns = vms[index].think_ns;
	if (!err)
		err = vmm_child_start(&config, &demo->children[demo->nr], &error);
	if (err) {
		snprintf(reason, ADVISE_REASON_BYTES, "the demo VM \"%s\" cannot be started: %s",
			 vms[index].guest, error.text[0] ? error.text : strerror(-err));
		return err;
	}
	demo->pids[demo->nr] = (uint32_t)demo->children[demo->nr].pid;
	demo->nr++;
	return 0;
}

static uint32_t usable_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 2 : (uint32_t)CPU_COUNT(&set);
}

static void plan_waves(struct advise_demo *demo)
{
	uint32_t cpus = usable_cpus(), room = cpus > 2 ? cpus : 2, left = room;

	demo->nr_waves = 1;
	for (uint32_t i = 0; i < ADVISE_DEMO_VMS; i++) {
		if (vms[i].nr_vcpus > left) {
			demo->nr_waves++;
			left = room;
		}
		left -= vms[i].nr_vcpus;
		demo->waves[i] = demo->nr_waves - 1;
	}
}

int advise_demo_start(struct advise_demo *demo, uint64_t for_ns, char reason[ADVISE_REASON_BYTES])
{
	int err = 0;

	demo->nr = 0;
	plan_waves(demo);
	for (uint32_t i = 0; !err && i < ADVISE_DEMO_VMS; i++)
		err = start_vm(demo, i, for_ns, reason);
	if (err)
		advise_demo_stop(demo);
	return err;
}

int advise_demo_go(struct advise_demo *demo, uint32_t wave, char reason[ADVISE_REASON_BYTES])
{
	for (uint32_t i = 0; i < demo->nr; i++) {
		int err = 0;

		if (demo->waves[i] + 1 == wave)
			vmm_child_stop(&demo->children[i]);
		else if (demo->waves[i] == wave)
			err = vmm_child_go(&demo->children[i]);
		if (!err)
			continue;
		snprintf(reason, ADVISE_REASON_BYTES, "the demo VM \"%s\" does not run: %s",
			 demo->children[i].guest, strerror(-err));
		return err;
	}
	return 0;
}

void advise_demo_stop(struct advise_demo *demo)
{
	for (uint32_t i = 0; i < demo->nr; i++)
		vmm_child_stop(&demo->children[i]);
	for (uint32_t i = 0; i < demo->nr; i++) {
		struct vmm_result result;

		if (vmm_child_wait(&demo->children[i], &result))
			fprintf(stderr, "vhalt advise: demo VM \"%s\" failed: %s\n", result.guest,
				result.error_text.text);
	}
	demo->nr = 0;
}

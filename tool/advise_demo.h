/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The VMs of `vhalt advise --demo`: a few of our own, each in a process of its own. */
#ifndef VHALT_TOOL_ADVISE_DEMO_H
#define VHALT_TOOL_ADVISE_DEMO_H

#include <stddef.h>
#include <stdint.h>

#include "vmm/child.h"

#define ADVISE_DEMO_VMS	    5
#define ADVISE_REASON_BYTES 640

/*
 * The VMs run in waves: never more vCPUs at a time than CPUs (two at least), since a poll that
 * another runnable vCPU cuts short says nothing about windows.
 */
struct advise_demo {
	struct vmm_child children[ADVISE_DEMO_VMS];
	uint32_t pids[ADVISE_DEMO_VMS];
	uint32_t waves[ADVISE_DEMO_VMS]; /* the wave of each VM, ascending from 0 */
	uint32_t nr, nr_waves;
};

/**
 * advise_demo_possible - is what the demo needs there, as far as can be told without trying?
 * @reason: otherwise receives what is missing, /dev/kvm or root
 *
 * Return: 0, -ENOENT, -EACCES, -EPERM, -errno.
 */
int advise_demo_possible(char reason[ADVISE_REASON_BYTES]);

/**
 * advise_demo_start - create the VMs; they do not run yet.
 * @for_ns:  how long they will be wanted; left alone they end a little later by themselves
 *
 * Return: 0, or -errno with @reason and nothing left behind.
 */
int advise_demo_start(struct advise_demo *demo, uint64_t for_ns, char reason[ADVISE_REASON_BYTES]);

/**
 * advise_demo_go - end the VMs of the wave before and let those of @wave run.
 * Return: 0, or -errno with @reason; the VMs are still there.
 */
int advise_demo_go(struct advise_demo *demo, uint32_t wave, char reason[ADVISE_REASON_BYTES]);

/**
 * advise_demo_stop - end all VMs and wait for them; says on stderr when one of them had failed.
 */
void advise_demo_stop(struct advise_demo *demo);

#endif

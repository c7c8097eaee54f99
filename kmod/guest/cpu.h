/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module keeps of each CPU. */
#ifndef VHALT_GUEST_CPU_H
#define VHALT_GUEST_CPU_H

#include <linux/percpu.h>
#include <linux/types.h>

#include <vhalt/policy.h>

#include "guest/gate.h"

/** Counters since the module was loaded. Only the CPU's idle task writes them; others only read. */
struct guest_counts {
	u64 halts;	   /* entries to the idle state */
	u64 polls;	   /* of them, began to poll */
	u64 hits;	   /* of them, met by polling; the others halted in the end */
	u64 useful_ns;	   /* polled by hits */
	u64 wasted_ns;	   /* polled by the others */
	u64 late_ns;	   /* of both, beyond the window: the host or an interrupt had the CPU */
	u64 blocked_ns;	   /* halted */
	u64 forced;	   /* halts that were not allowed to poll: the gate was shut, or forced idle */
	u64 shuts;	   /* times the gate went shut */
	u64 timer_wakes;   /* halts that the CPU's own timer ended, the gate open */
	u64 timer_late_ns; /* by how much later than it was due */
};

/**
 * struct guest_cpu - one per possible CPU.
 *
 * Everything but host_poll_taken belongs to the CPU's idle task while the CPU is online, and to its
 * hot-plug thread before and after that.
 */
struct guest_cpu {
	struct vhalt_state state;
	struct guest_gate gate;
	struct guest_counts counts;
	u64 end_ns;	      /* when the last halt ended, 0 at first; sched_clock() */
	u32 window_ns;	      /* decided last */
	bool host_poll_taken; /* we told the host not to poll for this CPU */
};

extern struct guest_cpu __percpu *guest_cpus;

/** guest_cpus_init - allocate them. Process context. Return: 0 or -ENOMEM. */
int guest_cpus_init(void);

/** guest_cpus_fini - free them: no CPU may be in our idle state any more. */
void guest_cpus_fini(void);

/** guest_cpu_begin - @cpu comes online: it starts without a past, its counters go on. On that CPU.
 */
void guest_cpu_begin(unsigned int cpu);

/** guest_cpu_stolen_ns - steal time of this CPU so far. Preemption off. */
u64 guest_cpu_stolen_ns(void);

#endif

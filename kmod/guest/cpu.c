// SPDX-License-Identifier: GPL-2.0-only
// Per-CPU memory, and the steal time of a CPU.

#include "guest/cpu.h"

#include <linux/errno.h>
#include <linux/kernel_stat.h>
#include <linux/sched/clock.h>

#include "guest/settings.h"

struct guest_cpu __percpu *guest_cpus;

int guest_cpus_init(void)
{
	guest_cpus = alloc_percpu(struct guest_cpu);
	return guest_cpus ? 0 : -ENOMEM;
}

void guest_cpus_fini(void)
{
	free_percpu(guest_cpus);
}

/*
 * The kernel's own sum, kept at ticks and at the end of an idle time without them. The page that
 * KVM writes would be fresher, but it has no interface.
 */
u64 guest_cpu_stolen_ns(void)
{
	return READ_ONCE(kcpustat_this_cpu->cpustat[CPUTIME_STEAL]);
}

void guest_cpu_begin(unsigned int nr)
{
	struct guest_cpu *cpu = per_cpu_ptr(guest_cpus, nr);

	preempt_disable();
	vhalt_state_init(&cpu->state, &guest_settings.config);
	guest_gate_init(&cpu->gate, sched_clock(), guest_cpu_stolen_ns());
	cpu->end_ns = 0;
	cpu->window_ns = 0;
	preempt_enable();
}

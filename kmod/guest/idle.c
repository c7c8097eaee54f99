// SPDX-License-Identifier: GPL-2.0-only
// The way of one halt through the module.
/*
 * The idle loop calls with interrupts off, the polling flag of the task cleared, and no work to do.
 * A waker on another CPU either sees the polling flag, sets need_resched and is done, or does not
 * see it and sends an interrupt as well. So while polling, the flag is set and need_resched is all
 * there is to watch; before the halt the flag is cleared first and need_resched looked at once
 * more.
 *
 * Interrupts are on while polling: one that wakes nobody does not end the poll.
 */

#include "guest/idle.h"

#include <linux/ktime.h>
#include <linux/sched/clock.h>
#include <linux/sched/idle.h>

#include "guest/compat.h"
#include "guest/cpu.h"
#include "guest/driver.h"
#include "guest/settings.h"
#include "guest/trace.h"

/*
 * Looks at need_resched between two looks at the clock. A pause takes 10 to 140 cycles, so these
 * are up to 1 us: windows begin at 4 us. Reading the clock costs about as much as two of them.
 */
#define SPINS_PER_LOOK 16

/* A poll may end so much after its window, and a quarter of it: looks at the clock, interrupts. */
#define LATE_NS (10 * NSEC_PER_USEC)

/** The halt in progress. */
struct halt {
	u64 begin_ns;
	u64 polled_ns; /* time spent polling, more than the window if an interrupt came last */
	struct vhalt_hint hint;
	struct vhalt_plan plan;
	bool met;      /* woken while polling */
	u64 halt_ns;   /* all of it */
	bool by_timer; /* the CPU's own timer ended it, after polling was over */
};

static u64 deadline_ns(const struct cpuidle_device *dev)
{
	ktime_t next = READ_ONCE(dev->next_hrtimer);
	s64 left_ns;

	if (!next || next == KTIME_MAX)
		return VHALT_NO_DEADLINE_NS;
	left_ns = ktime_to_ns(ktime_sub(next, ktime_get()));
	return left_ns > 0 ? left_ns : 0;
}

static void decide(struct guest_cpu *cpu, const struct cpuidle_device *dev, struct halt *halt)
{
	bool was_shut = cpu->gate.shut;
	bool shut = guest_gate_is_shut(&cpu->gate, halt->begin_ns, guest_cpu_stolen_ns());

	cpu->counts.shuts += shut && !was_shut;
	halt->hint.run_ns = cpu->end_ns ? halt->begin_ns - cpu->end_ns : VHALT_UNKNOWN_NS;
	halt->hint.deadline_ns = deadline_ns(dev);
	/* Someone wants this CPU to be idle in earnest, to let it cool down. */
	halt->hint.must_block = shut || dev->forced_idle_latency_limit_ns;
	halt->plan = vhalt_decide(&cpu->state, &guest_settings.config, &halt->hint);
	if (halt->plan.window_ns != cpu->window_ns)
		trace_vhalt_guest_window(&halt->hint, cpu->window_ns, halt->plan.window_ns);
	WRITE_ONCE(cpu->window_ns, halt->plan.window_ns);
}

/* Poll until @end_ns. True when there is something to do. The polling flag is cleared either way. */
static noinstr bool poll(u64 end_ns)
{
	unsigned int spins = 0;
	bool met;

	raw_local_irq_enable();
	met = current_set_polling_and_test();
	while (!met) {
		cpu_relax();
		met = need_resched();
		if (++spins < SPINS_PER_LOOK)
			continue;
		if (sched_clock() >= end_ns)
			break;
		spins = 0;
	}
	raw_local_irq_disable();
	return current_clr_polling_and_test();
}

/* RCU does not watch while polling, as in any idle state. */
static noinstr void poll_then_halt(struct halt *halt, struct cpuidle_device *dev,
				   struct cpuidle_driver *drv, int index)
{
	compat_idle_begin();
	if (halt->plan.window_ns) {
		halt->met = poll(halt->begin_ns + halt->plan.window_ns);
		halt->polled_ns = sched_clock() - halt->begin_ns;
	}
	if (!halt->met)
		guest_driver_halt(dev, drv, index);
	compat_idle_end();
}

/*
 * Woken, but only seen long after the window was over: the host took the CPU away while it polled,
 * or an interrupt took its time. When the wake-up came is not known then, and the policy is not to
 * be charged for the difference.
 */
static bool was_late(const struct halt *halt)
{
	u64 window_ns = halt->plan.window_ns;

	return halt->met && halt->polled_ns > window_ns + window_ns / 4 + LATE_NS;
}

/*
 * A halt that the CPU's own timer ended was over when that was due, to the ns, and what it took
 * beyond is what a wake-up costs here: the host's timer (which KVM may set up to 5 us early), its
 * scheduler, the entry and the timer's interrupt. Not while the host is crowded: waiting for its
 * CPU is no part of that.
 */
static void end(struct halt *halt, u64 end_ns)
{
	u64 due_ns = halt->hint.deadline_ns;

	halt->halt_ns = end_ns - halt->begin_ns;
	halt->by_timer = !halt->met && !halt->hint.must_block && due_ns > halt->polled_ns &&
			   due_ns <= halt->halt_ns;
}

static void learn(struct guest_cpu *cpu, const struct halt *halt)
{
	struct vhalt_outcome outcome = {
		.halt_ns = halt->halt_ns,
		.wake_ns = halt->by_timer ? halt->hint.deadline_ns : VHALT_UNKNOWN_NS,
		.window_ns = halt->plan.window_ns,
	};

	if (halt->met)
		outcome.flags |= VHALT_OUTCOME_POLLED;
	if (was_late(halt))
		outcome.flags |= VHALT_OUTCOME_CUT;
	if (halt->hint.deadline_ns <= halt->halt_ns)
		outcome.flags |= VHALT_OUTCOME_OWN_TIMER;
	if (halt->hint.must_block)
		outcome.flags |= VHALT_OUTCOME_FORCED;
	vhalt_update(&cpu->state, &guest_settings.config, &outcome);
}

static void count(struct guest_cpu *cpu, const struct halt *halt)
{
	struct guest_counts *c = &cpu->counts;
	u64 blocked_ns = halt->halt_ns - halt->polled_ns;

	c->halts++;
	c->polls += halt->plan.window_ns != 0;
	c->forced += halt->hint.must_block;
	if (halt->polled_ns > halt->plan.window_ns)
		c->late_ns += halt->polled_ns - halt->plan.window_ns;
	if (halt->by_timer) {
		c->timer_wakes++;
		c->timer_late_ns += halt->halt_ns - halt->hint.deadline_ns;
	}
	if (halt->met) {
		c->hits++;
		c->useful_ns += halt->polled_ns;
		return;
	}
	c->wasted_ns += halt->polled_ns;
	c->blocked_ns += blocked_ns;
	guest_gate_blocked(&cpu->gate, blocked_ns);
}

int guest_idle_enter(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	struct guest_cpu *cpu = this_cpu_ptr(guest_cpus);
	struct halt halt = {.begin_ns = sched_clock()};
	u64 end_ns;

	decide(cpu, dev, &halt);
	poll_then_halt(&halt, dev, drv, index);
	end_ns = sched_clock();
	end(&halt, end_ns);
	learn(cpu, &halt);
	count(cpu, &halt);
	cpu->end_ns = end_ns;
	return index;
}

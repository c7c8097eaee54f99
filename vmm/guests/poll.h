/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The guest's own idle polling: the core's policies run in the guest, by its TSC, before each HLT.
 */
#ifndef VHALT_VMM_GUESTS_POLL_H
#define VHALT_VMM_GUESTS_POLL_H

#include "vmm/guests/guest.h"

/** One idle period. */
struct poll {
	unsigned int vcpu;
	struct vhalt_plan plan;
	uint64_t start;	 /* TSC */
	uint64_t until;	 /* poll no longer than this; = start: not at all */
	uint64_t polled; /* cycles that were polled */
	bool met;
};

/** What each vCPU's policy remembers. All zero is right: see poll_begin(). */
static struct poll_memory {
	struct vhalt_state state;
	uint64_t last_end; /* 0: it has never idled */
} poll_memory[VMM_ABI_MAX_VCPUS];

/** poll_wanted - does this guest poll at all? */
static inline bool poll_wanted(void)
{
	return guest_params()->guest_polls;
}

/** poll_ns - @cycles in ns; @cycles below 2^44 (an hour at 4 GHz). */
static inline uint64_t poll_ns(uint64_t cycles)
{
	return cycles * 1000000 / guest_params()->tsc_khz;
}

/** poll_begin - vCPU @n goes idle. @due: TSC at which its timer is due, 0: there is none. */
static inline void poll_begin(struct poll *p, unsigned int n, uint64_t due)
{
	const struct vhalt_config *config = &guest_params()->guest_policy;
	struct poll_memory *memory = &poll_memory[n];
	struct vhalt_hint hint = {VHALT_UNKNOWN_NS, VHALT_NO_DEADLINE_NS, false};

	if (!memory->last_end)
		vhalt_state_init(&memory->state, config);
	p->vcpu = n;
	p->polled = 0;
	p->met = false;
	p->start = guest_tsc();
	if (memory->last_end)
		hint.run_ns = poll_ns(p->start - memory->last_end);
	if (due)
		hint.deadline_ns = due > p->start ? poll_ns(due - p->start) : 0;
	p->plan = vhalt_decide(&memory->state, config, &hint);
	/* To sleep first, it would need a second timer. */
	if (p->plan.sleep_ns)
		p->plan.window_ns = 0;
	p->until = p->start + guest_cycles(p->plan.window_ns);
}

/** poll_end - it runs again. @due: as above, and the timer it was that ended the idling. */
static inline void poll_end(const struct poll *p, volatile struct vmm_abi_result *r, uint64_t due)
{
	struct poll_memory *memory = &poll_memory[p->vcpu];
	uint64_t end = guest_tsc();
	struct vhalt_outcome outcome = {
		.halt_ns = poll_ns(end - p->start),
		.wake_ns = VHALT_UNKNOWN_NS,
		.window_ns = p->plan.window_ns,
		.flags = p->met ? VHALT_OUTCOME_POLLED : 0U,
	};

	if (due) {
		outcome.flags |= VHALT_OUTCOME_OWN_TIMER;
		outcome.wake_ns = due > p->start ? poll_ns(due - p->start) : 0;
	}
	vhalt_update(&memory->state, &guest_params()->guest_policy, &outcome);
	memory->last_end = end;
	if (!p->plan.window_ns)
		return;
	r->poll.attempted++;
	r->poll.successful += p->met;
	if (p->met)
		r->poll.success_cycles += p->polled;
	else
		r->poll.fail_cycles += p->polled;
}

/** poll_word - poll for *@word to become @value; sets p->met. */
static inline void poll_word(struct poll *p, const volatile uint64_t *word, uint64_t value)
{
	uint64_t now = p->start;

	while (now < p->until && *word != value) {
		__asm__ volatile("pause");
		now = guest_tsc();
	}
	p->polled = now - p->start;
	p->met = *word == value;
}

/**
 * poll_timer - poll for the timer that is due at @due; sets p->met.
 *
 * The interrupt itself cannot be seen with interrupts off. It is there once it is due, and the HLT
 * that takes it returns at once.
 */
static inline void poll_timer(struct poll *p, uint64_t due)
{
	uint64_t now = p->start;

	while (now < p->until && now < due) {
		__asm__ volatile("pause");
		now = guest_tsc();
	}
	p->polled = now - p->start;
	p->met = p->plan.window_ns && now >= due;
}

/** poll_timer_sleep - guest_timer_sleep() with the guest's policy before the HLT. */
static inline void poll_timer_sleep(volatile struct vmm_abi_result *r, unsigned int n, uint64_t ns)
{
	struct poll p;
	uint64_t due, now;

	if (!poll_wanted()) {
		guest_timer_sleep(r, ns);
		return;
	}
	due = guest_timer_start(ns);
	poll_begin(&p, n, due);
	poll_timer(&p, due);
	guest_halt(r);
	poll_end(&p, r, due);
	now = guest_tsc();
	guest_record(&r->latency, now > due ? now - due : 0);
	r->rounds++;
}

#endif

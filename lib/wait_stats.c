// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A waiter's counters: kept by the waiting thread, read by any.
#include "lib/wait_internal.h"

/* As KVM buckets: the number of bits of @ns. */
static uint32_t bucket_of(uint64_t ns)
{
	uint32_t bits = ns ? 64 - (uint32_t)__builtin_clzll(ns) : 0;

	return bits < VHALT_HIST_BUCKETS ? bits : VHALT_HIST_BUCKETS - 1;
}

void wait_hist_add(struct wait_waiter *w, enum wait_hist which, uint64_t ns)
{
	uint32_t bucket = bucket_of(ns);

	wait_add32(&w->hist[which][bucket > HIST_FIRST ? bucket - HIST_FIRST : 0], 1);
}

static uint64_t load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void load_hist(const struct wait_waiter *w, enum wait_hist which,
		      uint32_t hist[VHALT_HIST_BUCKETS])
{
	for (uint32_t i = 0; i < VHALT_HIST_BUCKETS; i++)
		hist[i] = i < HIST_FIRST ? 0
					 : __atomic_load_n(&w->hist[which][i - HIST_FIRST],
							   __ATOMIC_RELAXED);
}

void vhalt_waiter_stats(const struct vhalt_waiter *waiter, struct vhalt_waiter_stats *stats)
{
	const struct wait_waiter *w = (const struct wait_waiter *)waiter->opaque;

	/* Counted first, so that a reader beside the waiter never sees more met than there were. */
	stats->halt_successful_poll = load(&w->successful);
	stats->halts = load(&w->halts);
	stats->halt_wakeup = stats->halts - stats->halt_successful_poll;
	stats->immediate = load(&w->immediate);
	stats->halt_attempted_poll = load(&w->attempted);
	stats->deadlines = load(&w->deadlines);
	stats->sleeps = __atomic_load_n(&w->sleeps, __ATOMIC_RELAXED);
	stats->cuts = __atomic_load_n(&w->cuts, __ATOMIC_RELAXED);
	stats->forced = __atomic_load_n(&w->forced, __ATOMIC_RELAXED);
	stats->halt_poll_success_ns = load(&w->success_ns);
	stats->halt_poll_fail_ns = load(&w->fail_ns);
	stats->halt_wait_ns = load(&w->wait_ns);
	stats->latency_ns = load(&w->latency_ns);
	stats->window_ns = __atomic_load_n(&w->window_ns, __ATOMIC_RELAXED);
	load_hist(w, HIST_POLL_SUCCESS, stats->poll_success_hist);
	load_hist(w, HIST_POLL_FAIL, stats->poll_fail_hist);
	load_hist(w, HIST_WAIT, stats->wait_hist);
}

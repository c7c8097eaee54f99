// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What is gathered of one vCPU's halts, in memory of a fixed size.
#include "diagnose/vcpu.h"

#include <string.h>

const uint64_t diagnose_periods_ns[DIAGNOSE_PERIODS] = {1000000, 2000000, 3333333, 4000000,
							10000000};

enum { FIRST_BIT = 10, OWN_TIMER_NS = 1000 };

uint32_t diagnose_bin(uint64_t ns)
{
	uint32_t log, bin;

	if (ns >> FIRST_BIT == 0)
		return 0;
	log = 63 - (uint32_t)__builtin_clzll(ns);
	bin = (log - FIRST_BIT) * DIAGNOSE_STEPS +
	      (uint32_t)((ns >> (log - 4)) & (DIAGNOSE_STEPS - 1));
	return bin < DIAGNOSE_BINS ? bin : DIAGNOSE_BINS - 1;
}

uint64_t diagnose_bin_ns(uint32_t bin)
{
	uint32_t log = FIRST_BIT + bin / DIAGNOSE_STEPS;

	return bin ? (uint64_t)(DIAGNOSE_STEPS + bin % DIAGNOSE_STEPS) << (log - 4) : 0;
}

void diagnose_vcpu_init(struct diagnose_vcpu *v)
{
	memset(v, 0, sizeof(*v));
	v->first_ns = UINT64_MAX;
	v->window_ns = TRACE_UNKNOWN_U32;
	v->ceiling_ns = UINT64_MAX;
}

static void count_bin(uint32_t *bins, uint64_t *sums, uint64_t ns)
{
	uint32_t bin = diagnose_bin(ns);

	bins[bin]++;
	if (sums)
		sums[bin] += ns;
}

/* Is there an earlier wake-up one period ago, as near as timers are? */
static bool is_period_ago(const struct diagnose_vcpu *v, uint64_t wake_ns, uint64_t period_ns)
{
	uint64_t tolerance_ns = period_ns / 50 > 30000 ? period_ns / 50 : 30000;
	uint32_t nr = v->nr_recent < DIAGNOSE_RECENT ? v->nr_recent : DIAGNOSE_RECENT;

	for (uint32_t i = 1; i <= nr; i++) {
		uint64_t ago = wake_ns - v->recent[(v->nr_recent - i) % DIAGNOSE_RECENT];

		if (ago > period_ns + tolerance_ns)
			return false;
		if (ago + tolerance_ns >= period_ns)
			return true;
	}
	return false;
}

static void add_periods(struct diagnose_vcpu *v, uint64_t wake_ns, uint64_t useful_ns,
			uint64_t wasted_ns, bool polled)
{
	for (uint32_t i = 0; i < DIAGNOSE_PERIODS; i++) {
		struct diagnose_period *p = &v->periods[i];

		if (!is_period_ago(v, wake_ns, diagnose_periods_ns[i]))
			continue;
		p->matched++;
		p->polled += polled;
		p->useful_ns += useful_ns;
		p->wasted_ns += wasted_ns;
	}
}

void diagnose_vcpu_end(struct diagnose_vcpu *v)
{
	uint32_t log = 0;

	if (!v->burst_count)
		return;
	log = 63 - (uint32_t)__builtin_clzll(v->burst_count);
	log = log < DIAGNOSE_BURSTS ? log : DIAGNOSE_BURSTS - 1;
	v->burst_windows[log]++;
	v->burst_wakes[log] += v->burst_count;
	v->burst_count = 0;
}

/* Times between wake-ups: the rhythm, and how they crowd together. */
static void add_wake(struct diagnose_vcpu *v, uint64_t wake_ns, bool gap)
{
	if (v->nr_recent && !gap) {
		uint64_t last_ns = v->recent[(v->nr_recent - 1) % DIAGNOSE_RECENT];

		if (wake_ns > last_ns)
			count_bin(v->interval, v->interval_sum_ns, wake_ns - last_ns);
	}
	if (wake_ns / DIAGNOSE_BURST_NS != v->burst_window) {
		diagnose_vcpu_end(v);
		v->burst_window = wake_ns / DIAGNOSE_BURST_NS;
	}
	v->burst_count++;
	/* A wrap of the counter would begin the ring anew; nothing else. */
	v->recent[v->nr_recent++ % DIAGNOSE_RECENT] = wake_ns;
	if (v->nr_recent >= 4 * DIAGNOSE_RECENT)
		v->nr_recent -= 2 * DIAGNOSE_RECENT;
}

static void add_window(struct diagnose_vcpu *v, const struct trace_halt *h)
{
	if (h->window_ns != TRACE_UNKNOWN_U32) {
		v->windows++;
		v->window_zero += !h->window_ns;
		v->window_max_ns = h->window_ns > v->window_max_ns ? h->window_ns
								   : v->window_max_ns;
		v->changes += v->window_ns != TRACE_UNKNOWN_U32 && v->window_ns != h->window_ns;
		v->window_ns = h->window_ns;
	}
	if (!(h->flags & TRACE_HALT_WINDOW))
		return;
	v->grew += (h->flags & TRACE_HALT_GROW) != 0;
	if (h->flags & TRACE_HALT_GROW)
		return;
	v->shrank++;
	v->shrank_to_zero += !h->new_ns;
	/* Half of 40 us is not below the usual grow_start of 10 us, so shrink is no division. */
	v->shrank_far += !h->new_ns && h->old_ns >= 40000;
}

/* A valid, whole halt: its T, and what a window could have done for it. */
static void add_whole(struct diagnose_vcpu *v, const struct trace_halt *h, uint64_t t_ns)
{
	count_bin(v->t, v->t_sum_ns, t_ns);
	if (v->ceiling_ns == UINT64_MAX || h->halt_ns >= v->ceiling_ns)
		return;
	v->short_halts++;
	if (!(h->flags & TRACE_HALT_WAITED))
		return;
	v->short_blocked++;
	v->short_at_zero += !h->window_ns;
}

/* What the halt cost in polling. */
static void add_polling(struct diagnose_vcpu *v, const struct trace_halt *h, uint64_t useful_ns,
			uint64_t wasted_ns)
{
	*(h->flags & TRACE_HALT_WAITED ? &v->blocked : &v->polled) += 1;
	v->useful_ns += useful_ns;
	v->wasted_ns += wasted_ns;
}

/* What is known beside its length. */
static void add_facts(struct diagnose_vcpu *v, const struct trace_halt *h, uint64_t t_ns,
		      uint32_t l_ns)
{
	uint64_t end_ns = h->start_ns + h->halt_ns;

	v->halts++;
	v->gaps += (h->flags & TRACE_HALT_GAP) != 0;
	v->first_ns = h->start_ns < v->first_ns ? h->start_ns : v->first_ns;
	v->last_ns = end_ns > v->last_ns ? end_ns : v->last_ns;
	v->halted_ns += h->halt_ns;
	if (h->run_ns != VHALT_UNKNOWN_NS) {
		v->run_ns += h->run_ns;
		v->runs++;
		count_bin(v->run, NULL, h->run_ns);
	}
	if (h->latency_ns != TRACE_UNKNOWN_U32) {
		v->latency_sum_ns += h->latency_ns;
		v->latencies++;
	}
	if (h->deadline_ns != VHALT_NO_DEADLINE_NS) {
		v->deadlines++;
		v->own_timer += t_ns + OWN_TIMER_NS + (h->flags & TRACE_HALT_WAITED ? l_ns : 0) >=
				h->deadline_ns;
	}
}

void diagnose_vcpu_add(struct diagnose_vcpu *v, const struct trace_halt *h, uint32_t latency_ns)
{
	bool waited = h->flags & TRACE_HALT_WAITED, known = h->window_ns != TRACE_UNKNOWN_U32;
	bool cut = waited && known && h->halt_ns < h->window_ns;
	uint64_t useful_ns = waited ? 0 : h->halt_ns, wasted_ns = 0, t_ns = h->halt_ns, wake_ns;
	uint32_t l_ns = h->latency_ns != TRACE_UNKNOWN_U32 ? h->latency_ns : latency_ns;

	if (waited && known)
		wasted_ns = cut ? h->halt_ns : h->window_ns;
	if (waited)
		t_ns = h->halt_ns > l_ns ? h->halt_ns - l_ns : 1;
	add_facts(v, h, t_ns, l_ns);
	add_polling(v, h, useful_ns, wasted_ns);
	v->could_cut += waited && known && h->window_ns;
	add_window(v, h);
	/* The event itself: what came after it, the wake-up latency, is no part of the rhythm. */
	wake_ns = h->start_ns + t_ns;
	add_periods(v, wake_ns, useful_ns, wasted_ns, !waited);
	add_wake(v, wake_ns, h->flags & TRACE_HALT_GAP);
	if (h->flags & TRACE_HALT_INVALID) {
		v->invalid++;
	} else if (cut) {
		v->cut++;
		v->cut_ns += h->halt_ns;
		v->cut_window_ns += h->window_ns;
	} else {
		add_whole(v, h, t_ns);
	}
}

uint64_t diagnose_bin_quantile(const uint32_t bins[DIAGNOSE_BINS], uint32_t permille)
{
	uint64_t total = 0, seen = 0;

	for (uint32_t i = 0; i < DIAGNOSE_BINS; i++)
		total += bins[i];
	for (uint32_t i = 0; i < DIAGNOSE_BINS; i++) {
		seen += bins[i];
		if (seen * 1000 >= total * permille && seen)
			return diagnose_bin_ns(i + 1);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Many vCPUs under one polling budget: what a price factor saves, and what a plain cut does. */
#ifndef VHALT_SUITE_BUDGET_H
#define VHALT_SUITE_BUDGET_H

#include <stdint.h>

/** The host of the study. */
#define SUITE_BUDGET_VCPUS 480U
#define SUITE_BUDGET_CPUS  128U

/** How a row keeps to its cap. */
enum suite_budget_means {
	SUITE_BUDGET_FREE,  /* no cap */
	SUITE_BUDGET_PRICE, /* vhalt/budget.h: price factor, and the gate behind it */
	SUITE_BUDGET_CUT,   /* no polling at all once the tick's share is used */
};

/** One row of the table. */
struct suite_budget_row {
	const char *spec; /* policy */
	enum suite_budget_means means;
	uint32_t cap_ppm;
	/* results */
	double burnt_pct;	/* CPU time polled, of the host's */
	double saved_ms_per_s;	/* wake-up latency saved, all vCPUs together */
	double saved_per_burnt; /* ns per ns */
	double factor;		/* price factor at the end, 1 where there is none */
	double worst_tick_pct;	/* largest share burnt in one tick once settled */
};

/**
 * suite_budget_run - fill a table of standard rows.
 * @seed:     of the halts
 * @threads:  0 for all CPUs
 * @rows:     receives a table that lives until the next call; not thread-safe
 * @nr:       receives its length
 *
 * B = 50 us, max = 200 us. Each row simulates 1 s to settle and 1 s that counts, in ticks of
 * VHALT_BUDGET_TICK_NS; halts do not react to the latency they suffer. Return: 0 or -ENOMEM.
 */
int suite_budget_run(uint64_t seed, uint32_t threads, const struct suite_budget_row **rows,
		     uint32_t *nr);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the files of the waiter share: how it and its engine lie in the caller's memory. */
#ifndef VHALT_LIB_WAIT_INTERNAL_H
#define VHALT_LIB_WAIT_INTERNAL_H

#include <vhalt/wait.h>

#include "util/clock.h"

/* For structures laid over the callers' opaque words: accesses must not be reordered by type. */
#define WAIT_OVERLAY __attribute__((__may_alias__))

/*
 * What waiter and kickers say to each other are three words; the waiter takes kicks away, all the
 * rest is one-sided:
 *
 *	kick	   0, or the time of the first kick not consumed yet, in ns, its lowest bit set
 *	sleeping   the futex: 1 while the waiter is, or is about to be, in futex_wait()
 *	mode	   SLOW, or FAST: `sleeping` is 0, and before it becomes 1 there is a membarrier()
 *
 *	kicker	kick = now;  mode == FAST? done;  exchange(sleeping, 0) == 1? futex_wake()
 *	waiter	exchange(kick, 0)			consumes it, and all that its kicker wrote
 *		mode = SLOW, membarrier()		if it was FAST
 *		exchange(sleeping, 1), kick? awake	else futex_wait() while sleeping == 1
 *
 * In mode SLOW a kicker's stores are read-modify-writes, so either the waiter sees the kick or its
 * kicker sees it sleep. They cost a kicker the time it takes to get the line from a polling CPU,
 *140 ns between the cores of some machines. In mode FAST it is a plain store, which the kicker does
 *not wait for. That its look at the mode may come before the store is seen is what the membarrier
 *is for: whoever looked before it has been seen after it. The waiter turns fast only after many
 *polls in a row that were met, so the membarrier, some microseconds, is paid once for as many
 *halts.
 *
 * lib/model/waiter.pml is this protocol, store buffers included, checked by spin (tests/model).
 */
enum wait_mode { MODE_SLOW, MODE_FAST };

/* Three histograms, after enum wait_hist. */
enum wait_hist { HIST_POLL_SUCCESS, HIST_POLL_FAIL, HIST_WAIT, NR_HISTS };

/* No clock reads less than 8 ns twice: the first buckets are left out to keep to 1 KiB. */
enum { HIST_FIRST = 4, HIST_KEPT = VHALT_HIST_BUCKETS - HIST_FIRST };

/** What lies in struct vhalt_waiter. All but kick and sleeping is written by the waiter alone. */
struct wait_waiter {
	/* The line kickers write; what else is here changes only when a halt ends. */
	uint64_t kick;
	uint32_t sleeping;    /* the futex */
	uint32_t window_ns;   /* decided for the last halt */
	uint64_t last_end_ns; /* the last halt's end; VHALT_UNKNOWN_NS: none yet */
	uint64_t halts, immediate, attempted, successful, deadlines;

	/* The line kickers read: it changes rarely. */
	uint32_t mode;	      /* enum wait_mode */
	uint32_t backoff_ns;  /* no polling for so long after last_cut_ns */
	uint64_t last_cut_ns; /* the last poll that was cut short; 0: none yet */
	struct wait_engine *engine;
	uint32_t cuts, forced;
	uint32_t reserved[8];

	struct vhalt_state state;

	uint64_t success_ns, fail_ns, wait_ns, latency_ns;
	uint32_t sleeps;
	uint32_t streak; /* halts in a row that were met by polling for a kick */
	uint32_t hist[NR_HISTS][HIST_KEPT];
	uint32_t spare[2];
} WAIT_OVERLAY;

_Static_assert(sizeof(struct wait_waiter) == sizeof(struct vhalt_waiter), "the waiter is 1 KiB");
_Static_assert(offsetof(struct wait_waiter, mode) == 64, "lines are apart");
_Static_assert(offsetof(struct wait_waiter, state) == 128, "lines are apart");

/** What lies in struct vhalt_engine. */
struct wait_engine {
	struct vhalt_config config; /* `auto`: its price factor changes, by one atomic store */

	/* With a budget: written by every halt that polled. */
	uint64_t burnt_ns __attribute__((aligned(64)));
	uint64_t gated;

	/* Read by every halt, written once per tick by whoever holds @ticking. */
	uint64_t tick_at_ns __attribute__((aligned(64)));
	uint64_t gate_ns; /* the gate is shut while burnt_ns is above this */
	uint64_t tick_began_ns;
	uint64_t tick_burnt_ns; /* burnt_ns when the tick began */
	struct vhalt_budget budget;
	uint32_t cpus;	 /* 0: no budget */
	uint32_t fast;	 /* membarrier() works here: waiters may turn fast */
	uint32_t factor; /* budget.factor, for readers */
	uint32_t ticks;
	uint32_t ticking;
} WAIT_OVERLAY;

_Static_assert(sizeof(struct wait_engine) <= sizeof(struct vhalt_engine), "the engine fits");

static inline struct wait_waiter *wait_waiter_of(struct vhalt_waiter *waiter)
{
	return (struct wait_waiter *)waiter->opaque;
}

static inline struct wait_engine *wait_engine_of(struct vhalt_engine *engine)
{
	return (struct wait_engine *)engine->opaque;
}

/* For counters that their one writer changes and any thread may read. */
static inline void wait_add(uint64_t *counter, uint64_t by)
{
	__atomic_store_n(counter, *counter + by, __ATOMIC_RELAXED);
}

static inline void wait_add32(uint32_t *counter, uint32_t by)
{
	if (*counter <= UINT32_MAX - by)
		__atomic_store_n(counter, *counter + by, __ATOMIC_RELAXED);
}

/* --- wait_budget.c --- */

/**
 * wait_budget_gated - settle the budget if its tick is over; must the halt that begins now block?
 *
 * A few loads, unless a tick is over: then one waiter, whoever comes first, does the sums.
 */
bool wait_budget_gated(struct wait_engine *engine, uint64_t now_ns);

/** wait_budget_charge - @ns were polled; with no budget nobody counts. */
static inline void wait_budget_charge(struct wait_engine *engine, uint64_t ns)
{
	if (engine->cpus && ns)
		__atomic_fetch_add(&engine->burnt_ns, ns, __ATOMIC_RELAXED);
}

/* --- wait_stats.c --- */

/** wait_hist_add - count @ns in its bucket. */
void wait_hist_add(struct wait_waiter *w, enum wait_hist which, uint64_t ns);

#endif

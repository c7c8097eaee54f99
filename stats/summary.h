/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What statistics say of halting, table by table, and what they can and cannot support. */
#ifndef VHALT_STATS_SUMMARY_H
#define VHALT_STATS_SUMMARY_H

#include "stats/stats.h"

/**
 * The figures about halts of one scope. STATS_UNKNOWN where the file does not have them: 0 is a
 * value. Counters of KVM first, then counts of trace events, then the exit reports of perf.
 */
struct stats_summary {
	const struct stats_scope *scope;
	uint64_t halt_exits, attempted, successful, invalid, wakeups;
	uint64_t success_ns, fail_ns, wait_ns;
	const struct stats_hist *success_hist, *fail_hist, *wait_hist; /* or NULL */

	uint64_t ev_wakeup, ev_window, ev_exit; /* kvm_vcpu_wakeup, kvm_halt_poll_ns, kvm_exit */
	uint64_t ev_halt;			/* kvm_exit(HLT), kvm_wfx_arm64, ... */
	uint64_t ev_user, ev_user_halt;		/* kvm_userspace_exit, and its child (HLT) */
	uint64_t ev_timer, ev_apic_timer;	/* kvm_hv_timer_state; kvm_wait_lapic_expire */
	uint64_t wakeup_rate_milli, exit_rate_milli, halt_rate_milli, attempted_rate_milli;
	uint64_t rows_sum, rows; /* of the rows that are no children: sum of totals, number */
	bool rate_above_total;	 /* a row says more for a second than for all time */

	uint64_t halt_samples, halt_mean_ns, halt_min_ns, halt_max_ns, halt_time_ppm;
	uint64_t halt_share_ppm;	   /* of all exits, as printed */
	uint64_t samples;		   /* sum over all exits */
	const char *halt_name;		   /* "HLT", "hlt", "WFx", or NULL */
	const struct stats_value *longest; /* exit with the largest share of time, or NULL */
	const struct stats_value *broken;  /* perf: a row that contradicts itself, or NULL */
	/* perf: what it says it lost while recording; 0 where it says nothing */
	uint64_t lost_events, lost_chunks, lost_samples_ppm;

	/* The kernel's own parameters, when the same file lists them. */
	uint64_t halt_poll_ns, grow, grow_start_ns, shrink;
};

/**
 * stats_summarise - one summary for each scope, in their order.
 * Return: a new array of stats->nr_scopes, freed by the caller, pointing into @stats; NULL: no
 * memory, or no scope.
 */
struct stats_summary *stats_summarise(const struct stats *stats);

/** What can be known from a summary, and what not: bits of enum stats_support. */
enum stats_support {
	STATS_SAYS_HALTS = 1 << 0,     /* how many halts */
	STATS_SAYS_HITS = 1 << 1,      /* which share of polls met a wake-up */
	STATS_SAYS_POLL_TIME = 1 << 2, /* how long was polled, in vain and not */
	STATS_SAYS_LENGTHS = 1 << 3,   /* how long halts were: a histogram */
	STATS_SAYS_MEAN = 1 << 4,      /* ... or their mean only */
	STATS_SAYS_RATE = 1 << 5,      /* how many a second */
	STATS_SAYS_WINDOW = 1 << 6,    /* how often windows changed */
	STATS_SAYS_INVALID = 1 << 7,   /* invalid wake-ups */
	STATS_NR_SUPPORTS = 8,
};

uint32_t stats_supports(const struct stats_summary *summary);

/** stats_support_text - what one bit means: "how many halts there were". */
const char *stats_support_text(uint32_t bit);

/** What a guess of the kernel rests on. */
struct stats_kernel {
	char text[STATS_TEXT_BYTES]; /* "5.15 or later", "" where nothing is known */
	char why[STATS_TEXT_BYTES];
	const char *machine; /* "arm64", "x86, AMD", or NULL: no name in the file is one's own */
};

/**
 * stats_guess_kernel - which kernels the names in a file fit.
 *
 * From the names present only: a list may be cut, so what is absent proves nothing. Vendors'
 * kernels carry newer names too.
 */
void stats_guess_kernel(struct stats_kernel *guess, const struct stats *stats);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What is gathered of one vCPU's halts: sums and histograms of a fixed size, however many halts. */
#ifndef VHALT_DIAGNOSE_VCPU_H
#define VHALT_DIAGNOSE_VCPU_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/halt.h"

enum {
	DIAGNOSE_STEPS = 16,   /* of an interval or T histogram per power of two */
	DIAGNOSE_OCTAVES = 24, /* 2^10 ns (1 us) to 2^34 ns (17 s) */
	DIAGNOSE_BINS = DIAGNOSE_STEPS * DIAGNOSE_OCTAVES,
	DIAGNOSE_PERIODS = 5, /* usual timer periods looked for among other wake-ups */
	DIAGNOSE_RECENT = 32, /* wake-ups remembered to find one that is a period ago */
	DIAGNOSE_BURSTS = 24, /* powers of two of wake-ups in a window of DIAGNOSE_BURST_NS */
};

#define DIAGNOSE_BURST_NS 10000000ULL

/** The periods: ticks of 1000, 500, 300, 250 and 100 Hz. */
extern const uint64_t diagnose_periods_ns[DIAGNOSE_PERIODS];

/** Wake-ups that come one period after an earlier one. */
struct diagnose_period {
	uint64_t matched, polled;      /* and those of them met by polling */
	uint64_t useful_ns, wasted_ns; /* polling for them */
};

struct diagnose_vcpu {
	uint64_t halts, polled, blocked, invalid, gaps;
	uint64_t first_ns, last_ns;	  /* from the first halt's begin to the last one's end */
	uint64_t halted_ns, run_ns, runs; /* time halted; run times known, and how many */
	uint64_t useful_ns, wasted_ns;	  /* polled; in vain as far as windows are known */
	uint64_t windows;		  /* halts whose window is known */
	uint64_t window_zero;		  /* ... and is 0 */
	uint64_t cut, could_cut; /* blocked before the window was over; blocked under a known one */
	uint64_t cut_ns, cut_window_ns; /* sums over the cut ones: polled, and their windows */
	uint64_t grew, shrank, shrank_to_zero;
	uint64_t shrank_far;	       /* ... to 0 from where half of it would not have been 0 */
	uint64_t short_halts;	       /* valid ones shorter than the ceiling, if that is known */
	uint64_t short_blocked;	       /* ... that blocked, */
	uint64_t short_at_zero;	       /* ... under a window of 0 */
	uint64_t deadlines, own_timer; /* with a known deadline; ended by it */
	uint64_t changes;	       /* times the window in force was another than before */
	uint32_t window_ns;	       /* in force last, TRACE_UNKNOWN_U32 at first */
	uint32_t window_max_ns;
	uint64_t ceiling_ns; /* VM's own or the parameter, UINT64_MAX: unknown */
	bool own_ceiling;    /* the VM's own */
	uint64_t latency_sum_ns, latencies;

	struct diagnose_period periods[DIAGNOSE_PERIODS];
	uint64_t recent[DIAGNOSE_RECENT]; /* the last wake events, a ring */
	uint32_t nr_recent;

	uint64_t burst_window, burst_count; /* the present window's number and wake-ups */
	uint64_t burst_windows[DIAGNOSE_BURSTS], burst_wakes[DIAGNOSE_BURSTS];

	uint32_t interval[DIAGNOSE_BINS]; /* between wake events */
	uint64_t interval_sum_ns[DIAGNOSE_BINS];
	uint32_t t[DIAGNOSE_BINS]; /* T of valid halts that were not cut */
	uint64_t t_sum_ns[DIAGNOSE_BINS];
	uint32_t run[DIAGNOSE_BINS];
};

/** diagnose_bin - where a duration is counted. */
uint32_t diagnose_bin(uint64_t ns);

/** diagnose_bin_ns - the shortest duration counted in a bin. */
uint64_t diagnose_bin_ns(uint32_t bin);

/** diagnose_vcpu_init - nothing gathered. */
void diagnose_vcpu_init(struct diagnose_vcpu *v);

/**
 * diagnose_vcpu_add - one halt more; halts come in the order of time.
 * @latency_ns:  L where the halt does not carry its own
 */
void diagnose_vcpu_add(struct diagnose_vcpu *v, const struct trace_halt *h, uint32_t latency_ns);

/** diagnose_vcpu_end - close the window of wake-ups that is open. */
void diagnose_vcpu_end(struct diagnose_vcpu *v);

/** A vCPU's rhythm, if it has one. */
struct diagnose_rhythm {
	uint64_t period_ns; /* 0: none */
	uint64_t wakes;	    /* that keep it */
	double share;	    /* of all wake-ups */
	double hit;	    /* of the periods that went by; 1: each had its wake-up */
	double poll_useful_ns, poll_wasted_ns; /* polling for those wake-ups */
	uint64_t polled;
	bool sums; /* the polling is known */
};

/** diagnose_rhythm - find the period of a vCPU's wake-ups. */
void diagnose_rhythm(struct diagnose_rhythm *rhythm, const struct diagnose_vcpu *v);

/** diagnose_bin_quantile - the duration below which @permille of what a histogram counts lies. */
uint64_t diagnose_bin_quantile(const uint32_t bins[DIAGNOSE_BINS], uint32_t permille);

#endif

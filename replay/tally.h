/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a policy did to a set of halts: exact sums, and the figures people read made of them. */
#ifndef VHALT_REPLAY_TALLY_H
#define VHALT_REPLAY_TALLY_H

#include "replay/halt.h"
#include "replay/hist.h"

/** Exact sums over the counted halts. Sums of sums are exact too, in any order. */
struct replay_tally {
	uint64_t polled;  /* met by polling */
	uint64_t blocked; /* not */
	uint64_t
		timer_wakes; /* one more switch: a timer of the policy's own first (auto:sleep=1) */
	uint64_t useful_ns;  /* polled until the event came */
	uint64_t wasted_ns;  /* polled in vain */
	uint64_t latency_sum_ns; /* wake-up latency added */
};

/** replay_tally_add - @sum += @part. */
void replay_tally_add(struct replay_tally *sum, const struct replay_tally *part);

/**
 * replay_tally_cost_ns - the cost of vhalt/cost.h: CPU polled, plus price times latency, plus the
 * switch cost of every block. Saturates at 2^64-1.
 */
uint64_t replay_tally_cost_ns(const struct replay_tally *tally, const struct replay_model *model);

/** The figures of one policy over one set of halts. */
struct replay_metrics {
	uint64_t cost_ns;
	double ratio_to_oracle; /* NAN where the oracle's cost is 0 and this one's is not */
	double poll_cpu_pct;	/* time polled, in % of one CPU over the recording's length */
	double poll_useful_pct; /* part of it that met a wake-up */
	double poll_wasted_pct; /* part of it that did not */
	double polled_pct;	/* share of counted halts met by polling */
	double latency_mean_ns; /* over all counted halts, polled ones add 0 */
	uint32_t latency_p50_ns, latency_p99_ns;
};

/**
 * replay_metrics_from - figures from sums.
 * @oracle_cost_ns:  the oracle's cost of the same halts
 * @wall_ns:         length of the recording; 0 makes the CPU shares 0
 */
void replay_metrics_from(struct replay_metrics *metrics, const struct replay_tally *tally,
			 const struct replay_hist *hist, const struct replay_model *model,
			 uint64_t oracle_cost_ns, uint64_t wall_ns);

#endif

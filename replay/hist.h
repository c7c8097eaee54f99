/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Histogram of wake-up latencies: log-linear, percentiles at most 1.6 % off. */
#ifndef VHALT_REPLAY_HIST_H
#define VHALT_REPLAY_HIST_H

#include <stdint.h>

/*
 * 32 steps per power of two; below 32 ns every value has a bucket of its own. A bucket's middle
 * stands for its values, so the error is at most half a step: 1/64. Percentiles are clamped to the
 * smallest and largest value seen, which makes them exact where all values are equal, and the
 * largest is itself. 7 KiB.
 */
#define REPLAY_HIST_STEP_BITS 5
#define REPLAY_HIST_STEPS     (1U << REPLAY_HIST_STEP_BITS)
#define REPLAY_HIST_BUCKETS   ((32 - REPLAY_HIST_STEP_BITS + 1) * REPLAY_HIST_STEPS)

struct replay_hist {
	uint32_t min_ns, max_ns;
	uint64_t count[REPLAY_HIST_BUCKETS];
};

/** replay_hist_init - empty. */
void replay_hist_init(struct replay_hist *hist);

/** replay_hist_bucket - where @ns is counted. */
static inline uint32_t replay_hist_bucket(uint32_t ns)
{
	uint32_t shift;

	if (ns < REPLAY_HIST_STEPS)
		return ns;
	shift = 31 - (uint32_t)__builtin_clz(ns) - REPLAY_HIST_STEP_BITS;
	return (shift << REPLAY_HIST_STEP_BITS) + (ns >> shift);
}

/** replay_hist_add - count one value. */
static inline void replay_hist_add(struct replay_hist *hist, uint32_t ns)
{
	hist->count[replay_hist_bucket(ns)]++;
	hist->min_ns = ns < hist->min_ns ? ns : hist->min_ns;
	hist->max_ns = ns > hist->max_ns ? ns : hist->max_ns;
}

/** replay_hist_merge - @sum += @part. */
void replay_hist_merge(struct replay_hist *sum, const struct replay_hist *part);

/**
 * replay_hist_percentile - the value with rank ceil(@ppm / 10^6 * total) among all values, of which
 * @zeros more are 0 than the histogram counts. 0 when there are none at all.
 */
uint32_t replay_hist_percentile(const struct replay_hist *hist, uint64_t zeros, uint32_t ppm);

#endif

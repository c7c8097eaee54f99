/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Repeated measurements of one figure: their middle, and how far they lie apart. */
#ifndef VHALT_MEASURE_SUMMARY_H
#define VHALT_MEASURE_SUMMARY_H

#include <stddef.h>

/** Most rounds of a benchmark. */
#define MEASURE_ROUNDS_MAX 101

/** One figure, measured once per round. */
struct measure_samples {
	double values[MEASURE_ROUNDS_MAX];
	size_t nr;
};

/** What is told of it. All zero when nothing was measured. */
struct measure_summary {
	double median;	  /* of an even number: the mean of the two in the middle */
	double low, high; /* quartiles, so that one disturbed round does not set the spread */
};

/** measure_samples_add - one more; past MEASURE_ROUNDS_MAX it is dropped. */
void measure_samples_add(struct measure_samples *samples, double value);

/** measure_summarize - sorts a copy of them. Pure. Cannot fail. */
struct measure_summary measure_summarize(const struct measure_samples *samples);

/**
 * measure_ratio - median of a_i / b_i, round by round; what disturbs a round disturbs both.
 *
 * Rounds where b is 0, and those only one of them has, are left out. 0 when none is left.
 */
double measure_ratio(const struct measure_samples *a, const struct measure_samples *b);

#endif

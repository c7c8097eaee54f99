// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Repeated measurements of one figure: their middle, and how far they lie apart.
#include "measure/summary.h"

#include <stdlib.h>

void measure_samples_add(struct measure_samples *samples, double value)
{
	if (samples->nr < MEASURE_ROUNDS_MAX)
		samples->values[samples->nr++] = value;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Between the two nearest values, by their distance. */
static double quantile(const struct measure_samples *sorted, double share)
{
	double at = share * (double)(sorted->nr - 1);
	size_t below = (size_t)at, above = below + 1 < sorted->nr ? below + 1 : below;
	double rest = at - (double)below;

	return sorted->values[below] * (1 - rest) + sorted->values[above] * rest;
}

struct measure_summary measure_summarize(const struct measure_samples *samples)
{
	struct measure_samples sorted = *samples;

	if (!sorted.nr)
		return (struct measure_summary){0};
	qsort(sorted.values, sorted.nr, sizeof(sorted.values[0]), compare);
	return (struct measure_summary){
		.median = quantile(&sorted, 0.5),
		.low = quantile(&sorted, 0.25),
		.high = quantile(&sorted, 0.75),
	};
}

double measure_ratio(const struct measure_samples *a, const struct measure_samples *b)
{
	struct measure_samples ratios = {.nr = 0};

	for (size_t i = 0; i < a->nr && i < b->nr; i++)
		if (b->values[i] != 0)
			measure_samples_add(&ratios, a->values[i] / b->values[i]);
	return measure_summarize(&ratios).median;
}

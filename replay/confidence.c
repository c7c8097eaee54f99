// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Is a saving real, or would the next recording show another one?
#include "replay/confidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/splitmix.h"

/* The tails left out on either side of the interval. */
#define TAIL 0.025

const char *confidence_verdict_name(enum confidence_verdict verdict)
{
	static const char *const names[] = {"sure", "no gain", "small", "noise", "few"};

	return names[verdict];
}

static double gain_of(double present_ns, double other_ns)
{
	return present_ns > 0 ? 1 - other_ns / present_ns : 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double resample(const struct confidence_costs *costs, uint64_t *seed)
{
	double present_ns = 0, other_ns = 0;

	for (uint32_t i = 0; i < costs->nr; i++) {
		/* The high half of the product: uniform, without a division. */
		uint32_t block = (uint32_t)((splitmix_next(seed) >> 32) * costs->nr >> 32);

		present_ns += (double)costs->present[block];
		other_ns += (double)costs->other[block];
	}
	return gain_of(present_ns, other_ns);
}

static int bootstrap(struct confidence *result, const struct confidence_costs *costs)
{
	double *gains = malloc(CONFIDENCE_RESAMPLES * sizeof(*gains));
	uint64_t seed = CONFIDENCE_SEED;

	if (!gains)
		return -ENOMEM;
	for (uint32_t i = 0; i < CONFIDENCE_RESAMPLES; i++)
		gains[i] = resample(costs, &seed);
	qsort(gains, CONFIDENCE_RESAMPLES, sizeof(*gains), compare_doubles);
	result->low = gains[(uint32_t)(TAIL * CONFIDENCE_RESAMPLES)];
	result->high = gains[CONFIDENCE_RESAMPLES - 1 - (uint32_t)(TAIL * CONFIDENCE_RESAMPLES)];
	free(gains);
	return 0;
}

static enum confidence_verdict verdict_of(const struct confidence *r,
					  const struct confidence_costs *costs, double saved_ns)
{
	if (costs->counted < CONFIDENCE_HALTS_MIN)
		return CONFIDENCE_FEW;
	if (r->gain <= 0)
		return CONFIDENCE_NO_GAIN;
	if (r->gain < CONFIDENCE_GAIN_MIN ||
	    (costs->wall_ns > 0 && saved_ns / costs->wall_ns < CONFIDENCE_CPU_MIN))
		return CONFIDENCE_SMALL;
	if (r->half_gain[0] <= 0 || r->half_gain[1] <= 0 || r->low <= 0)
		return CONFIDENCE_NOISE;
	if (costs->searched && (costs->cross_gain[0] <= 0 || costs->cross_gain[1] <= 0))
		return CONFIDENCE_NOISE;
	return CONFIDENCE_SURE;
}

int confidence_judge(struct confidence *result, const struct confidence_costs *costs)
{
	double present_ns[2] = {0, 0}, other_ns[2] = {0, 0};
	int err;

	memset(result, 0, sizeof(*result));
	result->blocks = costs->nr;
	memcpy(result->cross_gain, costs->cross_gain, sizeof(result->cross_gain));
	if (!costs->nr) {
		result->verdict = CONFIDENCE_FEW;
		return 0;
	}
	for (uint32_t i = 0; i < costs->nr; i++) {
		present_ns[costs->half[i]] += (double)costs->present[i];
		other_ns[costs->half[i]] += (double)costs->other[i];
	}
	for (uint32_t half = 0; half < 2; half++)
		result->half_gain[half] = gain_of(present_ns[half], other_ns[half]);
	result->gain = gain_of(present_ns[0] + present_ns[1], other_ns[0] + other_ns[1]);
	err = bootstrap(result, costs);
	if (!err)
		result->verdict = verdict_of(
			result, costs, present_ns[0] + present_ns[1] - other_ns[0] - other_ns[1]);
	return err;
}

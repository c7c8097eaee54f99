// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Histogram of wake-up latencies: log-linear, percentiles at most 1.6 % off.
#include "replay/hist.h"

#include <string.h>

void replay_hist_init(struct replay_hist *hist)
{
	memset(hist, 0, sizeof(*hist));
	hist->min_ns = UINT32_MAX;
}

void replay_hist_merge(struct replay_hist *sum, const struct replay_hist *part)
{
	for (uint32_t i = 0; i < REPLAY_HIST_BUCKETS; i++)
		sum->count[i] += part->count[i];
	sum->min_ns = part->min_ns < sum->min_ns ? part->min_ns : sum->min_ns;
	sum->max_ns = part->max_ns > sum->max_ns ? part->max_ns : sum->max_ns;
}

static uint32_t bucket_middle(uint32_t bucket)
{
	uint32_t shift;

	if (bucket < 2 * REPLAY_HIST_STEPS)
		return bucket;
	shift = (bucket >> REPLAY_HIST_STEP_BITS) - 1;
	return ((bucket - (shift << REPLAY_HIST_STEP_BITS)) << shift) + (1U << shift) / 2;
}

uint32_t replay_hist_percentile(const struct replay_hist *hist, uint64_t zeros, uint32_t ppm)
{
	uint64_t total = zeros, seen = zeros, rank;
	uint32_t ns = 0;

	for (uint32_t i = 0; i < REPLAY_HIST_BUCKETS; i++)
		total += hist->count[i];
	rank = (uint64_t)(((unsigned __int128)total * ppm + 999999) / 1000000);
	if (rank <= seen)
		return 0;
	if (rank == total)
		return hist->max_ns;
	for (uint32_t i = 0; i < REPLAY_HIST_BUCKETS && seen < rank; i++) {
		seen += hist->count[i];
		ns = bucket_middle(i);
	}
	return ns < hist->min_ns ? hist->min_ns : ns > hist->max_ns ? hist->max_ns : ns;
}

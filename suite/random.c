// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Random workloads: mixtures nobody designed, to keep a policy from being tuned to the table.
#include <math.h>

#include "suite/draw.h"

enum { MODES_MOST = 4, PERIOD_LEAST = 2, PERIOD_MOST = 12, RANDOM_STREAM = 1 << 20 };

struct mode {
	double median_ns, log_sd;
};

struct random_workload {
	struct mode mode[MODES_MOST];
	uint32_t nr_modes;
	uint32_t period;	      /* 0: dwells at random */
	uint8_t pattern[PERIOD_MOST]; /* mode of each place of the period */
	double dwell;		      /* mean halts in a mode */
};

/* Uniform in the logarithm. */
static double log_uniform(struct suite_rng *rng, double low, double high)
{
	return low * pow(high / low, suite_rng_unit(rng));
}

static void design(struct suite_rng *rng, struct random_workload *w)
{
	w->nr_modes = 1 + suite_rng_below(rng, MODES_MOST);
	for (uint32_t i = 0; i < w->nr_modes; i++) {
		w->mode[i].median_ns = log_uniform(rng, 1 * SUITE_US, 10 * SUITE_MS);
		w->mode[i].log_sd = .1 + .9 * suite_rng_unit(rng);
	}
	w->dwell = log_uniform(rng, 1, 1000);
	w->period = 0;
	if (!suite_rng_chance(rng, .5))
		return;
	w->period = PERIOD_LEAST + suite_rng_below(rng, PERIOD_MOST - PERIOD_LEAST + 1);
	for (uint32_t i = 0; i < w->period; i++)
		w->pattern[i] = (uint8_t)suite_rng_below(rng, w->nr_modes);
}

void suite_random_generate(uint32_t index, uint64_t seed, struct suite_halt *halts, uint32_t nr)
{
	const struct suite_setting none = {0, 0};
	struct random_workload w;
	struct suite_draw d;
	uint32_t mode = 0;

	suite_draw_init(&d, &none, seed, RANDOM_STREAM + (uint64_t)index, halts, nr);
	design(&d.rng, &w);
	while (suite_draw_more(&d)) {
		if (w.period)
			mode = w.pattern[d.done % w.period];
		else if (suite_draw_chance(&d, 1 / w.dwell))
			mode = suite_rng_below(&d.rng, w.nr_modes);
		suite_draw_event(&d,
				 suite_draw_ln(&d, w.mode[mode].median_ns, w.mode[mode].log_sd));
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The rhythm of a vCPU's wake-ups: one period between most of them, or a tick among others.
#include "diagnose/vcpu.h"

#include <string.h>

/*
 * Two ways to be periodic. A lone tick: most intervals between wake-ups are alike, within three
 * bins of a sixteenth of an octave (13 %); intervals of chance (exponential) put at most a
 * twentieth there. A tick among other wake-ups: for nearly every period that went by, some wake-up
 * came one period after another; that chance would do it is told by the rate: n wake-ups a second
 * find a partner within a tolerance of 2 x 2 % of the period with a probability of 4 % x their
 * number in it.
 */
#define LONE_SHARE    0.6
#define HIT_SHARE     0.7
#define CHANCE_FACTOR 2

enum { WAKES_MIN = 50 };

static void lone(struct diagnose_rhythm *r, const struct diagnose_vcpu *v)
{
	uint64_t total = 0, best = 0, sum_ns = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < DIAGNOSE_BINS; i++)
		total += v->interval[i];
	for (uint32_t i = 1; i + 1 < DIAGNOSE_BINS; i++) {
		uint64_t n = (uint64_t)v->interval[i - 1] + v->interval[i] + v->interval[i + 1];

		if (n > best) {
			best = n;
			at = i;
		}
	}
	if (best < WAKES_MIN || (double)best < LONE_SHARE * (double)total)
		return;
	for (uint32_t i = at - 1; i <= at + 1; i++)
		sum_ns += v->interval_sum_ns[i];
	r->period_ns = sum_ns / best;
	r->wakes = best;
	r->share = (double)best / (double)total;
	r->hit = 1;
}

static void among_others(struct diagnose_rhythm *r, const struct diagnose_vcpu *v)
{
	double span_ns = (double)(v->last_ns - v->first_ns);

	if (span_ns <= 0)
		return;
	for (uint32_t i = 0; i < DIAGNOSE_PERIODS; i++) {
		const struct diagnose_period *p = &v->periods[i];
		double period_ns = (double)diagnose_periods_ns[i];
		double expected = span_ns / period_ns;
		double chance = 0.04 * (double)v->halts * period_ns / span_ns;
		double hit = (double)p->matched / expected;

		/* Multiples of a period match too: the shortest that is met wins. */
		if (p->matched < WAKES_MIN || hit < HIT_SHARE || hit > 1.5 ||
		    (double)p->matched < CHANCE_FACTOR * chance * (double)v->halts)
			continue;
		r->period_ns = diagnose_periods_ns[i];
		r->wakes = p->matched;
		r->share = (double)p->matched / (double)v->halts;
		r->hit = hit > 1 ? 1 : hit;
		return;
	}
}

void diagnose_rhythm(struct diagnose_rhythm *r, const struct diagnose_vcpu *v)
{
	memset(r, 0, sizeof(*r));
	lone(r, v);
	if (!r->period_ns)
		among_others(r, v);
	for (uint32_t i = 0; i < DIAGNOSE_PERIODS && r->period_ns; i++) {
		uint64_t p = diagnose_periods_ns[i];

		if (r->period_ns + p / 50 < p || r->period_ns > p + p / 50)
			continue;
		r->polled = v->periods[i].polled;
		r->poll_useful_ns = (double)v->periods[i].useful_ns;
		r->poll_wasted_ns = (double)v->periods[i].wasted_ns;
		r->sums = true;
	}
}

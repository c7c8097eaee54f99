/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How a generator hands over the halts it draws. */
#ifndef VHALT_SUITE_DRAW_H
#define VHALT_SUITE_DRAW_H

#include "suite/rng.h"
#include "suite/workload.h"

#define SUITE_US 1e3
#define SUITE_MS 1e6

/** A generator at work: it draws until the halts wanted are there. */
struct suite_draw {
	struct suite_rng rng;
	struct suite_setting setting;
	struct suite_halt *halts;
	uint32_t nr, done;
	double now_ns; /* the vCPU's time: run and halted */
	double run_ns; /* run time before the next halt; 0 draws the usual one */
	bool fresh;    /* the next halt is a new vCPU's first */
};

/** suite_draw_init - begin: @halts receives @nr halts drawn from @seed and @stream. */
void suite_draw_init(struct suite_draw *d, const struct suite_setting *setting, uint64_t seed,
		     uint64_t stream, struct suite_halt *halts, uint32_t nr);

/** suite_draw_more - does the generator have to go on? */
static inline bool suite_draw_more(const struct suite_draw *d)
{
	return d->done < d->nr;
}

/** suite_draw_event - a halt of @t_ns ended by an event that nobody could know. */
void suite_draw_event(struct suite_draw *d, double t_ns);

/** suite_draw_timer - a halt ended after @t_ns by the vCPU's own timer, known when it began. */
void suite_draw_timer(struct suite_draw *d, double t_ns);

/**
 * suite_draw_ticked - an event after @t_ns, unless the next tick of a known clock comes first.
 * @period_ns:  period of the tick
 */
void suite_draw_ticked(struct suite_draw *d, double t_ns, double period_ns);

/* The distributions, of the generator's own sequence. */
static inline double suite_draw_ln(struct suite_draw *d, double median, double log_sd)
{
	return suite_rng_lognormal(&d->rng, median, log_sd);
}

static inline double suite_draw_exp(struct suite_draw *d, double mean)
{
	return suite_rng_exp(&d->rng, mean);
}

static inline bool suite_draw_chance(struct suite_draw *d, double p)
{
	return suite_rng_chance(&d->rng, p);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How a generator hands over the halts it draws.
#include "suite/draw.h"

#include <math.h>

enum { LEAST_NS = 200 }; /* no halt is shorter: entering and leaving one takes as long */

void suite_draw_init(struct suite_draw *d, const struct suite_setting *setting, uint64_t seed,
		     uint64_t stream, struct suite_halt *halts, uint32_t nr)
{
	*d = (struct suite_draw){.setting = *setting, .halts = halts, .nr = nr, .fresh = true};
	suite_rng_init(&d->rng, seed, stream);
}

/* 12 us, and one wake-up in fifty four times that. */
static uint32_t draw_latency(struct suite_draw *d)
{
	double latency_ns = suite_draw_ln(d, 12 * SUITE_US, .35);

	return (uint32_t)(suite_draw_chance(d, .02) ? 4 * latency_ns : latency_ns);
}

/* Run time before the halt that comes next; advances the clock by it. */
static uint64_t draw_run(struct suite_draw *d)
{
	double run_ns = d->run_ns > 0 ? d->run_ns : suite_draw_ln(d, 5 * SUITE_US, .4);

	d->run_ns = 0;
	d->now_ns += run_ns;
	return (uint64_t)run_ns;
}

static void put(struct suite_draw *d, double t_ns, uint64_t run_ns, double deadline_ns,
		bool own_timer)
{
	struct suite_halt *h = &d->halts[d->done];

	if (d->done == d->nr)
		return;
	t_ns = fmax(t_ns, LEAST_NS);
	h->t_ns = (uint64_t)t_ns;
	h->run_ns = run_ns;
	h->deadline_ns = VHALT_NO_DEADLINE_NS;
	if (own_timer)
		h->deadline_ns = h->t_ns;
	else if (deadline_ns > 0)
		h->deadline_ns = (uint64_t)fmax(deadline_ns, t_ns);
	h->latency_ns = draw_latency(d);
	h->own_timer = own_timer;
	h->fresh = d->fresh;
	d->fresh = false;
	d->done++;
	d->now_ns += t_ns;
}

void suite_draw_event(struct suite_draw *d, double t_ns)
{
	put(d, t_ns, draw_run(d), 0, false);
}

void suite_draw_timer(struct suite_draw *d, double t_ns)
{
	put(d, t_ns, draw_run(d), t_ns, true);
}

void suite_draw_ticked(struct suite_draw *d, double t_ns, double period_ns)
{
	uint64_t run_ns = draw_run(d);
	double left_ns = period_ns - fmod(d->now_ns, period_ns);

	if (t_ns < left_ns)
		put(d, t_ns, run_ns, left_ns, false);
	else
		put(d, left_ns, run_ns, left_ns, true);
}

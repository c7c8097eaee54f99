// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The larger action set of policy `auto`: block at once, be woken by a timer just before, then
// poll.

/*
 * Polling alone pays for all of T. A halt whose end is known, or likely near some moment, can be
 * slept through almost to its end: the CPU pays C for being woken once more, then only the rest of
 * the wait, and the wake-up latency is hidden. That is why this goes below the poll-only oracle.
 *
 * A plan sleeps until a, is running at a + L, and polls until b. Its cost, as in suite/drive.h and
 * in paid_ns() of auto_learn.c:
 *	T < a			B: woken by the event itself, as any blocked halt
 *	a <= T <= a + L		C + price * what is left of L
 *	a + L < T <= b		C + T - a - L
 *	T > b			C + b - a - L + B
 *
 * Known timer: a = deadline - guard, b = the deadline and a little slack. Learnt: a = the lower
 * edge of some bucket less the guard, b = the upper edge of that or a later one.
 */

#include "core/auto_internal.h"

enum {
	CHEAPER_SHIFT = 4,     /* must beat polling by 1/16 */
	TIMER_SLACK_NS = 4096, /* poll so much beyond the timer's time */
	FIRST_BUCKET = 7,      /* buckets a learnt sleep may end before: 32 to 49 us ... */
	LAST_BUCKET = 13,      /* ... to 262 to 524 us */
};

static const struct auto_choice never = {~0ULL, 0, 0};

/*
 * Wake-up latency to allow for when a timer must have us running by a given moment. Too early costs
 * 1 per ns, too late the price, so the best guard is the quantile P(L > guard) = 1 / (1 + price): L
 * itself where latency is cheap, twice L from price 10 on.
 */
static uint32_t guard_ns(const struct auto_config *c, const struct auto_prices *p)
{
	uint64_t price = core_min64(c->price, 10U << AUTO_PRICE_SHIFT);

	/* 6554 / 2^16 is a tenth. */
	return p->latency_ns + (uint32_t)(p->latency_ns * price * 6554 >> (16 + AUTO_PRICE_SHIFT));
}

/*
 * Be running a guard before the deadline. What ends the halt before that pays B, what comes while
 * we wake up nearly as much. The deadline's own bucket is full of the very timers awaited: it is
 * met.
 */
static struct auto_choice sleep_until_timer(const struct auto_belief *belief,
					    const struct auto_prices *p, uint32_t guard,
					    uint64_t deadline_ns)
{
	struct auto_choice plan;
	uint64_t rest = belief->total, sleep = core_sub_sat64(deadline_ns, guard);
	/* C, the time polled, and what a wake-up slower than the guard costs: about L / 4. */
	uint64_t met = p->switch_ns + guard - p->latency_ns + p->latency_ns / 4;
	uint32_t own;

	if (sleep <= p->latency_ns || deadline_ns > VHALT_WINDOW_MAX_NS || guard > p->max_ns)
		return never;
	own = auto_bucket((uint32_t)deadline_ns);
	for (uint32_t i = 0; i < own && auto_mid_ns(belief, i) <= sleep + p->latency_ns; i++)
		rest -= auto_weight(belief, i);
	plan.cost = (belief->total - rest) * p->b_ns + rest * met;
	plan.sleep_ns = (uint32_t)sleep;
	plan.window_ns = core_min32(guard + TIMER_SLACK_NS, p->max_ns);
	return plan;
}

/*
 * Sleep past the buckets before @first, whose weight is @early, then poll to the end of the best
 * bucket. Replaces *best if that is cheaper.
 */
static void sleep_until_bucket(const struct auto_belief *belief, const struct auto_prices *p,
			       uint32_t guard, uint32_t first, uint64_t early,
			       struct auto_choice *best)
{
	uint64_t sleep = core_sub_sat64(auto_window_ns[first], guard);
	uint64_t begin = sleep + p->latency_ns; /* polling begins */
	uint64_t certain = early * p->b_ns, rest = belief->total - early;

	if (sleep <= p->latency_ns)
		return;
	for (uint32_t i = first; i < AUTO_WINDOWS && certain < best->cost; i++) {
		uint64_t end = auto_window_ns[i + 1], cost;

		if (end - sleep > p->max_ns)
			break;
		rest -= auto_weight(belief, i);
		certain += auto_weight(belief, i) * (auto_mid_ns(belief, i) - begin + p->switch_ns);
		cost = certain + rest * (end - begin + p->switch_ns + p->b_ns);
		if (cost < best->cost)
			*best = (struct auto_choice){cost, (uint32_t)sleep,
						     (uint32_t)(end - sleep)};
	}
}

static void sleep_until_learnt(const struct auto_belief *belief, const struct auto_prices *p,
			       uint32_t guard, uint64_t deadline_ns, struct auto_choice *best)
{
	uint64_t early = 0;

	for (uint32_t i = 0; i < FIRST_BUCKET; i++)
		early += auto_weight(belief, i);
	for (uint32_t first = FIRST_BUCKET; first <= LAST_BUCKET; first++) {
		if (auto_window_ns[first + 1] >= deadline_ns || early * p->b_ns >= best->cost)
			break;
		sleep_until_bucket(belief, p, guard, first, early, best);
		early += auto_weight(belief, first);
	}
}

struct vhalt_plan auto_sleep_first(const struct auto_state *s, const struct auto_config *c,
				   const struct auto_prices *p, uint64_t deadline_ns,
				   uint32_t nr_windows)
{
	struct auto_base base;
	struct auto_belief belief = auto_playing_belief(s, p, &base);
	struct auto_choice best = never, plan;
	uint32_t guard = guard_ns(c, p);

	if (s->awaits_timer)
		best.cost = auto_timer_cost(&belief, deadline_ns);
	else
		auto_cheapest(&belief, p, nr_windows, &best.cost);
	best.cost -= best.cost >> CHEAPER_SHIFT;
	if (c->sleep != AUTO_SLEEP_LEARNT) {
		plan = sleep_until_timer(&belief, p, guard, deadline_ns);
		if (plan.cost < best.cost)
			best = plan;
	}
	if (c->sleep != AUTO_SLEEP_DEADLINE)
		sleep_until_learnt(&belief, p, guard, deadline_ns, &best);
	return (struct vhalt_plan){best.sleep_ns, best.window_ns};
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What policy `auto` learns from a halt: T, L, its debt, which scheme is the better one.

#include <vhalt/cost.h>

#include "core/auto_internal.h"

enum {
	DEBT_SHARE_SHIFT = 4,	    /* ski rental plus 1/16 is allowed */
	DEBT_MOST_B = 8,	    /* the guard goes up above 8 B ... */
	DEBT_LOW_B = 4,		    /* ... and down below 4 B */
	SCHEME_SHIFT = 7,	    /* costs of the schemes are means over about 128 halts */
	SWITCH_SHIFT = 5,	    /* another scheme must be 1/32 cheaper to take over */
	ALL_WEIGHT = 16,	    /* what a halt counts in AUTO_CONTEXT_ALL */
	LATENCY_MEAN_SHIFT = 5,	    /* L is a mean over about 32 wake-ups */
	LATENCY_CLIP = 4,	    /* a sample counts at most four times the mean ... */
	LATENCY_LEAST_NS = 1000,    /* ... or this, so that the mean can rise from 0 ... */
	LATENCY_MOST_NS = 10000000, /* ... and never more than fits the fixed point */
};

static void learn_latency(struct auto_state *s, const struct auto_config *c,
			  const struct vhalt_outcome *outcome)
{
	uint32_t now = s->latency_samples ? s->latency : c->latency_ns << AUTO_LATENCY_SHIFT;
	uint32_t most_ns = core_max32((now >> AUTO_LATENCY_SHIFT) * LATENCY_CLIP, LATENCY_LEAST_NS);
	uint64_t sample_ns = core_sub_sat64(outcome->halt_ns, outcome->wake_ns);
	int32_t sample;

	if (!c->learn || outcome->flags & VHALT_OUTCOME_POLLED)
		return;
	sample_ns = core_min64(sample_ns, core_min32(most_ns, LATENCY_MOST_NS));
	sample = (int32_t)(sample_ns << AUTO_LATENCY_SHIFT);
	s->latency = now + (uint32_t)((sample - (int32_t)now) >> LATENCY_MEAN_SHIFT);
	if (s->latency_samples < AUTO_LATENCY_SURE)
		s->latency_samples++;
}

/* T, as well as it is known: never above 2^32-1 ns. */
static uint32_t event_ns(const struct auto_state *s, const struct auto_config *c,
			 const struct vhalt_outcome *outcome)
{
	uint64_t t_ns = core_min64(outcome->halt_ns, VHALT_WINDOW_MAX_NS);
	uint64_t polled_to_ns;

	if (outcome->wake_ns != VHALT_UNKNOWN_NS)
		return (uint32_t)core_min64(outcome->wake_ns, t_ns);
	if (outcome->flags & VHALT_OUTCOME_POLLED)
		return (uint32_t)t_ns;
	t_ns = core_sub_sat64(t_ns, auto_latency_ns(s, c));
	if (t_ns < s->plan_sleep_ns)
		return (uint32_t)t_ns;
	polled_to_ns = (uint64_t)s->plan_sleep_ns + outcome->window_ns;
	return (uint32_t)core_min64(core_max64(t_ns, polled_to_ns + 1), VHALT_WINDOW_MAX_NS);
}

/* What the halt cost: as in vhalt/cost.h, after a sleep by the sleep's own rules. */
static uint64_t paid_ns(const struct auto_state *s, const struct auto_config *c,
			const struct vhalt_outcome *outcome, uint32_t b_ns, uint32_t t_ns)
{
	uint64_t awake_ns, end_ns;

	if (!s->plan_sleep_ns)
		return vhalt_cost_ns(t_ns, outcome->window_ns, b_ns);
	awake_ns = (uint64_t)s->plan_sleep_ns + auto_latency_ns(s, c);
	end_ns = (uint64_t)s->plan_sleep_ns + outcome->window_ns;
	if (t_ns < s->plan_sleep_ns)
		return b_ns;
	if (t_ns <= awake_ns)
		return core_min64(b_ns, c->switch_ns +
						(c->price * (awake_ns - t_ns) >> AUTO_PRICE_SHIFT));
	if (outcome->flags & VHALT_OUTCOME_POLLED || t_ns <= end_ns)
		return c->switch_ns + t_ns - awake_ns;
	return c->switch_ns + core_sub_sat64(end_ns, awake_ns) + b_ns;
}

static void settle_debt(struct auto_state *s, const struct auto_config *c, uint64_t paid,
			int64_t b_ns, uint32_t t_ns)
{
	uint64_t ski = vhalt_cost_ns(t_ns, core_min32((uint32_t)b_ns, c->max_ns), (uint32_t)b_ns);
	int64_t most = 9 * b_ns + c->max_ns;
	int64_t debt = s->debt_ns + (int64_t)paid - (int64_t)(ski + (ski >> DEBT_SHARE_SHIFT));

	if (debt < -DEBT_MOST_B * b_ns)
		debt = -DEBT_MOST_B * b_ns;
	/* Only after a change of price is it above this already. */
	if (debt > most)
		debt = most;
	s->debt_ns = (int32_t)debt;
	if (debt > DEBT_MOST_B * b_ns)
		s->guard = 1;
	else if (debt < DEBT_LOW_B * b_ns)
		s->guard = 0;
}

/*
 * Charge each scheme for the window it wanted, and let a clearly cheaper one play. Where all want
 * the same, nothing can be told.
 */
static void compare_schemes(struct auto_state *s, const struct auto_config *c, uint32_t b_ns,
			    uint32_t t_ns)
{
	uint32_t best = s->scheme, plays;
	const uint8_t *window = s->window;

	if (window[AUTO_SCHEME_RUN] == window[AUTO_SCHEME_BUSY] &&
	    window[AUTO_SCHEME_RUN] == window[AUTO_SCHEME_SLOW])
		return;

	for (uint32_t i = 0; i < AUTO_SCHEMES; i++) {
		uint32_t window_ns = core_min32(auto_window_ns[window[i]], c->max_ns);
		uint64_t cost = vhalt_cost_ns(t_ns, window_ns, b_ns);
		int64_t step = (int64_t)(cost << AUTO_COST_SHIFT) - (int64_t)s->scheme_cost[i];

		s->scheme_cost[i] = (uint32_t)(s->scheme_cost[i] + (step >> SCHEME_SHIFT));
		if (s->scheme_cost[i] < s->scheme_cost[best])
			best = i;
	}
	plays = s->scheme_cost[s->scheme];
	if (s->scheme_cost[best] + (plays >> SWITCH_SHIFT) < plays)
		s->scheme = (uint8_t)best;
}

static void remember(struct auto_state *s, uint32_t b_ns, uint32_t t_ns)
{
	uint32_t bucket = auto_bucket(t_ns);
	uint8_t is_long = t_ns > b_ns;

	auto_count(s, AUTO_CONTEXT_ALL, bucket, ALL_WEIGHT);
	auto_count(s, auto_run_context(s), bucket, 1);
	auto_count(s, auto_busy_context(s), bucket, 1);
	auto_count_slow(s, bucket);
	auto_note_place(s, bucket, t_ns);
	if (is_long != s->was_long)
		s->run = 0;
	else if (s->run < AUTO_RUN_MOST)
		s->run++;
	s->was_long = is_long;
}

void auto_learn(struct auto_state *s, const struct auto_config *c,
		const struct vhalt_outcome *outcome)
{
	const uint32_t foreseen = VHALT_OUTCOME_OWN_TIMER | VHALT_OUTCOME_POLLED;
	bool stamped = outcome->wake_ns != VHALT_UNKNOWN_NS;
	bool cut = outcome->flags & VHALT_OUTCOME_CUT;
	uint32_t t_ns, b_ns = auto_b_ns(s, c);

	if (outcome->flags & VHALT_OUTCOME_INVALID || (cut && !stamped))
		return;
	if (stamped && !cut)
		learn_latency(s, c, outcome);
	/* A poll that its timer ended as foreseen. One that outlasted the poll is a halt like
	 * others. */
	if ((outcome->flags & foreseen) == foreseen && s->awaits_timer)
		return;
	t_ns = event_ns(s, c, outcome);
	if (!cut && !(outcome->flags & VHALT_OUTCOME_FORCED))
		settle_debt(s, c, paid_ns(s, c, outcome, b_ns, t_ns), b_ns, t_ns);
	compare_schemes(s, c, b_ns, t_ns);
	remember(s, b_ns, t_ns);
}

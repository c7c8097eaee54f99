// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `auto`: chooses its window from one number, what a nanosecond of wake-up latency is worth.
/*
 * THE QUESTION. A halt ends after T, which nobody knows when it begins. Polling for a window w
 * costs T if T <= w, else w + B, where B = price * L + C is what blocking costs: L of wake-up
 * latency at its price, and C of CPU. So there is one good question per halt: how likely is it to
 * end within each w? With the answer, the best w is the minimum of an expected cost.
 *
 * WHAT IS REMEMBERED (auto_memory.c). Histograms of T over 16 buckets, half an octave wide, kept
 * per context, since what a vCPU did last says a lot about what it does next:
 *	- RUN: was the last halt long (T > B)? How many like it came before, 0..7? Sees bursts,
 *	  phases, "two short ones, then the disk".
 *	- BUSY: was the last halt long? How long did the vCPU run since, in 4 classes? Sees "after
 *	  little work the reply comes soon".
 *	- SLOW: no context, but a memory of some thousand halts where the others have 128 to 255.
 *	  Sees rare long halts, where contexts see noise.
 *	- ALL: every halt counts 16 here, so 8 to 15 halts fill it: what goes on right now.
 * Counters are bytes (SLOW: words); a full row is halved. A context with fewer than 32 halts leans
 * on ALL as if ALL were 10 halts of its own, and ALL leans on a fixed prior worth 6: a third of the
 * halts long, the others of any length up to min(B, max). A new vCPU polls half of min(B, max)
 * once, and learns at once if that was in vain. For each bucket it is also known where in it halts
 * lie, to a sixteenth: half an octave is coarse where B lies within it.
 *
 * HOW A HALT IS DECIDED (auto_decide).
 *	1. Each of the three schemes, RUN, BUSY and SLOW, turns its histogram into a belief and the
 *	   belief into the window of least expected cost (auto_choose.c).
 *	2. The scheme whose windows were cheapest lately plays: mean over about 128 halts on which
 *	   they were not of one mind.
 *	3. A timer of the vCPU's own due within min(B, max) is polled for: it is sure to come, and
 *	   blocking costs more. One between there and max is polled for if that is the cheapest.
 *	4. A guard overrules 2 and 3: see the guarantee.
 *	5. With `sleep`, the set of actions is larger: block at once, be woken by a timer a little
 *	   before a known deadline or a learnt moment, and poll only then (auto_sleep.c).
 *
 * WHAT IS LEARNT FROM A HALT (auto_learn.c). T itself, when it was polled or the waker stamped the
 * time; else what was measured less L, and certainly more than the window. Not from halts that say
 * nothing of T: spurious wake-ups, waits for a CPU, a timer that was polled for. Halts that were
 * forced to block teach T, but are not charged to the policy.
 *
 * THE GUARANTEE. Polling min(B, max) and then blocking, "ski rental", never costs more than twice
 * the clairvoyant choice. The debt is what was paid beyond 17/16 of ski rental, at least -8B. Above
 * 8B the guard is up and ski rental is played until the debt is below 4B. So over any stretch of
 * halts the cost is at most 17/16 of ski rental + 17B + max, 2.125 of the oracle + the same,
 * whoever chooses the halts and even if he sees each window first
 * (tests/unit/test_auto_guarantee.c). KVM's grow and shrink has no such bound: it grows like max /
 * B.
 *
 * L IS LEARNT where wake-ups are time-stamped, as a mean over about 32 of them, so B follows the
 * host and price stays the only knob. Until 32 were measured the larger of given and learnt L
 * counts: B too small costs far more than B too large. A sample counts at most four times the mean,
 * so one stray wake-up moves it by a tenth.
 *
 * THE BUDGET. `scale` divides B by a host-wide factor (vhalt/budget.h): every vCPU then gives up
 * the polling that earns least, without any account per vCPU.
 *
 * Why each constant: docs/auto.md.
 */

#include <vhalt/auto.h>

#include "core/auto_internal.h"

enum {
	BUSY_SHORT_NS = 8192, /* classes of run time: up to 8 us, 33 us, 131 us, more */
	BUSY_MEDIUM_NS = 32768,
	BUSY_LONG_NS = 131072,
	PARTIAL_LEAST = 2, /* cells of a bucket that make a window of their own worth while */
};

enum { P_PRICE, P_MAX_NS, P_LATENCY_NS, P_SWITCH_NS, P_B_NS, P_SLEEP, P_LEARN, NR_PARAMS };

static const struct vhalt_param params[NR_PARAMS] = {
	[P_PRICE] = {"price", VHALT_UNIT_FACTOR, 10, 0, 1000,
		     "ns of CPU that one ns of wake-up latency is worth"},
	[P_MAX_NS] = {"max_ns", VHALT_UNIT_NS, 200000, 0, 1000000000,
		      "longest window; windows above 1.05ms are not used"},
	[P_LATENCY_NS] = {"latency_ns", VHALT_UNIT_NS, 13000, 0, 10000000,
			  "wake-up latency of a blocked vCPU, until it is measured"},
	[P_SWITCH_NS] = {"switch_ns", VHALT_UNIT_NS, 3000, 0, 10000000,
			 "CPU cost of blocking and waking once"},
	[P_B_NS] =
		{"b_ns", VHALT_UNIT_NS, 0, 0, AUTO_B_MOST_NS,
		 "cost of a blocked halt at latency_ns in place of price; 0 derives it from price"},
	[P_SLEEP] = {"sleep", VHALT_UNIT_FACTOR, AUTO_SLEEP_OFF, 0, AUTO_SLEEP_VALUES - 1,
		     "sleep, then poll just before: 0 off, 1 timers and learnt moments, "
		     "2 timers, 3 learnt moments"},
	[P_LEARN] = {"learn", VHALT_UNIT_BOOL, 1, 0, 1,
		     "follow the wake-up latency where wake-ups are time-stamped"},
};

static struct auto_state *state_of(struct vhalt_state *state)
{
	return (struct auto_state *)state->opaque;
}

static const struct auto_config *config_of(const struct vhalt_config *config)
{
	return (const struct auto_config *)config->opaque;
}

/* The windows up to max_ns; one more, of max_ns itself, if it lies well within the next bucket. */
static void count_windows(struct auto_config *c)
{
	uint32_t n = auto_bucket(c->max_ns + 1);

	c->nr_windows = (uint8_t)n;
	if (n == AUTO_WINDOWS)
		return;
	c->partial = (uint8_t)((c->max_ns - auto_window_ns[n]) / auto_cell_ns[n]);
	if (c->partial < PARTIAL_LEAST)
		c->partial = 0;
	else
		c->nr_windows++;
}

static void auto_prepare(struct vhalt_config *config, const uint64_t *values)
{
	struct auto_config *c = (struct auto_config *)config->opaque;
	uint64_t b_ns = values[P_B_NS];

	c->price = values[P_PRICE] << AUTO_PRICE_SHIFT;
	c->latency_ns = (uint32_t)values[P_LATENCY_NS];
	c->switch_ns = (uint32_t)values[P_SWITCH_NS];
	c->max_ns = (uint32_t)values[P_MAX_NS];
	c->scale = 1U << AUTO_FACTOR_SHIFT;
	c->sleep = (uint8_t)values[P_SLEEP];
	c->learn = (uint8_t)values[P_LEARN];
	if (b_ns && b_ns > c->switch_ns && c->latency_ns) {
		/* Rounded up: if anything, B is over-stated. */
		uint64_t worth = (b_ns - c->switch_ns) << AUTO_PRICE_SHIFT;

		c->price = core_div64(worth + c->latency_ns - 1, c->latency_ns);
	} else if (b_ns) {
		c->price = 0;
		c->switch_ns = (uint32_t)b_ns;
	}
	count_windows(c);
}

void vhalt_auto_scale(struct vhalt_config *config, uint32_t factor)
{
	struct auto_config *c = (struct auto_config *)config->opaque;
	uint32_t scale = 1U << AUTO_FACTOR_SHIFT;

	if (config->policy != VHALT_POLICY_AUTO)
		return;
	if (factor > VHALT_FACTOR_ONE)
		scale = (uint32_t)((VHALT_FACTOR_ONE << AUTO_FACTOR_SHIFT) / factor);
	__atomic_store_n(&c->scale, scale, __ATOMIC_RELAXED);
}

static void auto_init(struct vhalt_state *state, const struct vhalt_config *config)
{
	/* All zero is right, see struct auto_state. */
	(void)state;
	(void)config;
}

static struct auto_prices prices_now(const struct auto_state *s, const struct auto_config *c)
{
	struct auto_prices p;

	p.latency_ns = auto_latency_ns(s, c);
	p.b_ns = auto_b_ns(s, c);
	p.ski_ns = core_min32(p.b_ns, c->max_ns);
	p.switch_ns = c->switch_ns;
	p.max_ns = c->max_ns;
	p.nr_grace = auto_bucket(p.ski_ns + 1);
	/* The bucket that holds ski_ns, unless ski_ns is an edge: then it ends the one before. */
	p.nr_short = p.nr_grace + (auto_window_ns[p.nr_grace] != p.ski_ns || !p.nr_grace);
	p.nr_short = core_min32(p.nr_short, AUTO_WINDOWS);
	p.nr_windows = c->nr_windows;
	p.partial = c->partial;
	return p;
}

static uint8_t busy_class(uint64_t run_ns)
{
	return run_ns < BUSY_SHORT_NS	 ? 0
	       : run_ns < BUSY_MEDIUM_NS ? 1
	       : run_ns < BUSY_LONG_NS	 ? 2
					 : 3;
}

/* Steps 2 to 4: what is polled, if one polls. */
static uint32_t window_to_play_ns(const struct auto_state *s, const struct auto_prices *p,
				  uint64_t deadline_ns, uint32_t nr_windows)
{
	if (s->guard)
		return p->ski_ns;
	if (s->awaits_timer)
		return auto_timer_window_ns(p, deadline_ns);
	/*
	 * A look at the very first halt, whatever the prior says. What blocks is measured through
	 * L, and were L given far too small, all would look long and polling never be tried.
	 */
	if (!s->filled[AUTO_CONTEXT_ALL])
		return p->ski_ns / 2;
	/* The slow scheme has seen neither this deadline nor, perhaps, this ceiling. */
	return core_min32(auto_window_ns[core_min32(s->window[s->scheme], nr_windows)], p->max_ns);
}

static struct vhalt_plan auto_decide(struct vhalt_state *state, const struct vhalt_config *config,
				     const struct vhalt_hint *hint)
{
	const struct auto_config *c = config_of(config);
	struct auto_state *s = state_of(state);
	struct auto_prices p = prices_now(s, c);
	uint64_t deadline_ns = hint->deadline_ns;
	uint32_t nr_windows = p.nr_windows;
	struct vhalt_plan plan = {0, 0};

	if (deadline_ns <= p.max_ns)
		nr_windows = core_min32(nr_windows, auto_bucket((uint32_t)deadline_ns));
	s->busy_class = busy_class(hint->run_ns);
	auto_propose(s, &p, nr_windows);
	s->awaits_timer = deadline_ns <= p.max_ns &&
			  auto_await_timer(s, &p, deadline_ns, nr_windows);
	if (!hint->must_block) {
		if (c->sleep && !s->guard)
			plan = auto_sleep_first(s, c, &p, deadline_ns, nr_windows);
		if (!plan.sleep_ns)
			plan.window_ns = window_to_play_ns(s, &p, deadline_ns, nr_windows);
	}
	s->plan_sleep_ns = plan.sleep_ns;
	s->plan_window_ns = plan.window_ns;
	return plan;
}

static void auto_update(struct vhalt_state *state, const struct vhalt_config *config,
			const struct vhalt_outcome *outcome)
{
	auto_learn(state_of(state), config_of(config), outcome);
}

static uint32_t auto_window(const struct vhalt_state *state, const struct vhalt_config *config)
{
	(void)config;
	return ((const struct auto_state *)state->opaque)->plan_window_ns;
}

const struct vhalt_policy vhalt_policy_auto = {
	.name = "auto",
	.summary = "tunes itself from the price of latency",
	.state_bytes = sizeof(struct auto_state),
	.nr_params = NR_PARAMS,
	.params = params,
	.prepare = auto_prepare,
	.init = auto_init,
	.decide = auto_decide,
	.update = auto_update,
	.window = auto_window,
};

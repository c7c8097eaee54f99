// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One policy over the halts of one vCPU: the inner loop.
#include "replay/run.h"

#include <vhalt/cost.h>

#define unlikely(x) __builtin_expect(!!(x), 0)

static inline void tally_polled(struct replay_tally *tally, uint64_t useful_ns)
{
	tally->polled++;
	tally->useful_ns += useful_ns;
}

static inline void tally_blocked(struct replay_tally *tally, struct replay_hist *hist,
				 uint64_t wasted_ns, uint32_t latency_ns)
{
	tally->blocked++;
	tally->wasted_ns += wasted_ns;
	tally->latency_sum_ns += latency_ns;
	if (hist)
		replay_hist_add(hist, latency_ns);
}

/* What a plan makes of a halt. */
struct fate {
	uint64_t halt_ns;    /* halt to running again */
	uint64_t polled_ns;  /* CPU burnt, useful or not */
	uint32_t latency_ns; /* added by blocking */
	bool polled;	     /* the event found the vCPU awake */
	bool timer_wake;     /* one switch more than a block has */
	bool waking;	     /* the event came while the policy's timer was waking the vCPU */
};

/*
 * The vCPU first blocks for sleep_ns, is woken by the policy's timer, which takes as long as any
 * wake-up, and polls until sleep_ns + window_ns. An event before the timer ends an ordinary block;
 * one that comes while the timer's wake-up is under way waits for the rest of it.
 */
static struct fate sleep_first(const struct vhalt_plan *plan, const struct replay_halt *h)
{
	uint64_t awake_ns = (uint64_t)plan->sleep_ns + h->latency_ns;
	uint64_t end_ns = (uint64_t)plan->sleep_ns + plan->window_ns;
	struct fate fate = {.halt_ns = h->t_ns + h->latency_ns, .latency_ns = h->latency_ns};

	if (h->t_ns < plan->sleep_ns)
		return fate;
	if (h->t_ns <= awake_ns) {
		fate.waking = true;
		fate.halt_ns = awake_ns;
		fate.latency_ns = (uint32_t)(awake_ns - h->t_ns);
		return fate;
	}
	fate.timer_wake = true;
	fate.polled = h->t_ns <= end_ns;
	fate.polled_ns = end_ns > awake_ns ? end_ns - awake_ns : 0;
	if (fate.polled) {
		fate.polled_ns = h->t_ns - awake_ns;
		fate.halt_ns = h->t_ns;
		fate.latency_ns = 0;
	}
	return fate;
}

static struct fate poll_first(const struct vhalt_plan *plan, const struct replay_halt *h)
{
	struct fate fate = {.polled = h->t_ns <= plan->window_ns};

	fate.polled_ns = fate.polled ? h->t_ns : plan->window_ns;
	fate.latency_ns = fate.polled ? 0 : h->latency_ns;
	fate.halt_ns = h->t_ns + fate.latency_ns;
	return fate;
}

/* The rare ways a halt goes: plans that sleep first, halts counted apart. */
static void run_rare(const struct vhalt_config *config, struct vhalt_state *state,
		     const struct replay_halt *h, const struct vhalt_plan *plan,
		     struct replay_tally *tally, struct replay_hist *hist)
{
	struct fate fate = plan->sleep_ns ? sleep_first(plan, h) : poll_first(plan, h);
	bool cut = h->flags & REPLAY_HALT_CUT;
	struct vhalt_outcome outcome = {
		.halt_ns = cut ? h->t_ns : fate.halt_ns,
		.wake_ns = !cut && h->flags & REPLAY_HALT_STAMPED ? h->t_ns : VHALT_UNKNOWN_NS,
		.window_ns = plan->window_ns,
		.flags = h->flags & REPLAY_HALT_OUTCOME,
	};

	/* How long a cut halt would have been nobody knows, so it ends as recorded: blocked. */
	if (!cut && (fate.polled || fate.waking))
		outcome.flags |= VHALT_OUTCOME_POLLED;
	vhalt_update(state, config, &outcome);
	if (h->flags & REPLAY_HALT_APART)
		return;
	tally->timer_wakes += fate.timer_wake;
	if (fate.polled)
		tally_polled(tally, fate.polled_ns);
	else
		tally_blocked(tally, hist, fate.polled_ns, fate.latency_ns);
}

void replay_run(const struct vhalt_config *config, struct vhalt_state *state,
		const struct replay_halt *halts, size_t n, struct replay_tally *tally,
		struct replay_hist *hist)
{
	const struct vhalt_policy *policy = vhalt_policy_get(config->policy);

	for (const struct replay_halt *h = halts, *end = halts + n; h < end; h++) {
		struct vhalt_hint hint = {h->run_ns, h->deadline_ns, false};
		struct vhalt_plan plan = policy->decide(state, config, &hint);
		struct vhalt_outcome outcome;

		if (unlikely(plan.sleep_ns || h->flags & REPLAY_HALT_APART)) {
			run_rare(config, state, h, &plan, tally, hist);
			continue;
		}
		outcome.wake_ns = h->flags & REPLAY_HALT_STAMPED ? h->t_ns : VHALT_UNKNOWN_NS;
		outcome.window_ns = plan.window_ns;
		if (h->t_ns <= plan.window_ns) {
			outcome.halt_ns = h->t_ns;
			outcome.flags = (h->flags & REPLAY_HALT_OUTCOME) | VHALT_OUTCOME_POLLED;
			policy->update(state, config, &outcome);
			tally_polled(tally, h->t_ns);
		} else {
			outcome.halt_ns = h->t_ns + h->latency_ns;
			outcome.flags = h->flags & REPLAY_HALT_OUTCOME;
			policy->update(state, config, &outcome);
			tally_blocked(tally, hist, plan.window_ns, h->latency_ns);
		}
	}
}

void replay_run_oracle(const struct replay_model *model, const struct replay_halt *halts, size_t n,
		       struct replay_tally *tally, struct replay_hist *hist)
{
	struct replay_tally sum = *tally;

	for (const struct replay_halt *h = halts, *end = halts + n; h < end; h++) {
		uint64_t b_ns = vhalt_break_even_ns(model->price, h->latency_ns, model->switch_ns);

		if (h->flags & REPLAY_HALT_APART)
			continue;
		if (vhalt_oracle_cost_ns(h->t_ns, model->max_ns, b_ns) < b_ns)
			tally_polled(&sum, h->t_ns);
		else
			tally_blocked(&sum, hist, 0, h->latency_ns);
	}
	*tally = sum;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Drives one policy over drawn halts and adds up what they cost.
#include "suite/drive.h"

#include <string.h>

#include <vhalt/cost.h>

/* What one halt did: filled by the poll-only or the sleeping way. */
struct ending {
	uint64_t cost_ns, poll_ns, latency_ns;
	bool polled;
};

static struct ending end_polling(const struct suite_host *host, const struct suite_halt *h,
				 uint32_t window_ns)
{
	struct ending e = {.cost_ns = vhalt_cost_ns(h->t_ns, window_ns, host->b_ns)};

	e.polled = h->t_ns <= window_ns;
	e.poll_ns = e.polled ? h->t_ns : window_ns;
	e.latency_ns = e.polled ? 0 : h->latency_ns;
	return e;
}

static struct ending end_sleeping(const struct suite_host *host, const struct suite_halt *h,
				  struct vhalt_plan plan)
{
	double price = (host->b_ns - (double)host->switch_ns) / SUITE_LATENCY_NS;
	uint64_t awake_ns = (uint64_t)plan.sleep_ns + h->latency_ns;
	uint64_t end_ns = (uint64_t)plan.sleep_ns + plan.window_ns;
	struct ending e = {.cost_ns = host->b_ns, .latency_ns = h->latency_ns};

	if (h->t_ns < plan.sleep_ns)
		return e;
	if (h->t_ns <= awake_ns) {
		e.polled = true;
		e.latency_ns = awake_ns - h->t_ns;
		e.cost_ns = host->switch_ns + (uint64_t)(price * (double)e.latency_ns);
		return e;
	}
	e.polled = h->t_ns <= end_ns;
	if (e.polled)
		e.poll_ns = h->t_ns - awake_ns;
	else if (end_ns > awake_ns)
		e.poll_ns = end_ns - awake_ns;
	e.cost_ns = host->switch_ns + e.poll_ns + (e.polled ? 0 : host->b_ns);
	e.latency_ns = e.polled ? 0 : h->latency_ns;
	return e;
}

void suite_vcpu_halt(struct suite_vcpu *vcpu, const struct vhalt_config *config,
		     const struct suite_host *host, const struct suite_halt *h, bool must_block)
{
	struct vhalt_hint hint = {h->run_ns, h->deadline_ns, must_block};
	struct vhalt_outcome outcome = {.wake_ns = VHALT_UNKNOWN_NS};
	struct suite_sum *sum = &vcpu->sum;
	struct vhalt_plan plan;
	struct ending e;

	if (h->fresh)
		vhalt_state_init(&vcpu->state, config);
	if (host->timers_hidden)
		hint.deadline_ns = VHALT_NO_DEADLINE_NS;
	plan = vhalt_decide(&vcpu->state, config, &hint);
	e = plan.sleep_ns ? end_sleeping(host, h, plan) : end_polling(host, h, plan.window_ns);
	outcome.halt_ns = h->t_ns + e.latency_ns;
	outcome.window_ns = plan.window_ns;
	if (host->stamped)
		outcome.wake_ns = h->t_ns;
	outcome.flags = (e.polled ? VHALT_OUTCOME_POLLED : 0U) |
			(h->own_timer ? VHALT_OUTCOME_OWN_TIMER : 0U) |
			(must_block ? VHALT_OUTCOME_FORCED : 0U);
	vhalt_update(&vcpu->state, config, &outcome);
	sum->halts++;
	sum->polled += e.polled;
	sum->cost_ns += e.cost_ns;
	sum->oracle_ns += vhalt_oracle_cost_ns(h->t_ns, host->max_ns, host->b_ns);
	sum->poll_ns += e.poll_ns;
	sum->latency_ns += e.latency_ns;
	sum->saved_ns += h->latency_ns - e.latency_ns;
	sum->wall_ns += h->run_ns + outcome.halt_ns;
}

struct suite_sum suite_drive(const struct vhalt_config *config, const struct suite_host *host,
			     const struct suite_halt *halts, uint32_t nr)
{
	struct suite_vcpu vcpu;

	memset(&vcpu, 0, sizeof(vcpu));
	vhalt_state_init(&vcpu.state, config);
	for (uint32_t i = 0; i < nr; i++)
		suite_vcpu_halt(&vcpu, config, host, &halts[i], false);
	return vcpu.sum;
}

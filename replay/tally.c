// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What a policy did to a set of halts: exact sums, and the figures people read made of them.
#include "replay/tally.h"

#include <math.h>

void replay_tally_add(struct replay_tally *sum, const struct replay_tally *part)
{
	sum->polled += part->polled;
	sum->blocked += part->blocked;
	sum->timer_wakes += part->timer_wakes;
	sum->useful_ns += part->useful_ns;
	sum->wasted_ns += part->wasted_ns;
	sum->latency_sum_ns += part->latency_sum_ns;
}

uint64_t replay_tally_cost_ns(const struct replay_tally *tally, const struct replay_model *model)
{
	unsigned __int128 cost = (unsigned __int128)tally->latency_sum_ns * model->price;

	cost += (unsigned __int128)(tally->blocked + tally->timer_wakes) * model->switch_ns;
	cost += tally->useful_ns;
	cost += tally->wasted_ns;
	return cost > UINT64_MAX ? UINT64_MAX : (uint64_t)cost;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double ratio(uint64_t cost_ns, uint64_t oracle_cost_ns)
{
	if (oracle_cost_ns)
		return (double)cost_ns / (double)oracle_cost_ns;
	return cost_ns ? NAN : 1;
}

void replay_metrics_from(struct replay_metrics *metrics, const struct replay_tally *tally,
			 const struct replay_hist *hist, const struct replay_model *model,
			 uint64_t oracle_cost_ns, uint64_t wall_ns)
{
	uint64_t counted = tally->polled + tally->blocked;

	metrics->cost_ns = replay_tally_cost_ns(tally, model);
	metrics->ratio_to_oracle = ratio(metrics->cost_ns, oracle_cost_ns);
	metrics->poll_cpu_pct = percent(tally->useful_ns + tally->wasted_ns, wall_ns);
	metrics->poll_useful_pct = percent(tally->useful_ns, wall_ns);
	metrics->poll_wasted_pct = percent(tally->wasted_ns, wall_ns);
	metrics->polled_pct = percent(tally->polled, counted);
	metrics->latency_mean_ns = counted ? (double)tally->latency_sum_ns / (double)counted : 0;
	metrics->latency_p50_ns = replay_hist_percentile(hist, tally->polled, 500000);
	metrics->latency_p99_ns = replay_hist_percentile(hist, tally->polled, 990000);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Diagnosis of statistics: what polling cost as far as sums show it, and every rule for every
// table.
#include "diagnose/stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <vhalt/cost.h>

#include "replay/halt.h"

/* The middle of a log2 bucket: three quarters of its upper end. */
static double middle_ns(uint32_t bucket)
{
	return bucket ? 0.75 * (double)(1ULL << (bucket < 63 ? bucket : 63)) : 0;
}

static double hist_sum_ns(const struct stats_hist *h)
{
	double sum = 0;

	for (uint32_t i = 0; i < h->nr; i++)
		sum += (double)h->bucket[i] * middle_ns(i);
	return sum;
}

/* What a ceiling of 2^@log would have cost. @scale: true sum of a histogram over its middles. */
static double cost_at(const struct stats_summary *s, const struct diagnose_coarse *c, uint32_t log,
		      double scale_success, double scale_fail)
{
	double ceiling = log ? (double)(1ULL << log) : 0, cost = 0;

	for (uint32_t i = 0; i < s->success_hist->nr; i++) {
		double n = (double)s->success_hist->bucket[i];

		cost += i <= log && log ? n * middle_ns(i) * scale_success
					: n * (ceiling + (double)c->block_ns);
	}
	for (uint32_t i = 0; i < s->fail_hist->nr; i++) {
		double length = middle_ns(i) * scale_fail;

		cost += (double)s->fail_hist->bucket[i] *
			((length < ceiling ? length : ceiling) + (double)c->block_ns);
	}
	return cost;
}

static void find_best(struct diagnose_coarse *c, const struct stats_summary *s)
{
	double success = hist_sum_ns(s->success_hist), fail = hist_sum_ns(s->fail_hist);
	uint32_t longest = 0;

	for (uint32_t i = 0; i < s->success_hist->nr; i++)
		if (s->success_hist->bucket[i])
			longest = i;
	for (uint32_t i = longest + 1; i < s->fail_hist->nr; i++)
		if (s->fail_hist->bucket[i])
			longest = i;
	/* The last bucket counts all above. */
	if (longest > 40 || longest + 1 >= s->fail_hist->nr)
		return;
	c->has_best = true;
	c->longest_ns = longest ? 1ULL << longest : 0;
	for (uint32_t log = 0; log <= longest; log++) {
		double cost = cost_at(s, c, log, success > 0 ? (double)c->useful_ns / success : 1,
				      fail > 0 ? (double)c->wasted_ns / fail : 1);

		if (log && c->best_cost_ns <= cost)
			continue;
		c->best_cost_ns = cost;
		c->best_ns = log ? 1ULL << log : 0;
	}
}

void diagnose_coarse(struct diagnose_coarse *c, const struct stats_summary *s,
		     const struct diagnose_model *model)
{
	bool given = model && model->latency_ns;

	*c = (struct diagnose_coarse){.known = false};
	c->block_ns = vhalt_break_even_ns(given ? model->price : REPLAY_PRICE,
					  given ? model->latency_ns : REPLAY_LATENCY_NS,
					  given ? model->switch_ns : REPLAY_SWITCH_NS);
	if (s->attempted == STATS_UNKNOWN || s->successful == STATS_UNKNOWN ||
	    s->success_ns == STATS_UNKNOWN || s->fail_ns == STATS_UNKNOWN ||
	    s->successful > s->attempted)
		return;
	c->known = true;
	c->hits = s->successful;
	c->fails = s->attempted - s->successful;
	c->useful_ns = s->success_ns;
	c->wasted_ns = s->fail_ns;
	c->paid_ns = (double)c->useful_ns + (double)c->wasted_ns +
		     (double)c->fails * (double)c->block_ns;
	c->none_ns = (double)s->attempted * (double)c->block_ns;
	if (s->success_hist && s->fail_hist)
		find_best(c, s);
}

int diagnose_stats(const struct stats *stats, const struct diagnose_model *model, const char *label,
		   struct findings *findings)
{
	struct stats_summary *all;
	char subject[FINDING_SUBJECT_BYTES], evidence[FINDING_EVIDENCE_BYTES];
	struct diagnose_coarse coarse;

	if (!stats->nr_scopes)
		return 0;
	all = stats_summarise(stats);
	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < stats->nr_scopes; i++) {
		diagnose_coarse(&coarse, &all[i], model);
		snprintf(subject, sizeof(subject), "%.60s%s%s", label ? label : "",
			 label ? ": " : "", stats->scopes[i].label);
		for (uint32_t r = 0; r < diagnose_nr_stats_rules; r++)
			if (diagnose_stats_rules[r].holds(&all[i], &coarse, evidence))
				findings_add(findings, &diagnose_stats_rules[r].rule, subject,
					     evidence);
	}
	free(all);
	return 0;
}

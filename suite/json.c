// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The suite's results as JSON; the keys are documented in docs/measurements.md and stay.
#include "suite/json.h"

#include "util/results.h"

static json_t *json_cell(const struct suite_table *t, uint32_t setting, uint32_t workload,
			 uint32_t row)
{
	const struct suite_sum *sum = suite_table_sum(t, setting, workload, row);

	return json_pack(
		"{s:s, s:f, s:f, s:f, s:f}", "name", t->row_names[row], "ratio_to_oracle",
		results_rounded(suite_table_ratio(t, setting, workload, row)), "poll_cpu_pct",
		results_rounded(100. * (double)sum->poll_ns / (double)sum->wall_ns), "polled_pct",
		results_rounded(100. * (double)sum->polled / (double)sum->halts), "latency_mean_ns",
		results_rounded((double)sum->latency_ns / (double)sum->halts));
}

static json_t *json_workload(const struct suite_table *t, uint32_t setting, uint32_t workload)
{
	json_t *cells = json_array();

	for (uint32_t row = 0; cells && row < t->nr_rows; row++)
		cells = results_append(cells, json_cell(t, setting, workload, row));
	return json_pack("{s:s, s:o}", "name", suite_workload_name(t->options.workloads[workload]),
			 "policies", cells);
}

static json_t *json_summary(const struct suite_table *t, uint32_t setting, uint32_t row)
{
	uint32_t plain = 0, tuned = 0;
	double worst = suite_table_worst(t, setting, row, false, &plain);
	double worst_tuned = suite_table_worst(t, setting, row, true, &tuned);

	return json_pack("{s:s, s:f, s:f, s:f, s:s, s:f, s:s}", "name", t->row_names[row],
			 "geomean", results_rounded(suite_table_geomean(t, setting, row)), "excess",
			 results_rounded(suite_table_excess(t, setting, row)), "worst_to_kvm",
			 results_rounded(worst), "worst_to_kvm_workload",
			 suite_workload_name(t->options.workloads[plain]), "worst_to_tuned",
			 results_rounded(worst_tuned), "worst_to_tuned_workload",
			 suite_workload_name(t->options.workloads[tuned]));
}

static json_t *json_setting(const struct suite_table *t, uint32_t setting)
{
	json_t *workloads = json_array(), *summary = json_array();

	for (uint32_t w = 0; workloads && w < t->options.nr_workloads; w++)
		workloads = results_append(workloads, json_workload(t, setting, w));
	for (uint32_t row = 0; summary && row < t->nr_rows; row++)
		summary = results_append(summary, json_summary(t, setting, row));
	return json_pack("{s:I, s:I, s:s, s:o, s:o}", "b_ns", (json_int_t)t->settings[setting].b_ns,
			 "max_ns", (json_int_t)t->settings[setting].max_ns, "kvm_tuned",
			 t->tuned_names[setting], "policies", summary, "workloads", workloads);
}

json_t *suite_json_table(const struct suite_table *t)
{
	json_t *settings = json_array();

	for (uint32_t i = 0; settings && i < t->nr_settings; i++)
		settings = results_append(settings, json_setting(t, i));
	return json_pack("{s:I, s:I, s:I, s:o}", "seed", (json_int_t)t->options.seed, "halts",
			 (json_int_t)t->options.halts, "switch_ns",
			 (json_int_t)t->options.switch_ns, "settings", settings);
}

static json_t *json_quantiles(const struct suite_quantiles *q)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "p10", results_rounded(q->p10),
			 "p50", results_rounded(q->p50), "p90", results_rounded(q->p90), "p99",
			 results_rounded(q->p99), "p99_9", results_rounded(q->p999), "max",
			 results_rounded(q->max), "up_to_1_share", results_rounded(q->at_most_one));
}

json_t *suite_json_trial(const struct suite_trial *trial, const char *name)
{
	return json_pack(
		"{s:s, s:I, s:I, s:o, s:o, s:f, s:f, s:f, s:f}", "policy", name, "workloads",
		(json_int_t)trial->nr, "halts", (json_int_t)SUITE_TRIAL_HALTS, "to_kvm",
		json_quantiles(&trial->to_kvm), "to_kvm2", json_quantiles(&trial->to_kvm2),
		"geomean", results_rounded(trial->geomean), "kvm0_geomean",
		results_rounded(trial->kvm0_geomean), "kvm2_geomean",
		results_rounded(trial->kvm2_geomean), "worst", results_rounded(trial->worst));
}

json_t *suite_json_budget(const struct suite_budget_row *rows, uint32_t nr)
{
	static const char *const means[] = {"none", "price", "cut"};
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < nr; i++) {
		const struct suite_budget_row *r = &rows[i];

		list = results_append(
			list,
			json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "policy", r->spec,
				  "means", means[r->means], "cap_pct", r->cap_ppm / 1e4,
				  "burnt_pct", results_rounded(r->burnt_pct), "worst_tick_pct",
				  results_rounded(r->worst_tick_pct), "saved_ms_per_s",
				  results_rounded(r->saved_ms_per_s), "saved_per_burnt",
				  results_rounded(r->saved_per_burnt), "factor",
				  results_rounded(r->factor)));
	}
	return json_pack("{s:i, s:i, s:o}", "vcpus", (int)SUITE_BUDGET_VCPUS, "cpus",
			 (int)SUITE_BUDGET_CPUS, "rows", list);
}

json_t *suite_json_targets(const struct suite_target *targets, uint32_t nr)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < nr; i++)
		list = results_append(list, json_pack("{s:s, s:f, s:f, s:s, s:b}", "what",
						      targets[i].what, "value",
						      results_rounded(targets[i].value), "bound",
						      targets[i].bound, "side",
						      targets[i].at_least ? "at least" : "at most",
						      "held", (int)targets[i].held));
	return list;
}

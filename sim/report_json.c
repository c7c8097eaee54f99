// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A study's results as JSON; the keys are in vhalt-sim(1) and stay.

#include "sim/report.h"
#include "util/results.h"

static json_t *json_estimate(struct sim_estimate e)
{
	return json_pack("{s:f, s:f}", "mean", results_rounded(e.mean), "half",
			 results_rounded(e.half));
}

static json_t *json_metrics(const struct sim_study *study, uint32_t point, uint32_t row,
			    uint32_t column, uint32_t kind)
{
	bool host = kind == SIM_KINDS_MAX;
	uint32_t nr = host ? SIM_NR_HOST_METRICS : SIM_NR_VM_METRICS;
	json_t *metrics = json_object();

	for (uint32_t m = 0; metrics && m < nr; m++) {
		struct sim_metric_ref ref = {kind, m};
		const char *name = host ? sim_metric_host_name(m) : sim_metric_vm_name(m);

		if (json_object_set_new(
			    metrics, name,
			    json_estimate(sim_study_estimate(study, point, row, column, ref)))) {
			json_decref(metrics);
			return NULL;
		}
	}
	return metrics;
}

static json_t *json_cell(const struct sim_study *study, uint32_t point, uint32_t row,
			 uint32_t column)
{
	const struct sim_scenario *s = study->scenario;
	struct sim_metric_ref ref = {0, 0};
	json_t *vms = json_object();

	sim_metric_find(&s->base, s->rows[row].score, &ref);
	for (uint32_t k = 0; vms && k < s->base.nr_kinds; k++)
		if (json_object_set_new(vms, s->base.vm[k].name,
					json_metrics(study, point, row, column, k))) {
			json_decref(vms);
			vms = NULL;
		}
	return json_pack("{s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:o}", "row", s->rows[row].label,
			 "column", s->columns[column].label, "score_metric", s->rows[row].score,
			 "published", sim_scenario_published(s, row, column), "score",
			 json_estimate(sim_study_estimate(study, point, row, column, ref)),
			 "gain_pct", json_estimate(sim_study_gain(study, point, row, column, ref)),
			 "vms", vms, "host",
			 json_metrics(study, point, row, column, SIM_KINDS_MAX));
}

static json_t *json_point(const struct sim_study *study, uint32_t point)
{
	const struct sim_scenario *s = study->scenario;
	json_t *cells = json_array();

	for (uint32_t r = 0; cells && r < s->nr_rows; r++)
		for (uint32_t c = 0; cells && c < s->nr_columns; c++)
			cells = results_append(cells, json_cell(study, point, r, c));
	return json_pack("{s:s?, s:s?, s:o}", "key", study->sweep.nr ? study->sweep.key : NULL,
			 "value", study->sweep.nr ? study->sweep.values[point] : NULL, "cells",
			 cells);
}

json_t *sim_report_json(const struct sim_study *study, const char *name)
{
	json_t *points = json_array();

	for (uint32_t p = 0; points && p < sim_study_points(study); p++)
		points = results_append(points, json_point(study, p));
	return json_pack("{s:s, s:s, s:I, s:I, s:o}", "scenario", name, "title",
			 study->scenario->title, "seed", (json_int_t)study->seed, "seeds",
			 (json_int_t)study->seeds, "points", points);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A study's results as text.
#include <math.h>
#include <string.h>

#include "sim/report.h"

enum { LABEL_WIDTH = 24, CELL_WIDTH = 22, CELL_BYTES = 64 };

/* Four digits that mean something. */
static int decimals(double value)
{
	double size = fabs(value);

	return size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3;
}

static void print_estimate(char text[CELL_BYTES], struct sim_estimate e, const char *unit)
{
	int digits = decimals(e.mean);

	if (e.half > 0)
		snprintf(text, CELL_BYTES, "%.*f%s +- %.*f", digits, e.mean, unit, digits, e.half);
	else
		snprintf(text, CELL_BYTES, "%.*f%s", digits, e.mean, unit);
}

static void print_gain(char text[CELL_BYTES], struct sim_estimate e)
{
	/* Both are 0 where one of the two figures is. */
	if (e.mean == 0 && e.half == 0)
		snprintf(text, CELL_BYTES, "-");
	else
		snprintf(text, CELL_BYTES, "%+.1f%% +- %.1f", e.mean, e.half);
}

static struct sim_metric_ref score_of(const struct sim_study *study, uint32_t row)
{
	struct sim_metric_ref ref = {0, 0};

	/* Checked when the scenario was read. */
	sim_metric_find(&study->scenario->base, study->scenario->rows[row].score, &ref);
	return ref;
}

static void row_of_scores(FILE *out, const struct sim_study *study, uint32_t point, uint32_t row)
{
	const struct sim_scenario *s = study->scenario;
	struct sim_metric_ref ref = score_of(study, row);
	char text[CELL_BYTES];

	fprintf(out, "%-*.*s", LABEL_WIDTH, LABEL_WIDTH - 1, s->rows[row].label);
	for (uint32_t c = 0; c < s->nr_columns; c++) {
		print_estimate(text, sim_study_estimate(study, point, row, c, ref), "");
		fprintf(out, "%*s", CELL_WIDTH, text);
	}
	fprintf(out, "  %s\n", s->rows[row].score);
	if (s->nr_columns < 2)
		return;
	fprintf(out, "%-*s%*s", LABEL_WIDTH, "  better by", CELL_WIDTH, "");
	for (uint32_t c = 1; c < s->nr_columns; c++) {
		print_gain(text, sim_study_gain(study, point, row, c, ref));
		fprintf(out, "%*s", CELL_WIDTH, text);
	}
	fputc('\n', out);
}

static void row_of_published(FILE *out, const struct sim_scenario *s, uint32_t row)
{
	if (!s->rows[row].nr_published)
		return;
	fprintf(out, "%-*s", LABEL_WIDTH, "  published");
	for (uint32_t c = 0; c < s->nr_columns; c++) {
		const char *text = sim_scenario_published(s, row, c);

		fprintf(out, "%*s", CELL_WIDTH, text ? text : "-");
	}
	fputc('\n', out);
}

static void metrics_of(FILE *out, const struct sim_study *study, uint32_t point, uint32_t row,
		       uint32_t kind)
{
	const struct sim_scenario *s = study->scenario;
	bool host = kind == SIM_KINDS_MAX;
	uint32_t nr = host ? SIM_NR_HOST_METRICS : SIM_NR_VM_METRICS;

	for (uint32_t m = 0; m < nr; m++) {
		struct sim_metric_ref ref = {kind, m};
		char name[SIM_KEY_BYTES], text[CELL_BYTES];
		bool any = false;

		for (uint32_t c = 0; c < s->nr_columns; c++)
			any |= sim_study_estimate(study, point, row, c, ref).mean != 0;
		if (!any)
			continue;
		snprintf(name, sizeof(name), "    %s.%s", host ? "host" : s->base.vm[kind].name,
			 host ? sim_metric_host_name(m) : sim_metric_vm_name(m));
		fprintf(out, "%-*.*s", LABEL_WIDTH, LABEL_WIDTH - 1, name);
		for (uint32_t c = 0; c < s->nr_columns; c++) {
			print_estimate(text, sim_study_estimate(study, point, row, c, ref), "");
			fprintf(out, "%*s", CELL_WIDTH, text);
		}
		fputc('\n', out);
	}
}

static void table_of(FILE *out, const struct sim_study *study, uint32_t point, bool detail)
{
	const struct sim_scenario *s = study->scenario;

	if (study->sweep.nr)
		fprintf(out, "\n%s = %s\n", study->sweep.key, study->sweep.values[point]);
	fprintf(out, "%-*s", LABEL_WIDTH, "");
	for (uint32_t c = 0; c < s->nr_columns; c++)
		fprintf(out, "%*.*s", CELL_WIDTH, CELL_WIDTH - 1, s->columns[c].label);
	fputc('\n', out);
	for (uint32_t r = 0; r < s->nr_rows; r++) {
		row_of_scores(out, study, point, r);
		row_of_published(out, s, r);
		for (uint32_t k = 0; detail && k < s->base.nr_kinds; k++)
			metrics_of(out, study, point, r, k);
		if (detail)
			metrics_of(out, study, point, r, SIM_KINDS_MAX);
	}
}

void sim_report_text(FILE *out, const struct sim_study *study, bool detail)
{
	const struct sim_scenario *s = study->scenario;

	if (*s->title)
		fprintf(out, "%s\n", s->title);
	if (*s->note)
		fprintf(out, "%s\n", s->note);
	fprintf(out, "Means over %u seed%s from %llu, with 95 %% confidence intervals.\n\n",
		study->seeds, study->seeds == 1 ? "" : "s", (unsigned long long)study->seed);
	for (uint32_t p = 0; p < sim_study_points(study); p++)
		table_of(out, study, p, detail);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The suite's results as text.
#include "suite/text.h"

#include <inttypes.h>
#include <string.h>

#include "util/units.h"

enum { LABEL_WIDTH = 22, LEAST_WIDTH = 8 };

static int width_of(const struct suite_table *t, uint32_t row)
{
	int width = (int)strlen(t->row_names[row]) + 1;

	return width < LEAST_WIDTH ? LEAST_WIDTH : width;
}

static void print_heads(FILE *out, const struct suite_table *t, const char *label)
{
	fprintf(out, "%-*s", LABEL_WIDTH, label);
	for (uint32_t row = 0; row < t->nr_rows; row++)
		fprintf(out, "%*s", width_of(t, row), t->row_names[row]);
	fputc('\n', out);
}

/* The raw figures behind the costs, as means over the workloads. */
enum raw_figure { RAW_POLL_PCT, RAW_POLLED_PCT, RAW_LATENCY_US, RAW_FIGURES };

static double raw_of(const struct suite_sum *sum, enum raw_figure figure)
{
	switch (figure) {
	case RAW_POLL_PCT: return 100. * (double)sum->poll_ns / (double)sum->wall_ns;
	case RAW_POLLED_PCT: return 100. * (double)sum->polled / (double)sum->halts;
	default: return (double)sum->latency_ns / (double)sum->halts / 1e3;
	}
}

static void print_raw(FILE *out, const struct suite_table *t, uint32_t setting,
		      enum raw_figure figure)
{
	static const char *const labels[RAW_FIGURES] = {"polled % of a CPU", "met by polling %",
							"latency added us"};
	uint32_t nr = t->options.nr_workloads;

	fprintf(out, "%-*s", LABEL_WIDTH, labels[figure]);
	for (uint32_t row = 0; row < t->nr_rows; row++) {
		double sum = 0;

		for (uint32_t w = 0; w < nr; w++)
			sum += raw_of(suite_table_sum(t, setting, w, row), figure);
		fprintf(out, "%*.1f", width_of(t, row), sum / nr);
	}
	fputc('\n', out);
}

static void print_geomeans(FILE *out, const struct suite_table *t, uint32_t setting,
			   const char *label)
{
	fprintf(out, "%-*s", LABEL_WIDTH, label);
	for (uint32_t row = 0; row < t->nr_rows; row++)
		fprintf(out, "%*.3f", width_of(t, row), suite_table_geomean(t, setting, row));
	fputc('\n', out);
}

static const char *setting_text(const struct suite_table *t, uint32_t setting, char text[80])
{
	char b[UNITS_DURATION_BYTES], max[UNITS_DURATION_BYTES];

	snprintf(text, 80, "B %s, max %s", units_format_exact(t->settings[setting].b_ns, b),
		 units_format_exact(t->settings[setting].max_ns, max));
	return text;
}

static void print_setting(FILE *out, const struct suite_table *t, uint32_t setting)
{
	char text[80];

	fprintf(out, "\n%s; kvm tuned is %s: cost / the oracle's\n", setting_text(t, setting, text),
		t->tuned_names[setting]);
	print_heads(out, t, "workload");
	for (uint32_t w = 0; w < t->options.nr_workloads; w++) {
		fprintf(out, "%-*s", LABEL_WIDTH, suite_workload_name(t->options.workloads[w]));
		for (uint32_t row = 0; row < t->nr_rows; row++)
			fprintf(out, "%*.3f", width_of(t, row),
				suite_table_ratio(t, setting, w, row));
		fputc('\n', out);
	}
	print_geomeans(out, t, setting, "geometric mean");
	for (int figure = 0; figure < RAW_FIGURES; figure++)
		print_raw(out, t, setting, (enum raw_figure)figure);
}

static double excess_cut(const struct suite_table *t, uint32_t setting, uint32_t row,
			 uint32_t yardstick)
{
	return 100 * (1 - suite_table_excess(t, setting, row) /
				  suite_table_excess(t, setting, yardstick));
}

/* One policy of ours against the kernel's. */
static void print_against_kvm(FILE *out, const struct suite_table *t, uint32_t row)
{
	fprintf(out, "\n%s against kvm\n%-*s%34s%34s%22s\n", t->row_names[row], LABEL_WIDTH, "",
		"worst / better of kvm/0, kvm/2", "worst / these and kvm tuned",
		"excess below kvm/2");
	for (uint32_t i = 0; i < t->nr_settings; i++) {
		uint32_t plain = 0, tuned = 0;
		double worst = suite_table_worst(t, i, row, false, &plain);
		double worst_tuned = suite_table_worst(t, i, row, true, &tuned);
		char text[80];

		fprintf(out, "%-*s%20s %13.3f%20s %13.3f%12.0f %%, tuned %.0f %%\n", LABEL_WIDTH,
			setting_text(t, i, text), suite_workload_name(t->options.workloads[plain]),
			worst, suite_workload_name(t->options.workloads[tuned]), worst_tuned,
			excess_cut(t, i, row, SUITE_KVM2), excess_cut(t, i, row, SUITE_TUNED));
	}
}

void suite_text_table(FILE *out, const struct suite_table *t, bool brief)
{
	char text[80];

	fprintf(out,
		"%" PRIu32 " workloads of %" PRIu32 " halts, seed %" PRIu64
		"; the oracle polls and is clairvoyant\n",
		t->options.nr_workloads, t->options.halts, t->options.seed);
	for (uint32_t i = 0; i < t->nr_settings && !brief; i++)
		print_setting(out, t, i);
	fputs("\nGeometric mean of cost / the oracle's over the workloads\n", out);
	print_heads(out, t, "setting");
	for (uint32_t i = 0; i < t->nr_settings; i++)
		print_geomeans(out, t, i, setting_text(t, i, text));
	for (uint32_t row = SUITE_YARDSTICKS; row < t->nr_rows; row++)
		if (t->options.specs[row - SUITE_YARDSTICKS].policy == VHALT_POLICY_AUTO)
			print_against_kvm(out, t, row);
}

static void print_quantiles(FILE *out, const char *label, const struct suite_quantiles *q)
{
	fprintf(out, "%-34s%8.3f%8.3f%8.3f%8.3f%8.3f%8.3f%8.0f %%\n", label, q->p10, q->p50, q->p90,
		q->p99, q->p999, q->max, 100 * q->at_most_one);
}

void suite_text_trial(FILE *out, const struct suite_trial *trial, const char *name)
{
	fprintf(out,
		"%s over %" PRIu32 " random workloads of %u halts\n%-34s%8s%8s%8s%8s%8s%8s%10s\n",
		name, trial->nr, SUITE_TRIAL_HALTS, "cost /", "p10", "p50", "p90", "p99", "p99.9",
		"max", "up to 1");
	print_quantiles(out, "the better of kvm/0 and kvm/2", &trial->to_kvm);
	print_quantiles(out, "kvm/2", &trial->to_kvm2);
	fprintf(out,
		"Geometric mean of cost / the oracle's: %s %.3f, kvm/0 %.3f, kvm/2 %.3f; worst "
		"%.2f\n",
		name, trial->geomean, trial->kvm0_geomean, trial->kvm2_geomean, trial->worst);
}

void suite_text_budget(FILE *out, const struct suite_budget_row *rows, uint32_t nr)
{
	static const char *const means[] = {"no cap", "price, cap", "cut at"};

	fprintf(out,
		"%u vCPUs on %u CPUs, B 50us, max 200us; %% of the host's CPU time, saved wake-up "
		"latency of all\n%-26s%18s%10s%14s%14s%14s%10s\n",
		SUITE_BUDGET_VCPUS, SUITE_BUDGET_CPUS, "policy", "means", "burnt %", "worst tick %",
		"saved ms/s", "saved/burnt", "factor");
	for (uint32_t i = 0; i < nr; i++) {
		const struct suite_budget_row *r = &rows[i];
		char cap[16] = "";

		if (r->means != SUITE_BUDGET_FREE)
			snprintf(cap, sizeof(cap), " %g %%", r->cap_ppm / 1e4);
		fprintf(out, "%-26s%12s%6s%10.2f%14.2f%14.0f%14.2f%10.2f\n", r->spec,
			means[r->means], cap, r->burnt_pct, r->worst_tick_pct, r->saved_ms_per_s,
			r->saved_per_burnt, r->factor);
	}
}

uint32_t suite_text_targets(FILE *out, const struct suite_target *targets, uint32_t nr)
{
	uint32_t missed = 0;

	if (nr)
		fputs("\nTargets\n", out);
	for (uint32_t i = 0; i < nr; i++) {
		const struct suite_target *t = &targets[i];

		fprintf(out, "  %-6s %-68s %8.3f (%s %g)\n", t->held ? "held" : "MISSED", t->what,
			t->value, t->at_least ? "at least" : "at most", t->bound);
		missed += !t->held;
	}
	return missed;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Results as a table for people.
#include "replay/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "replay/text.h"
#include "util/units.h"

enum { LABEL_COLUMNS = 31 };

void replay_table_head(FILE *out)
{
	fprintf(out, "%-*s %8s %7s %17s %8s %24s\n", LABEL_COLUMNS, "", "cost", "times",
		"polling % of CPU", "met by", "added wake-up latency");
	fprintf(out, "%-*s %8s %7s %8s %8s %8s %8s %7s %7s\n", LABEL_COLUMNS, "policy", "% of CPU",
		"oracle", "all", "wasted", "poll %", "mean", "p50", "p99");
}

static void print_share(FILE *out, int columns, double percent, uint64_t wall_ns)
{
	if (wall_ns)
		fprintf(out, " %*.2f", columns, percent);
	else
		fprintf(out, " %*s", columns, "-");
}

static void print_latency(FILE *out, int columns, double ns)
{
	char text[UNITS_DURATION_BYTES];

	fprintf(out, " %*s", columns,
		ns < 0.5 ? "0" : units_format_duration((uint64_t)(ns + 0.5), text));
}

void replay_table_row(FILE *out, const char *label, const struct replay_metrics *m,
		      uint64_t wall_ns)
{
	if (strlen(label) > LABEL_COLUMNS) {
		fprintf(out, "%s\n", label);
		label = "";
	}
	fprintf(out, "%-*s", LABEL_COLUMNS, label);
	print_share(out, 8, wall_ns ? 100.0 * (double)m->cost_ns / (double)wall_ns : 0, wall_ns);
	if (isnan(m->ratio_to_oracle))
		fprintf(out, " %7s", "-");
	else
		fprintf(out, " %7.3f", m->ratio_to_oracle);
	print_share(out, 8, m->poll_cpu_pct, wall_ns);
	print_share(out, 8, m->poll_wasted_pct, wall_ns);
	fprintf(out, " %8.1f", m->polled_pct);
	print_latency(out, 8, m->latency_mean_ns);
	print_latency(out, 7, m->latency_p50_ns);
	print_latency(out, 7, m->latency_p99_ns);
	fputc('\n', out);
}

const char *replay_row_label(const struct replay_row *row, char text[VHALT_SPEC_TEXT_BYTES])
{
	struct vhalt_spec given;

	if (row->oracle)
		return "oracle";
	if (row->flags & REPLAY_ROW_PRESENT)
		return "kvm, present setting";
	/* What was adopted from the cost model is the same in every row: leave it out. */
	vhalt_spec_init(&given, row->spec.policy);
	given.given = row->spec.given;
	for (uint32_t i = 0; i < VHALT_PARAMS_MAX; i++)
		if (given.given & 1U << i)
			given.values[i] = row->spec.values[i];
	return vhalt_spec_format(&given, text);
}

void replay_table_group(FILE *out, const struct replay *replay, uint32_t group)
{
	uint64_t wall_ns = replay_group(replay, group)->wall_ns;

	replay_table_head(out);
	for (uint32_t row = 0; row < replay_nr_rows(replay); row++) {
		char text[VHALT_SPEC_TEXT_BYTES];
		struct replay_metrics metrics;

		replay_metrics(replay, row, group, &metrics);
		replay_table_row(out, replay_row_label(replay_row(replay, row), text), &metrics,
				 wall_ns);
	}
}

void replay_text_model(FILE *out, const struct replay_model *model)
{
	char latency[UNITS_DURATION_BYTES], cost[UNITS_DURATION_BYTES], max[UNITS_DURATION_BYTES];
	static const char *const sources[] = {
		[REPLAY_LATENCY_DEFAULT] = "assumed",
		[REPLAY_LATENCY_MEASURED] = "measured, mean",
		[REPLAY_LATENCY_GIVEN] = "as given",
	};

	units_format_duration(model->latency_ns, latency);
	units_format_duration(model->switch_ns, cost);
	units_format_duration(model->max_ns, max);
	replay_text_wrap(out, "",
			 "Cost: CPU polled away + %" PRIu32
			 " x added wake-up latency + %s per block. "
			 "Latency of a blocked vCPU: %s (%s). Windows up to %s. Oracle: knows each "
			 "halt's length, polls (up to %s) or blocks.",
			 model->price, cost, latency, sources[model->source], max, max);
}

void replay_text_missing(FILE *out, uint64_t lost, uint64_t damaged_frames)
{
	char events[64] = "", frames[64] = "";

	if (!lost && !damaged_frames)
		return;
	if (lost)
		snprintf(events, sizeof(events), "%" PRIu64 " lost event%s", lost,
			 lost == 1 ? "" : "s");
	if (damaged_frames)
		snprintf(frames, sizeof(frames), "%" PRIu64 " damaged frame%s", damaged_frames,
			 damaged_frames == 1 ? "" : "s");
	replay_text_wrap(out, "", "Missing from these figures: %s%s%s. Rates are too low.", events,
			 lost && damaged_frames ? ", " : "", frames);
}

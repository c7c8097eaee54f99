// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Advice in words a host operator understands.
#include "replay/advice_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "replay/table.h"
#include "replay/text.h"
#include "util/units.h"

/* Parameters of policy kvm and what the module calls them. */
static const struct {
	const char *key, *module;
} kernel_names[ADVICE_CHANGES_MAX] = {
	{"halt_poll_ns", "halt_poll_ns"},
	{"grow", "halt_poll_ns_grow"},
	{"grow_start", "halt_poll_ns_grow_start"},
	{"shrink", "halt_poll_ns_shrink"},
};

enum { SETTING_BYTES = 160, VMS_SHOWN = 8, CURVE_BYTES = 512 };

static uint64_t value_of(const struct vhalt_spec *spec, uint32_t name)
{
	return spec->values[vhalt_spec_param(VHALT_POLICY_KVM, kernel_names[name].key)];
}

uint32_t advice_setting(const struct advice *a, struct advice_change setting[ADVICE_CHANGES_MAX])
{
	for (uint32_t i = 0; i < ADVICE_CHANGES_MAX; i++)
		setting[i] = (struct advice_change){kernel_names[i].module,
						    value_of(&a->present, i),
						    value_of(&a->recommended, i)};
	return ADVICE_CHANGES_MAX;
}

uint32_t advice_changes(const struct advice *a, struct advice_change changes[ADVICE_CHANGES_MAX])
{
	struct advice_change setting[ADVICE_CHANGES_MAX];
	uint32_t nr = advice_setting(a, setting), changed = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (setting[i].from != setting[i].to)
			changes[changed++] = setting[i];
	return changed;
}

static const char *window_text(uint64_t ns, char text[UNITS_DURATION_BYTES])
{
	return ns ? units_format_exact(ns, text) : "0";
}

/* "halt_poll_ns=50us grow=2 grow_start=10us shrink=0" */
static const char *setting_text(const struct vhalt_spec *spec, char text[SETTING_BYTES])
{
	char window[UNITS_DURATION_BYTES], start[UNITS_DURATION_BYTES];

	snprintf(text, SETTING_BYTES,
		 "halt_poll_ns=%s grow=%" PRIu64 " grow_start=%s shrink=%" PRIu64,
		 window_text(value_of(spec, 0), window), value_of(spec, 1),
		 window_text(value_of(spec, 2), start), value_of(spec, 3));
	return text;
}

static const char *latency(double ns, char text[UNITS_DURATION_BYTES])
{
	return ns < 0.5 ? strcpy(text, "0") : units_format_duration((uint64_t)(ns + 0.5), text);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_head(FILE *out, const struct advice *a)
{
	char wall[UNITS_DURATION_BYTES];
	const struct replay_survey *s = &a->survey;

	replay_text_wrap(out, "",
			 "%" PRIu64 " halt%s of %" PRIu32 " vCPU%s in %" PRIu32
			 " VM%s, recorded in %s%s%s%s%s.",
			 a->counts.halts, plural(a->counts.halts), s->vcpus, plural(s->vcpus),
			 s->vms, plural(s->vms), units_format_duration(a->wall_ns, wall),
			 s->host[0] ? " on " : "", s->host, s->kernel[0] ? ", Linux " : "",
			 s->kernel);
	fputc('\n', out);
}

static void print_table(FILE *out, const struct advice *a)
{
	char text[VHALT_SPEC_TEXT_BYTES];
	struct replay_metrics m;

	replay_table_head(out);
	for (uint32_t row = 0; row < replay_nr_rows(a->replay); row++) {
		replay_metrics(a->replay, row, 0, &m);
		replay_table_row(out, replay_row_label(replay_row(a->replay, row), text), &m,
				 a->wall_ns);
		if (row == a->row_present && advice_is_change(a))
			replay_table_row(out, "kvm, recommended setting", &a->m_candidate,
					 a->wall_ns);
	}
	replay_text_model(out, &a->model);
	replay_text_missing(out, a->survey.lost, a->survey.damaged_frames);
}

static void print_present(FILE *out, const struct advice *a)
{
	const struct replay_metrics *m = &a->m_present;
	char text[SETTING_BYTES], mean[UNITS_DURATION_BYTES], p99[UNITS_DURATION_BYTES];

	fprintf(out, "\nNOW  %s%s\n", setting_text(&a->present, text),
		a->present_known ? "" : " (assumed)");
	replay_text_wrap(out, "  ",
			 "Polling burns %.2f %% of a CPU: %.2f %% met a wake-up, %.2f %% was "
			 "in vain.",
			 m->poll_cpu_pct, m->poll_useful_pct, m->poll_wasted_pct);
	replay_text_wrap(out, "  ",
			 "%.1f %% of the halts are met by polling. Over all halts that "
			 "leaves a wake-up latency of %s on average, p99 %s.",
			 m->polled_pct, latency(m->latency_mean_ns, mean),
			 latency(m->latency_p99_ns, p99));
	replay_text_wrap(out, "  ",
			 "At a price of %" PRIu32 " this costs %.2f times the clairvoyant "
			 "minimum.",
			 a->model.price, m->ratio_to_oracle);
}

static void print_commands(FILE *out, const struct advice *a)
{
	struct advice_change changes[ADVICE_CHANGES_MAX];
	uint32_t nr = advice_changes(a, changes);

	fprintf(out, "  Now:\n");
	for (uint32_t i = 0; i < nr; i++)
		fprintf(out, "    echo %" PRIu64 " > /sys/module/kvm/parameters/%s\n",
			changes[i].to, changes[i].parameter);
	fprintf(out, "  At every boot, as a line of /etc/modprobe.d/kvm.conf:\n    options kvm");
	for (uint32_t i = 0; i < nr; i++)
		fprintf(out, " %s=%" PRIu64, changes[i].parameter, changes[i].to);
	fprintf(out, "\n");
	replay_text_wrap(out, "  ",
			 "Or let vhalt do the first and remember the old values: vhalt advise "
			 "--apply; undo: vhalt ctl restore.");
}

static void print_change(FILE *out, const struct advice *a)
{
	const struct replay_metrics *now = &a->m_present, *then = &a->m_candidate;
	char text[SETTING_BYTES], mean[2][UNITS_DURATION_BYTES], p99[2][UNITS_DURATION_BYTES];

	fprintf(out, "\nSET  %s\n", setting_text(&a->recommended, text));
	replay_text_wrap(
		out, "  ",
		"Saves %.1f %% of what halting costs now. Polling: %.2f %% of a CPU "
		"instead of %.2f %%, in vain %.2f %% instead of %.2f %%. Added latency: mean %s "
		"instead of %s, p99 %s instead of %s.",
		100 * (1 - (double)then->cost_ns / (double)now->cost_ns), then->poll_cpu_pct,
		now->poll_cpu_pct, then->poll_wasted_pct, now->poll_wasted_pct,
		latency(then->latency_mean_ns, mean[0]), latency(now->latency_mean_ns, mean[1]),
		latency(then->latency_p99_ns, p99[0]), latency(now->latency_p99_ns, p99[1]));
	print_commands(out, a);
	replay_text_wrap(
		out, "  ",
		"How sure: both halves of the recording agree (%.1f %% and %.1f %%); "
		"what one half alone would pick saves %.1f %% and %.1f %% in the other. 95 %% of "
		"%u resamples of %" PRIu32 " blocks save %.1f to %.1f %%. %" PRIu32
		" settings were tried.",
		100 * a->sure.half_gain[0], 100 * a->sure.half_gain[1], 100 * a->sure.cross_gain[0],
		100 * a->sure.cross_gain[1], CONFIDENCE_RESAMPLES, a->sure.blocks,
		100 * a->sure.low, 100 * a->sure.high, a->tried);
}

static void print_few(FILE *out, uint64_t counted)
{
	replay_text_wrap(out, "  ",
			 "%" PRIu64 " halt%s too few to say anything; at least %u are needed. "
			 "Record longer.",
			 counted, counted == 1 ? " is" : "s are", CONFIDENCE_HALTS_MIN);
}

static void print_keep(FILE *out, const struct advice *a)
{
	const struct confidence *c = &a->sure;
	char text[SETTING_BYTES];

	fprintf(out, "\n%s\n",
		c->verdict == CONFIDENCE_FEW ? "NO ADVICE" : "KEEP the present setting");
	switch (c->verdict) {
	case CONFIDENCE_FEW:
		print_few(out, a->counts.counted);
		break;
	case CONFIDENCE_NO_GAIN:
		replay_text_wrap(out, "  ",
				 "None of the other %" PRIu32 " settings tried is better by "
				 "more than %.1f %%.",
				 a->tried - 1, 100 * REPLAY_SEARCH_TIE);
		break;
	case CONFIDENCE_SMALL:
		replay_text_wrap(
			out, "  ",
			"The best of %" PRIu32 " settings tried, %s, would save %.1f "
			"%%: too little to be worth a change (%.0f %%, and %.1f %% of a CPU).",
			a->tried, setting_text(&a->candidate, text), 100 * c->gain,
			100 * CONFIDENCE_GAIN_MIN, 100 * CONFIDENCE_CPU_MIN);
		break;
	default:
		replay_text_wrap(
			out, "  ",
			"The best of %" PRIu32 " settings tried, %s, saves %.1f %% in "
			"this recording, but that may be chance: %.1f and %.1f %% in its halves, "
			"picked from one half %.1f and %.1f %% in the other, 95 %% interval %.1f "
			"to "
			"%.1f %%. A longer recording would tell.",
			a->tried, setting_text(&a->candidate, text), 100 * c->gain,
			100 * c->half_gain[0], 100 * c->half_gain[1], 100 * c->cross_gain[0],
			100 * c->cross_gain[1], 100 * c->low, 100 * c->high);
	}
}

/* Rounded to what is printed, so that equal neighbours are seen; never -0.0. */
static double curve_cost(const struct advice_point *point)
{
	double tenths = round(-1000 * point->gain);

	return tenths == 0 ? 0 : tenths / 10;
}

/* "0..10us:+35.1, 20us:+20.0, 50us:-1.2": cost against now, the losers included. */
static void print_curve(FILE *out, const struct advice *a)
{
	char curve[CURVE_BYTES] = "", from[UNITS_DURATION_BYTES], to[UNITS_DURATION_BYTES];
	size_t used = 0;

	for (uint32_t i = 0, last; i < a->nr_curve && used < sizeof(curve); i = last + 1) {
		double cost = curve_cost(&a->curve[i]);

		for (last = i; last + 1 < a->nr_curve; last++)
			if (curve_cost(&a->curve[last + 1]) != cost)
				break;
		used += (size_t)snprintf(
			curve + used, sizeof(curve) - used, "%s%s%s%s:%+.1f", i ? ", " : "",
			window_text(a->curve[i].halt_poll_ns, from), last > i ? ".." : "",
			last > i ? window_text(a->curve[last].halt_poll_ns, to) : "", cost);
	}
	replay_text_wrap(out, "  ",
			 "Cost against now, in %%, by halt_poll_ns (the rest as in %s): %s.",
			 advice_is_change(a) ? "SET" : "the best found", curve);
}

/* What auto would change, in words that do not claim more than the interval does. */
static void describe_auto(const struct advice *a, char text[SETTING_BYTES])
{
	const struct confidence *c = &a->auto_sure;
	double gain = a->m_present.cost_ns
			      ? 1 - (double)a->m_auto.cost_ns / (double)a->m_present.cost_ns
			      : 0;

	if (c->low > 0 && gain > 0)
		snprintf(text, SETTING_BYTES,
			 "%.1f %% less than now (95 %% interval %.1f to %.1f %%)", 100 * gain,
			 100 * c->low, 100 * c->high);
	else if (c->high < 0 && gain < 0)
		snprintf(text, SETTING_BYTES,
			 "%.1f %% more than now (95 %% interval %.1f to %.1f %%)", -100 * gain,
			 -100 * c->high, -100 * c->low);
	else
		snprintf(text, SETTING_BYTES,
			 "about as much as now (95 %% interval of the saving %.1f to %.1f %%)",
			 100 * c->low, 100 * c->high);
}

static void print_auto(FILE *out, const struct advice *a)
{
	const struct replay_metrics *m = &a->m_auto;
	char mean[UNITS_DURATION_BYTES], p99[UNITS_DURATION_BYTES], change[SETTING_BYTES];

	describe_auto(a, change);
	fprintf(out, "\nAUTO\n");
	replay_text_wrap(
		out, "  ",
		"Policy auto at a price of %" PRIu32 " would cost %.2f times the clairvoyant "
		"minimum, %s: polling %.2f %% of a CPU, latency mean %s, p99 %s. It tunes "
		"itself per vCPU from the price; the module vhalt_kvm brings it to a stock "
		"kernel.",
		a->model.price, m->ratio_to_oracle, change, m->poll_cpu_pct,
		latency(m->latency_mean_ns, mean), latency(m->latency_p99_ns, p99));
}

static void print_vm(FILE *out, const struct advice *a, const struct advice_vm *vm)
{
	char own[UNITS_DURATION_BYTES];

	if (vm->differs)
		replay_text_wrap(
			out, "  - ",
			"%s: halt_poll_ns=%s suits it better, it would pay %.1f %% "
			"less than under the host's setting (95 %% interval %.1f to %.1f %%).",
			vm->label, window_text(vm->own_ns, own), 100 * vm->own.gain,
			100 * vm->own.low, 100 * vm->own.high);
	if (vm->loses && advice_is_change(a))
		replay_text_wrap(
			out, "  - ", "%s: loses by the change, it pays %.1f %% more than now.",
			vm->label,
			100 * ((double)vm->recommended.cost_ns / (double)vm->present.cost_ns - 1));
}

static void print_vms(FILE *out, const struct advice *a)
{
	uint32_t told = 0, left = 0, differ = 0;

	for (uint32_t i = 0; i < a->nr_vms; i++) {
		if (!a->vms[i].differs && !a->vms[i].loses)
			continue;
		if (!told)
			fprintf(out, "\nVMs THAT DIFFER\n");
		differ += a->vms[i].differs;
		if (told++ < VMS_SHOWN)
			print_vm(out, a, &a->vms[i]);
		else
			left++;
	}
	if (left)
		fprintf(out, "  - and %" PRIu32 " more (--json lists all)\n", left);
	if (differ)
		replay_text_wrap(out, "  ",
				 "Only a VM's own VMM can give it a ceiling of its own "
				 "(KVM_CAP_HALT_POLL); the module parameters are one for all.");
}

void advice_text(FILE *out, const struct advice *a, const struct advice_notes *notes)
{
	bool few = a->sure.verdict == CONFIDENCE_FEW;

	print_head(out, a);
	print_table(out, a);
	print_present(out, a);
	if (advice_is_change(a))
		print_change(out, a);
	else
		print_keep(out, a);
	if (!few) {
		print_curve(out, a);
		print_auto(out, a);
		print_vms(out, a);
	}
	if (notes->nr)
		fprintf(out, "\nNOTES\n");
	for (uint32_t i = 0; i < notes->nr; i++)
		replay_text_wrap(out, "  - ", "%s", notes->text[i]);
}

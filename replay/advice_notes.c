// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Remarks that belong to a piece of advice: what weakens it, and what it rests on.
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include <vhalt/cost.h>

#include "replay/advice_text.h"
#include "util/units.h"

void advice_note(struct advice_notes *notes, const char *format, ...)
{
	va_list args;

	if (notes->nr == ADVICE_NOTES_MAX)
		return;
	va_start(args, format);
	vsnprintf(notes->text[notes->nr++], ADVICE_NOTE_BYTES, format, args);
	va_end(args);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Halts that are not in the cost. */
static void note_apart(struct advice_notes *notes, const struct replay_counts *c)
{
	if (c->cut_short)
		advice_note(notes,
			    "%" PRIu64 " polls (%.1f %% of the halts) were cut short: another task "
			    "wanted the CPU. No window helps those; they are counted apart.",
			    c->cut_short, share(c->cut_short, c->halts));
	if (c->invalid)
		advice_note(notes,
			    "%" PRIu64
			    " wake-ups (%.1f %%) were invalid by the kernel's word and are "
			    "counted apart.",
			    c->invalid, share(c->invalid, c->halts));
	if (c->unknown_window)
		advice_note(notes,
			    "%" PRIu64
			    " halts (%.1f %%) blocked under a window nobody recorded: a poll "
			    "cut short would not be seen among them.",
			    c->unknown_window, share(c->unknown_window, c->halts));
}

static void note_losses(struct advice_notes *notes, const struct replay_survey *s,
			const struct replay_counts *c)
{
	if (s->lost)
		advice_note(notes,
			    "%" PRIu64 " events were lost while recording; %" PRIu64
			    " halts come after such a gap.",
			    s->lost, c->gaps);
	if (s->damaged_frames)
		advice_note(notes,
			    "Damaged frames of the recording that were left out: %" PRIu64
			    "; their halts are missing, so rates are too low.",
			    s->damaged_frames);
}

static void note_latency(struct advice_notes *notes, const struct advice *a)
{
	char latency[UNITS_DURATION_BYTES];

	if (a->model.source == REPLAY_LATENCY_DEFAULT)
		advice_note(
			notes,
			"The wake-up latency of a blocked vCPU, %s, is assumed: this recording "
			"does "
			"not measure it (vhalt record --latency does, or give it by --latency).",
			units_format_duration(a->model.latency_ns, latency));
	else if (a->model.source == REPLAY_LATENCY_GIVEN && a->survey.measured)
		advice_note(notes, "The given latency replaces what the recording measured.");
}

/* The first of 1, 2, 5, 10, 20 us ... that is not below @ns, as far as windows may go. */
static uint64_t round_up(uint64_t ns)
{
	static const uint64_t steps[] = {1, 2, 5};
	uint64_t unit_ns = 1000;

	while (unit_ns < VHALT_WINDOW_MAX_NS) {
		for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
			if (steps[i] * unit_ns >= ns && steps[i] * unit_ns < VHALT_WINDOW_MAX_NS)
				return steps[i] * unit_ns;
		unit_ns *= 10;
	}
	return VHALT_WINDOW_MAX_NS;
}

/* Halts up to the break-even are worth polling for: a lower --max hides what that would save. */
static void note_max(struct advice_notes *notes, const struct advice *a)
{
	char cost[UNITS_DURATION_BYTES], max[UNITS_DURATION_BYTES], wider[UNITS_DURATION_BYTES];
	uint64_t b_ns = vhalt_break_even_ns(a->model.price, a->model.latency_ns,
					    a->model.switch_ns);

	if (b_ns <= a->model.max_ns || a->model.max_ns >= VHALT_WINDOW_MAX_NS)
		return;
	advice_note(notes,
		    "Blocking costs %s (price %" PRIu32 " x latency + switch), but windows were "
		    "considered only up to %s, by the clairvoyant minimum too; --max %s would "
		    "look further.",
		    units_format_duration(b_ns, cost), a->model.price,
		    units_format_exact(a->model.max_ns, max),
		    units_format_exact(round_up(b_ns), wider));
}

static void note_setting(struct advice_notes *notes, const struct advice *a)
{
	int window = vhalt_spec_param(VHALT_POLICY_KVM, "halt_poll_ns");

	if (a->present.values[window] > a->model.max_ns || a->survey.ceiling_ns > a->model.max_ns)
		advice_note(notes,
			    "The present setting polls for longer than --max allows policies, "
			    "search and oracle: it may come out below the oracle.");
	if (!a->present_known)
		advice_note(notes, "The recording does not say how the kernel was set; mainline's "
				   "defaults are taken for the present setting.");
	if (a->survey.params_differ)
		advice_note(notes, "The recordings were made under different settings; the first "
				   "one's is taken for the present setting.");
	for (uint32_t vm = 0; vm < a->nr_vms; vm++) {
		char ceiling[UNITS_DURATION_BYTES];

		if (a->vms[vm].ceiling_ns == TRACE_UNKNOWN_U32)
			continue;
		advice_note(notes,
			    "%s has a ceiling of its own, %s (KVM_CAP_HALT_POLL): halt_poll_ns "
			    "does not "
			    "reach it.",
			    a->vms[vm].label, units_format_exact(a->vms[vm].ceiling_ns, ceiling));
	}
}

/* CPU models that QEMU's software emulation invents. */
static bool is_emulated(const char *host)
{
	return strstr(host, "QEMU") || strstr(host, "TCG");
}

void advice_note_findings(struct advice_notes *notes, const struct advice *a)
{
	note_losses(notes, &a->survey, &a->counts);
	note_apart(notes, &a->counts);
	note_latency(notes, a);
	if (is_emulated(a->survey.host))
		advice_note(notes,
			    "The recorded machine's CPU is emulated (%s): its timings say "
			    "nothing about real hardware.",
			    a->survey.host);
	if (a->sample_one_of > 1)
		advice_note(notes,
			    "The search looked at one of every %" PRIu32 " stretches of each "
			    "vCPU's halts, %" PRIu64 " of %" PRIu64 " halts.",
			    a->sample_one_of, a->sample_halts, a->counts.counted);
	note_max(notes, a);
	note_setting(notes, a);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What vhalt record says: progress, notes and the summary as text or JSON.
#include "tool/record_print.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "util/units.h"

#define SECOND_NS UINT64_C(1000000000)

static bool progress_shown;

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void record_print_progress(const struct record_summary *summary)
{
	static uint64_t next_ns = 2 * SECOND_NS;
	const struct recorder_counts *c = &summary->counts;

	if (summary->duration_ns < next_ns || !isatty(STDERR_FILENO))
		return;
	next_ns = summary->duration_ns + SECOND_NS;
	progress_shown = true;
	fprintf(stderr,
		"\rvhalt record: %" PRIu64 " s, %" PRIu64 " halt%s of %" PRIu32 " vCPU%s, %" PRIu64
		" lost  ",
		summary->duration_ns / SECOND_NS, c->halts, plural(c->halts), c->vcpus,
		plural(c->vcpus), c->lost);
}

void record_end_progress(void)
{
	if (progress_shown)
		fprintf(stderr, "\r%70s\r", "");
	progress_shown = false;
}

void record_print_notes(const struct record_summary *summary, bool verbose)
{
	const struct recorder_counts *c = &summary->counts;

	if (c->lost)
		fprintf(stderr,
			"vhalt record: %" PRIu64
			" event%s lost (%.2f %%): the recording marks where; "
			"a larger --ring-kib keeps more\n",
			c->lost, plural(c->lost),
			100.0 * (double)c->lost / (double)(c->lost + c->halts));
	if (!c->halts)
		fputs("vhalt record: no vCPU halted: no VM was running under this kernel's KVM, or "
		      "none "
		      "of those asked for is one\n",
		      stderr);
	if (verbose && c->early)
		fprintf(stderr,
			"vhalt record: %" PRIu64
			" halt%s left out that began before the recording\n",
			c->early, plural(c->early));
}

static double per_halt(const struct record_summary *summary, uint64_t amount)
{
	return summary->counts.halts ? (double)amount / (double)summary->counts.halts : 0;
}

static int print_json(FILE *out, const struct record_summary *s)
{
	const struct recorder_counts *c = &s->counts;
	json_t *root = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "file", s->path,
				 "duration_ns", (json_int_t)s->duration_ns, "halts",
				 (json_int_t)c->halts, "vms", (json_int_t)c->vms, "vcpus",
				 (json_int_t)c->vcpus, "lost", (json_int_t)c->lost, "early",
				 (json_int_t)c->early, "bytes", (json_int_t)c->bytes,
				 "bytes_per_halt", per_halt(s, c->bytes));
	int err = root ? 0 : -ENOMEM;

	if (!err && s->has_cost)
		err = json_object_update_new(
			root, json_pack("{s:I, s:I, s:f}", "probe_ns", (json_int_t)c->probe_ns,
					"probe_runs", (json_int_t)c->probe_runs,
					"probe_ns_per_halt", per_halt(s, c->probe_ns)));
	if (!err)
		err = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	json_decref(root);
	return err || fputc('\n', out) == EOF ? -EIO : 0;
}

static void print_text(FILE *out, const struct record_summary *s)
{
	const struct recorder_counts *c = &s->counts;
	char duration[UNITS_DURATION_BYTES];

	fprintf(out, "%s: %" PRIu64 " halt%s of %" PRIu32 " vCPU%s in %" PRIu32 " VM%s in %s",
		s->path, c->halts, plural(c->halts), c->vcpus, plural(c->vcpus), c->vms,
		plural(c->vms), units_format_duration(s->duration_ns, duration));
	if (c->lost)
		fprintf(out, ", %" PRIu64 " lost", c->lost);
	else
		fputs(", none lost", out);
	if (c->halts && c->bytes)
		fprintf(out, ", %.2f bytes per halt", per_halt(s, c->bytes));
	if (c->halts && s->has_cost)
		fprintf(out, ", %.0f ns of recording per halt", per_halt(s, c->probe_ns));
	fputc('\n', out);
}

int record_print_summary(FILE *out, const struct record_summary *summary, bool json)
{
	int err = 0;

	if (json)
		err = print_json(out, summary);
	else
		print_text(out, summary);
	if (err || ferror(out) || fflush(out)) {
		fputs("vhalt record: the summary could not be written\n", stderr);
		return -EIO;
	}
	return 0;
}

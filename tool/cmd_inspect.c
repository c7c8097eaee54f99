// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt inspect: what kind of file this is, what is in it, what is missing, and what it shows.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/json.h"
#include "replay/source.h"
#include "replay/text.h"
#include "tool/commands.h"
#include "tool/diagnose_print.h"
#include "tool/inspect_trace.h"
#include "tool/options.h"

static bool json;

static const struct option_row rows[] = {
	{"json", 'j', OPTION_FLAG, &json, NULL, "print JSON", 0, 0, NULL},
	{0},
};

static const struct option_spec spec = {
	.command = "inspect",
	.usage = "[options] FILE...",
	.summary = "Says what kind of file each is, what is in it, what is missing, and what it "
		   "shows.",
	.rows = rows,
};

/** One file's outcome. */
struct inspected {
	const char *path; /* for people */
	const char *from; /* to read: perhaps a copy */
	struct kept_reports reports;
	struct findings findings;
	json_t *object; /* with --json */
	bool beside;	/* what is shown stands beside a trace that is shown as well */
};

static void print_kinds(const struct stats *stats)
{
	const char *between = "";

	for (uint32_t i = 0; i < STATS_NR_KINDS; i++) {
		if (!(stats->kinds & 1U << i))
			continue;
		printf("%s%s", between, stats_kind_name(1U << i));
		between = ", ";
	}
	printf("%s\n", stats->swapped ? ", of the other byte order" : "");
}

static void print_kernel(const struct stats_kernel *kernel)
{
	printf("  kernel     %s%s%s%s\n", kernel->text[0] ? kernel->text : "not shown",
	       kernel->text[0] ? " (" : "", kernel->why, kernel->text[0] ? ")" : "");
	if (kernel->machine)
		printf("  machine    %s, by its names\n", kernel->machine);
}

static void print_reports(const struct inspected *in)
{
	for (uint32_t i = 0; i < in->reports.nr; i++)
		replay_text_wrap(stdout, "  ? ", "%s", in->reports.text[i]);
}

static void print_missing(const struct inspected *in, const struct stats *stats)
{
	if (stats->damaged)
		printf("  damaged    %" PRIu64 " left out, see below\n", stats->damaged);
	if (stats->left_out)
		printf("  too many   %" PRIu64 " counters or settings beyond what is kept\n",
		       stats->left_out);
	if (stats->ignored)
		printf("  other      %" PRIu64 " lines that are no part of it\n", stats->ignored);
	if (stats->events && !in->beside)
		printf("  events     %" PRIu64 " lines look like a trace, which is not read here\n",
		       stats->events);
	if (stats->unfinished)
		printf("  the last line has no newline: if the file was cut, its value may be "
		       "too\n");
}

static json_t *json_kinds(const struct stats *stats)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < STATS_NR_KINDS; i++)
		if (stats->kinds & 1U << i)
			json_array_append_new(list, json_string(stats_kind_name(1U << i)));
	return list;
}

static void show_stats(struct inspected *in, const struct stats *stats)
{
	struct stats_kernel kernel;

	stats_guess_kernel(&kernel, stats);
	if (json) {
		in->object = json_stats(stats, NULL);
		if (!in->object)
			return;
		json_object_set_new(in->object, "kinds", json_kinds(stats));
		json_object_set_new(in->object, "kernel",
				    kernel.text[0] ? json_string(kernel.text) : json_null());
		json_object_set_new(in->object, "kernel_why", json_string(kernel.why));
		json_object_set_new(in->object, "machine",
				    kernel.machine ? json_string(kernel.machine) : json_null());
		json_object_set_new(in->object, "damaged",
				    json_integer((json_int_t)stats->damaged));
		json_object_set_new(in->object, "left_out",
				    json_integer((json_int_t)stats->left_out));
		json_object_set_new(in->object, "ignored_lines",
				    json_integer((json_int_t)stats->ignored));
		json_object_set_new(in->object, "unfinished", json_boolean(stats->unfinished));
		json_object_set_new(in->object, "replayable", json_false());
		return;
	}
	printf("%s: ", in->path);
	print_kinds(stats);
	print_kernel(&kernel);
	print_stats(stats, NULL);
	print_missing(in, stats);
}

static int inspect_stats(struct inspected *in)
{
	struct trace_diag diag = kept_reports_diag(&in->reports);
	struct stats *stats;
	int err = stats_read(&stats, in->from, &diag);

	if (err)
		return err;
	err = diagnose_stats(stats, NULL, NULL, &in->findings);
	diagnose_settings(stats, NULL, &in->findings);
	if (!err)
		show_stats(in, stats);
	stats_destroy(stats);
	return err;
}

/* A bug report may hold tables and parameters beside its trace: those are shown as well. */
static int inspect_beside(struct inspected *in)
{
	enum { REPORT_BYTES = 16 << 20 }; /* longer ones are traces and nothing else */
	const struct trace_diag silent = {NULL, NULL};
	json_t *trace = in->object;
	struct stats *stats;
	struct stat about;
	bool mixed;
	int err;

	err = strcmp(in->from, "-") ? stat(in->from, &about) : fstat(STDIN_FILENO, &about);
	if (err || !S_ISREG(about.st_mode) || about.st_size > REPORT_BYTES ||
	    stats_read(&stats, in->from, &silent))
		return 0;
	mixed = stats->events && (stats->nr_values || stats->nr_settings);
	stats_destroy(stats);
	if (!mixed)
		return 0;
	in->beside = true;
	err = inspect_stats(in);
	if (json && trace) {
		json_object_set_new(trace, "beside", in->object ? in->object : json_null());
		in->object = trace;
	}
	return err;
}

static json_t *json_reports(const struct kept_reports *reports)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < reports->nr; i++)
		json_array_append_new(list, json_string(reports->text[i]));
	return list;
}

static int finish(struct inspected *in, int err, json_t *list)
{
	if (json) {
		json_t *o = in->object ? in->object : json_object();

		json_object_set_new(o, "path", json_string(in->path));
		json_object_set_new(o, "recognised", json_boolean(!err));
		json_object_set_new(o, "reports", json_reports(&in->reports));
		json_object_set_new(o, "findings", json_findings(&in->findings));
		json_array_append_new(list, o);
	} else {
		if (err)
			printf("%s: not read\n", in->path);
		print_reports(in);
		if (in->findings.nr)
			printf("  SHOWS\n");
		else if (!err)
			printf("  shows nothing remarkable\n");
		print_findings(&in->findings);
		printf("\n");
	}
	if (err && !in->reports.nr)
		fprintf(stderr, "vhalt inspect: %s: %s\n", in->path, strerror(-err));
	kept_reports_fini(&in->reports);
	findings_fini(&in->findings);
	return err;
}

/* Statistics are read twice, once to know them: a pipe becomes a file. */
static int inspect(const char *path, json_t *list)
{
	struct inspected in = {.path = strcmp(path, "-") ? path : "standard input"};
	struct trace_diag diag = kept_reports_diag(&in.reports);
	char copy[REPLAY_COPY_BYTES];
	int err, stats;

	err = strcmp(path, "-") ? replay_source_copy(path, copy) : replay_source_rewindable();
	if (err < 0)
		return finish(&in, err, list);
	if (err == 1 && strcmp(path, "-") != 0)
		path = copy;
	stats = input_is_stats(path);
	in.from = path;
	if (stats > 0) {
		err = inspect_stats(&in);
	} else {
		err = inspect_trace(path, in.path, json ? &in.object : NULL, &in.findings, &diag);
		if (!err && !stats)
			err = inspect_beside(&in);
	}
	if (err == -EPROTO && !stats)
		diag.report(diag.context,
			    "nor do its first 16 MiB hold statistics or parameters in a layout "
			    "known here (kvm_stat, perf kvm stat report, debugfs, virsh domstats, "
			    "KVM binary statistics)");
	_Static_assert(STATS_LOOK_BYTES == 16 << 20, "the message says 16 MiB");
	return finish(&in, err, list);
}

int cmd_inspect(int argc, char **argv)
{
	int first = options_parse(&spec, argc, argv), failed = 0;
	json_t *list = json_array();
	char *text;

	if (first < 0 || first == argc) {
		json_decref(list);
		if (first < 0)
			return options_exit(first);
		fprintf(stderr, "vhalt inspect: no file given (try --help)\n");
		return 2;
	}
	for (int i = first; i < argc; i++)
		failed |= inspect(argv[i], list) != 0;
	if (json) {
		json_t *all = json_pack("{s:O}", "files", list);

		text = all ? replay_json_text(all) : NULL;
		if (text)
			fputs(text, stdout);
		failed |= !text;
		free(text);
		json_decref(all);
	}
	json_decref(list);
	return failed;
}

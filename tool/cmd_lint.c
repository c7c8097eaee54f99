// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt lint: settings that make no sense or fight each other, of a listing or of this machine.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/json.h"
#include "replay/source.h"
#include "tool/commands.h"
#include "tool/diagnose_print.h"
#include "tool/inspect_trace.h"
#include "tool/lint_live.h"
#include "tool/options.h"

static bool json;

static const struct option_row rows[] = {
	{"json", 'j', OPTION_FLAG, &json, NULL, "print JSON", 0, 0, NULL},
	{0},
};

static const struct option_spec spec = {
	.command = "lint",
	.usage = "[options] [FILE...|live]",
	.summary = "Finds settings of halt polling that make no sense or fight each other.",
	.rows = rows,
};

static void report(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "vhalt lint: %s\n", text);
}

/* Settings of halt polling, not just any. */
static uint32_t count_ours(const struct stats *stats)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < stats->nr_settings; i++)
		nr += strstr(stats->settings[i].name, "halt_poll") &&
		      strcmp(stats->settings[i].module, "event") != 0;
	return nr;
}

/* Is there a parameter in it, although it is a trace? Bug reports hold both. */
static bool has_settings(const char *path)
{
	const struct trace_diag silent = {NULL, NULL};
	struct stats *stats;
	bool has;

	if (stats_read(&stats, path, &silent))
		return false;
	has = count_ours(stats) > 0;
	stats_destroy(stats);
	return has;
}

static int read_settings(const char *path, struct stats **stats, struct diagnose_context *context)
{
	const struct trace_diag diag = {report, NULL};
	char copy[REPLAY_COPY_BYTES];
	int err;

	if (!strcmp(path, "live")) {
		context->one_machine = true;
		return lint_live(stats, &diag);
	}
	err = strcmp(path, "-") ? replay_source_copy(path, copy) : replay_source_rewindable();
	if (err == 1 && strcmp(path, "-") != 0)
		path = copy;
	if (err >= 0)
		err = input_is_stats(path);
	if (err < 0) {
		fprintf(stderr, "vhalt lint: %s: %s\n", path, strerror(-err));
		return err;
	}
	if (err || has_settings(path))
		return stats_read(stats, path, &diag);
	if (!strcmp(path, "-"))
		replay_source_rewindable(); /* what has_settings() has read */
	return lint_trace(path, stats, context, &diag);
}

static int show(const char *path, const struct stats *stats, const struct findings *f, json_t *list)
{
	uint32_t ours = count_ours(stats);

	if (json) {
		json_array_append_new(list,
				      json_pack("{s:s,s:I,s:o}", "path", path, "settings",
						(json_int_t)ours, "findings", json_findings(f)));
		return 0;
	}
	printf("%s: %" PRIu32 " settings of halt polling, %" PRIu32 " problem%s\n", path, ours,
	       findings_problems(f), findings_problems(f) == 1 ? "" : "s");
	print_findings(f);
	return 0;
}

/* Return: problems found, or -errno. */
static int lint(const char *path, json_t *list)
{
	struct diagnose_context context = {UINT64_MAX, UINT64_MAX, UINT64_MAX, false};
	struct findings findings = {.list = NULL};
	struct stats *stats = NULL;
	int problems, err = read_settings(path, &stats, &context);

	if (err)
		return err < 0 ? err : -EPROTO;
	if (!count_ours(stats)) {
		fprintf(stderr, "vhalt lint: %s: no settings of halt polling in it\n", path);
		stats_destroy(stats);
		return -ENODATA;
	}
	diagnose_settings(stats, &context, &findings);
	show(path, stats, &findings, list);
	problems = (int)findings_problems(&findings);
	findings_fini(&findings);
	stats_destroy(stats);
	return problems;
}

static int print_json(json_t *list)
{
	json_t *all = json_pack("{s:O}", "files", list);
	char *text = all ? replay_json_text(all) : NULL;

	if (text)
		fputs(text, stdout);
	free(text);
	json_decref(all);
	return text ? 0 : 1;
}

int cmd_lint(int argc, char **argv)
{
	int first = options_parse(&spec, argc, argv), found = 0;
	json_t *list;

	if (first < 0)
		return options_exit(first);
	list = json_array();
	if (first == argc)
		found = lint("live", list) != 0;
	for (int i = first; i < argc; i++)
		found |= lint(argv[i], list) != 0;
	if (json)
		found |= print_json(list);
	json_decref(list);
	return found;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt replay: policies over recorded halts, or the check of policy kvm against the real kernel.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/check.h"
#include "replay/defaults.h"
#include "replay/engine.h"
#include "replay/json.h"
#include "replay/table.h"
#include "replay/text.h"
#include "tool/commands.h"
#include "tool/diagnose_print.h"
#include "tool/replay_args.h"
#include "util/units.h"

enum { POLICIES_MAX = 32 };

static struct replay_args args = REPLAY_ARGS_DEFAULTS;

static struct {
	struct vhalt_spec specs[POLICIES_MAX];
	uint32_t nr_specs;
	bool oracle; /* asked for by name: it is shown anyway */
	enum replay_by by;
	bool json, check;
} options;

static int add_policy(const char *text, void *value)
{
	char error[VHALT_SPEC_ERROR_BYTES];

	(void)value;
	if (!strcmp(text, "oracle")) {
		options.oracle = true;
		return 0;
	}
	if (options.nr_specs == POLICIES_MAX) {
		fprintf(stderr, "vhalt replay: --policy: more than %d\n", POLICIES_MAX);
		return -EINVAL;
	}
	if (vhalt_spec_parse(text, &options.specs[options.nr_specs], error, sizeof(error))) {
		fprintf(stderr, "vhalt replay: --policy: %s\n", error);
		return -EINVAL;
	}
	options.nr_specs++;
	return 0;
}

static int set_by(const char *text, void *value)
{
	static const char *const names[] = {"total", "vm", "vcpu"};

	(void)value;
	for (uint32_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i])) {
			options.by = (enum replay_by)i;
			return 0;
		}
	fprintf(stderr, "vhalt replay: --by: \"%s\" is not total, vm or vcpu\n", text);
	return -EINVAL;
}

static const struct option_row rows[] = {
	REPLAY_ARGS_ROWS(args),
	{"policy", 'P', OPTION_CALL, NULL, "NAME[:k=v,...]",
	 "replay this policy; repeatable (default: all)", 0, 0, add_policy},
	{"by", 'b', OPTION_CALL, NULL, "total|vm|vcpu",
	 "also show each VM or vCPU (default: total)", 0, 0, set_by},
	{"json", 'j', OPTION_FLAG, &options.json, NULL, "print JSON", 0, 0, NULL},
	{"check-kernel", 0, OPTION_FLAG, &options.check, NULL,
	 "compare policy kvm with what the recorded kernel decided", 0, 0, NULL},
	{0},
};

static const struct option_spec spec = {
	.command = "replay",
	.usage = "[options] FILE...",
	.summary = "Runs policies over recorded halts, against the clairvoyant bound. FILE may be "
		   "\"-\".",
	.rows = rows,
};

/* --- conformance with the kernel ------------------------------------------------------------- */

static int feed_check(void *context, const struct trace_info *info, const struct trace_halt *halts,
		      size_t n)
{
	return replay_check_feed(context, info, halts, n);
}

static int end_check(void *context, const struct trace_info *info, const char *path)
{
	(void)info;
	(void)path;
	replay_check_end_recording(context);
	return 0;
}

static void print_decision(const char *who, const struct replay_check_decision *d)
{
	if (d->kind == REPLAY_CHECK_KEPT)
		printf("    %s kept its window\n", who);
	else
		printf("    %s %s it from %" PRIu32 " to %" PRIu32 " ns\n", who,
		       replay_check_kind_name(d->kind), d->old_ns, d->new_ns);
}

static void print_check(const struct replay_check_result *r)
{
	for (uint32_t i = 0; i < r->nr_differences; i++) {
		const struct replay_check_difference *d = &r->differences[i];
		char name[TRACE_NAME_BYTES];

		memcpy(name, d->vcpu, sizeof(name));
		printf("%s (tid %" PRIu32 ") at %.6f s, halt of %" PRIu64 " ns:\n",
		       replay_text_clean(name), d->tid, (double)d->start_ns / 1e9, d->halt_ns);
		print_decision("the kernel", &d->reported);
		print_decision("policy kvm", &d->expected);
	}
	if (r->decisions - r->reproduced > r->nr_differences)
		printf("... and %" PRIu64 " differences more\n",
		       r->decisions - r->reproduced - r->nr_differences);
	printf("%" PRIu64 " of %" PRIu64 " kernel decisions reproduced (%" PRIu64 " grew, %" PRIu64
	       " shrank, %" PRIu64 " kept)\n",
	       r->reproduced, r->decisions, r->grew, r->shrank, r->kept);
	if (r->unknown)
		printf("not checked, as the window was not known: %" PRIu64
		       " halts (lost on the way: %" PRIu64 " times)\n",
		       r->unknown, r->resyncs);
	if (r->assumed)
		printf("the recording does not name all of kvm's parameters: mainline's defaults "
		       "are assumed for those\n(--policy kvm:... gives others)\n");
}

static void print_check_json(const struct replay_check_result *r)
{
	printf("{\"decisions\":%" PRIu64 ",\"reproduced\":%" PRIu64 ",\"grew\":%" PRIu64
	       ",\"shrank\":%" PRIu64 ",\"kept\":%" PRIu64 ",\"unknown\":%" PRIu64
	       ",\"resyncs\":%" PRIu64 ",\"assumed\":%s}\n",
	       r->decisions, r->reproduced, r->grew, r->shrank, r->kept, r->unknown, r->resyncs,
	       r->assumed ? "true" : "false");
}

/* What the user gives by --policy kvm:... and --max wins over the recording only if it has to. */
static int check_spec(struct vhalt_spec *kvm)
{
	vhalt_spec_init(kvm, VHALT_POLICY_KVM);
	if (options.nr_specs > 1 || (options.nr_specs && options.specs[0].policy != kvm->policy)) {
		fprintf(stderr, "vhalt replay: --check-kernel: only one --policy, and that kvm\n");
		return -EINVAL;
	}
	if (options.nr_specs)
		*kvm = options.specs[0];
	if (args.max_ns != REPLAY_ARGS_UNSET)
		vhalt_spec_set(kvm, "halt_poll_ns", args.max_ns);
	return 0;
}

static int run_check(struct replay_reading *reading)
{
	struct replay_visitor visitor = {feed_check, end_check, NULL};
	const struct replay_check_result *result;
	struct replay_check *check = NULL;
	struct vhalt_spec kvm;
	int err;

	if (check_spec(&kvm))
		return 2;
	err = replay_check_create(&check, &kvm);
	if (!err) {
		visitor.context = check;
		err = reading->input.read(reading->input.context, &visitor, false);
	}
	replay_reading_done(reading);
	if (err) {
		replay_reading_complain(reading, err);
		replay_check_destroy(check);
		return 1;
	}
	result = replay_check_result(check);
	if (options.json)
		print_check_json(result);
	else
		print_check(result);
	if (!result->decisions)
		fprintf(stderr,
			"vhalt replay: --check-kernel: no kernel decision in the recording\n");
	err = !result->decisions || result->reproduced != result->decisions;
	replay_check_destroy(check);
	return err;
}

/* --- policies -------------------------------------------------------------------------------- */

struct session {
	struct replay *replay;
	bool label; /* several files: say which */
};

static int feed(void *context, const struct trace_info *info, const struct trace_halt *halts,
		size_t n)
{
	return replay_feed(((struct session *)context)->replay, info, halts, n);
}

static int end(void *context, const struct trace_info *info, const char *path)
{
	struct session *session = context;

	replay_end_recording(session->replay, info, session->label ? path : NULL);
	return 0;
}

static int add_policies(struct replay *replay, const struct replay_model *model)
{
	int row = 0;

	if (!options.nr_specs && !options.oracle)
		for (uint32_t id = 0; id < VHALT_NR_POLICIES; id++)
			vhalt_spec_init(&options.specs[options.nr_specs++], id);
	for (uint32_t i = 0; row >= 0 && i < options.nr_specs; i++) {
		replay_spec_adopt(&options.specs[i], model);
		row = replay_add_policy(replay, &options.specs[i], 0);
	}
	return row < 0 ? row : 0;
}

static int replay_all(struct replay_reading *reading, struct session *session)
{
	struct replay_options replay_options = {.by = options.by,
						.threads = (unsigned int)args.threads};
	struct replay_visitor visitor = {feed, end, session};
	struct replay_survey survey = {.brief = true};
	int survey_err = 0, err;

	replay_args_model(&args, &replay_options.model);
	/* The mean of what was measured must be known before the first halt is charged. */
	if (replay_options.model.source != REPLAY_LATENCY_GIVEN) {
		/* It is silent: if it fails so does the reading below, and says why. */
		survey_err = replay_survey_read(&survey, &reading->input);
		replay_survey_latency(&survey, &replay_options.model);
	}
	err = replay_create(&session->replay, &replay_options);
	if (!err)
		err = add_policies(session->replay, &replay_options.model);
	if (!err)
		err = reading->input.read(reading->input.context, &visitor, false);
	if (!err)
		err = survey_err;
	return err ? err : replay_finish(session->replay);
}

static void print_group(const struct replay *replay, uint32_t index)
{
	const struct replay_group *group = replay_group(replay, index);
	const struct replay_counts *c = &group->counts;
	char wall[UNITS_DURATION_BYTES];

	printf("%s: %" PRIu64 " halts in %s", group->label, c->halts,
	       units_format_duration(group->wall_ns, wall));
	if (c->halts != c->counted)
		printf("; counted apart: %" PRIu64 " polls cut short, %" PRIu64 " invalid wake-ups",
		       c->cut_short, c->invalid);
	if (c->gaps)
		printf("; %" PRIu64 " halts after lost events", c->gaps);
	printf("\n");
	replay_table_group(stdout, replay, index);
	printf("\n");
}

static int print_json(const struct replay *replay)
{
	json_t *object = replay_json(replay, options.by != REPLAY_BY_TOTAL);
	char *text = object ? replay_json_text(object) : NULL;

	if (text)
		fputs(text, stdout);
	else
		fprintf(stderr, "vhalt replay: out of memory\n");
	json_decref(object);
	free(text);
	return text ? 0 : 1;
}

static int print_results(const struct replay *replay)
{
	if (options.json)
		return print_json(replay);
	for (uint32_t i = 0; i < replay_nr_groups(replay); i++)
		print_group(replay, i);
	replay_text_model(stdout, replay_model(replay));
	replay_text_missing(stdout, replay_group(replay, 0)->lost,
			    replay_group(replay, 0)->damaged_frames);
	return 0;
}

static int run_replay(struct replay_reading *reading)
{
	struct session session = {.label = reading->files.nr_paths > 1};
	int err = replay_all(reading, &session), code = 1;

	replay_reading_done(reading);
	if (err)
		replay_reading_complain(reading, err);
	else
		code = print_results(session.replay);
	replay_destroy(session.replay);
	return code;
}

/* Sums of halts: what else reads them. Pipes are left to the reader's own message. */
static bool are_statistics(char **paths, int nr)
{
	bool any = false;

	for (int i = 0; i < nr; i++) {
		if (!strcmp(paths[i], "-") || input_is_stats(paths[i]) <= 0)
			continue;
		any = true;
		fprintf(stderr,
			"vhalt replay: %s: statistics: sums of halts, which cannot be replayed; "
			"vhalt inspect says what they show, vhalt advise gives coarser advice\n",
			paths[i]);
	}
	return any;
}

int cmd_replay(int argc, char **argv)
{
	struct replay_reading reading;
	int first = options_parse(&spec, argc, argv);

	if (first < 0)
		return options_exit(first);
	if (first == argc) {
		fprintf(stderr, "vhalt replay: no file given (try --help)\n");
		return 2;
	}
	if (are_statistics(&argv[first], argc - first))
		return 1;
	if (replay_reading_init(&reading, "replay", &argv[first], (size_t)(argc - first)))
		return 1;
	return options.check ? run_check(&reading) : run_replay(&reading);
}

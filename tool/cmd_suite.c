// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt suite: policies over synthetic workloads, random ones, and a host's polling budget.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite/budget.h"
#include "suite/json.h"
#include "suite/table.h"
#include "suite/target.h"
#include "suite/text.h"
#include "suite/trial.h"
#include "tool/commands.h"
#include "tool/options.h"
#include "util/units.h"

enum { RANDOM_WORKLOADS = 12000, RANDOM_MOST = 1000000, HALTS_LEAST = 100, HALTS_MOST = 10000000 };

static struct {
	struct suite_options suite;
	uint64_t seed, nr, threads, halts, switch_ns;
	uint32_t nr_specs_given, nr_workloads_given;
	bool json, brief, check, stamped, timers_hidden;
} opts;

static int complain(const char *option, const char *text, const char *why)
{
	fprintf(stderr, "vhalt suite: --%s: \"%s\": %s\n", option, text, why);
	return -EINVAL;
}

/* "10us,50us": durations of 1 us to 67 ms; replaces what @list holds. */
static int parse_list(const char *option, const char *text, uint32_t *list, uint32_t *nr)
{
	const char *at = text;

	*nr = 0;
	while (*at) {
		size_t n = strcspn(at, ",");
		char word[32];
		uint64_t ns;

		if (*nr == SUITE_SETTINGS_MOST)
			return complain(option, text, "too many values");
		if (!n || n >= sizeof(word))
			return complain(option, text, "not a list of durations (write 10us,50us)");
		memcpy(word, at, n);
		word[n] = '\0';
		if (units_parse_duration(word, &ns))
			return complain(option, word, "not a duration (write 50us)");
		if (ns < 1000 || ns > 67000000)
			return complain(option, word, "out of range (1us to 67ms)");
		list[(*nr)++] = (uint32_t)ns;
		at += n + (at[n] == ',');
	}
	return *nr ? 0 : complain(option, text, "empty");
}

static int set_b(const char *text, void *value)
{
	(void)value;
	return parse_list("b", text, opts.suite.b_ns, &opts.suite.nr_b);
}

static int set_max(const char *text, void *value)
{
	(void)value;
	return parse_list("max", text, opts.suite.max_ns, &opts.suite.nr_max);
}

static int add_policy(const char *text, void *value)
{
	char error[VHALT_SPEC_ERROR_BYTES];

	(void)value;
	if (opts.nr_specs_given == SUITE_ROWS_MOST - SUITE_YARDSTICKS)
		return complain("policy", text, "too many policies");
	if (vhalt_spec_parse(text, &opts.suite.specs[opts.nr_specs_given], error, sizeof(error)))
		return complain("policy", text, error);
	opts.suite.nr_specs = ++opts.nr_specs_given;
	return 0;
}

static int add_workload(const char *text, void *value)
{
	int workload = suite_workload_find(text);

	(void)value;
	if (workload < 0)
		return complain("workload", text, "no such workload (--list shows them)");
	if (opts.nr_workloads_given == sizeof(opts.suite.workloads) / sizeof(uint32_t))
		return complain("workload", text, "too many workloads");
	opts.suite.workloads[opts.nr_workloads_given] = (uint32_t)workload;
	opts.suite.nr_workloads = ++opts.nr_workloads_given;
	return 0;
}

static bool list_workloads;

static const struct option_row rows[] = {
	{.name = "b",
	 .letter = 'b',
	 .kind = OPTION_CALL,
	 .arg = "LIST",
	 .call = set_b,
	 .help = "break-even costs (default 10us,20us,50us,100us,150us,300us)"},
	{.name = "max",
	 .letter = 'm',
	 .kind = OPTION_CALL,
	 .arg = "LIST",
	 .call = set_max,
	 .help = "largest windows (default 200us,1ms)"},
	{.name = "policy",
	 .letter = 'P',
	 .kind = OPTION_CALL,
	 .arg = "NAME[:k=v,...]",
	 .call = add_policy,
	 .help = "run this beside the yardsticks; repeatable (default all)"},
	{.name = "workload",
	 .letter = 'w',
	 .kind = OPTION_CALL,
	 .arg = "NAME",
	 .call = add_workload,
	 .help = "run this workload; repeatable (default all)"},
	{.name = "list",
	 .letter = 'l',
	 .kind = OPTION_FLAG,
	 .value = &list_workloads,
	 .help = "list the workloads"},
	{.name = "brief",
	 .kind = OPTION_FLAG,
	 .value = &opts.brief,
	 .help = "print the summary without the table of each setting"},
	{.name = "json",
	 .letter = 'j',
	 .kind = OPTION_FLAG,
	 .value = &opts.json,
	 .help = "print JSON"},
	{.name = "check",
	 .letter = 'c',
	 .kind = OPTION_FLAG,
	 .value = &opts.check,
	 .help = "exit 1 if policy auto misses one of its targets"},
	{.name = "n",
	 .letter = 'n',
	 .kind = OPTION_U64,
	 .value = &opts.nr,
	 .arg = "N",
	 .help = "random workloads to draw (default 12000)",
	 .min = 1,
	 .max = RANDOM_MOST},
	{.name = "halts",
	 .kind = OPTION_U64,
	 .value = &opts.halts,
	 .arg = "N",
	 .help = "halts of each workload (default 40000)",
	 .min = HALTS_LEAST,
	 .max = HALTS_MOST},
	{.name = "seed",
	 .letter = 's',
	 .kind = OPTION_U64,
	 .value = &opts.seed,
	 .arg = "N",
	 .help = "seed of all that is drawn (default 1)"},
	{.name = "switch-cost",
	 .kind = OPTION_DURATION,
	 .value = &opts.switch_ns,
	 .arg = "D",
	 .help = "CPU cost of blocking once, part of B (default 3us)",
	 .max = 10000000},
	{.name = "stamped",
	 .kind = OPTION_FLAG,
	 .value = &opts.stamped,
	 .help = "let policies see the wake-up's time stamp"},
	{.name = "hide-timers",
	 .kind = OPTION_FLAG,
	 .value = &opts.timers_hidden,
	 .help = "do not let policies see a vCPU's next timer"},
	{.name = "threads",
	 .kind = OPTION_U64,
	 .value = &opts.threads,
	 .arg = "N",
	 .help = "threads to use (default all CPUs); the result is the same",
	 .max = 256},
	{0},
};

static const struct option_spec spec = {
	.command = "suite",
	.usage = "[options] [table | random | budget]",
	.summary = "Runs policies over synthetic workloads: the table of the suite, random "
		   "workloads, or many\n"
		   "vCPUs under one polling budget.",
	.rows = rows,
};

static void show_progress(uint32_t done, uint32_t nr)
{
	if (done % 64 == 0 || done == nr)
		fprintf(stderr, "\r%3" PRIu32 " %%%s", (uint32_t)((uint64_t)done * 100 / nr),
			done == nr ? "\r     \r" : "");
}

static int report(int err)
{
	fprintf(stderr, "vhalt suite: %s\n", strerror(-err));
	return 1;
}

/* Prints @result, a new reference or NULL for "out of memory", with the targets in it. */
static int print_json(json_t *result, const struct suite_target *targets, uint32_t nr)
{
	int code = 1;

	if (result && nr &&
	    json_object_set_new(result, "targets", suite_json_targets(targets, nr))) {
		json_decref(result);
		result = NULL;
	}
	if (!result)
		return report(-ENOMEM);
	if (!json_dumpf(result, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(8)) &&
	    putchar('\n') != EOF)
		code = 0;
	json_decref(result);
	return code;
}

static int verdict(int code, const struct suite_target *targets, uint32_t nr)
{
	for (uint32_t i = 0; i < nr && opts.check; i++)
		if (!targets[i].held)
			return 1;
	return code;
}

static int run_table(void)
{
	struct suite_target targets[SUITE_TARGETS_MOST];
	struct suite_table table;
	int code = 0, err = suite_table_run(&table, &opts.suite);
	uint32_t nr;

	if (err) {
		suite_table_fini(&table);
		return report(err);
	}
	nr = suite_table_targets(&table, targets);
	if (opts.json) {
		code = print_json(suite_json_table(&table), targets, nr);
	} else {
		suite_text_table(stdout, &table, opts.brief);
		suite_text_targets(stdout, targets, nr);
	}
	suite_table_fini(&table);
	return verdict(code, targets, nr);
}

/* The targets are those of `auto` by its defaults. */
static int run_trial(void)
{
	struct suite_target targets[SUITE_TARGETS_MOST];
	char name[VHALT_SPEC_TEXT_BYTES];
	struct suite_trial trial;
	struct vhalt_spec tried;
	uint32_t nr;
	int err;

	vhalt_spec_init(&tried, VHALT_POLICY_AUTO);
	if (opts.nr_specs_given)
		tried = opts.suite.specs[0];
	vhalt_spec_format(&tried, name);
	err = suite_trial_run(&trial, &opts.suite, &tried, (uint32_t)opts.nr);
	if (err)
		return report(err);
	nr = strcmp(name, "auto") ? 0 : suite_trial_targets(&trial, targets);
	if (opts.json)
		return verdict(print_json(suite_json_trial(&trial, name), targets, nr), targets,
			       nr);
	suite_text_trial(stdout, &trial, name);
	suite_text_targets(stdout, targets, nr);
	return verdict(0, targets, nr);
}

static int run_budget(void)
{
	const struct suite_budget_row *budget;
	uint32_t nr;
	int err = suite_budget_run(opts.seed, opts.suite.threads, &budget, &nr);

	if (err)
		return report(err);
	if (opts.json)
		return print_json(suite_json_budget(budget, nr), NULL, 0);
	suite_text_budget(stdout, budget, nr);
	return 0;
}

static int show_list(void)
{
	for (uint32_t i = 0; i < suite_nr_workloads(); i++)
		printf("%-12s %s\n", suite_workload_name(i), suite_workload_summary(i));
	return 0;
}

static void set_defaults(void)
{
	suite_options_init(&opts.suite);
	opts.seed = opts.suite.seed;
	opts.halts = opts.suite.halts;
	opts.switch_ns = opts.suite.switch_ns;
	opts.nr = RANDOM_WORKLOADS;
}

static void take_options(void)
{
	opts.suite.seed = opts.seed;
	opts.suite.halts = (uint32_t)opts.halts;
	opts.suite.switch_ns = (uint32_t)opts.switch_ns;
	opts.suite.threads = (uint32_t)opts.threads;
	opts.suite.stamped = opts.stamped;
	opts.suite.timers_hidden = opts.timers_hidden;
	if (isatty(STDERR_FILENO))
		opts.suite.progress = show_progress;
}

int cmd_suite(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} studies[] = {{"table", run_table}, {"random", run_trial}, {"budget", run_budget}};
	int first;

	set_defaults();
	first = options_parse(&spec, argc, argv);
	if (first < 0)
		return options_exit(first);
	if (list_workloads && opts.json) {
		fputs("vhalt suite: --list is text only (try --help)\n", stderr);
		return 2;
	}
	if (list_workloads)
		return show_list();
	if (opts.suite.nr_b * opts.suite.nr_max > SUITE_SETTINGS_MOST) {
		fprintf(stderr, "vhalt suite: --b and --max: more than %u settings\n",
			SUITE_SETTINGS_MOST);
		return 2;
	}
	take_options();
	if (first == argc)
		return run_table();
	for (size_t i = 0; i < sizeof(studies) / sizeof(studies[0]); i++)
		if (!strcmp(argv[first], studies[i].name) && first + 1 == argc)
			return studies[i].run();
	fprintf(stderr, "vhalt suite: \"%s\": table, random or budget, and nothing else\n",
		argv[argc - 1]);
	return 2;
}

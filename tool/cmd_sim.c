// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt sim: run a scenario of the simulator.
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/report.h"
#include "sim/spread.h"
#include "tool/commands.h"
#include "tool/options.h"
#include "util/units.h"

static struct {
	struct sim_study study;
	struct sim_scenario scenario;
	const char *sweep;
	uint64_t seed, seeds, threads;
	bool json, detail, check, list, mpi;
} opts;

static int complain(const char *option, const char *text, const char *why)
{
	fprintf(stderr, "vhalt sim: --%s: \"%s\": %s\n", option, text, why);
	return -EINVAL;
}

/* Values are checked when the scenario is known. */
static int add_set(const char *text, void *value)
{
	struct sim_override *o = &opts.study.set[opts.study.nr_set];
	const char *equals = strchr(text, '=');

	(void)value;
	if (opts.study.nr_set == SIM_SET_MAX)
		return complain("set", text, "more than 32 of them");
	if (!equals || (size_t)(equals - text) >= sizeof(o->key) ||
	    strlen(equals + 1) >= sizeof(o->value))
		return complain("set", text, "write KEY=VALUE");
	memcpy(o->key, text, (size_t)(equals - text));
	memcpy(o->value, equals + 1, strlen(equals + 1) + 1);
	opts.study.nr_set++;
	return 0;
}

static const struct option_row rows[] = {
	{.name = "set",
	 .kind = OPTION_CALL,
	 .arg = "KEY=VALUE",
	 .call = add_set,
	 .help = "change a parameter in every cell; repeatable"},
	{.name = "sweep",
	 .kind = OPTION_STRING,
	 .value = &opts.sweep,
	 .arg = "KEY=A..B[:STEP]",
	 .help = "run the table for each value of a range, or of a list V,V,..."},
	{.name = "seed",
	 .letter = 's',
	 .kind = OPTION_U64,
	 .value = &opts.seed,
	 .arg = "N",
	 .help = "first seed (default 1)"},
	{.name = "seeds",
	 .letter = 'n',
	 .kind = OPTION_U64,
	 .value = &opts.seeds,
	 .arg = "N",
	 .help = "how many seeds (default: as the scenario says)",
	 .min = 1,
	 .max = 1000},
	{.name = "detail",
	 .letter = 'd',
	 .kind = OPTION_FLAG,
	 .value = &opts.detail,
	 .help = "print every metric of every cell"},
	{.name = "json",
	 .letter = 'j',
	 .kind = OPTION_FLAG,
	 .value = &opts.json,
	 .help = "print JSON"},
	{.name = "check",
	 .letter = 'c',
	 .kind = OPTION_FLAG,
	 .value = &opts.check,
	 .help = "check the simulator's invariants while it runs"},
	{.name = "list",
	 .letter = 'l',
	 .kind = OPTION_FLAG,
	 .value = &opts.list,
	 .help = "list parameters and metrics, and exit"},
	{.name = "threads",
	 .kind = OPTION_U64,
	 .value = &opts.threads,
	 .arg = "N",
	 .help = "threads to use (default all CPUs); the result is the same",
	 .max = 256},
	{.name = "mpi",
	 .kind = OPTION_FLAG,
	 .value = &opts.mpi,
	 .help = "share the work with the other ranks of mpirun"},
	{0},
};

static const struct option_spec spec = {
	.command = "sim",
	.usage = "[options] SCENARIO",
	.summary =
		"Simulates an overcommitted host with its VMs: a scenario is a file, or one of "
		"those\n"
		"that come with vhalt: boost-1vm boost-2vm boost-3vm poll-idle poll-rr guest-poll\n"
		"budget double-poll.",
	.rows = rows,
};

static void list_params(const char *title, const struct sim_param *p)
{
	char dflt[UNITS_DURATION_BYTES];

	printf("%s\n", title);
	for (; p->name; p++) {
		if (p->type == SIM_PARAM_NS)
			units_format_exact(p->dflt, dflt);
		else if (p->type == SIM_PARAM_NUMBER)
			snprintf(dflt, sizeof(dflt), "%" PRIu64, p->dflt);
		else if (p->type == SIM_PARAM_BOOL)
			snprintf(dflt, sizeof(dflt), "%s", p->dflt ? "yes" : "no");
		else if (p->type == SIM_PARAM_WORKLOAD)
			snprintf(dflt, sizeof(dflt), "%s", sim_workload_name((uint32_t)p->dflt));
		else if (p->type == SIM_PARAM_BOOST)
			snprintf(dflt, sizeof(dflt), "%s",
				 vhalt_boost_mode_name((uint32_t)p->dflt));
		else
			snprintf(dflt, sizeof(dflt), "%s",
				 vhalt_policy_get((uint32_t)p->dflt)->name);
		printf("  %-14s %-10s %s\n", p->name, dflt, p->help);
	}
}

static int list(void)
{
	list_params("run.NAME", sim_run_params);
	list_params("host.NAME", sim_host_params);
	list_params("KIND.NAME, vm.NAME for every kind", sim_vm_params);
	puts("metrics KIND.NAME");
	for (uint32_t m = 0; sim_metric_vm_name(m); m++)
		printf("  %-14s %s\n", sim_metric_vm_name(m), sim_metric_vm_summary(m));
	puts("metrics host.NAME");
	for (uint32_t m = 0; sim_metric_host_name(m); m++)
		printf("  %-14s %s\n", sim_metric_host_name(m), sim_metric_host_summary(m));
	return 0;
}

/* A file that is there, else NAME.ini among the scenarios that come with vhalt. */
static FILE *open_scenario(const char *name, char path[PATH_MAX])
{
	static const char *const places[] = {"../sim/scenarios", "../share/vhalt/scenarios",
					     "sim/scenarios"};
	const char *given = getenv("VHALT_SCENARIOS");
	char binary[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", binary, sizeof(binary) - 1);
	FILE *file;

	snprintf(path, PATH_MAX, "%s", name);
	if (strchr(name, '/') || strchr(name, '.') || n < 0)
		return fopen(path, "re");
	while (n && binary[n - 1] != '/')
		n--;
	binary[n] = '\0';
	if (given && *given) {
		if (snprintf(path, PATH_MAX, "%s/%s.ini", given, name) >= PATH_MAX)
			return NULL;
		return fopen(path, "re");
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (snprintf(path, PATH_MAX, "%s%s/%s.ini", binary, places[i], name) < PATH_MAX &&
		    (file = fopen(path, "re")))
			return file;
	snprintf(path, PATH_MAX, "%s", name);
	return fopen(path, "re");
}

static int read_scenario(const char *name)
{
	char path[PATH_MAX], error[SIM_ERROR_BYTES];
	FILE *file = open_scenario(name, path);
	int err;

	if (!file) {
		fprintf(stderr, "vhalt sim: %s: %s (a file, or a scenario of --help)\n", path,
			strerror(errno));
		return 1;
	}
	err = sim_scenario_read(file, path, &opts.scenario, error);
	fclose(file);
	if (err)
		fprintf(stderr, "vhalt sim: %s\n", error);
	return err ? 1 : 0;
}

static struct timespec began;

static void show_progress(uint32_t done, uint32_t nr)
{
	struct timespec now;
	double passed;

	clock_gettime(CLOCK_MONOTONIC, &now);
	passed = (double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) / 1e9;
	if (done == nr)
		fprintf(stderr, "\r%40s\r", "");
	else if (passed > 1)
		fprintf(stderr, "\r%3" PRIu32 " %%, %.0f s to go   ",
			(uint32_t)((uint64_t)done * 100 / nr), passed / done * (nr - done));
}

static int print_json(const char *name)
{
	json_t *result = sim_report_json(&opts.study, name);
	int failed = !result ||
		     json_dumpf(result, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(8)) ||
		     putchar('\n') == EOF;

	json_decref(result);
	if (failed)
		fprintf(stderr, "vhalt sim: %s\n", strerror(result ? EIO : ENOMEM));
	return failed;
}

static int prepare(void)
{
	char error[SIM_ERROR_BYTES];

	opts.study.scenario = &opts.scenario;
	opts.study.seed = opts.seed;
	opts.study.seeds = (uint32_t)opts.seeds;
	opts.study.threads = (uint32_t)opts.threads;
	opts.study.check = opts.check;
	if (opts.sweep &&
	    sim_sweep_parse(&opts.scenario.base, opts.sweep, &opts.study.sweep, error)) {
		fprintf(stderr, "vhalt sim: --sweep: %s\n", error);
		return 2;
	}
	if (sim_study_check(&opts.study, error)) {
		fprintf(stderr, "vhalt sim: %s\n", error);
		return 2;
	}
	return 0;
}

static int run(const char *name)
{
	int code = 0, err;

	if (isatty(STDERR_FILENO) && !sim_spread_rank())
		opts.study.progress = show_progress;
	clock_gettime(CLOCK_MONOTONIC, &began);
	err = sim_study_run(&opts.study);
	if (err == -EPROTO)
		fprintf(stderr,
			"vhalt sim: an invariant of the simulator is broken; please report it\n");
	else if (err)
		fprintf(stderr, "vhalt sim: %s\n", strerror(-err));
	else if (sim_spread_rank())
		code = 0;
	else if (opts.json)
		code = print_json(name);
	else
		sim_report_text(stdout, &opts.study, opts.detail);
	free(opts.study.results);
	return err ? 1 : code;
}

int cmd_sim(int argc, char **argv)
{
	int first, code;

	opts.seed = 1;
	first = options_parse(&spec, argc, argv);
	if (first < 0)
		return options_exit(first);
	if (opts.list && opts.json) {
		fputs("vhalt sim: --list is text only (try --help)\n", stderr);
		return 2;
	}
	if (opts.list)
		return list();
	if (first + 1 != argc) {
		fprintf(stderr, "vhalt sim: give one scenario (try --help)\n");
		return 2;
	}
	code = read_scenario(argv[first]);
	if (!code)
		code = prepare();
	if (code)
		return code;
	if (opts.mpi && sim_spread_init()) {
		fprintf(stderr, "vhalt sim: --mpi: %s\n",
			sim_spread_available() ? "MPI does not start"
					       : "built without it (make MPI=1, libopenmpi-dev)");
		return 1;
	}
	code = run(argv[first]);
	sim_spread_fini();
	return code;
}

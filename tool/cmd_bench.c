// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt bench: what polling costs and buys on this machine, live.
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/bench.h"
#include "tool/commands.h"
#include "tool/options.h"

static struct bench_options opts;

static const struct {
	const char *name;
	int (*run)(const struct bench_options *options);
	uint64_t rounds, for_ns; /* defaults */
} benches[] = {
	{"ctxsw", bench_ctxsw, 7, 200000000},
	{"rr", bench_rr, 7, 300000000},
	{"halt", bench_halt, 5, 2000000000},
};

static int complain(const char *option, const char *text, const char *why)
{
	fprintf(stderr, "vhalt bench: --%s: \"%s\": %s\n", option, text, why);
	return -EINVAL;
}

static int add_policy(const char *text, void *value)
{
	char error[VHALT_SPEC_ERROR_BYTES];

	(void)value;
	if (opts.nr_policies == BENCH_POLICIES_MOST)
		return complain("policy", text, "too many policies");
	if (vhalt_spec_parse(text, &opts.policies[opts.nr_policies], error, sizeof(error)))
		return complain("policy", text, error);
	opts.nr_policies++;
	return 0;
}

static int set_cpus(const char *text, void *value)
{
	char *end;
	unsigned long first = strtoul(text, &end, 10), second = 0;
	bool good = end != text && *end == ',';

	(void)value;
	if (good) {
		const char *rest = end + 1;

		second = strtoul(rest, &end, 10);
		good = end != rest && !*end && rest[0] != '-' && text[0] != '-';
	}
	if (!good || first == second || first >= CPU_SETSIZE || second >= CPU_SETSIZE)
		return complain("cpus", text, "not two different CPUs (write 0,1)");
	opts.cpus[0] = (unsigned int)first;
	opts.cpus[1] = (unsigned int)second;
	opts.cpus_given = true;
	return 0;
}

static const struct option_row rows[] = {
	{"policy", 'P', OPTION_CALL, NULL, "NAME[:k=v,...]",
	 "measure this policy; repeatable (default: the benchmark's own choice)", 0, 0, add_policy},
	{"rounds", 'r', OPTION_U64, &opts.rounds, "N", "rounds over all rows (default 7; halt 5)",
	 1, MEASURE_ROUNDS_MAX, NULL},
	{"for", 'd', OPTION_DURATION, &opts.for_ns, "D",
	 "measured time of each cell (default 200ms; rr 300ms, halt 2s)", 1000000, 60000000000,
	 NULL},
	{"gap", 0, OPTION_DURATION, &opts.gap_ns, "D",
	 "ctxsw: time between two wake-ups that no window reaches (default 2ms)", 100000,
	 1000000000, NULL},
	{"cpus", 0, OPTION_CALL, NULL, "A,B", "CPUs of the two threads (default: two cores)", 0, 0,
	 set_cpus},
	{"check", 0, OPTION_FLAG, &opts.check, NULL, "exit with 1 if a bound is missed", 0, 0,
	 NULL},
	{"json", 'j', OPTION_FLAG, &opts.json, NULL, "print a JSON object", 0, 0, NULL},
	{0},
};

static const struct option_spec spec = {
	.command = "bench",
	.usage = "ctxsw | rr | halt [options]",
	.summary = "Measures waiting on this machine: threads, loopback TCP, or real vCPUs.",
	.rows = rows,
};

/* Given CPUs must be ours to use; else two are picked. */
static int choose_cpus(void)
{
	cpu_set_t set;
	int err;

	if (!opts.cpus_given) {
		err = measure_cpus_pick(opts.cpus);
		if (err)
			fprintf(stderr, "vhalt bench: needs two CPUs, this process may use one\n");
		return err;
	}
	if (sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	for (int i = 0; i < 2; i++)
		if (!CPU_ISSET(opts.cpus[i], &set)) {
			fprintf(stderr, "vhalt bench: --cpus: this process may not use CPU %u\n",
				opts.cpus[i]);
			return -EINVAL;
		}
	return 0;
}

int cmd_bench(int argc, char **argv)
{
	int first = options_parse(&spec, argc, argv);

	if (first < 0)
		return options_exit(first);
	for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++) {
		if (first + 1 != argc || strcmp(argv[first], benches[i].name))
			continue;
		opts.rounds = opts.rounds ? opts.rounds : benches[i].rounds;
		opts.for_ns = opts.for_ns ? opts.for_ns : benches[i].for_ns;
		opts.gap_ns = opts.gap_ns ? opts.gap_ns : 2000000;
		if (choose_cpus())
			return 1;
		return benches[i].run(&opts);
	}
	fprintf(stderr, "Usage: vhalt bench %s (try --help)\n", spec.usage);
	return 2;
}

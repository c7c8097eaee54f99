// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt bench ctxsw: what a switch between two threads costs, by the bound of the window.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/pair.h"
#include "tool/bench.h"
#include "util/units.h"

/* The bounds of the table of 2017 (the proposal of a paravirt idle poll for Linux guests). */
static const uint64_t bounds_ns[] = {0,	    10000,  20000,  30000,  40000,
				     50000, 100000, 200000, 300000, 500000};

enum { NR_BOUNDS = sizeof(bounds_ns) / sizeof(bounds_ns[0]) };
enum { ROW_FUTEX, ROW_PIPE, ROW_FIRST_WAITER };
enum { COLUMN_NS, COLUMN_CPU_NS, COLUMN_CPU_PCT, COLUMN_MET_PCT, COLUMN_FAR_NS, NR_COLUMNS };

static const struct bench_column columns[NR_COLUMNS] = {
	[COLUMN_NS] = {"switch_ns", "ns/switch", 0},
	[COLUMN_CPU_NS] = {"switch_cpu_ns", "CPU ns/switch", 0},
	[COLUMN_CPU_PCT] = {"cpu_pct", "CPU %", 1},
	[COLUMN_MET_PCT] = {"met_pct", "met by polling %", 1},
	[COLUMN_FAR_NS] = {"far_cpu_ns", "far: CPU ns/wake-up", 0},
};

static struct bench_table table = {
	.name = "ctxsw",
	.title = "Two threads on two CPUs: each wakes the other and waits (far: one wakes the "
		 "other, which waits in vain)",
	.columns = columns,
	.nr_columns = NR_COLUMNS,
};

/* Apart for the two loads: each keeps what it learnt of its own. */
static struct measure_pair pairs[BENCH_ROWS_MOST][2];
static uint32_t row_default = ROW_PIPE; /* the first policy, at its own bound; pipe: none yet */

static int complain(int err)
{
	fprintf(stderr, "vhalt bench ctxsw: cannot run two threads on CPUs %u and %u: %s\n",
		pairs[0][0].cpus[0], pairs[0][0].cpus[1], strerror(-err));
	return 1;
}

static void init_row(const struct bench_options *options, uint32_t row,
		     enum measure_channel channel, const struct vhalt_config *config)
{
	measure_pair_init(&pairs[row][MEASURE_NEAR], channel, config, options->cpus);
	measure_pair_init(&pairs[row][MEASURE_FAR], channel, config, options->cpus);
}

static void add_waiter(const struct bench_options *options, const struct vhalt_spec *spec,
		       const char *name)
{
	struct vhalt_config config;
	uint32_t row;

	if (table.nr_rows == BENCH_ROWS_MOST || vhalt_spec_config(spec, &config))
		return;
	row = bench_table_row(&table, "%s", name);
	init_row(options, row, MEASURE_WAITER, &config);
}

/* A row for each bound, if the policy has one; a bound given by name is kept. */
static void add_policy(const struct bench_options *options, const struct vhalt_spec *spec)
{
	char text[VHALT_SPEC_TEXT_BYTES], bound[UNITS_DURATION_BYTES], name[64];
	int param = vhalt_spec_param(spec->policy, "max_ns");

	if (param < 0)
		param = vhalt_spec_param(spec->policy, "halt_poll_ns");
	vhalt_spec_format(spec, text);
	if (param < 0 || spec->given & 1U << param) {
		if (row_default == ROW_PIPE)
			row_default = table.nr_rows;
		snprintf(name, sizeof(name), "%.60s", text);
		add_waiter(options, spec, name);
		return;
	}
	for (uint32_t i = 0; i < NR_BOUNDS; i++) {
		struct vhalt_spec bounded = *spec;

		if (row_default == ROW_PIPE && bounds_ns[i] == spec->values[param])
			row_default = table.nr_rows;
		bounded.values[param] = bounds_ns[i];
		snprintf(name, sizeof(name), "%.40s, at most %s", text,
			 units_format_exact(bounds_ns[i], bound));
		add_waiter(options, &bounded, name);
	}
}

static void add_rows(const struct bench_options *options)
{
	struct vhalt_spec dflt;

	init_row(options, bench_table_row(&table, "futex"), MEASURE_FUTEX, NULL);
	init_row(options, bench_table_row(&table, "pipe"), MEASURE_PIPE, NULL);
	for (uint32_t i = 0; i < options->nr_policies; i++)
		add_policy(options, &options->policies[i]);
	if (!options->nr_policies) {
		vhalt_spec_init(&dflt, VHALT_POLICY_AUTO);
		add_policy(options, &dflt);
	}
}

static int run_cell(const struct bench_options *options, uint32_t row)
{
	struct measure_samples *cells = table.rows[row].cells;
	struct measure_pair_result near, far;
	double switches, elapsed_ns, cpu_ns;
	struct measure_pair *pair = pairs[row];
	int err = measure_pair_run(&pair[MEASURE_NEAR], MEASURE_NEAR, options->for_ns, 0, &near);

	if (!err)
		err = measure_pair_run(&pair[MEASURE_FAR], MEASURE_FAR, options->for_ns,
				       options->gap_ns, &far);
	if (err)
		return err;
	switches = (double)near.switches;
	elapsed_ns = (double)near.elapsed_ns;
	cpu_ns = (double)(near.cpu_ns[0] + near.cpu_ns[1]);
	if (near.switches && near.elapsed_ns) {
		measure_samples_add(&cells[COLUMN_NS], elapsed_ns / switches);
		measure_samples_add(&cells[COLUMN_CPU_NS], cpu_ns / switches);
		measure_samples_add(&cells[COLUMN_CPU_PCT], 100 * cpu_ns / (2 * elapsed_ns));
	}
	if (near.halts)
		measure_samples_add(&cells[COLUMN_MET_PCT],
				    100 * (double)near.successful / (double)near.halts);
	if (far.switches)
		measure_samples_add(&cells[COLUMN_FAR_NS],
				    (double)far.cpu_ns[1] / (double)far.switches);
	return 0;
}

static void judge(void)
{
	bool known = row_default != ROW_PIPE;

	bench_table_target(&table, "near: ns/switch, futex to the first policy",
			   bench_table_ratio(&table, ROW_FUTEX, row_default, COLUMN_NS), 5, false,
			   known);
	bench_table_target(&table, "near: CPU ns/switch, the first policy to futex",
			   bench_table_ratio(&table, row_default, ROW_FUTEX, COLUMN_CPU_NS), 1,
			   true, known);
	bench_table_target(&table, "far: CPU ns/wake-up, the first policy to futex",
			   bench_table_ratio(&table, row_default, ROW_FUTEX, COLUMN_FAR_NS), 1.03,
			   true, known);
}

int bench_ctxsw(const struct bench_options *options)
{
	table.options = options;
	add_rows(options);
	bench_table_begin(&table);
	for (uint64_t round = 0; round < options->rounds; round++)
		for (uint32_t row = 0; row < table.nr_rows; row++) {
			int err = run_cell(options, row);

			if (err)
				return complain(err);
			bench_table_progress(&table, round * table.nr_rows + row,
					     options->rounds * table.nr_rows);
		}
	judge();
	return bench_table_finish(&table);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt bench halt: real vCPUs that halt, waited for by the kernel, by libvhalt, or by themselves.

/*
 * Every row runs the same four guests: idle (1 Hz), tick (250 Hz), rr (round trips between two
 * vCPUs) and burst (short and long timers mixed). What a row changes outside of its own VM, KVM's
 * parameters for "kernel always", is saved before and put back right after (replay/apply.h), also
 * when a signal ends the run.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "replay/apply.h"
#include "tool/bench.h"
#include "tool/bench_halt.h"

static const struct bench_column columns[BENCH_HALT_COLUMNS] = {
	[COLUMN_IDLE_PCT] = {"idle_cpu_pct", "idle CPU %", 2},
	[COLUMN_TICK_PCT] = {"tick_cpu_pct", "250 Hz CPU %", 2},
	[COLUMN_TICK_LATE] = {"tick_late_us", "250 Hz late us", 1},
	[COLUMN_TRIP_MEAN] = {"trip_mean_us", "trip mean us", 1},
	[COLUMN_TRIP_P50] = {"trip_p50_us", "trip p50 us", 1},
	[COLUMN_TRIP_P99] = {"trip_p99_us", "trip p99 us", 1},
	[COLUMN_TRIP_PCT] = {"trip_cpu_pct", "trip CPU %", 1},
	[COLUMN_MIXED_CPU] = {"mixed_cpu_us", "mixed CPU us", 1},
	[COLUMN_MIXED_LATE] = {"mixed_late_us", "mixed late us", 1},
	[COLUMN_MIXED_COST] = {"mixed_cost_us", "mixed cost us", 1},
};

static struct bench_table table = {
	.name = "halt",
	.title = "Real vCPUs: an idle guest, one that ticks at 250 Hz, round trips between two "
		 "vCPUs, short and long timers mixed (cost per timer = CPU + 10 x lateness)",
	.columns = columns,
	.nr_columns = BENCH_HALT_COLUMNS,
};

static struct bench_halt_way ways[BENCH_ROWS_MOST];
static bool failed;

/* --- rows --- */

static void add_row(enum bench_halt_who who_waits, const char *who, const struct vhalt_spec *spec)
{
	static const char *const kernel[] = {"none", "always", "dynamic"};
	char text[VHALT_SPEC_TEXT_BYTES];
	uint32_t row;

	if (table.nr_rows == BENCH_ROWS_MOST)
		return;
	row = bench_table_row(&table, "%s %.48s", who,
			      spec ? vhalt_spec_format(spec, text) : kernel[who_waits]);
	ways[row].who = who_waits;
	/* Specs were checked when they were read. */
	if (spec && vhalt_spec_config(spec, &ways[row].config))
		snprintf(table.rows[row].skipped, sizeof(table.rows[row].skipped),
			 "not a usable policy");
}

static void add_default_policies(void)
{
	static const char *const in_guest[] = {"guest", "pv", "kvm", "auto"};
	struct vhalt_spec spec;

	for (uint32_t id = 0; id < VHALT_NR_POLICIES; id++) {
		vhalt_spec_init(&spec, id);
		add_row(BENCH_USER, "user", &spec);
	}
	if (!vhalt_spec_parse("auto:sleep=2", &spec, NULL, 0))
		add_row(BENCH_USER, "user", &spec);
	for (size_t i = 0; i < sizeof(in_guest) / sizeof(in_guest[0]); i++)
		if (!vhalt_spec_parse(in_guest[i], &spec, NULL, 0))
			add_row(BENCH_GUEST, "in guest", &spec);
}

static void add_rows(const struct bench_options *options)
{
	add_row(BENCH_KERNEL_NONE, "kernel", NULL);
	add_row(BENCH_KERNEL_ALWAYS, "kernel", NULL);
	add_row(BENCH_KERNEL_DYNAMIC, "kernel", NULL);
	if (!options->nr_policies)
		add_default_policies();
	for (uint32_t i = 0; i < options->nr_policies; i++) {
		add_row(BENCH_USER, "user", &options->policies[i]);
		add_row(BENCH_GUEST, "in guest", &options->policies[i]);
	}
}

static void skip(uint32_t row, const char *why)
{
	snprintf(table.rows[row].skipped, sizeof(table.rows[row].skipped), "%.191s", why);
}

/* --- KVM's parameters --- */

/*
 * A window that is always 200 us: grown by 1 it becomes grow_start after the first halt, shrunk by
 * 1 it stays. The VM's ceiling lies above every halt, so that all of them "grow".
 */
static const struct apply_value always[] = {
	{"halt_poll_ns_grow", 1},
	{"halt_poll_ns_grow_start", BENCH_HALT_CEILING_NS},
	{"halt_poll_ns_shrink", 1},
};

enum { NR_ALWAYS = sizeof(always) / sizeof(always[0]) };

/* Where the row cannot be run, say so before the first round. */
static void check_parameters(uint32_t row)
{
	char error[APPLY_ERROR_BYTES] = "";
	struct apply_state state;

	if (apply_read_state(&state, error))
		skip(row, error);
	else if (state.saved)
		skip(row, "KVM's parameters are those of an earlier run: vhalt ctl restore first");
	else if (apply_check(always, NR_ALWAYS, error))
		skip(row, error);
}

static int restore_parameters(void)
{
	char error[APPLY_ERROR_BYTES];
	uint32_t restored;

	if (!apply_restore(&restored, error))
		return 0;
	fprintf(stderr, "vhalt bench halt: KVM's parameters are not restored: %s\n", error);
	return -EIO;
}

static int run_row(const struct bench_options *options, uint32_t row)
{
	char error[APPLY_ERROR_BYTES];
	int err;

	if (ways[row].who != BENCH_KERNEL_ALWAYS)
		return bench_halt_run(options, &ways[row], &table.rows[row]);
	err = apply_set(always, NR_ALWAYS, error);
	if (err) {
		skip(row, error);
		return -EPERM;
	}
	err = bench_halt_run(options, &ways[row], &table.rows[row]);
	return restore_parameters() ? -EIO : err;
}

/* --- what it means --- */

static uint32_t row_called(const char *name)
{
	uint32_t row = 0;

	while (row < table.nr_rows && strcmp(table.rows[row].name, name))
		row++;
	return row;
}

static bool has(uint32_t row, uint32_t column)
{
	return row < table.nr_rows && !table.rows[row].skipped[0] &&
	       table.rows[row].cells[column].nr;
}

static void judge_ratio(const char *what, const char *name, const char *to, uint32_t column,
			double bound)
{
	uint32_t row = row_called(name), to_row = row_called(to);
	bool known = has(row, column) && has(to_row, column);

	bench_table_target(&table, what, known ? bench_table_ratio(&table, row, to_row, column) : 0,
			   bound, true, known);
}

/* An exit to user space costs what `none` costs there beyond what it costs in the kernel. */
static void judge_without_exit(void)
{
	const uint32_t c = COLUMN_MIXED_COST;
	uint32_t ours = row_called("user auto"), none = row_called("user none");
	uint32_t kernel_none = row_called("kernel none"), dynamic = row_called("kernel dynamic");
	bool known = has(ours, c) && has(none, c) && has(kernel_none, c) && has(dynamic, c);
	double exit_us, ours_us, dynamic_us;

	if (!known) {
		bench_table_target(&table, "mixed cost, user auto less the exit to kernel dynamic",
				   0, 1, true, false);
		return;
	}
	exit_us = measure_summarize(&table.rows[none].cells[c]).median -
		  measure_summarize(&table.rows[kernel_none].cells[c]).median;
	ours_us = measure_summarize(&table.rows[ours].cells[c]).median;
	dynamic_us = measure_summarize(&table.rows[dynamic].cells[c]).median;
	snprintf(table.note, sizeof(table.note),
		 "An exit to user space costs %.1f us a timer at price %d (user none less kernel "
		 "none). Mixed cost of user auto: %.1f us with it, %.1f us without; kernel dynamic "
		 "%.1f us.",
		 exit_us, BENCH_HALT_PRICE, ours_us, ours_us - exit_us, dynamic_us);
	bench_table_target(&table, "mixed cost, user auto less the exit to kernel dynamic",
			   (ours_us - exit_us) / dynamic_us, 1, true, true);
}

static void judge(void)
{
	judge_ratio("round trip, user auto to user always", "user auto", "user always",
		    COLUMN_TRIP_MEAN, 1.05);
	judge_ratio("250 Hz CPU, user auto to user none", "user auto", "user none", COLUMN_TICK_PCT,
		    1.05);
	judge_ratio("mixed cost, user auto to user kvm", "user auto", "user kvm", COLUMN_MIXED_COST,
		    1);
	judge_ratio("mixed cost, user auto to kernel dynamic, exits included", "user auto",
		    "kernel dynamic", COLUMN_MIXED_COST, 1);
	judge_without_exit();
	judge_ratio("250 Hz lateness, user auto:sleep=2 to user none", "user auto:sleep=2",
		    "user none", COLUMN_TICK_LATE, 1.0 / 3);
	judge_ratio("250 Hz CPU, user auto:sleep=2 to user none", "user auto:sleep=2", "user none",
		    COLUMN_TICK_PCT, 1.2);
}

static int run_rounds(const struct bench_options *options)
{
	for (uint64_t round = 0; round < options->rounds; round++)
		for (uint32_t row = 0; row < table.nr_rows; row++) {
			int err = 0;

			if (!table.rows[row].skipped[0])
				err = run_row(options, row);
			failed |= err == -EIO;
			if (bench_halt_interrupted())
				return -EINTR;
			if (err == -ENOENT || err == -EACCES) {
				fprintf(stderr, "vhalt bench halt: %s\n", table.rows[row].skipped);
				return err;
			}
			bench_table_progress(&table, round * table.nr_rows + row,
					     options->rounds * table.nr_rows);
		}
	return 0;
}

int bench_halt(const struct bench_options *options)
{
	struct sigaction action = {.sa_handler = bench_halt_interrupt, .sa_flags = SA_RESTART};
	int code;

	table.options = options;
	add_rows(options);
	check_parameters(row_called("kernel always"));
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	bench_table_begin(&table);
	if (run_rounds(options)) {
		if (bench_halt_interrupted())
			fprintf(stderr, "vhalt bench halt: interrupted%s\n",
				failed ? "" : "; nothing stays changed");
		return 1;
	}
	judge();
	code = bench_table_finish(&table);
	return failed ? 1 : code;
}

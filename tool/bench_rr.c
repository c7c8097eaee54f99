// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt bench rr: request and response over loopback TCP, the waiter in front of epoll.
#include <stdio.h>
#include <string.h>

#include "measure/rr.h"
#include "tool/bench.h"

enum {
	COLUMN_MEAN,
	COLUMN_P50,
	COLUMN_P99,
	COLUMN_RATE,
	COLUMN_CPU_PCT,
	COLUMN_CPU_NS,
	NR_COLUMNS
};
enum { ROW_EPOLL };

static const struct bench_column columns[NR_COLUMNS] = {
	[COLUMN_MEAN] = {"trip_mean_us", "mean us", 1},
	[COLUMN_P50] = {"trip_p50_us", "p50 us", 1},
	[COLUMN_P99] = {"trip_p99_us", "p99 us", 1},
	[COLUMN_RATE] = {"trips_per_s", "round trips/s", 0},
	[COLUMN_CPU_PCT] = {"cpu_pct", "CPU %", 1},
	[COLUMN_CPU_NS] = {"trip_cpu_us", "CPU us/round trip", 1},
};

static struct bench_table table = {
	.name = "rr",
	.title = "Request and response of 64 bytes over loopback TCP, client and server on a CPU "
		 "each, waiting in epoll",
	.columns = columns,
	.nr_columns = NR_COLUMNS,
};

static struct measure_rr ways[BENCH_ROWS_MOST];
static struct measure_rr_result result;

static void add_policy(const struct bench_options *options, const struct vhalt_spec *spec)
{
	char text[VHALT_SPEC_TEXT_BYTES];
	struct vhalt_config config;
	uint32_t row;

	if (table.nr_rows == BENCH_ROWS_MOST || vhalt_spec_config(spec, &config))
		return;
	row = bench_table_row(&table, "%.60s", vhalt_spec_format(spec, text));
	measure_rr_init(&ways[row], &config, options->cpus);
}

static void add_rows(const struct bench_options *options)
{
	measure_rr_init(&ways[bench_table_row(&table, "plain epoll")], NULL, options->cpus);
	for (uint32_t i = 0; i < options->nr_policies; i++)
		add_policy(options, &options->policies[i]);
	for (uint32_t id = 0; !options->nr_policies && id < VHALT_NR_POLICIES; id++) {
		struct vhalt_spec spec;

		vhalt_spec_init(&spec, id);
		add_policy(options, &spec);
	}
}

static int run_cell(const struct bench_options *options, uint32_t row)
{
	struct measure_samples *cells = table.rows[row].cells;
	int err = measure_rr_run(&ways[row], options->for_ns, &result);
	double rounds = (double)result.rounds, elapsed_ns = (double)result.elapsed_ns;

	if (err || !result.rounds)
		return err;
	measure_samples_add(&cells[COLUMN_MEAN], (double)result.sum_ns / rounds / 1000);
	measure_samples_add(&cells[COLUMN_P50],
			    replay_hist_percentile(&result.trips, 0, 500000) / 1000.0);
	measure_samples_add(&cells[COLUMN_P99],
			    replay_hist_percentile(&result.trips, 0, 990000) / 1000.0);
	measure_samples_add(&cells[COLUMN_RATE], rounds * 1e9 / elapsed_ns);
	measure_samples_add(&cells[COLUMN_CPU_PCT], 100 * (double)result.cpu_ns / (2 * elapsed_ns));
	measure_samples_add(&cells[COLUMN_CPU_NS], (double)result.cpu_ns / rounds / 1000);
	return 0;
}

static uint32_t row_called(const char *name)
{
	uint32_t row = 0;

	while (row < table.nr_rows && strcmp(table.rows[row].name, name))
		row++;
	return row;
}

static void judge(void)
{
	uint32_t ours = row_called("auto"), always = row_called("always");
	bool known = ours < table.nr_rows && always < table.nr_rows;

	bench_table_target(&table, "mean round trip, auto to always",
			   known ? bench_table_ratio(&table, ours, always, COLUMN_MEAN) : 0, 1.05,
			   true, known);
}

int bench_rr(const struct bench_options *options)
{
	table.options = options;
	add_rows(options);
	bench_table_begin(&table);
	for (uint64_t round = 0; round < options->rounds; round++)
		for (uint32_t row = 0; row < table.nr_rows; row++) {
			int err = run_cell(options, row);

			if (err) {
				fprintf(stderr, "vhalt bench rr: %s: %s\n", table.rows[row].name,
					strerror(-err));
				return 1;
			}
			bench_table_progress(&table, round * table.nr_rows + row,
					     options->rounds * table.nr_rows);
		}
	judge();
	return bench_table_finish(&table);
}

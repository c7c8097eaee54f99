/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The table every live benchmark prints: rows interleaved over rounds, medians, spread, targets. */
#ifndef VHALT_TOOL_BENCH_TABLE_H
#define VHALT_TOOL_BENCH_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/spec.h"
#include "measure/machine.h"
#include "measure/summary.h"

enum {
	BENCH_POLICIES_MOST = 8,
	BENCH_ROWS_MOST = 96,
	BENCH_COLUMNS_MOST = 10,
	BENCH_TARGETS_MOST = 8
};

/** What the command line asks for. */
struct bench_options {
	struct vhalt_spec policies[BENCH_POLICIES_MOST];
	uint32_t nr_policies; /* 0: the benchmark's own choice */
	uint64_t rounds, for_ns, gap_ns;
	unsigned int cpus[2];
	bool cpus_given, json, check;
};

struct bench_column {
	const char *key;   /* in JSON */
	const char *title; /* in text, with its unit */
	int decimals;
};

struct bench_row {
	char name[64];
	char skipped[192]; /* why it has no figures; empty: it has */
	struct measure_samples cells[BENCH_COLUMNS_MOST];
};

/** A bound a figure is to keep. */
struct bench_target {
	const char *what;
	double value, bound;
	bool at_most; /* else at least */
	bool known;   /* its rows have figures */
};

/** About 800 KiB: static or allocated, zeroed. */
struct bench_table {
	const char *name;  /* "ctxsw" */
	const char *title; /* one sentence: what is measured */
	const struct bench_options *options;
	const struct bench_column *columns;
	uint32_t nr_columns;
	struct bench_row rows[BENCH_ROWS_MOST];
	uint32_t nr_rows;
	struct bench_target targets[BENCH_TARGETS_MOST];
	uint32_t nr_targets;
	struct measure_machine machine;
	struct measure_noise noise;
	struct measure_noise_result disturbed;
	char note[256]; /* a remark below the table */
};

/** bench_table_row - a new row, its name printf style. Return: its index; the table has room. */
__attribute__((format(printf, 2, 3))) uint32_t bench_table_row(struct bench_table *table,
							       const char *format, ...);

/** bench_table_target - judge one figure; @known false: its rows are missing. */
void bench_table_target(struct bench_table *table, const char *what, double value, double bound,
			bool at_most, bool known);

/** bench_table_ratio - measure_ratio() of @column between two rows; 0 when one has no figures. */
double bench_table_ratio(const struct bench_table *table, uint32_t row, uint32_t to_row,
			 uint32_t column);

/** bench_table_begin - state the machine, open the books on what disturbs it. */
void bench_table_begin(struct bench_table *table);

/** bench_table_progress - on a terminal: how far it is. @done of @total cells. */
void bench_table_progress(const struct bench_table *table, uint64_t done, uint64_t total);

/**
 * bench_table_finish - close the books and print, text or JSON.
 * Return: the exit code; 1 if printing failed, or with --check if a known target is missed.
 */
int bench_table_finish(struct bench_table *table);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A scenario: a host, its VMs, and a table of variants of them; read from a file. */
#ifndef VHALT_SIM_SCENARIO_H
#define VHALT_SIM_SCENARIO_H

#include <stdio.h>

#include "sim/config.h"

/*
 * The format (libinih's INI; vhalt-sim(1) describes it):
 *
 *	[scenario]	title = TEXT, note = TEXT, seeds = N
 *	[run], [host], [vm KIND]	NAME = VALUE, parameters of config.h
 *	[column LABEL]	KEY = VALUE ...: host.NAME, run.NAME, vm.NAME, KIND.NAME
 *	[row LABEL]	score = WHO.METRIC, published.COLUMN = TEXT, and KEY = VALUE ...
 *
 * The table has a cell for each row and column: the scenario with the column's values, then the
 * row's. Its score is a metric of metric.h.
 */

#define SIM_LINES_MAX	  24 /* rows, and columns */
#define SIM_OVERRIDES_MAX 24 /* of one of them */
#define SIM_LABEL_BYTES	  39 /* libinih cuts names at 49 */
#define SIM_KEY_BYTES	  64
#define SIM_VALUE_BYTES	  160

/** One KEY = VALUE of a row or column. */
struct sim_override {
	char key[SIM_KEY_BYTES], value[SIM_VALUE_BYTES];
	uint32_t line; /* of the file, 0: from elsewhere */
};

/** A row or a column. */
struct sim_line {
	char label[SIM_LABEL_BYTES];
	struct sim_override overrides[SIM_OVERRIDES_MAX];
	struct sim_override published[SIM_OVERRIDES_MAX]; /* rows: key is a column's label */
	uint32_t nr_overrides, nr_published;
	char score[SIM_KEY_BYTES]; /* rows: "bench.rate" */
	uint32_t line;
};

struct sim_scenario {
	char title[SIM_VALUE_BYTES], note[SIM_VALUE_BYTES];
	struct sim_config base;
	struct sim_line rows[SIM_LINES_MAX], columns[SIM_LINES_MAX];
	uint32_t nr_rows, nr_columns;
	uint64_t seeds;
};

/**
 * sim_scenario_read - read a scenario and check every cell of its table.
 * @file:      read to its end, not closed
 * @name:      for messages
 * @scenario:  about 300 KB, the caller's
 * @error:     receives "NAME:LINE: what is wrong" on failure
 *
 * A file without rows gets one, without columns one that changes nothing; a row's score defaults to
 * the first VM's rate. Return: 0, -EINVAL, -EIO (cannot be read).
 */
int sim_scenario_read(FILE *file, const char *name, struct sim_scenario *scenario,
		      char error[SIM_ERROR_BYTES]);

/**
 * sim_scenario_cell - the configuration of one cell.
 * @extra, @nr:  set after column and row (--set, --sweep)
 *
 * Return: 0, or an error of sim_config_set() or sim_config_check().
 */
int sim_scenario_cell(const struct sim_scenario *scenario, uint32_t row, uint32_t column,
		      const struct sim_override *extra, uint32_t nr, struct sim_config *config,
		      char error[SIM_ERROR_BYTES]);

/**
 * sim_scenario_twin - the first row with the same values as @row: they are run once.
 */
uint32_t sim_scenario_twin(const struct sim_scenario *scenario, uint32_t row);

/** sim_scenario_published - what a row says was published for a column, or NULL. */
const char *sim_scenario_published(const struct sim_scenario *scenario, uint32_t row,
				   uint32_t column);

#endif

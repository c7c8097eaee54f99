/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A scenario's whole table, for many seeds and the values of a sweep, on all cores or ranks. */
#ifndef VHALT_SIM_STUDY_H
#define VHALT_SIM_STUDY_H

#include "sim/metric.h"
#include "sim/scenario.h"

/** Most values of a sweep, and settings from the command line. */
#define SIM_SWEEP_MAX 64
#define SIM_SET_MAX   32

/** One parameter that takes several values. */
struct sim_sweep {
	char key[SIM_KEY_BYTES];
	char values[SIM_SWEEP_MAX][SIM_VALUE_BYTES];
	uint32_t nr; /* 0: no sweep */
};

/** What to run. Caller-provided, all of it. */
struct sim_study {
	const struct sim_scenario *scenario;
	struct sim_override set[SIM_SET_MAX];
	uint32_t nr_set;
	struct sim_sweep sweep;
	uint64_t seed;	  /* the first of `seeds` in a row */
	uint32_t seeds;	  /* 0: as the scenario says */
	uint32_t threads; /* 0: all CPUs */
	bool check;	  /* check the invariants while running */
	void (*progress)(uint32_t done, uint32_t nr);
	/* results: [(point * rows + row) * columns + column][seed] */
	struct sim_result *results;
};

/** Mean of a metric over the seeds, and half the width of its 95 % confidence interval. */
struct sim_estimate {
	double mean, half;
};

/**
 * sim_sweep_parse - "KEY=A..B", "KEY=A..B:STEP" or "KEY=V,V,..."
 * @config:  says what KEY is; ranges are for durations and whole numbers
 *
 * Without STEP the range has about eight steps. Return: 0 or -EINVAL and @error.
 */
int sim_sweep_parse(const struct sim_config *config, const char *text, struct sim_sweep *sweep,
		    char error[SIM_ERROR_BYTES]);

/**
 * sim_study_check - every cell with what is set, before anything is run.
 * Return: 0 or an error of sim_scenario_cell().
 */
int sim_study_check(struct sim_study *study, char error[SIM_ERROR_BYTES]);

/**
 * sim_study_run - run it all. Same results whatever the number of threads or ranks.
 *
 * With MPI (spread.h) each rank runs its share and all have all results afterwards. Return: 0,
 * -ENOMEM, -EPROTO (an invariant broke). The caller frees study->results.
 */
int sim_study_run(struct sim_study *study);

/** sim_study_points - how many tables there are: values of the sweep, at least 1. */
uint32_t sim_study_points(const struct sim_study *study);

/** sim_study_estimate - one cell's metric over the seeds. */
struct sim_estimate sim_study_estimate(const struct sim_study *study, uint32_t point, uint32_t row,
				       uint32_t column, struct sim_metric_ref ref);

/**
 * sim_study_gain - by how many percent a column is better than the first one.
 *
 * Faster, or less of what is bad: 100 * (first / this - 1) or 100 * (this / first - 1).
 */
struct sim_estimate sim_study_gain(const struct sim_study *study, uint32_t point, uint32_t row,
				   uint32_t column, struct sim_metric_ref ref);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A scenario's whole table, for many seeds and the values of a sweep.
#include "sim/study.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/spread.h"
#include "sim/world.h"
#include "suite/parallel.h"

enum { CHECK_EVERY = 4096 };

/* Student's t, 97.5 %, by degrees of freedom; from 30 on it hardly changes. */
static const double student[] = {0,	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
				 2.306, 2.262,	2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
				 2.120, 2.110,	2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
				 2.064, 2.060,	2.056, 2.052, 2.048, 2.045};

uint32_t sim_study_points(const struct sim_study *study)
{
	return study->sweep.nr ? study->sweep.nr : 1;
}

static uint32_t nr_cells(const struct sim_study *study)
{
	return sim_study_points(study) * study->scenario->nr_rows * study->scenario->nr_columns;
}

/* What is set comes before the sweep, so that a sweep of the same parameter wins. */
static int cell_config(const struct sim_study *study, uint32_t cell, struct sim_config *config,
		       char error[SIM_ERROR_BYTES])
{
	struct sim_override extra[SIM_SET_MAX + 1];
	uint32_t nr = study->nr_set, columns = study->scenario->nr_columns;
	uint32_t rows = study->scenario->nr_rows, point = cell / columns / rows;

	memcpy(extra, study->set, nr * sizeof(*extra));
	if (study->sweep.nr) {
		memcpy(extra[nr].key, study->sweep.key, SIM_KEY_BYTES);
		memcpy(extra[nr++].value, study->sweep.values[point], SIM_VALUE_BYTES);
	}
	return sim_scenario_cell(study->scenario, cell / columns % rows, cell % columns, extra, nr,
				 config, error);
}

int sim_study_check(struct sim_study *study, char error[SIM_ERROR_BYTES])
{
	struct sim_config config;
	int err = 0;

	if (!study->seeds)
		study->seeds = (uint32_t)study->scenario->seeds;
	for (uint32_t i = 0; !err && i < nr_cells(study); i++)
		err = cell_config(study, i, &config, error);
	return err;
}

/* Rows that differ in their score only are run once. */
static bool has_twin(const struct sim_study *study, uint32_t cell)
{
	uint32_t row = cell / study->scenario->nr_columns % study->scenario->nr_rows;

	return sim_scenario_twin(study->scenario, row) != row;
}

/* The @i-th job there is: cells with a twin have none. */
static uint32_t nth_job(const struct sim_study *study, uint32_t i)
{
	uint32_t cell = 0;

	for (uint32_t left = i / study->seeds;; cell++)
		if (!has_twin(study, cell) && !left--)
			return cell * study->seeds + i % study->seeds;
}

/* This rank's share of the jobs is every size-th of them, from the rank-th on. */
static int run_job(void *context, uint32_t i)
{
	struct sim_study *study = context;
	uint32_t job = nth_job(study, sim_spread_rank() + i * sim_spread_size());
	char error[SIM_ERROR_BYTES];
	struct sim_config config;
	struct sim_world *world;
	int err = cell_config(study, job / study->seeds, &config, error);

	if (err)
		return err;
	err = sim_world_create(&world, &config, study->seed + job % study->seeds);
	if (err)
		return err;
	world->check_every = study->check ? CHECK_EVERY : 0;
	err = sim_world_run(world);
	sim_result_take(world, &study->results[job]);
	sim_world_destroy(world);
	return err;
}

int sim_study_run(struct sim_study *study)
{
	uint32_t all = nr_cells(study) * study->seeds, size = sim_spread_size(), jobs = 0, mine;
	int64_t failed;
	int err, lost;

	for (uint32_t i = 0; i < nr_cells(study); i++)
		jobs += has_twin(study, i) ? 0 : study->seeds;
	mine = (jobs + size - 1 - sim_spread_rank()) / size;
	study->results = calloc(all, sizeof(*study->results));
	if (!study->results)
		return -ENOMEM;
	err = suite_parallel(study->threads, mine, run_job, study, study->progress);
	lost = sim_spread_sum((int64_t *)study->results,
			      (uint64_t)all * sizeof(*study->results) / sizeof(int64_t));
	failed = err;
	if (!lost)
		lost = sim_spread_sum(&failed, 1);
	if (err)
		return err;
	return lost ? lost : failed ? -EIO : 0;
}

struct sim_estimate sim_study_estimate(const struct sim_study *study, uint32_t point, uint32_t row,
				       uint32_t column, struct sim_metric_ref ref)
{
	uint32_t n = study->seeds;
	const struct sim_scenario *s = study->scenario;
	size_t cell = (size_t)(point * s->nr_rows + sim_scenario_twin(s, row)) * s->nr_columns +
		      column;
	const struct sim_result *r = &study->results[cell * n];
	struct sim_estimate e = {0, 0};
	double squares = 0;

	for (uint32_t i = 0; i < n; i++)
		e.mean += (double)sim_metric_value(&r[i], ref) / 1000 / n;
	for (uint32_t i = 0; i < n; i++) {
		double d = (double)sim_metric_value(&r[i], ref) / 1000 - e.mean;

		squares += d * d;
	}
	if (n > 1)
		e.half = (n <= 30 ? student[n - 1] : 1.96) * sqrt(squares / (n - 1) / n);
	return e;
}

struct sim_estimate sim_study_gain(const struct sim_study *study, uint32_t point, uint32_t row,
				   uint32_t column, struct sim_metric_ref ref)
{
	struct sim_estimate first = sim_study_estimate(study, point, row, 0, ref);
	struct sim_estimate this = sim_study_estimate(study, point, row, column, ref);
	bool lower = sim_metric_lower_better(ref);
	double better = lower ? first.mean : this.mean, worse = lower ? this.mean : first.mean;
	double a, b;

	if (worse <= 0 || better <= 0)
		return (struct sim_estimate){0, 0};
	a = first.half / first.mean;
	b = this.half / this.mean;
	return (struct sim_estimate){100 * (better / worse - 1),
				     100 * better / worse * sqrt(a * a + b * b)};
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Random workloads by the thousand: how a policy does where nobody tuned it.
#include "suite/trial.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "suite/parallel.h"

enum { TRIED, KVM0, KVM2, POLICIES };

struct trial_run {
	const struct suite_options *options;
	struct vhalt_spec specs[POLICIES];
	double (*ratios)[POLICIES]; /* to the oracle, per workload */
};

static int run_job(void *context, uint32_t i)
{
	const struct trial_run *run = context;
	const struct suite_options *o = run->options;
	uint32_t nr_settings = o->nr_b * o->nr_max, n = i % nr_settings;
	struct suite_setting setting = {o->b_ns[n % o->nr_b], o->max_ns[n / o->nr_b]};
	struct suite_host host = suite_host_of(o, &setting);
	struct suite_halt *halts = malloc(SUITE_TRIAL_HALTS * sizeof(*halts));

	if (!halts)
		return -ENOMEM;
	suite_random_generate(i, o->seed, halts, SUITE_TRIAL_HALTS);
	for (int p = 0; p < POLICIES; p++) {
		struct vhalt_config config;
		struct suite_sum sum;

		suite_spec_config(&run->specs[p], &setting, o->switch_ns, &config);
		sum = suite_drive(&config, &host, halts, SUITE_TRIAL_HALTS);
		run->ratios[i][p] = (double)sum.cost_ns / (double)sum.oracle_ns;
	}
	free(halts);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, uint32_t nr, double q)
{
	return sorted[(uint32_t)(q * (nr - 1))];
}

/* Sorts @values. */
static void find_quantiles(struct suite_quantiles *q, double *values, uint32_t nr)
{
	uint32_t below = 0;

	qsort(values, nr, sizeof(*values), by_value);
	while (below < nr && values[below] <= 1)
		below++;
	q->p10 = quantile(values, nr, .1);
	q->p50 = quantile(values, nr, .5);
	q->p90 = quantile(values, nr, .9);
	q->p99 = quantile(values, nr, .99);
	q->p999 = quantile(values, nr, .999);
	q->max = values[nr - 1];
	q->at_most_one = (double)below / nr;
}

static double geomean(const struct trial_run *run, uint32_t nr, int policy)
{
	double sum = 0;

	for (uint32_t i = 0; i < nr; i++)
		sum += log(run->ratios[i][policy]);
	return exp(sum / nr);
}

static void summarize(struct suite_trial *trial, const struct trial_run *run, double *values)
{
	uint32_t nr = trial->nr;

	trial->worst = 0;
	for (uint32_t i = 0; i < nr; i++) {
		const double *r = run->ratios[i];

		values[i] = r[TRIED] / fmin(r[KVM0], r[KVM2]);
		trial->worst = fmax(trial->worst, r[TRIED]);
	}
	find_quantiles(&trial->to_kvm, values, nr);
	for (uint32_t i = 0; i < nr; i++)
		values[i] = run->ratios[i][TRIED] / run->ratios[i][KVM2];
	find_quantiles(&trial->to_kvm2, values, nr);
	trial->geomean = geomean(run, nr, TRIED);
	trial->kvm0_geomean = geomean(run, nr, KVM0);
	trial->kvm2_geomean = geomean(run, nr, KVM2);
}

int suite_trial_run(struct suite_trial *trial, const struct suite_options *options,
		    const struct vhalt_spec *spec, uint32_t nr)
{
	struct trial_run run = {.options = options, .specs = {[TRIED] = *spec}};
	double *values = NULL;
	int err = -ENOMEM;

	if (!nr || !options->nr_b || !options->nr_max)
		return -EINVAL;
	vhalt_spec_init(&run.specs[KVM0], VHALT_POLICY_KVM);
	vhalt_spec_set(&run.specs[KVM0], "shrink", 0);
	vhalt_spec_init(&run.specs[KVM2], VHALT_POLICY_KVM);
	vhalt_spec_set(&run.specs[KVM2], "shrink", 2);
	trial->nr = nr;
	run.ratios = calloc(nr, sizeof(*run.ratios));
	values = calloc(nr, sizeof(*values));
	if (run.ratios && values)
		err = suite_parallel(options->threads, nr, run_job, &run, options->progress);
	if (!err)
		summarize(trial, &run, values);
	free(values);
	free(run.ratios);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The benchmarks' arithmetic and their loads: values of summaries, and that the loads do what they
// say. No speed is asserted.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "measure/machine.h"
#include "measure/pair.h"
#include "measure/rr.h"
#include "measure/summary.h"

enum { RUN_NS = 20000000 };

static struct measure_samples samples_of(const double *values, size_t nr)
{
	struct measure_samples samples = {.nr = 0};

	for (size_t i = 0; i < nr; i++)
		measure_samples_add(&samples, values[i]);
	return samples;
}

static void summary_is_median_and_quartiles(void **state)
{
	const double odd[] = {5, 1, 4, 2, 3}, even[] = {10, 20, 40, 30};
	struct measure_samples samples = samples_of(odd, 5);
	struct measure_summary s = measure_summarize(&samples);

	(void)state;
	assert_true(s.median == 3 && s.low == 2 && s.high == 4);
	samples = samples_of(even, 4);
	s = measure_summarize(&samples);
	assert_true(s.median == 25 && s.low == 17.5 && s.high == 32.5);
	samples.nr = 0;
	s = measure_summarize(&samples);
	assert_true(s.median == 0 && s.low == 0 && s.high == 0);
}

static void samples_stop_at_their_room(void **state)
{
	struct measure_samples samples = {.nr = 0};

	(void)state;
	for (int i = 0; i < MEASURE_ROUNDS_MAX + 5; i++)
		measure_samples_add(&samples, i);
	assert_int_equal(samples.nr, MEASURE_ROUNDS_MAX);
	assert_true(measure_summarize(&samples).median == (MEASURE_ROUNDS_MAX - 1) / 2);
}

/* A round that disturbs both alike does not move the ratio. */
static void ratio_is_taken_round_by_round(void **state)
{
	const double a[] = {2, 200, 3, 4, 9}, b[] = {1, 100, 1.5, 0, 3};
	struct measure_samples x = samples_of(a, 5), y = samples_of(b, 4);

	(void)state;
	assert_true(fabs(measure_ratio(&x, &y) - 2) < 1e-12);
	y.nr = 0;
	assert_true(measure_ratio(&x, &y) == 0);
}

static void machine_is_described(void **state)
{
	struct measure_noise_result result;
	struct measure_machine machine;
	struct measure_noise noise;

	(void)state;
	measure_machine_read(&machine);
	assert_true(machine.cpus >= 1);
	assert_true(strlen(machine.cpu) > 0 && strlen(machine.kernel) > 0);
	measure_noise_begin(&noise);
	measure_noise_end(&noise, &result);
	assert_true(result.steal_pct >= 0 && result.others_pct >= 0);
}

static unsigned int cpus[2];

static int find_cpus(void **state)
{
	(void)state;
	if (!measure_cpus_pick(cpus))
		return 0;
	print_message("this process may use one CPU only\n");
	return 1;
}

/* On a machine too busy for both threads a run gives nothing: again then. */
static struct measure_pair_result run(struct measure_pair *pair, enum measure_load load)
{
	struct measure_pair_result result;

	do
		assert_int_equal(measure_pair_run(pair, load, RUN_NS, 1000000, &result), 0);
	while (!result.switches);
	return result;
}

static void pairs_switch_in_every_way(void **state)
{
	const char *const policies[] = {"none", "auto", "always:max=1ms"};
	struct measure_pair_result result;
	struct vhalt_config config;
	static struct measure_pair pair;

	(void)state;
	for (int channel = MEASURE_FUTEX; channel <= MEASURE_PIPE; channel++)
		for (int load = MEASURE_NEAR; load <= MEASURE_FAR; load++) {
			measure_pair_init(&pair, (enum measure_channel)channel, NULL, cpus);
			result = run(&pair, (enum measure_load)load);
			assert_true(result.elapsed_ns > 0);
			assert_true(result.cpu_ns[0] > 0 && result.cpu_ns[1] > 0);
			assert_int_equal(result.halts, 0);
		}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(vhalt_config_parse(policies[i], &config, NULL, 0), 0);
		measure_pair_init(&pair, MEASURE_WAITER, &config, cpus);
		result = run(&pair, MEASURE_NEAR);
		assert_true(result.halts > 0);
		assert_true(result.successful <= result.halts);
		assert_true(i != 0 || result.successful == 0);
	}
}

/* Woken every millisecond, not more often: no kick is counted twice. */
static void far_pairs_keep_their_gap(void **state)
{
	struct measure_pair_result result;
	struct vhalt_config config;
	static struct measure_pair pair;

	(void)state;
	assert_int_equal(vhalt_config_parse("none", &config, NULL, 0), 0);
	measure_pair_init(&pair, MEASURE_WAITER, &config, cpus);
	result = run(&pair, MEASURE_FAR);
	assert_true(result.halts <= 3 * RUN_NS / 1000000);
}

static void cpu_that_is_not_ours_is_refused(void **state)
{
	const unsigned int none[2] = {1022, 1023};
	struct measure_pair_result result;
	static struct measure_pair pair;

	(void)state;
	measure_pair_init(&pair, MEASURE_FUTEX, NULL, none);
	assert_true(measure_pair_run(&pair, MEASURE_NEAR, RUN_NS, 0, &result) < 0);
}

static void requests_are_answered(void **state)
{
	const char *const policies[] = {NULL, "none", "auto", "always:max=1ms"};
	static struct measure_rr_result result;
	static struct measure_rr rr;
	struct vhalt_config config;

	(void)state;
	for (int i = 0; i < 4; i++) {
		if (policies[i])
			assert_int_equal(vhalt_config_parse(policies[i], &config, NULL, 0), 0);
		measure_rr_init(&rr, policies[i] ? &config : NULL, cpus);
		do
			assert_int_equal(measure_rr_run(&rr, RUN_NS, &result), 0);
		while (!result.rounds);
		assert_true(result.sum_ns <= result.elapsed_ns);
		assert_true(replay_hist_percentile(&result.trips, 0, 500000) <=
			    replay_hist_percentile(&result.trips, 0, 990000));
	}
}

int main(void)
{
	const struct CMUnitTest pure[] = {
		cmocka_unit_test(summary_is_median_and_quartiles),
		cmocka_unit_test(samples_stop_at_their_room),
		cmocka_unit_test(ratio_is_taken_round_by_round),
		cmocka_unit_test(machine_is_described),
	};
	const struct CMUnitTest loads[] = {
		cmocka_unit_test(pairs_switch_in_every_way),
		cmocka_unit_test(far_pairs_keep_their_gap),
		cmocka_unit_test(cpu_that_is_not_ours_is_refused),
		cmocka_unit_test(requests_are_answered),
	};
	int failed = cmocka_run_group_tests(pure, NULL, NULL);

	if (!find_cpus(NULL))
		failed += cmocka_run_group_tests(loads, NULL, NULL);
	return failed;
}

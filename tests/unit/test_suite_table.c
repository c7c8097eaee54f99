// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The suite's tables: figures, targets, random trials, the budget, and that threads change nothing.

#include "tests/unit/suite_rig.h"

#include <errno.h>
#include <string.h>

#include "suite/budget.h"
#include "suite/parallel.h"
#include "suite/table.h"
#include "suite/target.h"
#include "suite/trial.h"

static struct suite_options few(uint32_t nr_halts)
{
	struct suite_options o;

	suite_options_init(&o);
	o.halts = nr_halts;
	o.b_ns[0] = 50000;
	o.b_ns[1] = 150000;
	o.nr_b = 2;
	o.nr_max = 1;
	return o;
}

static void test_threads_do_not_matter(void **context)
{
	struct suite_options o = few(1000);
	struct suite_table one, many;
	size_t cells;

	(void)context;
	o.threads = 1;
	assert_int_equal(suite_table_run(&one, &o), 0);
	o.threads = 5;
	assert_int_equal(suite_table_run(&many, &o), 0);
	cells = (size_t)one.nr_settings * o.nr_workloads * one.nr_rows;
	assert_int_equal(cells, 2 * 30 * 13);
	assert_memory_equal(one.sums, many.sums, cells * sizeof(*one.sums));
	suite_table_fini(&one);
	suite_table_fini(&many);
}

static void test_table_figures(void **context)
{
	struct suite_options o = few(8000);
	struct suite_target targets[SUITE_TARGETS_MOST];
	struct suite_table t;
	uint32_t nr, workload, row, fixed_by_hand = 0;
	double sum = 0;

	(void)context;
	assert_int_equal(suite_table_run(&t, &o), 0);
	row = (uint32_t)suite_table_row(&t, "auto");
	assert_true(row >= SUITE_YARDSTICKS && row < t.nr_rows);
	for (uint32_t w = 0; w < o.nr_workloads; w++) {
		sum += log(suite_table_ratio(&t, 0, w, row));
		fixed_by_hand += suite_table_ratio(&t, 0, w, SUITE_FIXED) >= 1;
	}
	assert_int_equal(fixed_by_hand, o.nr_workloads);
	assert_near(suite_table_geomean(&t, 0, row), exp(sum / o.nr_workloads), 1e-9);
	/* Hindsight is at least as good as the defaults it could have chosen. */
	assert_true(suite_table_geomean(&t, 0, SUITE_TUNED) <=
		    suite_table_geomean(&t, 0, SUITE_KVM0));
	assert_true(suite_table_geomean(&t, 0, SUITE_TUNED) <=
		    suite_table_geomean(&t, 0, SUITE_KVM2));
	assert_true(suite_table_worst(&t, 0, row, true, &workload) >=
		    suite_table_worst(&t, 0, row, false, &workload));
	/* A policy is never worse than itself. */
	assert_true(suite_table_worst(&t, 0, SUITE_KVM2, false, &workload) >= 1);
	/* Shorter runs than the standard ones, so with some room: 5 targets, 1 for sleep. */
	nr = suite_table_targets(&t, targets);
	assert_int_equal(nr, 2 + 1 + 2 + 1);
	for (uint32_t i = 0; i < nr; i++)
		if (targets[i].at_least ? targets[i].value < targets[i].bound - 3
					: targets[i].value > targets[i].bound + .02)
			fail_msg("%s: %.3f", targets[i].what, targets[i].value);
	suite_table_fini(&t);
}

static void test_table_refuses(void **context)
{
	struct suite_options o = few(1000);
	struct suite_table t;

	(void)context;
	o.nr_b = 0;
	assert_int_equal(suite_table_run(&t, &o), -EINVAL);
	suite_table_fini(&t);
	o = few(1000);
	o.nr_specs = SUITE_ROWS_MOST;
	assert_int_equal(suite_table_run(&t, &o), -EINVAL);
	suite_table_fini(&t);
	o = few(0);
	assert_int_equal(suite_table_run(&t, &o), -EINVAL);
	suite_table_fini(&t);
}

static void test_targets_can_be_missed(void **context)
{
	struct suite_trial trial = {.nr = 1, .to_kvm = {.p50 = .96, .p99 = 1.03}};
	struct suite_target targets[SUITE_TARGETS_MOST];

	(void)context;
	assert_int_equal(suite_trial_targets(&trial, targets), 2);
	assert_true(targets[0].held);
	assert_false(targets[1].held);
}

static void test_trial(void **context)
{
	struct suite_options o;
	struct suite_trial one, many;
	struct vhalt_spec spec;

	(void)context;
	suite_options_init(&o);
	vhalt_spec_init(&spec, VHALT_POLICY_AUTO);
	memset(&one, 0, sizeof(one));
	memset(&many, 0, sizeof(many));
	o.threads = 1;
	assert_int_equal(suite_trial_run(&one, &o, &spec, 120), 0);
	o.threads = 4;
	assert_int_equal(suite_trial_run(&many, &o, &spec, 120), 0);
	assert_memory_equal(&one, &many, sizeof(one));
	assert_true(one.to_kvm.p10 <= one.to_kvm.p50 && one.to_kvm.p50 <= one.to_kvm.p99 &&
		    one.to_kvm.p99 <= one.to_kvm.max);
	assert_true(one.to_kvm.p50 < .98 && one.to_kvm.p99 < 1.05);
	assert_int_equal(suite_trial_run(&one, &o, &spec, 0), -EINVAL);
	/* KVM against the better of itself and its sibling is never below one. */
	vhalt_spec_init(&spec, VHALT_POLICY_KVM);
	assert_int_equal(suite_trial_run(&one, &o, &spec, 60), 0);
	assert_true(one.to_kvm.p10 >= 1 && one.to_kvm2.max == 1);
}

static void test_budget_table(void **context)
{
	const struct suite_budget_row *rows;
	double free_pct = 0, cut_saved = 0, price_saved = 0;
	uint32_t nr;

	(void)context;
	assert_int_equal(suite_budget_run(1, 0, &rows, &nr), 0);
	assert_int_equal(nr, 10);
	for (uint32_t i = 0; i < nr; i++) {
		const struct suite_budget_row *r = &rows[i];

		assert_true(r->burnt_pct > 0 && r->saved_ms_per_s > 0);
		if (r->means == SUITE_BUDGET_FREE && !strcmp(r->spec, "auto"))
			free_pct = r->burnt_pct;
		/* The mean keeps to the cap, each tick to the gate, give or take a step of it. */
		if (r->means == SUITE_BUDGET_PRICE) {
			assert_true(r->burnt_pct <= r->cap_ppm / 1e4);
			assert_true(r->worst_tick_pct <= 1.25 * r->cap_ppm / 1e4);
			assert_true(r->factor > 1);
		}
		if (r->cap_ppm == 20000 && !strcmp(r->spec, "auto")) {
			if (r->means == SUITE_BUDGET_PRICE)
				price_saved = r->saved_ms_per_s;
			else
				cut_saved = r->saved_ms_per_s;
		}
	}
	assert_true(free_pct > 10);
	assert_true(price_saved > 2 * cut_saved);
}

static int count_job(void *context, uint32_t i)
{
	((uint8_t *)context)[i]++;
	return 0;
}

static int failing_job(void *context, uint32_t i)
{
	(void)context;
	return i == 37 ? -EIO : 0;
}

static void test_parallel(void **context)
{
	uint8_t ran[1000] = {0};

	(void)context;
	assert_int_equal(suite_parallel(4, 1000, count_job, ran, NULL), 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(ran[i], 1);
	assert_int_equal(suite_parallel(0, 0, count_job, ran, NULL), 0);
	assert_int_equal(suite_parallel(1, 100, failing_job, NULL, NULL), -EIO);
	assert_int_equal(suite_parallel(3, 100, failing_job, NULL, NULL), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_do_not_matter),
		cmocka_unit_test(test_table_figures),
		cmocka_unit_test(test_table_refuses),
		cmocka_unit_test(test_targets_can_be_missed),
		cmocka_unit_test(test_trial),
		cmocka_unit_test(test_budget_table),
		cmocka_unit_test(test_parallel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

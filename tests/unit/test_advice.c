// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Advice end to end, from halts in memory: what it recommends, to whom, and when it keeps quiet.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/advice.h"
#include "replay/advice_text.h"
#include "tests/unit/replay_fixture.h"

static struct advice *advise(struct fixture *f, int expected)
{
	struct replay_input input = {fixture_read, f};
	struct advice_options options = {.threads = 2};
	struct advice *advice = NULL;

	replay_model_init(&options.model);
	assert_int_equal(advice_make(&advice, &input, &options), expected);
	return advice;
}

static uint64_t value(const struct vhalt_spec *spec, const char *key)
{
	return spec->values[vhalt_spec_param(VHALT_POLICY_KVM, key)];
}

static void begin(struct fixture *f, uint32_t vcpus)
{
	fixture_init(f, vcpus);
	f->info.params = (struct trace_kvm_params){200000, 2, 10000, 2};
}

/*
 * Long runs of short halts and of halts near the ceiling: the latter are polled for although to
 * block costs less, B being 133 us here.
 */
static void fill_far(struct fixture *f, uint32_t vcpu, size_t halts)
{
	for (size_t i = 0; i < halts; i++)
		fixture_blocked(f, vcpu,
				13000 + (i % 100 < 50 ? 180000 + fixture_draw(f, 5000)
						      : 8000 + fixture_draw(f, 1000)),
				TRACE_UNKNOWN_U32);
}

static void test_recommends_what_is_there(void **state)
{
	struct advice_change changes[ADVICE_CHANGES_MAX];
	struct fixture f;
	struct advice *a;

	(void)state;
	begin(&f, 1);
	fill_far(&f, 0, 20000);
	a = advise(&f, 0);
	assert_int_equal(a->sure.verdict, CONFIDENCE_SURE);
	assert_true(advice_is_change(a));
	assert_true(a->present_known);
	assert_int_equal(value(&a->present, "halt_poll_ns"), 200000);
	assert_true(a->m_candidate.cost_ns < a->m_present.cost_ns);
	assert_true(a->m_oracle.cost_ns <= a->m_candidate.cost_ns);
	assert_true(advice_changes(a, changes) >= 1);
	/* The figures are those of the whole recording, not of the sample. */
	assert_int_equal(a->counts.halts, 20000);
	assert_true(a->sure.gain > 0.03);
	assert_true(1 - (double)a->m_candidate.cost_ns / (double)a->m_present.cost_ns > 0.03);
	for (uint32_t i = 1; i < a->nr_curve; i++)
		assert_true(a->curve[i].halt_poll_ns > a->curve[i - 1].halt_poll_ns);
	advice_destroy(a);
	fixture_fini(&f);
}

static void test_few_halts(void **state)
{
	struct fixture f;
	struct advice *a;

	(void)state;
	begin(&f, 1);
	fill_far(&f, 0, 999);
	a = advise(&f, 0);
	assert_int_equal(a->sure.verdict, CONFIDENCE_FEW);
	assert_false(advice_is_change(a));
	advice_destroy(a);
	fixture_fini(&f);
}

static void test_no_halts(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	assert_null(advise(&f, -ENODATA));
	fixture_fini(&f);
}

static int broken_read(void *context, const struct replay_visitor *visitor, bool again)
{
	int err = fixture_read(context, visitor, again);

	return again && !err ? -EIO : err;
}

static void test_input_fails(void **state)
{
	struct advice_options options = {.threads = 2};
	struct advice *advice = NULL;
	struct replay_input input;
	struct fixture f;

	(void)state;
	begin(&f, 1);
	fill_far(&f, 0, 2000);
	input = (struct replay_input){broken_read, &f};
	replay_model_init(&options.model);
	assert_int_equal(advice_make(&advice, &input, &options), -EIO);
	assert_null(advice);
	fixture_fini(&f);
}

/* Windows that a memoryless mix cannot tell apart: small chance gains are no reason to act. */
static void test_noise_is_kept_quiet(void **state)
{
	int changes = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct fixture f;
		struct advice *a;

		begin(&f, 1);
		f.info.params.halt_poll_ns = 0;
		f.seed = seed * 7919;
		for (int i = 0; i < 1500; i++)
			fixture_blocked(&f, 0, 400000 + fixture_draw(&f, 4000000),
					TRACE_UNKNOWN_U32);
		a = advise(&f, 0);
		changes += advice_is_change(a);
		advice_destroy(a);
		fixture_fini(&f);
	}
	assert_int_equal(changes, 0);
}

static void test_vms_that_differ(void **state)
{
	struct fixture f;
	struct advice *a;

	(void)state;
	begin(&f, 3);
	f.info.params.halt_poll_ns = 100000;
	f.vms[2].ceiling_ns = 0;
	for (int i = 0; i < 6000; i++) {
		/* Short halts that 100 us serve well ... */
		fixture_blocked(&f, 0, 13000 + 30000 + fixture_draw(&f, 3000), TRACE_UNKNOWN_U32);
		/* ... a VM whose halts would need 200 us ... */
		if (i % 3 == 0)
			fixture_blocked(&f, 1, 13000 + 104000 + fixture_draw(&f, 3000),
					TRACE_UNKNOWN_U32);
		/* ... and one whose VMM forbids what would serve it. */
		if (i % 3 == 0)
			fixture_blocked(&f, 2, 13000 + 30000 + fixture_draw(&f, 3000),
					TRACE_UNKNOWN_U32);
	}
	a = advise(&f, 0);
	assert_int_equal(a->nr_vms, 3);
	assert_false(a->vms[0].differs);
	assert_true(a->vms[2].differs);
	assert_int_equal(a->vms[2].ceiling_ns, 0);
	assert_in_range(a->vms[2].own_ns, 30000, 200000);
	assert_true(a->vms[2].own_metrics.cost_ns < a->vms[2].present.cost_ns);
	assert_true(a->vms[0].present.cost_ns + a->vms[1].present.cost_ns +
			    a->vms[2].present.cost_ns ==
		    a->m_present.cost_ns);
	advice_destroy(a);
	fixture_fini(&f);
}

/* The mean of what was measured is charged where a halt has no latency of its own. */
static void test_measured_latency(void **state)
{
	struct fixture f;
	struct advice *a;

	(void)state;
	begin(&f, 1);
	f.info.has_latency = true;
	for (int i = 0; i < 1000; i++) {
		fixture_blocked(&f, 0, 4000000, 20000);
		fixture_blocked(&f, 0, 4000000, 30000);
		fixture_polled(&f, 0, 5000);
	}
	a = advise(&f, 0);
	assert_int_equal(a->model.source, REPLAY_LATENCY_MEASURED);
	assert_int_equal(a->model.latency_ns, 25000);
	assert_int_equal(a->survey.measured, 2000);
	advice_destroy(a);
	fixture_fini(&f);
}

static void test_unknown_parameters(void **state)
{
	struct fixture f;
	struct advice *a;

	(void)state;
	fixture_init(&f, 1);
	fill_far(&f, 0, 2000);
	a = advise(&f, 0);
	assert_false(a->present_known);
	assert_int_equal(value(&a->present, "halt_poll_ns"), 200000);
	assert_int_equal(value(&a->present, "shrink"), 2);
	advice_destroy(a);
	fixture_fini(&f);
}

/* Unless --max forbids it, nothing that is in force now lies beyond the bound. */
static void test_max_follows_the_present(void **state)
{
	struct replay_input input;
	struct advice_options options = {.threads = 1};
	struct fixture f;
	struct advice *a;

	(void)state;
	begin(&f, 2);
	f.info.params.halt_poll_ns = 700000;
	f.vms[1].ceiling_ns = 900000;
	fill_far(&f, 0, 2000);
	input = (struct replay_input){fixture_read, &f};
	replay_model_init(&options.model);
	for (int given = 0; given < 2; given++) {
		options.max_given = given;
		assert_int_equal(advice_make(&a, &input, &options), 0);
		assert_int_equal(a->model.max_ns, given ? 200000 : 900000);
		assert_int_equal(value(&a->present, "halt_poll_ns"), 700000);
		advice_destroy(a);
	}
	fixture_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recommends_what_is_there),
		cmocka_unit_test(test_few_halts),
		cmocka_unit_test(test_no_halts),
		cmocka_unit_test(test_input_fails),
		cmocka_unit_test(test_noise_is_kept_quiet),
		cmocka_unit_test(test_vms_that_differ),
		cmocka_unit_test(test_measured_latency),
		cmocka_unit_test(test_unknown_parameters),
		cmocka_unit_test(test_max_follows_the_present),
	};

	return cmocka_run_group_tests_name("advice", tests, NULL, NULL);
}

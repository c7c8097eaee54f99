// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The controller of the shared polling budget: its steps, its goal, its edges.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <vhalt/budget.h>

#define HOST_NS (VHALT_BUDGET_TICK_NS * 128)

/* Ticks under a host that burns @share_ppm at factor one and in inverse proportion above it. */
static uint32_t run(struct vhalt_budget *budget, uint32_t share_ppm, uint32_t ticks,
		    uint32_t *last_ppm)
{
	uint64_t sum_ppm = 0;

	for (uint32_t i = 0; i < ticks; i++) {
		uint64_t ppm = (uint64_t)share_ppm * VHALT_FACTOR_ONE / budget->factor;
		uint64_t burnt_ns = HOST_NS / 1000000 * ppm;

		if (burnt_ns > budget->allowance_ns)
			burnt_ns = budget->allowance_ns;
		*last_ppm = (uint32_t)(burnt_ns * 1000000 / HOST_NS);
		sum_ppm += *last_ppm;
		vhalt_budget_tick(budget, burnt_ns, HOST_NS);
	}
	return (uint32_t)(sum_ppm / ticks);
}

static void test_starts_free(void **context)
{
	struct vhalt_budget budget;

	(void)context;
	vhalt_budget_init(&budget, 20000);
	assert_int_equal(budget.factor, VHALT_FACTOR_ONE);
	assert_true(budget.allowance_ns == ~0ULL);
	/* A host that stays below its cap pays no factor. */
	for (int i = 0; i < 1000; i++)
		assert_int_equal(vhalt_budget_tick(&budget, HOST_NS / 100, HOST_NS),
				 VHALT_FACTOR_ONE);
}

static void test_reaches_cap(void **context)
{
	static const uint32_t caps_ppm[] = {100, 1000, 10000, 20000, 50000, 200000};

	(void)context;
	for (size_t i = 0; i < sizeof(caps_ppm) / sizeof(caps_ppm[0]); i++) {
		struct vhalt_budget budget;
		uint32_t cap = caps_ppm[i], last, mean;

		vhalt_budget_init(&budget, cap);
		run(&budget, 400000, 600, &last);
		mean = run(&budget, 400000, 1000, &last);
		/* Settled: the mean is just below the cap, and no tick strays far. */
		assert_in_range(mean, cap * 9ULL / 10, cap);
		assert_in_range(last, cap * 8ULL / 10, cap * 11ULL / 10);
	}
}

static void test_gate(void **context)
{
	struct vhalt_budget budget;

	(void)context;
	vhalt_budget_init(&budget, 20000);
	vhalt_budget_tick(&budget, 0, HOST_NS);
	assert_int_equal(budget.allowance_ns, HOST_NS / 1000 * 24);
	/* It follows the size of the host from tick to tick. */
	vhalt_budget_tick(&budget, 0, HOST_NS / 2);
	assert_int_equal(budget.allowance_ns, HOST_NS / 2000 * 24);
}

static void test_steps(void **context)
{
	struct vhalt_budget budget;
	uint32_t factor;

	(void)context;
	vhalt_budget_init(&budget, 10000);
	/* Far above: by an eighth at once. */
	assert_int_equal(vhalt_budget_tick(&budget, HOST_NS / 10, HOST_NS), 1024 + 128);
	/* Held at 1.2 cap by the gate: the price goes on rising, by 1/32 each. */
	for (int i = 0; i < 100; i++)
		factor = vhalt_budget_tick(&budget, HOST_NS / 1000 * 12, HOST_NS);
	assert_in_range(factor, 15 * 1024, 40 * 1024);
	/* Idle: down again, to one and no further. */
	for (int i = 0; i < 400; i++)
		factor = vhalt_budget_tick(&budget, 0, HOST_NS);
	assert_int_equal(factor, VHALT_FACTOR_ONE);
	/* Between 0.95 and 1 of the cap it rests. */
	vhalt_budget_init(&budget, 10000);
	for (int i = 0; i < 10; i++)
		vhalt_budget_tick(&budget, HOST_NS / 10, HOST_NS);
	for (int i = 0; i < 200; i++)
		factor = vhalt_budget_tick(&budget, HOST_NS / 10000 * 98, HOST_NS);
	assert_int_equal(vhalt_budget_tick(&budget, HOST_NS / 10000 * 98, HOST_NS), factor);
}

static void test_cap_changes(void **context)
{
	struct vhalt_budget budget;
	uint32_t last;

	(void)context;
	vhalt_budget_init(&budget, 50000);
	run(&budget, 400000, 600, &last);
	vhalt_budget_set_cap(&budget, 10000);
	run(&budget, 400000, 600, &last);
	assert_in_range(run(&budget, 400000, 500, &last), 9000, 10000);
	vhalt_budget_set_cap(&budget, 50000);
	run(&budget, 400000, 600, &last);
	assert_in_range(run(&budget, 400000, 500, &last), 45000, 50000);
}

static void test_edges(void **context)
{
	struct vhalt_budget budget;
	uint32_t factor = 0;

	(void)context;
	vhalt_budget_init(&budget, 0);
	assert_int_equal(budget.cap_ppm, 1);
	vhalt_budget_init(&budget, 0xffffffffU);
	assert_int_equal(budget.cap_ppm, 1000000);
	/* No time has passed: nothing is known, nothing moves. */
	assert_int_equal(vhalt_budget_tick(&budget, 1000, 0), VHALT_FACTOR_ONE);
	assert_true(budget.allowance_ns == ~0ULL);
	/* The factor has an end, whatever is reported. */
	vhalt_budget_init(&budget, 1);
	for (int i = 0; i < 1000; i++)
		factor = vhalt_budget_tick(&budget, ~0ULL, i % 2 ? 1 : ~0ULL);
	assert_int_equal(factor, 1U << 24);
	for (int i = 0; i < 10000; i++)
		factor = vhalt_budget_tick(&budget, 0, ~0ULL);
	assert_int_equal(factor, VHALT_FACTOR_ONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts_free), cmocka_unit_test(test_reaches_cap),
		cmocka_unit_test(test_gate),	    cmocka_unit_test(test_steps),
		cmocka_unit_test(test_cap_changes), cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

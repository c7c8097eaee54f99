// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `auto` learns the wake-up latency where wake-ups are time-stamped, and only there.

#include "tests/unit/auto_rig.h"

/* A stamped halt of @t_ns; a blocked vCPU takes @latency_ns to run again. */
static uint32_t stamped_halt(struct rig *rig, uint64_t t_ns, uint64_t latency_ns)
{
	struct vhalt_plan plan = rig_plan(rig, VHALT_NO_DEADLINE_NS);
	bool polled = t_ns <= plan.window_ns;
	struct vhalt_outcome outcome = {
		.halt_ns = t_ns + (polled ? 0 : latency_ns),
		.wake_ns = t_ns,
		.window_ns = plan.window_ns,
		.flags = polled ? VHALT_OUTCOME_POLLED : 0U,
	};

	vhalt_update(&rig->state, &rig->config, &outcome);
	return plan.window_ns;
}

static void stamped_halts(struct rig *rig, uint64_t t_ns, uint64_t latency_ns, uint32_t nr)
{
	while (nr--)
		stamped_halt(rig, t_ns, latency_ns);
}

static uint32_t latency_of(struct rig *rig)
{
	return auto_latency_ns(rig_state(rig), rig_config(rig));
}

static void test_follows(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:price=4");
	assert_int_equal(rig_b_ns(&rig), 55 * US);
	stamped_halts(&rig, 4 * MS, 20 * US, 300);
	assert_in_range(latency_of(&rig), 19900, 20000);
	assert_in_range(rig_b_ns(&rig), 82600, 83000);
}

/* The given latency is believed for 32 wake-ups if it is the larger; a larger one at once. */
static void test_unsure_overstates(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:latency_ns=30us");
	for (uint32_t i = 0; i < AUTO_LATENCY_SURE - 1; i++) {
		stamped_halt(&rig, 4 * MS, 5 * US);
		assert_int_equal(latency_of(&rig), 30 * US);
	}
	stamped_halts(&rig, 4 * MS, 5 * US, 200);
	assert_in_range(latency_of(&rig), 5 * US, 5100);

	rig_init(&rig, "auto:latency_ns=5us");
	stamped_halts(&rig, 4 * MS, 20 * US, 8);
	assert_in_range(latency_of(&rig), 7 * US, 10 * US);
}

/*
 * L triples in mid-run. At price 4, B goes from 55 to 159 us, so the 80 us halts that were not
 * worth polling for become so. What it costs to find out is compared with knowing at once.
 */
static void test_tripled_in_mid_run(void **context)
{
	struct rig learns, knows;
	uint64_t cost = 0, known_cost = 0, late_cost = 0, late_known_cost = 0;

	(void)context;
	rig_init(&learns, "auto:price=4");
	rig_init(&knows, "auto:price=4,latency_ns=39us,learn=0");
	for (int i = 0; i < 2000; i++) {
		assert_true(stamped_halt(&learns, 80 * US, 13 * US) <= 66 * US);
		stamped_halt(&knows, 80 * US, 13 * US);
	}
	for (int i = 0; i < 4000; i++) {
		uint32_t ours = stamped_halt(&learns, 80 * US, 39 * US);
		uint32_t best = stamped_halt(&knows, 80 * US, 39 * US);
		uint64_t b_ns = vhalt_break_even_ns(4, 39 * US, 3 * US);

		cost += vhalt_cost_ns(80 * US, ours, b_ns);
		known_cost += vhalt_cost_ns(80 * US, best, b_ns);
		if (i < 200)
			continue;
		late_cost += vhalt_cost_ns(80 * US, ours, b_ns);
		late_known_cost += vhalt_cost_ns(80 * US, best, b_ns);
	}
	assert_in_range(cost, known_cost, known_cost + known_cost / 20);
	assert_in_range(late_cost, late_known_cost, late_known_cost + late_known_cost / 100);
}

/* And back: B too large is found out as well, as long as something blocks. */
static void test_falls_again(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:price=4");
	stamped_halts(&rig, 4 * MS, 39 * US, 500);
	assert_in_range(latency_of(&rig), 38900, 39000);
	stamped_halts(&rig, 4 * MS, 13 * US, 200);
	assert_in_range(latency_of(&rig), 13000, 13200);
}

static void test_stray_wake_up(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:price=4");
	stamped_halts(&rig, 4 * MS, 13 * US, 300);
	stamped_halt(&rig, 4 * MS, 50 * MS);
	assert_in_range(latency_of(&rig), 13 * US, 14300);
	/* However many there are, it stays within its integers. */
	stamped_halts(&rig, 4 * MS, 500 * MS, 5000);
	assert_in_range(latency_of(&rig), 9 * MS, 10 * MS);
	assert_in_range(rig_b_ns(&rig), 36 * MS, 41 * MS);
}

static void test_only_where_it_is_known(void **context)
{
	struct vhalt_outcome cut = {
		.halt_ns = 5 * MS, .wake_ns = 4 * MS, .flags = VHALT_OUTCOME_CUT};
	struct rig rig;

	(void)context;
	/* No time stamp: the given value, whatever the halts look like. */
	rig_init(&rig, "auto:price=4,latency_ns=30us");
	rig_halts(&rig, 4 * MS, 500);
	assert_int_equal(latency_of(&rig), 30 * US);
	/* Polled halts have no wake-up latency. */
	rig_init(&rig, "auto:price=4,latency_ns=30us");
	stamped_halts(&rig, 1 * US, 0, 500);
	assert_int_equal(latency_of(&rig), 30 * US);
	/* A wake-up that waited for a CPU is not the host's latency. */
	for (int i = 0; i < 100; i++)
		vhalt_update(&rig.state, &rig.config, &cut);
	assert_int_equal(latency_of(&rig), 30 * US);
	/* Switched off. */
	rig_init(&rig, "auto:price=4,latency_ns=30us,learn=0");
	stamped_halts(&rig, 4 * MS, 5 * US, 500);
	assert_int_equal(latency_of(&rig), 30 * US);
	/* From nothing. */
	rig_init(&rig, "auto:price=4,latency_ns=0");
	stamped_halts(&rig, 4 * MS, 13 * US, 500);
	assert_in_range(latency_of(&rig), 12900, 13000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_follows),
		cmocka_unit_test(test_unsure_overstates),
		cmocka_unit_test(test_tripled_in_mid_run),
		cmocka_unit_test(test_falls_again),
		cmocka_unit_test(test_stray_wake_up),
		cmocka_unit_test(test_only_where_it_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

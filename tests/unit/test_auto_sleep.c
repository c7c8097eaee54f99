// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `auto` with sleep: blocked first, awake just before a known timer or a learnt moment.

#include "tests/unit/auto_rig.h"

/* A halt of @t_ns ended by a timer of the vCPU's own that is known when it begins. */
static struct vhalt_plan timer_halt(struct rig *rig, uint64_t t_ns)
{
	struct vhalt_plan plan = rig_plan(rig, t_ns);
	uint64_t end_ns = (uint64_t)plan.sleep_ns + plan.window_ns;
	bool polled = t_ns >= plan.sleep_ns && t_ns <= end_ns;
	struct vhalt_outcome outcome = {
		.halt_ns = t_ns + (polled ? 0 : RIG_LATENCY_NS),
		.wake_ns = VHALT_UNKNOWN_NS,
		.window_ns = plan.window_ns,
		.flags = VHALT_OUTCOME_OWN_TIMER | (polled ? VHALT_OUTCOME_POLLED : 0U),
	};

	vhalt_update(&rig->state, &rig->config, &outcome);
	return plan;
}

/* A halt of @t_ns nobody could foresee, under a plan that may sleep. */
static struct vhalt_plan event_halt(struct rig *rig, uint64_t t_ns)
{
	struct vhalt_plan plan = rig_plan(rig, VHALT_NO_DEADLINE_NS);
	uint64_t awake_ns = (uint64_t)plan.sleep_ns + RIG_LATENCY_NS;
	uint64_t end_ns = (uint64_t)plan.sleep_ns + plan.window_ns;
	bool reached = t_ns >= plan.sleep_ns && t_ns <= end_ns;
	struct vhalt_outcome outcome = {
		.halt_ns = reached ? t_ns : t_ns + RIG_LATENCY_NS,
		.wake_ns = VHALT_UNKNOWN_NS,
		.window_ns = plan.window_ns,
		.flags = reached ? VHALT_OUTCOME_POLLED : 0U,
	};

	if (plan.sleep_ns && reached && t_ns < awake_ns)
		outcome.halt_ns = awake_ns;
	vhalt_update(&rig->state, &rig->config, &outcome);
	return plan;
}

static struct vhalt_plan event_halts(struct rig *rig, uint64_t t_ns, uint32_t nr)
{
	struct vhalt_plan plan = {0, 0};

	while (nr--)
		plan = event_halt(rig, t_ns);
	return plan;
}

static void test_off_by_default(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:price=10");
	for (int i = 0; i < 300; i++)
		assert_int_equal(timer_halt(&rig, 4 * MS).sleep_ns, 0);
	for (int i = 0; i < 300; i++)
		assert_int_equal(event_halt(&rig, 150 * US).sleep_ns, 0);
}

/* A tick: asleep for nearly all of it, awake one guard before. */
static void check_tick(const char *text, uint64_t least_guard_ns, uint64_t most_guard_ns)
{
	struct vhalt_plan plan = {0, 0};
	struct rig rig;

	rig_init(&rig, text);
	for (int i = 0; i < 100; i++)
		plan = timer_halt(&rig, 4 * MS);
	assert_in_range(4 * MS - plan.sleep_ns, least_guard_ns, most_guard_ns);
	/* The poll ends a little after the timer. */
	assert_in_range(plan.sleep_ns + plan.window_ns, 4 * MS, 4 * MS + 5 * US);
}

static void test_known_timer(void **context)
{
	(void)context;
	/* The guard grows with the price: 1.4 L at 4, 2 L from 10 on. */
	check_tick("auto:price=4,sleep=1", 18 * US, 18500);
	check_tick("auto:price=4,sleep=2", 18 * US, 18500);
	check_tick("auto:price=10,sleep=2", 25900, 26 * US);
	check_tick("auto:price=100,sleep=2", 25900, 26 * US);
}

/* The ceiling holds for the poll after a sleep too. */
static void test_ceiling(void **context)
{
	struct vhalt_plan plan = {0, 0};
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:sleep=1,max_ns=28us");
	for (int i = 0; i < 100; i++)
		plan = timer_halt(&rig, 4 * MS);
	assert_int_equal(plan.window_ns, 28 * US);
	assert_true(plan.sleep_ns > 0);
	rig_init(&rig, "auto:sleep=1,max_ns=20us");
	for (int i = 0; i < 100; i++)
		assert_int_equal(timer_halt(&rig, 4 * MS).sleep_ns, 0);
}

/* As far as a plan can express, and farther. */
static void test_far_timer(void **context)
{
	struct rig rig;
	struct vhalt_plan plan = {0, 0};

	(void)context;
	rig_init(&rig, "auto:sleep=2");
	for (int i = 0; i < 100; i++)
		plan = timer_halt(&rig, 4000 * MS);
	assert_in_range(plan.sleep_ns, 3999 * MS, 4000 * MS);
	for (int i = 0; i < 100; i++)
		plan = timer_halt(&rig, 5000 * MS);
	assert_int_equal(plan.sleep_ns, 0);
	assert_int_equal(plan.window_ns, 0);
}

/* Each part alone: 2 knows timers only, 3 learnt moments only. */
static void test_parts_apart(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:sleep=2,b_ns=150us");
	assert_int_equal(event_halts(&rig, 150 * US, 400).sleep_ns, 0);
	rig_init(&rig, "auto:sleep=3,b_ns=150us");
	for (int i = 0; i < 400; i++)
		assert_int_equal(timer_halt(&rig, 4 * MS).sleep_ns, 0);
	assert_true(event_halts(&rig, 150 * US, 400).sleep_ns > 0);
}

/* A device that answers after 150 us: asleep for most of it, awake when it comes. */
static void test_learnt_moment(void **context)
{
	struct rig rig;
	struct vhalt_plan plan;

	(void)context;
	rig_init(&rig, "auto:sleep=1,b_ns=150us");
	plan = event_halts(&rig, 150 * US, 400);
	assert_in_range(plan.sleep_ns, 80 * US, 131 * US);
	assert_in_range(plan.sleep_ns + plan.window_ns, 150 * US, 197 * US);
	assert_true(plan.window_ns <= 200 * US);
	/* Halts short enough to poll through are polled from the start. */
	rig_init(&rig, "auto:sleep=1,b_ns=50us");
	plan = event_halts(&rig, 15 * US, 400);
	assert_int_equal(plan.sleep_ns, 0);
	assert_in_range(plan.window_ns, 15 * US, 66 * US);
}

/* Requests answered in 27 us under a far tick: polling wins, the tick is not slept for. */
static void test_short_before_timer(void **context)
{
	struct rig rig;
	struct vhalt_plan plan;

	(void)context;
	rig_init(&rig, "auto:sleep=1,b_ns=150us");
	event_halts(&rig, 27 * US, 400);
	plan = rig_plan(&rig, 2 * MS);
	assert_int_equal(plan.sleep_ns, 0);
	assert_in_range(plan.window_ns, 27 * US, 197 * US);
}

/* Lengths under a sleeping plan are learnt like others: a change of life is noticed. */
static void test_notices_change(void **context)
{
	struct rig rig;
	struct vhalt_plan plan;

	(void)context;
	rig_init(&rig, "auto:sleep=1,b_ns=150us");
	assert_true(event_halts(&rig, 150 * US, 400).sleep_ns > 0);
	plan = event_halts(&rig, 20 * US, 400);
	assert_int_equal(plan.sleep_ns, 0);
	assert_in_range(plan.window_ns, 20 * US, 197 * US);
	plan = event_halts(&rig, 4 * MS, 400);
	assert_int_equal(plan.sleep_ns, 0);
	assert_int_equal(plan.window_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off_by_default),
		cmocka_unit_test(test_known_timer),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_far_timer),
		cmocka_unit_test(test_parts_apart),
		cmocka_unit_test(test_learnt_moment),
		cmocka_unit_test(test_short_before_timer),
		cmocka_unit_test(test_notices_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

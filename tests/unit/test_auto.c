// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `auto`: its parameters, its steps, and what it learns from which halt.

#include "tests/unit/auto_rig.h"

#include <string.h>

static void test_buckets(void **context)
{
	(void)context;
	for (uint32_t i = 0; i < AUTO_WINDOWS; i++) {
		uint32_t edge = auto_window_ns[i + 1];

		assert_int_equal(auto_bucket(edge), i);
		assert_int_equal(auto_bucket(edge + 1), i + 1);
		assert_int_equal(AUTO_CELLS * auto_cell_ns[i], edge - auto_window_ns[i]);
	}
	assert_int_equal(auto_bucket(0), 0);
	assert_int_equal(auto_bucket(1), 0);
	assert_int_equal(auto_bucket(0xffffffffU), AUTO_BUCKETS - 1);
}

static void test_state_fits(void **context)
{
	(void)context;
	assert_in_range(vhalt_policy_get(VHALT_POLICY_AUTO)->state_bytes, 400, 512);
}

static uint32_t b_of(const char *text)
{
	struct rig rig;

	rig_init(&rig, text);
	return rig_b_ns(&rig);
}

static void test_break_even(void **context)
{
	(void)context;
	assert_int_equal(b_of("auto"), 133 * US);
	assert_int_equal(b_of("auto:price=0"), 3 * US);
	assert_int_equal(b_of("auto:price=4,latency_ns=20us,switch_ns=5us"), 85 * US);
	/* b_ns gives B at the given latency, to the nanosecond or one above. */
	assert_in_range(b_of("auto:b_ns=50us"), 50 * US, 50 * US + 4);
	assert_in_range(b_of("auto:b_ns=10us"), 10 * US, 10 * US + 4);
	assert_in_range(b_of("auto:b_ns=300us,price=3"), 300 * US, 300 * US + 4);
	/* Below C, or without L, there is no price to derive: B is as given. */
	assert_int_equal(b_of("auto:b_ns=2us"), 2 * US);
	assert_int_equal(b_of("auto:b_ns=50us,latency_ns=0"), 50 * US);
	/* Absurd prices saturate. */
	assert_int_equal(b_of("auto:price=1000,latency_ns=10ms"), AUTO_B_MOST_NS);
}

static void test_new_vcpu(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:b_ns=50us");
	/* It polls half of min(B, max) once ... */
	assert_in_range(rig_halt(&rig, 4 * MS), 25 * US, 25 * US + 2);
	/* ... and after that long halt no more. */
	for (int i = 0; i < 500; i++)
		assert_int_equal(rig_halt(&rig, 4 * MS), 0);
}

/*
 * Halts of 2.5 us, on a host whose L is 39 us where 13 us were given: blocked, they look longer
 * than B. The first look is what keeps the policy from never polling.
 */
static void test_first_look(void **context)
{
	struct rig rig;
	uint32_t polled = 0;

	(void)context;
	rig_init(&rig, "auto:b_ns=10us");
	for (int i = 0; i < 1000; i++) {
		struct vhalt_plan plan = rig_plan(&rig, VHALT_NO_DEADLINE_NS);
		bool met = plan.window_ns >= 2500;
		struct vhalt_outcome outcome = {
			.halt_ns = 2500 + (met ? 0 : 3 * RIG_LATENCY_NS),
			.wake_ns = VHALT_UNKNOWN_NS,
			.window_ns = plan.window_ns,
			.flags = met ? VHALT_OUTCOME_POLLED : 0U,
		};

		vhalt_update(&rig.state, &rig.config, &outcome);
		polled += met;
	}
	assert_in_range(polled, 990, 1000);
}

static void test_learns_short(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:b_ns=50us");
	rig_halts(&rig, 20 * US, 300);
	for (int i = 0; i < 100; i++)
		assert_in_range(rig_halt(&rig, 20 * US), 20 * US, 66 * US);
	/* Halts that cost more to poll than to block are left alone. */
	rig_init(&rig, "auto:b_ns=50us");
	rig_halts(&rig, 80 * US, 300);
	assert_int_equal(rig_halt(&rig, 80 * US), 0);
	/* At a higher price they are not. Windows end at the first edge from B on. */
	rig_init(&rig, "auto:b_ns=150us");
	rig_halts(&rig, 80 * US, 300);
	assert_in_range(rig_halt(&rig, 80 * US), 80 * US, 197 * US);
}

/* Two short halts and a long one, again and again: the run length tells them apart. */
static void test_learns_pattern(void **context)
{
	struct rig rig;
	uint64_t cost = 0, oracle = 0;

	(void)context;
	rig_init(&rig, "auto:b_ns=50us");
	for (int i = 0; i < 3000; i++) {
		uint64_t t_ns = i % 3 == 2 ? 2 * MS : 25 * US;
		uint32_t window_ns = rig_halt(&rig, t_ns);

		if (i < 1000)
			continue;
		cost += vhalt_cost_ns(t_ns, window_ns, 50 * US);
		oracle += vhalt_oracle_cost_ns(t_ns, 200 * US, 50 * US);
	}
	assert_in_range(cost, oracle, oracle + oracle / 100);
}

/* Halts of 135 us at B = 150 us: worth polling, though the middle of their bucket is above B. */
static void test_learns_place(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:b_ns=150us");
	rig_halts(&rig, 135 * US, 300);
	assert_in_range(rig_halt(&rig, 135 * US), 135 * US, 197 * US);
	rig_init(&rig, "auto:b_ns=150us");
	rig_halts(&rig, 190 * US, 300);
	assert_int_equal(rig_halt(&rig, 190 * US), 0);
	/* It follows when they move within the bucket. */
	rig_halts(&rig, 135 * US, 60);
	assert_in_range(rig_halt(&rig, 135 * US), 135 * US, 197 * US);
}

/* A place moves by one cell a halt, up to the ends of the bucket, and alone. */
static void test_places(void **context)
{
	struct auto_state s = {0};

	(void)context;
	for (uint32_t i = 0; i < AUTO_BUCKETS; i++)
		assert_int_equal(auto_place(s.places, i), 8);
	for (uint32_t i = 0; i < AUTO_WINDOWS; i++) {
		for (int n = 0; n < 20; n++)
			auto_note_place(&s, i, auto_window_ns[i] + 1);
		assert_int_equal(auto_place(s.places, i), 0);
		auto_note_place(&s, i, auto_window_ns[i + 1]);
		assert_int_equal(auto_place(s.places, i), 1);
		for (int n = 0; n < 20; n++)
			auto_note_place(&s, i, auto_window_ns[i + 1]);
		assert_int_equal(auto_place(s.places, i), 15);
		assert_int_equal(auto_place(s.places, i + 1), 8);
	}
	auto_note_place(&s, AUTO_BUCKETS - 1, 0xffffffffU);
	assert_int_equal(auto_place(s.places, AUTO_BUCKETS - 1), 8);
	for (uint32_t i = 0; i < AUTO_WINDOWS; i++)
		assert_int_equal(auto_place(s.places, i), 15);
}

/* A ceiling well within a bucket is a window of its own; one just above an edge is not. */
static void test_partial_window(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:b_ns=5ms,max_ns=1ms");
	rig_halts(&rig, 800 * US, 300);
	assert_int_equal(rig_halt(&rig, 800 * US), 1 * MS);
	/* What lies above the ceiling is not polled for. */
	rig_init(&rig, "auto:b_ns=5ms,max_ns=700us");
	rig_halts(&rig, 800 * US, 300);
	assert_in_range(rig_halt(&rig, 800 * US), 0, 525 * US);
	rig_init(&rig, "auto:max_ns=200us");
	assert_int_equal(auto_window_ns[rig_config(&rig)->nr_windows], 196608);
	assert_int_equal(rig_config(&rig)->partial, 0);
}

static void test_known_timer(void **context)
{
	struct rig rig;
	struct auto_state before;
	struct vhalt_plan plan;

	(void)context;
	rig_init(&rig, "auto:b_ns=50us");
	rig_halts(&rig, 4 * MS, 100);
	/* Far away: nothing to poll for. Within B: polled for, a little beyond, never above B. */
	assert_int_equal(rig_plan(&rig, 60 * US).window_ns, 0);
	assert_in_range(rig_plan(&rig, 30 * US).window_ns, 31 * US, 36 * US);
	plan = rig_plan(&rig, 50 * US);
	assert_in_range(plan.window_ns, 50 * US, 50 * US + 4);
	/* Foreseen, so nothing is learnt from it; an event before it is learnt. */
	before = *rig_state(&rig);
	rig_end(&rig, plan, 50 * US, VHALT_OUTCOME_OWN_TIMER);
	assert_memory_equal(&before, rig_state(&rig), sizeof(before));
	rig_end(&rig, plan, 20 * US, 0);
	assert_int_equal(rig_state(&rig)->was_long, 0);
	/* Beyond B a timer is awaited where an event before it is likely: then nothing costs B. */
	rig_init(&rig, "auto:b_ns=50us");
	rig_halts(&rig, 28 * US, 300);
	assert_in_range(rig_plan(&rig, 55 * US).window_ns, 55 * US, 60 * US);
	rig_init(&rig, "auto:b_ns=50us");
	rig_halts(&rig, 4 * MS, 300);
	assert_int_equal(rig_plan(&rig, 55 * US).window_ns, 0);
	/* Never above the ceiling. */
	rig_init(&rig, "auto:b_ns=50us,max_ns=56us");
	rig_halts(&rig, 28 * US, 300);
	assert_int_equal(rig_plan(&rig, 55 * US).window_ns, 56 * US);
	assert_in_range(rig_plan(&rig, 57 * US).window_ns, 28 * US, 56 * US);
}

static void test_must_block(void **context)
{
	struct vhalt_hint hint = {5 * US, VHALT_NO_DEADLINE_NS, true};
	struct rig rig;
	struct vhalt_plan plan;
	int32_t debt_ns;

	(void)context;
	rig_init(&rig, "auto:b_ns=50us,sleep=1");
	rig_halts(&rig, 20 * US, 300);
	debt_ns = rig_state(&rig)->debt_ns;
	for (int i = 0; i < 300; i++) {
		plan = vhalt_decide(&rig.state, &rig.config, &hint);
		assert_int_equal(plan.window_ns, 0);
		assert_int_equal(plan.sleep_ns, 0);
		rig_end(&rig, plan, 20 * US, VHALT_OUTCOME_FORCED);
	}
	/* The length is learnt, the cost is not the policy's: its debt stays. */
	assert_int_equal(rig_state(&rig)->debt_ns, debt_ns);
	assert_in_range(rig_plan(&rig, VHALT_NO_DEADLINE_NS).window_ns, 20 * US, 66 * US);
}

static void check_ignored(struct rig *rig, uint32_t flags, const char *what)
{
	struct vhalt_plan plan = rig_plan(rig, VHALT_NO_DEADLINE_NS);
	struct auto_state before = *rig_state(rig);

	rig_end(rig, plan, 4 * MS, flags);
	if (memcmp(&before, rig_state(rig), sizeof(before)))
		fail_msg("%s changed the state", what);
}

static void test_says_nothing(void **context)
{
	struct vhalt_outcome cut = {.halt_ns = 9 * MS,
				    .wake_ns = 20 * US,
				    .window_ns = 30 * US,
				    .flags = VHALT_OUTCOME_CUT};
	struct rig rig;
	struct auto_state before;

	(void)context;
	rig_init(&rig, "auto:b_ns=50us");
	rig_halts(&rig, 20 * US, 300);
	check_ignored(&rig, VHALT_OUTCOME_INVALID, "an invalid wake-up");
	check_ignored(&rig, VHALT_OUTCOME_CUT, "a cut poll");
	check_ignored(&rig, VHALT_OUTCOME_INVALID | VHALT_OUTCOME_FORCED, "a forced, invalid one");
	/* A time stamp tells T even of a cut halt; its L and its cost say nothing. */
	rig_plan(&rig, VHALT_NO_DEADLINE_NS);
	before = *rig_state(&rig);
	vhalt_update(&rig.state, &rig.config, &cut);
	assert_int_equal(rig_state(&rig)->slow[auto_bucket(20 * US)],
			 before.slow[auto_bucket(20 * US)] + 1);
	assert_int_equal(rig_state(&rig)->latency_samples, 0);
	assert_int_equal(rig_state(&rig)->debt_ns, before.debt_ns);
}

static void test_config_changes_live(void **context)
{
	struct rig rig;
	uint32_t window_ns = 0;

	(void)context;
	rig_init(&rig, "auto:b_ns=50us");
	rig_halts(&rig, 80 * US, 400);
	assert_int_equal(rig_halt(&rig, 80 * US), 0);
	/* A higher price: what was learnt of T stays, so a few halts later it is polled. */
	rig_configure(&rig, "auto:b_ns=150us");
	for (int i = 0; i < 8; i++)
		window_ns = rig_halt(&rig, 80 * US);
	assert_in_range(window_ns, 80 * US, 197 * US);
	/* A lower ceiling holds from the next halt on. */
	rig_configure(&rig, "auto:b_ns=150us,max_ns=60us");
	for (int i = 0; i < 20; i++)
		assert_in_range(rig_halt(&rig, 80 * US), 0, 60 * US);
	rig_configure(&rig, "auto:b_ns=150us,max_ns=0");
	for (int i = 0; i < 20; i++)
		assert_int_equal(rig_halt(&rig, 20 * US), 0);
	rig_configure(&rig, "auto:b_ns=150us");
	rig_halts(&rig, 20 * US, 40);
	assert_in_range(rig_halt(&rig, 20 * US), 20 * US, 197 * US);
}

static void test_scale(void **context)
{
	struct vhalt_config other;
	uint64_t none[VHALT_PARAMS_MAX] = {0};
	struct vhalt_config copy;
	struct rig rig;

	(void)context;
	rig_init(&rig, "auto:b_ns=150us");
	rig_halts(&rig, 80 * US, 400);
	assert_in_range(rig_halt(&rig, 80 * US), 80 * US, 197 * US);
	vhalt_auto_scale(&rig.config, 3 * VHALT_FACTOR_ONE);
	rig_halts(&rig, 80 * US, 8);
	assert_int_equal(rig_halt(&rig, 80 * US), 0);
	assert_in_range(rig_b_ns(&rig), 49990, 50000);
	/* One, and whatever lies below it, leaves B alone. */
	vhalt_auto_scale(&rig.config, VHALT_FACTOR_ONE / 2);
	rig_halts(&rig, 80 * US, 8);
	assert_in_range(rig_halt(&rig, 80 * US), 80 * US, 197 * US);
	/* The largest factor leaves nothing to poll for. */
	vhalt_auto_scale(&rig.config, 0xffffffffU);
	rig_halts(&rig, 80 * US, 8);
	assert_int_equal(rig_halt(&rig, 80 * US), 0);
	assert_int_equal(vhalt_config_init(&other, VHALT_POLICY_NONE, none, NULL), 0);
	copy = other;
	vhalt_auto_scale(&other, 5 * VHALT_FACTOR_ONE);
	assert_memory_equal(&other, &copy, sizeof(other));
}

static void test_window_is_reported(void **context)
{
	struct rig rig;
	uint32_t window_ns;

	(void)context;
	rig_init(&rig, "auto:b_ns=50us");
	window_ns = rig_halts(&rig, 20 * US, 300);
	assert_int_equal(vhalt_window(&rig.state, &rig.config), window_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),	       cmocka_unit_test(test_state_fits),
		cmocka_unit_test(test_break_even),     cmocka_unit_test(test_new_vcpu),
		cmocka_unit_test(test_first_look),     cmocka_unit_test(test_learns_short),
		cmocka_unit_test(test_learns_pattern), cmocka_unit_test(test_learns_place),
		cmocka_unit_test(test_places),	       cmocka_unit_test(test_partial_window),
		cmocka_unit_test(test_known_timer),    cmocka_unit_test(test_must_block),
		cmocka_unit_test(test_says_nothing),   cmocka_unit_test(test_config_changes_live),
		cmocka_unit_test(test_scale),	       cmocka_unit_test(test_window_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

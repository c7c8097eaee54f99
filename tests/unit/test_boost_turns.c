// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Boost modes `kernel` and `critical`: one test per rule of core/boost.c.

#include "boost_rig.h"

static void all_ready(struct rig *rig, uint32_t mode, uint32_t nr)
{
	rig_init(rig, mode, nr);
	for (uint32_t i = 0; i < nr; i++)
		rig_vcpu(rig, i, PREEMPTED | VHALT_BOOST_IN_KERNEL, -1, NOW_NS);
}

static void test_goes_around_behind_the_last(void **context)
{
	struct rig rig;

	(void)context;
	all_ready(&rig, VHALT_BOOST_KERNEL, 5);
	rig_expect(&rig, "1 2 3 4");
	rig.boost.last_boosted = 2;
	rig_expect(&rig, "3 4 1 2");
	rig.boost.last_boosted = 4;
	rig_expect(&rig, "1 2 3 4");
	rig.request.self = 2;
	rig.boost.last_boosted = 1;
	rig_expect(&rig, "3 4 0 1");
	/* vCPUs went away, or nonsense. */
	rig.boost.last_boosted = 5;
	rig_expect(&rig, "0 1 3 4");
	rig.boost.last_boosted = 0xffffffffU;
	rig_expect(&rig, "0 1 3 4");
	rig.request.self = VHALT_BOOST_NONE;
	rig_expect(&rig, "0 1 2 3 4");
	rig.request.nr = 0;
	rig_expect(&rig, "");
}

static void test_only_the_taker_moves_the_turn(void **context)
{
	struct vhalt_boost_scan scan;
	struct rig rig;

	(void)context;
	all_ready(&rig, VHALT_BOOST_KERNEL, 4);
	assert_int_equal(vhalt_boost_first(&scan, &rig.boost, &rig.request), 1);
	assert_int_equal(rig_first(&rig), 1);
	vhalt_boost_done(&rig.boost, &rig.request, 1);
	assert_int_equal(rig_first(&rig), 2);
	assert_int_equal(rig.vcpus[1].boosted_by, 0);
	assert_int_equal(rig.vcpus[1].boosted_ns, NOW_NS);
	vhalt_boost_done(&rig.boost, &rig.request, VHALT_BOOST_NONE);
	vhalt_boost_done(&rig.boost, &rig.request, 4);
	assert_int_equal(rig_first(&rig), 2);
	assert_int_equal(rig.boost.boosts, 1);
}

static void test_three_refusals(void **context)
{
	struct vhalt_boost_scan scan;
	struct rig rig;

	(void)context;
	all_ready(&rig, VHALT_BOOST_KERNEL, 8);
	vhalt_boost_first(&scan, &rig.boost, &rig.request);
	assert_true(vhalt_boost_refused(&scan));
	assert_true(vhalt_boost_refused(&scan));
	assert_false(vhalt_boost_refused(&scan));
	vhalt_boost_first(&scan, &rig.boost, &rig.request);
	assert_true(vhalt_boost_refused(&scan));
}

static void test_must_wait_for_a_cpu(void **context)
{
	struct rig rig;

	(void)context;
	all_ready(&rig, VHALT_BOOST_KERNEL, 5);
	rig.vcpus[1].flags = 0;						 /* blocked */
	rig.vcpus[2].flags = VHALT_BOOST_RUNNABLE | VHALT_BOOST_RUNNING; /* has one */
	rig.vcpus[3].flags = READY;					 /* woken */
	rig_expect(&rig, "3 4");
}

static void test_kernel_mode_wanted(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_KERNEL, 5);
	rig_vcpu(&rig, 1, PREEMPTED, -1, 0);
	rig_vcpu(&rig, 2, PREEMPTED | VHALT_BOOST_IN_KERNEL, -1, 0);
	rig_vcpu(&rig, 3, PREEMPTED | VHALT_BOOST_IRQ_PENDING, -1, 0);
	rig_vcpu(&rig, 4, READY, -1, 0); /* woken: its mode does not count */
	rig_expect(&rig, "1 2 3 4");
	rig.request.want_kernel = true;
	rig_expect(&rig, "2 3 4");
}

static void test_eligibility_toggles(void **context)
{
	struct rig rig;

	(void)context;
	all_ready(&rig, VHALT_BOOST_KERNEL, 3);
	vhalt_boost_spin_enter(&rig.vcpus[1]);
	rig_expect(&rig, "2"); /* looked at: now eligible */
	assert_true(rig.vcpus[1].flags & VHALT_BOOST_DY_ELIGIBLE);
	rig_expect(&rig, "1 2"); /* and not any more */
	rig_expect(&rig, "2");
	/* Not looked at, not toggled: another test comes first, or the scan ended before. */
	rig.vcpus[1].flags &= ~(uint32_t)VHALT_BOOST_RUNNABLE;
	rig_expect(&rig, "2");
	rig.vcpus[1].flags |= VHALT_BOOST_RUNNABLE;
	rig_expect(&rig, "1 2");
	rig.boost.last_boosted = 1;
	assert_int_equal(rig_first(&rig), 2);
	rig.boost.last_boosted = 0;
	rig_expect(&rig, "2");
	/* Leaving the spin ends it. */
	vhalt_boost_spin_leave(&rig.vcpus[1]);
	assert_false(rig.vcpus[1].flags & (VHALT_BOOST_DY_ELIGIBLE | VHALT_BOOST_SPINNING));
	rig_expect(&rig, "1 2");
	rig_expect(&rig, "1 2");
}

static void test_critical_filter(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_CRITICAL, 6);
	rig_vcpu(&rig, 1, PREEMPTED, 0, 0);			   /* preemptible */
	rig_vcpu(&rig, 2, PREEMPTED, 1, 0);			   /* holds a lock */
	rig_vcpu(&rig, 3, PREEMPTED | VHALT_BOOST_IRQS_OFF, 0, 0); /* interrupts off */
	rig_vcpu(&rig, 4, PREEMPTED, -1, 0);			   /* does not share: passes */
	rig_vcpu(&rig, 5, PREEMPTED | VHALT_BOOST_IRQ_PENDING, 0, 0);
	rig_expect(&rig, "2 3 4");
	rig.boost.last_boosted = 2;
	rig_expect(&rig, "3 4 2");
	rig.boost.mode = VHALT_BOOST_KERNEL;
	rig_expect(&rig, "3 4 5 1 2");
}

static void test_critical_filter_comes_before_eligibility(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_CRITICAL, 2);
	rig_vcpu(&rig, 1, PREEMPTED | VHALT_BOOST_SPINNING, 0, 0);
	rig_expect(&rig, "");
	assert_false(rig.vcpus[1].flags & VHALT_BOOST_DY_ELIGIBLE);
	rig.vcpus[1].preempt_count = 2;
	rig_expect(&rig, "");
	assert_true(rig.vcpus[1].flags & VHALT_BOOST_DY_ELIGIBLE);
}

/* With a bitmap: the same as if all others were blocked, over word borders and to the last bit. */
static void test_bitmap(void **context)
{
	uint64_t bits[(MOST_VCPUS + 63) / 64] = {0};
	struct rig rig;

	(void)context;
	all_ready(&rig, VHALT_BOOST_KERNEL, MOST_VCPUS);
	rig.request.candidates = bits;
	rig_expect(&rig, "");
	bits[0] = 1ULL << 63 | 2;
	bits[1] = 1;
	bits[3] = ~0ULL << 6; /* 198, 199 and bits beyond the last vCPU */
	rig_expect(&rig, "1 63 64 198 199");
	rig.boost.last_boosted = 63;
	rig_expect(&rig, "64 198 199 1 63");
	rig.boost.last_boosted = 199;
	rig_expect(&rig, "1 63 64 198 199");
	rig.boost.mode = VHALT_BOOST_HOLDER;
	rig_expect(&rig, "1 63 64 198 199");
}

static void test_names(void **context)
{
	(void)context;
	assert_int_equal(vhalt_boost_mode_find("kernel"), VHALT_BOOST_KERNEL);
	assert_int_equal(vhalt_boost_mode_find("critical"), VHALT_BOOST_CRITICAL);
	assert_int_equal(vhalt_boost_mode_find("holder"), VHALT_BOOST_HOLDER);
	assert_int_equal(vhalt_boost_mode_find("holde"), VHALT_NR_BOOST_MODES);
	assert_int_equal(vhalt_boost_mode_find(""), VHALT_NR_BOOST_MODES);
	for (uint32_t i = 0; i < VHALT_NR_BOOST_MODES; i++) {
		assert_int_equal(vhalt_boost_mode_find(vhalt_boost_mode_name(i)), i);
		assert_non_null(vhalt_boost_mode_summary(i));
	}
	assert_null(vhalt_boost_mode_name(VHALT_NR_BOOST_MODES));
	assert_null(vhalt_boost_mode_summary(VHALT_NR_BOOST_MODES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_around_behind_the_last),
		cmocka_unit_test(test_only_the_taker_moves_the_turn),
		cmocka_unit_test(test_three_refusals),
		cmocka_unit_test(test_must_wait_for_a_cpu),
		cmocka_unit_test(test_kernel_mode_wanted),
		cmocka_unit_test(test_eligibility_toggles),
		cmocka_unit_test(test_critical_filter),
		cmocka_unit_test(test_critical_filter_comes_before_eligibility),
		cmocka_unit_test(test_bitmap),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Boost mode `holder`: one test per rule of core/boost_holder.c.

#include "boost_rig.h"

#define MS 1000000ULL

static void test_ranks(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 9);
	rig_vcpu(&rig, 1, PREEMPTED | VHALT_BOOST_SPINNING, 1, NOW_NS - 8); /* WAITER */
	rig_vcpu(&rig, 2, PREEMPTED, -1, NOW_NS - 7);			    /* UNKNOWN */
	rig_vcpu(&rig, 3, READY, 1, NOW_NS - 6);			    /* SERVING: woken */
	rig_vcpu(&rig, 4, PREEMPTED, 0, NOW_NS - 9);			    /* IPI */
	rig.vcpus[4].ipi_from = 0;
	rig_vcpu(&rig, 5, PREEMPTED, 3, NOW_NS - 1); /* HOLDER */
	rig_vcpu(&rig, 6, PREEMPTED, 0, NOW_NS - 9); /* preemptible: NEVER */
	rig_vcpu(&rig, 7, PREEMPTED | VHALT_BOOST_IRQ_PENDING, 0, NOW_NS - 2); /* SERVING */
	rig_vcpu(&rig, 8, PREEMPTED | VHALT_BOOST_IRQS_OFF, -1, NOW_NS - 2);   /* HOLDER */
	rig_expect(&rig, "8 5 4 3 7 2 1");
	/* An IPI of somebody else's is nothing to this spinner. */
	rig.vcpus[4].ipi_from = 1;
	rig_expect(&rig, "8 5 3 7 2 1");
	rig.vcpus[4].ipi_from = VHALT_BOOST_NONE;
	rig.request.self = VHALT_BOOST_NONE;
	rig_expect(&rig, "8 5 3 7 2 1");
}

static void test_not_ready_is_not_looked_at(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 3);
	rig_vcpu(&rig, 0, PREEMPTED, 1, 0); /* the spinner */
	rig_vcpu(&rig, 1, VHALT_BOOST_PREEMPTED, 1, 0);
	rig_vcpu(&rig, 2, PREEMPTED | VHALT_BOOST_RUNNING, 1, 0);
	rig_expect(&rig, "");
}

static void test_unknown_follows_the_mode(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 4);
	rig_vcpu(&rig, 1, PREEMPTED, -1, 1);
	rig_vcpu(&rig, 2, PREEMPTED | VHALT_BOOST_IN_KERNEL, -1, 2);
	rig_vcpu(&rig, 3, READY, -1, 3);
	rig_expect(&rig, "1 2 3");
	rig.request.want_kernel = true;
	rig_expect(&rig, "2 3");
	/* Once the count is known the mode says nothing more. */
	rig_vcpu(&rig, 1, PREEMPTED, 1, 1);
	rig_vcpu(&rig, 2, PREEMPTED | VHALT_BOOST_IN_KERNEL, 0, 2);
	rig_expect(&rig, "1 3");
}

static void test_longest_waiting_first(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 5);
	for (uint32_t i = 1; i < 5; i++)
		rig_vcpu(&rig, i, PREEMPTED, 1, NOW_NS - (i ^ 2) * 1000);
	rig_expect(&rig, "4 1 3 2");
	/* A boost that was ignored puts it behind the others. */
	vhalt_boost_done(&rig.boost, &rig.request, 4);
	rig_expect(&rig, "1 3 2 4");
	/* Equal times: by number. */
	for (uint32_t i = 1; i < 5; i++)
		rig_vcpu(&rig, i, PREEMPTED, 1, NOW_NS + 5);
	rig_expect(&rig, "1 2 3 4");
}

static void test_never_back(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 3);
	rig_vcpu(&rig, 1, PREEMPTED, 1, NOW_NS);
	vhalt_boost_spin_enter(&rig.vcpus[0]);
	assert_int_equal(rig_first(&rig), 1);
	vhalt_boost_done(&rig.boost, &rig.request, 1);
	/* Now 1 has the time of 0, and spins in turn. */
	rig.request.self = 1;
	rig_vcpu(&rig, 0, PREEMPTED | VHALT_BOOST_SPINNING, 1, NOW_NS);
	rig_expect(&rig, "");
	rig_vcpu(&rig, 2, PREEMPTED | VHALT_BOOST_SPINNING, 1, NOW_NS);
	rig_expect(&rig, "2");
	/* 0 has run since. */
	vhalt_boost_spin_leave(&rig.vcpus[0]);
	rig_expect(&rig, "0 2");
	/* 1 got its time from somebody else since. */
	vhalt_boost_spin_enter(&rig.vcpus[0]);
	rig.request.self = 2;
	vhalt_boost_done(&rig.boost, &rig.request, 1);
	rig.request.self = 1;
	rig_expect(&rig, "0");
}

static void boost_times(struct rig *rig, int times, int32_t index)
{
	while (times--)
		vhalt_boost_done(&rig->boost, &rig->request, index);
}

static void test_turn_of_fairness(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 5);
	rig_vcpu(&rig, 1, PREEMPTED, 1, NOW_NS);
	rig_vcpu(&rig, 2, PREEMPTED, 0, NOW_NS - 11 * MS); /* preemptible, and waits longer */
	rig_vcpu(&rig, 3, PREEMPTED, 0, NOW_NS - 12 * MS);
	rig_expect(&rig, "1");
	boost_times(&rig, VHALT_BOOST_FAIR_EVERY - 1, 1);
	rig_expect(&rig, "3 1");
	vhalt_boost_done(&rig.boost, &rig.request, 3);
	rig_expect(&rig, "1");
	boost_times(&rig, VHALT_BOOST_FAIR_EVERY - 1, 1);
	rig_expect(&rig, "2 1");
	/* The one that waits longest is named once, though it is a holder as well. */
	rig_vcpu(&rig, 4, PREEMPTED, 1, 0);
	rig_expect(&rig, "4 1");
	/* Nobody waits for long: no turn is spent. */
	rig_vcpu(&rig, 4, 0, 1, 0);
	rig.vcpus[2].since_ns = NOW_NS - 10 * MS;
	rig_expect(&rig, "1");
	/* Neither does fairness give time back. */
	rig.vcpus[2].since_ns = NOW_NS - 11 * MS;
	rig.vcpus[2].flags |= VHALT_BOOST_SPINNING;
	rig.vcpus[0].boosted_by = 2;
	rig_expect(&rig, "1");
}

static void test_early_clock(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 2);
	rig.request.now_ns = 5;
	rig.boost.boosts = VHALT_BOOST_FAIR_EVERY - 1;
	rig_vcpu(&rig, 1, PREEMPTED, 0, ~0ULL); /* a time stamp from the future */
	rig_expect(&rig, "");
	rig_vcpu(&rig, 1, PREEMPTED, 1, ~0ULL);
	rig_expect(&rig, "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_not_ready_is_not_looked_at),
		cmocka_unit_test(test_unknown_follows_the_mode),
		cmocka_unit_test(test_longest_waiting_first),
		cmocka_unit_test(test_never_back),
		cmocka_unit_test(test_turn_of_fairness),
		cmocka_unit_test(test_early_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

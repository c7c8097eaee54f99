// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Boost mode `holder`: one test per rule of core/boost_holder.c.

#include "boost_rig.h"

#define MS 1000000ULL

/* A VM that has learnt which kind is worth it, and does not try the other one just now. */
static void learnt(struct rig *rig, uint32_t class, uint32_t nr)
{
	rig_init(rig, VHALT_BOOST_HOLDER, nr);
	rig->boost.boosts = 1;
	for (uint32_t i = 0; i < VHALT_NR_BOOST_CLASSES; i++)
		rig->boost.worth[i] = (i == class ? 20U : 10U) * VHALT_BOOST_WORTH_OCTAVE;
	assert_int_equal(vhalt_boost_preferred(&rig->boost), class);
}

static void test_ranks(void **context)
{
	struct rig rig;

	(void)context;
	learnt(&rig, VHALT_BOOST_PREEMPTS, 9);
	rig_vcpu(&rig, 1, PREEMPTED | VHALT_BOOST_SPINNING, 1, NOW_NS - 8); /* OTHER */
	rig_vcpu(&rig, 2, PREEMPTED, -1, NOW_NS - 7);			    /* UNKNOWN */
	rig_vcpu(&rig, 3, READY, 1, NOW_NS - 6);			    /* SERVING: woken */
	rig_vcpu(&rig, 4, PREEMPTED, 0, NOW_NS - 9);			    /* IPI */
	rig.vcpus[4].ipi_from = 0;
	rig_vcpu(&rig, 5, PREEMPTED, 3, NOW_NS - 1);				/* WORTHY */
	rig_vcpu(&rig, 6, PREEMPTED | VHALT_BOOST_IRQ_PENDING, 0, NOW_NS - 9);	/* NEVER */
	rig_vcpu(&rig, 7, PREEMPTED | VHALT_BOOST_IRQ_PENDING, -1, NOW_NS - 2); /* SERVING */
	rig_vcpu(&rig, 8, PREEMPTED | VHALT_BOOST_IRQS_OFF, -1, NOW_NS - 2);	/* WORTHY */
	rig_expect(&rig, "8 5 4 3 7 2 1");
	/* An IPI of somebody else's is nothing to this spinner. */
	rig.vcpus[4].ipi_from = 1;
	rig_expect(&rig, "8 5 3 7 2 1");
	rig.vcpus[4].ipi_from = VHALT_BOOST_NONE;
	rig.request.self = VHALT_BOOST_NONE;
	rig_expect(&rig, "8 5 3 7 2 1");
	/* The other kind is worth it. */
	rig.boost.worth[VHALT_BOOST_YIELDS] = 30 * VHALT_BOOST_WORTH_OCTAVE;
	rig_expect(&rig, "1 3 7 2 8 5");
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
	learnt(&rig, VHALT_BOOST_PREEMPTS, 4);
	rig_vcpu(&rig, 1, PREEMPTED, -1, NOW_NS + 1);
	rig_vcpu(&rig, 2, PREEMPTED | VHALT_BOOST_IN_KERNEL, -1, NOW_NS + 2);
	rig_vcpu(&rig, 3, READY, -1, NOW_NS + 3);
	rig_expect(&rig, "1 2 3");
	rig.request.want_kernel = true;
	rig_expect(&rig, "2 3");
	/* Once the count is known the mode says nothing more. */
	rig_vcpu(&rig, 1, PREEMPTED, 1, NOW_NS + 1);
	rig_vcpu(&rig, 2, PREEMPTED | VHALT_BOOST_IN_KERNEL, 0, NOW_NS + 2);
	rig_expect(&rig, "1 3");
}

static void test_longest_waiting_first(void **context)
{
	struct rig rig;

	(void)context;
	learnt(&rig, VHALT_BOOST_PREEMPTS, 5);
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
	learnt(&rig, VHALT_BOOST_PREEMPTS, 3);
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

/* Before anything is learnt: as mode `critical`, but never back. */
static void test_by_turns_at_first(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 5);
	rig_vcpu(&rig, 1, PREEMPTED, 1, NOW_NS);
	rig_vcpu(&rig, 2, PREEMPTED, 0, NOW_NS - 50);
	rig_vcpu(&rig, 3, PREEMPTED | VHALT_BOOST_SPINNING, 1, NOW_NS - 100);
	rig_vcpu(&rig, 4, PREEMPTED, 1, NOW_NS - 100);
	rig_expect(&rig, "1 4");
	rig_expect(&rig, "1 3 4");
	rig.boost.last_boosted = 1;
	rig.vcpus[3].flags |= VHALT_BOOST_DY_ELIGIBLE;
	rig_expect(&rig, "3 4 1");
	rig.vcpus[3].flags |= VHALT_BOOST_DY_ELIGIBLE;
	rig.vcpus[0].boosted_by = 3;
	rig_expect(&rig, "4 1");
}

static void boost_and_run(struct rig *rig, int32_t index, uint64_t ran_ns)
{
	struct vhalt_boost_scan scan;
	int32_t i = vhalt_boost_first(&scan, &rig->boost, &rig->request);

	while (i != index) {
		assert_int_not_equal(i, VHALT_BOOST_NONE);
		i = vhalt_boost_next(&scan, &rig->boost, &rig->request);
	}
	vhalt_boost_done(&rig->boost, &rig->request, index);
	vhalt_boost_ran(&rig->boost, &rig->vcpus[index], ran_ns);
}

/* vCPU 1 is preempted, vCPU 2 yielded: boosts of the one run @first_ns, of the other @second_ns. */
static uint32_t teach(struct rig *rig, int times, uint64_t first_ns, uint64_t second_ns)
{
	while (times--) {
		rig_vcpu(rig, 1, PREEMPTED, 1, NOW_NS);
		rig_vcpu(rig, 2, PREEMPTED | VHALT_BOOST_SPINNING | VHALT_BOOST_DY_ELIGIBLE, 1,
			 NOW_NS);
		boost_and_run(rig, 1, first_ns);
		rig_vcpu(rig, 2, PREEMPTED | VHALT_BOOST_SPINNING | VHALT_BOOST_DY_ELIGIBLE, 1,
			 NOW_NS);
		boost_and_run(rig, 2, second_ns);
	}
	rig->boost.boosts |= 1;
	return vhalt_boost_preferred(&rig->boost);
}

static void test_learns_both_ways(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 3);
	assert_int_equal(vhalt_boost_preferred(&rig.boost), VHALT_NR_BOOST_CLASSES);
	/* One long run proves nothing, nor do many that are five times as long. */
	assert_int_equal(teach(&rig, 1, 1 << 30, 1000), VHALT_NR_BOOST_CLASSES);
	rig_init(&rig, VHALT_BOOST_HOLDER, 3);
	assert_int_equal(teach(&rig, 500, 5000, 1000), VHALT_NR_BOOST_CLASSES);
	/* Test-and-set locks: the preempted one runs on. */
	assert_int_equal(teach(&rig, 500, 100000, 1000), VHALT_BOOST_PREEMPTS);
	/* The guest changes: the lock is handed to who yielded. And back. */
	assert_int_equal(teach(&rig, 500, 1000, 100000), VHALT_BOOST_YIELDS);
	assert_int_equal(teach(&rig, 500, 100000, 1000), VHALT_BOOST_PREEMPTS);
	/* Once in so many boosts it finds out. */
	rig.boost.boosts = 4 * VHALT_BOOST_EXPLORE;
	assert_int_equal(vhalt_boost_preferred(&rig.boost), VHALT_NR_BOOST_CLASSES);
}

static void test_only_boosted_runs_count(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 3);
	rig_vcpu(&rig, 1, PREEMPTED, 1, NOW_NS);
	vhalt_boost_ran(&rig.boost, &rig.vcpus[1], 1000);
	assert_int_equal(rig.boost.worth[VHALT_BOOST_PREEMPTS], 0);
	boost_and_run(&rig, 1, 1023);
	assert_int_equal(rig.boost.worth[VHALT_BOOST_PREEMPTS], 10 * VHALT_BOOST_WORTH_OCTAVE);
	vhalt_boost_ran(&rig.boost, &rig.vcpus[1], ~0ULL);
	assert_int_equal(rig.boost.worth[VHALT_BOOST_PREEMPTS], 10 * VHALT_BOOST_WORTH_OCTAVE);
	/* Neither kind, or nonsense. */
	rig.vcpus[1].boosted_as = VHALT_NR_BOOST_CLASSES + 1;
	vhalt_boost_ran(&rig.boost, &rig.vcpus[1], ~0ULL);
	assert_int_equal(rig.boost.worth[VHALT_BOOST_PREEMPTS], 10 * VHALT_BOOST_WORTH_OCTAVE);
	/* The kind is that of the moment it was named. */
	assert_int_equal(rig_first(&rig), 1);
	rig.vcpus[1].flags = VHALT_BOOST_RUNNABLE | VHALT_BOOST_RUNNING;
	vhalt_boost_done(&rig.boost, &rig.request, 1);
	assert_int_equal(rig.vcpus[1].boosted_as, VHALT_BOOST_PREEMPTS + 1);
	/* Other modes learn nothing. */
	rig_init(&rig, VHALT_BOOST_CRITICAL, 3);
	rig_vcpu(&rig, 1, PREEMPTED, 1, NOW_NS);
	boost_and_run(&rig, 1, 1023);
	assert_int_equal(rig.boost.worth[VHALT_BOOST_PREEMPTS], 0);
}

static void test_fairness(void **context)
{
	struct rig rig;

	(void)context;
	learnt(&rig, VHALT_BOOST_PREEMPTS, 5);
	rig_vcpu(&rig, 1, PREEMPTED, 1, NOW_NS);
	rig_vcpu(&rig, 2, PREEMPTED, 0, NOW_NS - 110 * MS); /* preemptible, and waits longer */
	rig_vcpu(&rig, 3, PREEMPTED, 0, NOW_NS - 120 * MS);
	rig_expect(&rig, "3 1");
	/* Named only, or refused: its turn is still to come. */
	rig_expect(&rig, "3 1");
	vhalt_boost_done(&rig.boost, &rig.request, 3);
	rig_expect(&rig, "1");
	rig.request.now_ns += VHALT_BOOST_FAIR_NS - 1;
	rig_expect(&rig, "1");
	rig.request.now_ns++;
	rig_expect(&rig, "2 1");
	/* Another boost is none of fairness. */
	vhalt_boost_done(&rig.boost, &rig.request, 1);
	rig_expect(&rig, "2 1");
	/* The one that waits longest is named once, though it is worthy as well; so by turns. */
	rig_vcpu(&rig, 4, PREEMPTED, 1, 0);
	rig_expect(&rig, "4 1");
	rig.boost.boosts = 0;
	rig_expect(&rig, "4 1");
	/* Nobody waits for long enough. */
	rig_vcpu(&rig, 4, 0, 1, 0);
	rig.vcpus[2].since_ns = rig.request.now_ns - VHALT_BOOST_FAIR_NS;
	rig_expect(&rig, "1");
	/* Neither does fairness give time back. */
	rig.vcpus[2].since_ns -= 1;
	rig_expect(&rig, "2 1");
	rig.vcpus[2].flags |= VHALT_BOOST_SPINNING;
	rig.vcpus[0].boosted_by = 2;
	rig_expect(&rig, "1");
}

static void test_early_clock(void **context)
{
	struct rig rig;

	(void)context;
	learnt(&rig, VHALT_BOOST_PREEMPTS, 2);
	rig.request.now_ns = 5;
	rig_vcpu(&rig, 1, PREEMPTED, 0, ~0ULL); /* a time stamp from the future */
	rig_expect(&rig, "");
	rig_vcpu(&rig, 1, PREEMPTED, 1, ~0ULL);
	rig_expect(&rig, "1");
	/* A clock that went back. */
	rig.boost.fair_ns = ~0ULL;
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
		cmocka_unit_test(test_by_turns_at_first),
		cmocka_unit_test(test_learns_both_ways),
		cmocka_unit_test(test_only_boosted_runs_count),
		cmocka_unit_test(test_fairness),
		cmocka_unit_test(test_early_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Boost selection on random snapshots: always a candidate, nobody starves, nothing bounces.

#include <stdlib.h>

#include "boost_rig.h"

static uint64_t first_seed(void)
{
	const char *text = getenv("VHALT_SEED");

	return text ? strtoull(text, NULL, 10) : 1;
}

static void randomize(struct rig *rig, uint64_t *seed, uint32_t mode)
{
	uint32_t nr = (uint32_t)(rig_draw(seed) % (MOST_VCPUS + 1));

	rig_init(rig, mode, nr);
	rig->boost.last_boosted = (uint32_t)rig_draw(seed) % (MOST_VCPUS + 2);
	rig->boost.boosts = (uint32_t)rig_draw(seed);
	rig->request.self = (int32_t)(rig_draw(seed) % (MOST_VCPUS + 2)) - 1;
	rig->request.want_kernel = rig_draw(seed) & 1;
	rig->boost.fair_ns = NOW_NS - rig_draw(seed) % 200000000;
	for (uint32_t i = 0; i < VHALT_NR_BOOST_CLASSES; i++)
		rig->boost.worth[i] = (uint32_t)rig_draw(seed) % (30 * VHALT_BOOST_WORTH_OCTAVE);
	for (uint32_t i = 0; i < nr; i++) {
		struct vhalt_boost_vcpu *v = &rig->vcpus[i];

		v->flags = (uint32_t)rig_draw(seed) & 0x1ff;
		v->preempt_count = (uint32_t)(rig_draw(seed) & 1);
		v->since_ns = NOW_NS - rig_draw(seed) % 200000000;
		v->boosted_ns = NOW_NS - rig_draw(seed) % 200000000;
		v->boosted_by = (int32_t)(rig_draw(seed) % (nr + 1)) - 1;
		v->ipi_from = (int32_t)(rig_draw(seed) % (nr + 1)) - 1;
	}
}

static bool was_allowed(const struct rig *rig, uint32_t i, const struct vhalt_boost_vcpu *v)
{
	const struct vhalt_boost_request *r = &rig->request;

	if ((int32_t)i == r->self || !(v->flags & VHALT_BOOST_RUNNABLE) ||
	    v->flags & VHALT_BOOST_RUNNING)
		return false;
	if (r->candidates && !(r->candidates[i / 64] >> i % 64 & 1))
		return false;
	if (rig->boost.mode == VHALT_BOOST_CRITICAL && v->flags & VHALT_BOOST_SHARED &&
	    !v->preempt_count && !(v->flags & VHALT_BOOST_IRQS_OFF))
		return false;
	return true;
}

/* Any snapshot, whole scans: each named vCPU is allowed, and none is named twice. */
static void test_only_candidates(void **context)
{
	uint64_t seed = first_seed();

	(void)context;
	print_message("VHALT_SEED=%llu\n", (unsigned long long)seed);
	for (int run = 0; run < 6000; run++) {
		struct rig rig, before;
		struct vhalt_boost_scan scan;
		uint64_t bits[(MOST_VCPUS + 63) / 64];
		bool named[MOST_VCPUS] = {false};
		int32_t i;

		randomize(&rig, &seed, (uint32_t)run % VHALT_NR_BOOST_MODES);
		for (size_t w = 0; w < sizeof(bits) / sizeof(bits[0]); w++)
			bits[w] = rig_draw(&seed);
		rig.request.candidates = run % 2 ? bits : NULL;
		before = rig;
		for (i = vhalt_boost_first(&scan, &rig.boost, &rig.request); i != VHALT_BOOST_NONE;
		     i = vhalt_boost_next(&scan, &rig.boost, &rig.request)) {
			assert_in_range(i, 0, rig.request.nr - 1);
			assert_true(was_allowed(&rig, (uint32_t)i, &before.vcpus[i]));
			assert_false(named[i]);
			named[i] = true;
		}
		/* What a scan may write: the one flag, and as what it named one. */
		for (uint32_t v = 0; v < rig.request.nr; v++)
			rig.vcpus[v].named_as = before.vcpus[v].named_as,
			rig.vcpus[v].flags = before.vcpus[v].flags =
				before.vcpus[v].flags & ~(uint32_t)VHALT_BOOST_DY_ELIGIBLE;
		assert_memory_equal(rig.vcpus, before.vcpus, sizeof(rig.vcpus));
	}
}

/* The bitmap of all who are ready changes nothing: it only saves time. */
static void test_bitmap_of_the_ready_is_neutral(void **context)
{
	uint64_t seed = first_seed();

	(void)context;
	for (int run = 0; run < 3000; run++) {
		uint64_t bits[(MOST_VCPUS + 63) / 64] = {0};
		struct rig rig, with;

		randomize(&rig, &seed, (uint32_t)run % VHALT_NR_BOOST_MODES);
		for (uint32_t i = 0; i < rig.request.nr; i++)
			if ((rig.vcpus[i].flags & 3) == VHALT_BOOST_RUNNABLE)
				bits[i / 64] |= 1ULL << i % 64;
		with = rig;
		with.request.vcpus = with.vcpus;
		rig.request.vcpus = rig.vcpus;
		with.request.candidates = bits;
		assert_int_equal(rig_first(&rig), rig_first(&with));
		assert_memory_equal(rig.vcpus, with.vcpus, sizeof(rig.vcpus));
	}
}

/*
 * A VM in which holders come and go and one vCPU is preemptible, ready and never runs by itself:
 * the least worthy candidate there is, with all others waiting too long as well. It is chosen
 * within nr + 1 times of fairness, and all boosts of fairness are at least one such time apart.
 */
static void test_nobody_starves(void **context)
{
	const uint32_t nr = 12, victim = 7;
	uint64_t seed = first_seed();
	uint64_t chosen_ns = NOW_NS, worst_ns = 0, fair_ns = 0;
	uint32_t chosen = 0;
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, nr);
	for (uint32_t v = 0; v < nr; v++)
		rig_vcpu(&rig, v, PREEMPTED, v != victim, NOW_NS);
	for (int step = 0; step < 200000; step++) {
		uint64_t draw = rig_draw(&seed);
		bool fair;
		int32_t i;

		rig.request.now_ns += 1000000;
		rig.request.self = (int32_t)(draw % nr);
		if (rig.request.self == (int32_t)victim)
			continue;
		i = rig_first(&rig);
		if (i == VHALT_BOOST_NONE)
			continue;
		fair = i == rig.boost.fair;
		vhalt_boost_done(&rig.boost, &rig.request, i);
		vhalt_boost_ran(&rig.boost, &rig.vcpus[i], draw >> 40);
		if (fair) {
			assert_true(rig.request.now_ns - fair_ns >= VHALT_BOOST_FAIR_NS);
			fair_ns = rig.request.now_ns;
		}
		if (i != (int32_t)victim)
			continue;
		if (rig.request.now_ns - chosen_ns > worst_ns)
			worst_ns = rig.request.now_ns - chosen_ns;
		chosen_ns = rig.request.now_ns;
		chosen++;
	}
	assert_true(chosen > 100);
	/* Steps in which the victim itself would spin are left out: a few more. */
	assert_in_range(worst_ns, VHALT_BOOST_FAIR_NS, VHALT_BOOST_FAIR_NS * (nr + 1) + 20000000);
	assert_in_range(rig.request.now_ns - chosen_ns, 0,
			VHALT_BOOST_FAIR_NS * (nr + 1) + 20000000);
}

/*
 * All spin: whoever gets time spins at once and gives it on. Time never goes straight back, and all
 * are served alike.
 */
static void test_nothing_bounces(void **context)
{
	const uint32_t nr = 6;
	uint32_t got[6] = {0};
	int32_t self = 0, from = VHALT_BOOST_NONE;
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, nr);
	rig.boost.worth[VHALT_BOOST_YIELDS] = 30 * VHALT_BOOST_WORTH_OCTAVE;
	for (uint32_t v = 0; v < nr; v++)
		rig_vcpu(&rig, v, PREEMPTED | VHALT_BOOST_SPINNING, 1, NOW_NS);
	for (int step = 0; step < 6000; step++) {
		int32_t to;

		rig.request.now_ns += 1000;
		rig.request.self = self;
		to = rig_first(&rig);
		/* By turns nobody may be eligible; everybody is the next time. */
		if (to == VHALT_BOOST_NONE)
			to = rig_first(&rig);
		assert_in_range(to, 0, nr - 1);
		assert_int_not_equal(to, from);
		vhalt_boost_done(&rig.boost, &rig.request, to);
		got[to]++;
		from = self;
		self = to;
	}
	for (uint32_t v = 0; v < nr; v++)
		assert_in_range(got[v], 900, 1100);
}

/* Two that spin for a third, which runs: they do not pass their time to and fro. */
static void test_two_waiters_stop(void **context)
{
	struct rig rig;

	(void)context;
	rig_init(&rig, VHALT_BOOST_HOLDER, 3);
	rig.boost.worth[VHALT_BOOST_YIELDS] = 30 * VHALT_BOOST_WORTH_OCTAVE;
	rig.boost.boosts = 1;
	rig_vcpu(&rig, 2, VHALT_BOOST_RUNNABLE | VHALT_BOOST_RUNNING, 1, 0);
	rig_vcpu(&rig, 0, PREEMPTED | VHALT_BOOST_SPINNING, 1, NOW_NS);
	rig_vcpu(&rig, 1, PREEMPTED | VHALT_BOOST_SPINNING, 1, NOW_NS);
	assert_int_equal(rig_first(&rig), 1);
	vhalt_boost_done(&rig.boost, &rig.request, 1);
	rig.request.self = 1;
	assert_int_equal(rig_first(&rig), VHALT_BOOST_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_candidates),
		cmocka_unit_test(test_bitmap_of_the_ready_is_neutral),
		cmocka_unit_test(test_nobody_starves),
		cmocka_unit_test(test_nothing_bounces),
		cmocka_unit_test(test_two_waiters_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The simulator's entities, each in a world so small that one can say what must happen.
#include "tests/unit/sim_rig.h"

#include <inttypes.h>

#include "sim/host.h"

/* --- host scheduler ------------------------------------------------------------------------- */

static void vcpus_share_a_pcpu_by_slices(void **state)
{
	struct sim_config config;
	struct sim_world *w;

	(void)state;
	rig_config(&config, "host.pcpus=1 host.llc=1 run.warmup=0ns run.duration=240ms "
			    "a a.workload=hog a.count=3 a.hz=0");
	w = rig_run(&config, 1);
	/* A period of 24 ms for three: slices of 8 ms, ten each. */
	for (uint32_t i = 0; i < 3; i++)
		assert_in_range(w->vm[i].sum.run_ns, 78 * RIG_MS, 82 * RIG_MS);
	assert_int_equal(w->pcpu[0].busy_ns + w->pcpu[0].idle_ns, 240 * RIG_MS);
	sim_world_destroy(w);
}

static void time_is_conserved(void **state)
{
	struct sim_config config;
	struct sim_world *w;
	uint64_t run_ns = 0, steal_ns = 0, busy_ns = 0;

	(void)state;
	rig_config(&config, "host.pcpus=4 host.llc=2 run.warmup=0ns run.duration=100ms "
			    "a a.workload=poisson a.vcpus=6 a.mean=200us a.work=60us "
			    "b b.workload=hog b.vcpus=3");
	w = rig_run(&config, 1);
	for (uint32_t i = 0; i < w->nr_vms; i++) {
		run_ns += w->vm[i].sum.run_ns;
		steal_ns += w->vm[i].sum.steal_ns;
	}
	for (uint32_t i = 0; i < w->nr_pcpus; i++) {
		assert_int_equal(w->pcpu[i].busy_ns + w->pcpu[i].idle_ns, 100 * RIG_MS);
		busy_ns += w->pcpu[i].busy_ns;
	}
	assert_int_equal(run_ns, busy_ns);
	assert_true(steal_ns > 0);
	sim_world_destroy(w);
}

static void smt_slows_both_siblings(void **state)
{
	struct sim_result alone, shared;

	(void)state;
	rig_measure("host.pcpus=2 host.llc=2 host.smt=yes run.duration=20ms "
		    "a a.workload=ebizzy a.vcpus=1 a.threads=1 a.hz=0",
		    &alone);
	rig_measure("host.pcpus=2 host.llc=2 host.smt=yes run.duration=20ms "
		    "a a.workload=ebizzy a.vcpus=1 a.threads=1 a.hz=0 b b.workload=hog b.hz=0",
		    &shared);
	/* A little more than 60 %: entries and handing over do not scale. */
	assert_in_range(shared.vm[0][SIM_METRIC_RATE] * 1000 / alone.vm[0][SIM_METRIC_RATE], 580,
			650);
}

static void idle_pcpus_take_work_from_crowded_ones(void **state)
{
	struct sim_config config;
	struct sim_world *w;

	(void)state;
	rig_config(&config, "host.pcpus=4 host.llc=4 host.scan=0 run.warmup=0ns run.duration=50ms "
			    "a a.workload=hog a.count=4");
	assert_int_equal(sim_world_create(&w, &config, 1), 0);
	/* All begin on one pCPU. */
	for (uint32_t v = 0; v < w->nr_vcpus; v++)
		w->vcpu[v].pcpu = 0;
	w->check_every = 1;
	assert_int_equal(sim_world_run(w), 0);
	for (uint32_t p = 0; p < 4; p++)
		assert_true(w->pcpu[p].busy_ns > 40 * RIG_MS);
	sim_world_destroy(w);
}

/* --- halts ---------------------------------------------------------------------------------- */

static void polling_saves_the_wake_up(void **state)
{
	struct sim_result none, always;

	(void)state;
	rig_measure("host.pcpus=1 host.llc=1 host.policy=none a a.workload=rr a.work=6us", &none);
	rig_measure("host.pcpus=1 host.llc=1 host.policy=always a a.workload=rr a.work=6us",
		    &always);
	assert_int_equal(none.vm[0][SIM_METRIC_POLLED], 0);
	assert_int_equal(always.vm[0][SIM_METRIC_POLLED], 100000);
	/* wake 4 us, idle exit 2 us, switch 1.5 us against a poll's 1 us. */
	assert_in_range(none.vm[0][SIM_METRIC_LATENCY] - always.vm[0][SIM_METRIC_LATENCY], 6000,
			7000);
	assert_int_equal(always.vm[0][SIM_METRIC_CPU], 100000);
}

static void a_poll_ends_when_another_wants_the_cpu(void **state)
{
	struct sim_result r;

	(void)state;
	/* One pCPU: a poll of up to 10 ms would keep the other vCPU waiting. */
	rig_measure("host.pcpus=1 host.llc=1 host.policy=always:max_ns=10ms "
		    "a a.count=2 a.workload=poisson a.mean=1ms a.work=10us",
		    &r);
	assert_in_range(r.vm[0][SIM_METRIC_P99], 1, 100000);
	assert_true(r.vm[0][SIM_METRIC_POLL_WASTED] > 0);
}

static void the_guest_polls_before_it_halts(void **state)
{
	struct sim_result r;

	(void)state;
	rig_measure("host.pcpus=2 host.llc=2 a a.workload=ctxsw a.vcpus=2 a.work=300ns "
		    "a.guest_poll=yes a.host_poll=no",
		    &r);
	assert_int_equal(r.vm[0][SIM_METRIC_HALTS], 0);
	assert_true(r.vm[0][SIM_METRIC_GUEST_POLL] > 50000);
}

static void ticks_wake_an_idle_guest_unless_nohz(void **state)
{
	struct sim_result ticks, nohz;

	(void)state;
	rig_measure("host.pcpus=1 host.llc=1 run.duration=1s a a.nohz=no", &ticks);
	rig_measure("host.pcpus=1 host.llc=1 run.duration=1s a a.nohz=yes", &nohz);
	assert_int_equal(ticks.vm[0][SIM_METRIC_HALTS], 250000);
	assert_int_equal(nohz.vm[0][SIM_METRIC_HALTS], 0);
}

static void a_budget_is_kept(void **state)
{
	struct sim_result all, some;
	const char *text =
		"host.pcpus=4 host.llc=4 run.warmup=300ms run.duration=200ms "
		"host.policy=auto a a.vcpus=8 a.workload=poisson a.mean=100us a.work=5us";
	char with[512];

	(void)state;
	rig_measure(text, &all);
	snprintf(with, sizeof(with), "host.budget=20000 %s", text);
	rig_measure(with, &some);
	assert_true(all.host[SIM_METRIC_HOST_POLL] > 5000);
	assert_in_range(some.host[SIM_METRIC_HOST_POLL], 1, 2400);
	assert_true(some.host[SIM_METRIC_FACTOR] > 1000);
}

/* --- locks, yields, flushes ----------------------------------------------------------------- */

/* Twice as many vCPUs as pCPUs, so that holders and waiters are preempted. */
#define CROWDED "host.pcpus=4 host.llc=4 run.warmup=10ms run.duration=100ms "

static void plain_locks_suffer_more_from_preemption(void **state)
{
	struct sim_result plain, pv;
	const char *rest =
		"a a.vcpus=8 a.workload=dbench a.locks=1 a.hold=5us a.think=2us a.work=2us";
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), CROWDED "%s a.pv_locks=no", rest);
	rig_measure(text, &plain);
	snprintf(text, sizeof(text), CROWDED "%s a.pv_locks=yes", rest);
	rig_measure(text, &pv);
	assert_true(plain.vm[0][SIM_METRIC_SPIN] > pv.vm[0][SIM_METRIC_SPIN]);
	assert_true(plain.vm[0][SIM_METRIC_RATE] < pv.vm[0][SIM_METRIC_RATE]);
}

/* Two vCPUs that compute on one pCPU; the first, barely ahead, gives way to the second. */
static void a_followed_hint_decides_who_is_next(void **state)
{
	static const char *const hints[] = {"host.yield_hint=0", "host.yield_hint=1"};

	(void)state;
	for (uint32_t hint = 0; hint < 2; hint++) {
		struct sim_config config;
		struct sim_world *w;
		char text[256];
		uint32_t first, last;

		snprintf(text, sizeof(text),
			 "host.pcpus=1 host.llc=1 %s a a.workload=hog a.count=3 a.hz=0",
			 hints[hint]);
		rig_config(&config, text);
		assert_int_equal(sim_world_create(&w, &config, 1), 0);
		while (w->now_ns < 2 * RIG_MS)
			assert_true(sim_world_step(w));
		first = sim_rq_first(&w->pcpu[0].rq);
		last = 3 - w->pcpu[0].current - first;
		assert_true(sim_host_yield_to(w, w->pcpu[0].current, last));
		sim_host_settle(w);
		assert_int_equal(w->pcpu[0].current, hint ? last : first);
		/* It runs now: nothing to give. */
		assert_false(sim_host_yield_to(w, first, w->pcpu[0].current));
		sim_world_destroy(w);
	}
}

static void flushes_wait_for_preempted_vcpus_unless_paravirtual(void **state)
{
	struct sim_result plain, pv;
	const char *rest = "a a.vcpus=8 a.workload=ebizzy a.work=50us";
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), CROWDED "%s a.pv_tlb=no", rest);
	rig_measure(text, &plain);
	snprintf(text, sizeof(text), CROWDED "%s a.pv_tlb=yes", rest);
	rig_measure(text, &pv);
	assert_true(plain.vm[0][SIM_METRIC_FLUSH] > 5 * pv.vm[0][SIM_METRIC_FLUSH]);
}

static void messages_are_neither_lost_nor_made(void **state)
{
	struct sim_config config;
	struct sim_world *w;
	uint64_t queued = 0;

	(void)state;
	rig_config(&config, CROWDED "a a.vcpus=6 a.workload=hackbench a.groups=2 a.pairs=3 "
				    "a.capacity=4 b b.vcpus=2 b.workload=hog");
	w = rig_run(&config, 1);
	for (uint32_t i = 0; i < w->nr_pipes; i++) {
		assert_in_range(w->pipe[i].count, 0, 4);
		queued += w->pipe[i].count;
	}
	assert_true(w->vm[0].sum.work > 1000);
	assert_in_range(queued, 0, w->nr_pipes * 4);
	sim_world_destroy(w);
}

/* --- golden runs: every workload, crowded; the same on every compiler ----------------------- */

static const struct {
	const char *text;
	uint64_t events, work, run_ns, steal_ns;
} golden[] = {
	{"host.pcpus=4 host.llc=2 run.duration=20ms "
	 "a a.vcpus=4 a.workload=hog b b.vcpus=3 b.workload=hog",
	 148, 0, 153568817, 124393842},
	{"host.pcpus=4 host.llc=2 run.duration=20ms "
	 "a a.vcpus=4 a.nohz=no b b.vcpus=3 b.workload=hog",
	 309, 0, 1983074, 2355140},
	{"host.pcpus=4 host.llc=2 host.smt=yes run.duration=20ms "
	 "a a.vcpus=4 a.workload=hackbench a.groups=1 a.pairs=4 b b.vcpus=3 b.workload=hog",
	 42745, 10326, 81020776, 152658432},
	{"host.pcpus=4 host.llc=2 run.duration=20ms "
	 "a a.vcpus=6 a.workload=ebizzy a.pv_tlb=no a.boost=critical",
	 30206, 4142, 278782913, 55427559},
	{"host.pcpus=4 host.llc=2 run.duration=20ms "
	 "a a.vcpus=6 a.workload=dbench a.boost=critical a.pv_spin=20us",
	 36762, 11354, 153926101, 13477871},
	{"host.pcpus=4 host.llc=2 run.duration=20ms host.policy=kvm "
	 "a a.vcpus=4 a.workload=rr b b.vcpus=3 b.workload=hog",
	 46463, 11571, 124897188, 35983769},
	{"host.pcpus=4 host.llc=2 run.duration=20ms host.policy=toggle "
	 "a a.vcpus=4 a.workload=poisson a.mean=100us a.work=10us",
	 11388, 2819, 216877722, 0},
	{"host.pcpus=4 host.llc=2 run.duration=20ms "
	 "a a.vcpus=4 a.workload=ctxsw a.guest_poll=yes a.guest_policy=guest a.work=300ns",
	 424731, 106152, 276539315, 0},
};

static void runs_are_golden(void **state)
{
	bool same = true;

	(void)state;
	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
		struct sim_config config;
		struct sim_counters *sum;
		struct sim_world *w;

		rig_config(&config, golden[i].text);
		w = rig_run(&config, 42);
		sum = &w->vm[0].sum;
		if (w->events != golden[i].events || sum->work != golden[i].work ||
		    sum->run_ns != golden[i].run_ns || sum->steal_ns != golden[i].steal_ns) {
			/* The line to put above if the change is wanted. */
			print_error(
				"{\"%s\",\n %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "},\n",
				golden[i].text, w->events, sum->work, sum->run_ns, sum->steal_ns);
			same = false;
		}
		sim_world_destroy(w);
	}
	assert_true(same);
}

/* What the core may decide differently tomorrow is held to the invariants only. */
static void plans_that_sleep_first_keep_the_invariants(void **state)
{
	struct sim_result r;

	(void)state;
	rig_measure(
		"host.pcpus=4 host.llc=2 host.policy=auto:sleep=1 a a.vcpus=6 a.workload=poisson "
		"a.mean=150us a.work=10us b b.workload=rr b.vcpus=3 b.guest_poll=yes",
		&r);
	assert_true(r.vm[0][SIM_METRIC_RATE] > 0);
}

static void mode_holder_keeps_the_invariants(void **state)
{
	struct sim_result r;

	(void)state;
	rig_measure(CROWDED "a a.vcpus=8 a.workload=hackbench a.groups=1 a.pairs=8 a.boost=holder "
			    "a.pv_locks=no a.hold=20us a.rq_hold=5us b b.vcpus=4 b.workload=hog",
		    &r);
	assert_true(r.vm[0][SIM_METRIC_YIELDS] > 0);
}

static void a_vcpu_takes_at_most_4_kib(void **state)
{
	struct sim_config config;
	struct sim_world *w;

	(void)state;
	rig_config(&config, "host.pcpus=96 a a.vcpus=96 a.workload=hackbench a.guest_poll=yes "
			    "b b.count=2 b.vcpus=96 b.workload=hog");
	assert_int_equal(sim_world_create(&w, &config, 1), 0);
	assert_true(sim_world_bytes(w) / w->nr_vcpus <= 4096);
	sim_world_destroy(w);
}

static void fetching_ahead_changes_no_result(void **state)
{
	struct sim_config config;
	struct sim_world *w[2];

	(void)state;
	rig_config(&config, "host.pcpus=8 host.llc=8 run.duration=20ms "
			    "a a.workload=poisson a.count=12 a.vcpus=3 a.mean=300us a.work=60us "
			    "b b.workload=hackbench b.vcpus=8 b.groups=1 b.pairs=4");
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(sim_world_create(&w[i], &config, 3), 0);
		assert_false(w[i]->fetches);
		w[i]->fetches = i;
		assert_int_equal(sim_world_run(w[i]), 0);
	}
	assert_true(w[0]->events > 1000);
	assert_int_equal(w[0]->events, w[1]->events);
	for (uint32_t i = 0; i < w[0]->nr_vms; i++)
		assert_memory_equal(&w[0]->vm[i].sum, &w[1]->vm[i].sum, sizeof(w[0]->vm[i].sum));
	sim_world_destroy(w[0]);
	sim_world_destroy(w[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcpus_share_a_pcpu_by_slices),
		cmocka_unit_test(time_is_conserved),
		cmocka_unit_test(smt_slows_both_siblings),
		cmocka_unit_test(idle_pcpus_take_work_from_crowded_ones),
		cmocka_unit_test(polling_saves_the_wake_up),
		cmocka_unit_test(a_poll_ends_when_another_wants_the_cpu),
		cmocka_unit_test(the_guest_polls_before_it_halts),
		cmocka_unit_test(ticks_wake_an_idle_guest_unless_nohz),
		cmocka_unit_test(a_budget_is_kept),
		cmocka_unit_test(plain_locks_suffer_more_from_preemption),
		cmocka_unit_test(a_followed_hint_decides_who_is_next),
		cmocka_unit_test(flushes_wait_for_preempted_vcpus_unless_paravirtual),
		cmocka_unit_test(messages_are_neither_lost_nor_made),
		cmocka_unit_test(runs_are_golden),
		cmocka_unit_test(plans_that_sleep_first_keep_the_invariants),
		cmocka_unit_test(mode_holder_keeps_the_invariants),
		cmocka_unit_test(a_vcpu_takes_at_most_4_kib),
		cmocka_unit_test(fetching_ahead_changes_no_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

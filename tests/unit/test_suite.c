// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The suite: its random numbers, its workloads, and what driving them adds up to.

#include "tests/unit/suite_rig.h"

#include <string.h>

#include <vhalt/cost.h>

#include "suite/hindsight.h"
#include "suite/rng.h"
#include "suite/table.h"

enum { NR = 20000 };

static const struct suite_setting setting = {.b_ns = 50000, .max_ns = 200000};
static struct suite_halt halts[NR];

/* --- random numbers -------------------------------------------------------------------------- */

/* First numbers of xoshiro256** from the state {1, 2, 3, 4}, computed by hand from its rule. */
static void test_rng_sequence(void **context)
{
	static const uint64_t want[] = {11520, 0, 1509978240};
	struct suite_rng rng = {{1, 2, 3, 4}}, other;

	(void)context;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_true(suite_rng_u64(&rng) == want[i]);
	suite_rng_init(&rng, 7, 1);
	suite_rng_init(&other, 7, 1);
	assert_true(suite_rng_u64(&rng) == suite_rng_u64(&other));
	suite_rng_init(&other, 7, 2);
	assert_true(suite_rng_u64(&rng) != suite_rng_u64(&other));
}

static void test_rng_distributions(void **context)
{
	double exponential = 0, normal = 0, square = 0, below_median = 0, pareto = 0, unit = 0;
	struct suite_rng rng;

	(void)context;
	suite_rng_init(&rng, 1, 0);
	for (int i = 0; i < 200000; i++) {
		double z = suite_rng_normal(&rng, 10, 3);

		normal += z / 200000;
		square += (z - 10) * (z - 10) / 200000;
		exponential += suite_rng_exp(&rng, 5) / 200000;
		below_median += (suite_rng_lognormal(&rng, 12, .35) < 12) / 200000.;
		pareto += (suite_rng_pareto(&rng, 2, 1.1) > 20) / 200000.;
		unit += suite_rng_unit(&rng) / 200000;
	}
	assert_near(normal, 10, .01);
	assert_near(square, 9, .02);
	assert_near(exponential, 5, .02);
	assert_near(below_median, .5, .01);
	assert_near(pareto, pow(10, -1.1), .03);
	assert_near(unit, .5, .01);
}

/* --- workloads ------------------------------------------------------------------------------- */

static void generate(const char *name)
{
	int workload = suite_workload_find(name);

	assert_true(workload >= 0);
	suite_workload_generate((uint32_t)workload, &setting, 1, halts, NR);
}

static double mean_t_us(void)
{
	double sum = 0;

	for (int i = 0; i < NR; i++)
		sum += (double)halts[i].t_ns / 1e3;
	return sum / NR;
}

static double share(bool (*is)(const struct suite_halt *h))
{
	double count = 0;

	for (int i = 0; i < NR; i++)
		count += is(&halts[i]);
	return count / NR;
}

static bool is_fresh(const struct suite_halt *h)
{
	return h->fresh;
}

static bool is_own_timer(const struct suite_halt *h)
{
	return h->own_timer;
}

static bool is_known(const struct suite_halt *h)
{
	return h->deadline_ns != VHALT_NO_DEADLINE_NS;
}

static bool is_above_b(const struct suite_halt *h)
{
	return h->t_ns > setting.b_ns;
}

static void test_every_workload(void **context)
{
	(void)context;
	assert_int_equal(suite_nr_workloads(), 30);
	for (uint32_t w = 0; w < suite_nr_workloads(); w++) {
		double latency = 0;

		assert_int_equal(suite_workload_find(suite_workload_name(w)), w);
		assert_true(strlen(suite_workload_summary(w)) > 10);
		suite_workload_generate(w, &setting, 1, halts, NR);
		assert_true(halts[0].fresh);
		for (int i = 0; i < NR; i++) {
			assert_true(halts[i].t_ns >= 200);
			assert_true(halts[i].deadline_ns >= halts[i].t_ns);
			assert_true(!halts[i].own_timer || halts[i].deadline_ns == halts[i].t_ns);
			latency += halts[i].latency_ns / (double)NR;
		}
		assert_near(latency, 13.5e3, .03);
	}
	assert_int_equal(suite_workload_find("no such"), -1);
	assert_null(suite_workload_name(suite_nr_workloads()));
	assert_null(suite_workload_summary(suite_nr_workloads()));
}

static void test_workload_figures(void **context)
{
	(void)context;
	generate("tick250");
	assert_near(mean_t_us(), 4000 - 6.5, .001);
	assert_near(share(is_own_timer), 1, 0);
	generate("mc_exp30");
	assert_near(mean_t_us(), 30, .03);
	assert_near(share(is_known), 0, 0);
	generate("win2k_rtc");
	assert_near(share(is_known), 0, 0);
	assert_near(mean_t_us(), 500 - 17, .01);
	/* 27.9 us on average, every 4 ms a tick; those that come while it runs end no halt. */
	generate("rr+250Hz");
	assert_near(share(is_known), 1, 0);
	assert_near(share(is_own_timer), 27.9 / 4000, .1);
	generate("square");
	assert_near(share(is_above_b), .5, .001);
	generate("past_max");
	for (int i = 0; i < NR; i++)
		assert_in_range(halts[i].t_ns, 206000, 209000);
	generate("short_rr60");
	assert_near(share(is_fresh), 1 / 60., .01);
	generate("short_idle");
	assert_near(share(is_fresh), 1 / 40., .01);
	generate("many_idle");
	assert_near(share(is_fresh), 1 / (80 * (1 + .3 * 2.54)), .05);
	generate("fsync");
	assert_near(share(is_above_b), 1 / 3., .001);
	generate("iid90short");
	assert_near(share(is_above_b), .1, .1);
}

static void test_same_seed_same_halts(void **context)
{
	static struct suite_halt again[NR];

	(void)context;
	suite_workload_generate(9, &setting, 5, halts, NR);
	suite_workload_generate(9, &setting, 5, again, NR);
	for (int i = 0; i < NR; i++)
		assert_true(halts[i].t_ns == again[i].t_ns &&
			    halts[i].latency_ns == again[i].latency_ns);
	/* A shorter run is the beginning of a longer one. */
	suite_workload_generate(9, &setting, 5, again, 100);
	assert_true(again[99].t_ns == halts[99].t_ns);
	suite_workload_generate(9, &setting, 6, again, NR);
	assert_true(halts[0].t_ns != again[0].t_ns);
	suite_random_generate(3, 1, halts, NR);
	suite_random_generate(3, 1, again, NR);
	assert_true(halts[NR - 1].t_ns == again[NR - 1].t_ns);
	suite_random_generate(4, 1, again, NR);
	assert_true(halts[0].t_ns != again[0].t_ns);
}

/* --- driving --------------------------------------------------------------------------------- */

static struct suite_sum drive(const char *text, const struct suite_host *host, uint32_t nr)
{
	struct suite_setting at = {host->b_ns, host->max_ns};
	struct vhalt_config config;
	struct vhalt_spec spec;

	assert_int_equal(vhalt_spec_parse(text, &spec, NULL, 0), 0);
	suite_spec_config(&spec, &at, host->switch_ns, &config);
	return suite_drive(&config, host, halts, nr);
}

/* Costs added up by hand for policies whose window is known. */
static void test_drive_fixed(void **context)
{
	const struct suite_host host = {.b_ns = 50000, .max_ns = 200000, .switch_ns = 3000};
	uint64_t always = 0, oracle = 0, latency = 0, polled = 0, poll = 0;
	struct suite_sum sum;

	(void)context;
	generate("iid_bim50");
	for (int i = 0; i < NR; i++) {
		bool met = halts[i].t_ns <= 30000;

		always += met ? halts[i].t_ns : 80000;
		oracle += halts[i].t_ns < 50000 ? halts[i].t_ns : 50000;
		latency += met ? 0 : halts[i].latency_ns;
		polled += met;
		poll += met ? halts[i].t_ns : 30000;
	}
	sum = drive("always:max_ns=30us", &host, NR);
	assert_int_equal(sum.cost_ns, always);
	assert_int_equal(sum.oracle_ns, oracle);
	assert_int_equal(sum.latency_ns, latency);
	assert_int_equal(sum.polled, polled);
	assert_int_equal(sum.poll_ns, poll);
	assert_int_equal(drive("none", &host, NR).cost_ns, NR * 50000ULL);
	assert_int_equal(drive("none", &host, NR).saved_ns, 0);
}

/* One sleeping plan, four ways for the halt to end. */
static void test_drive_sleep(void **context)
{
	const struct suite_host host = {.b_ns = 133000, .max_ns = 200000, .switch_ns = 3000};
	struct suite_halt h = {.run_ns = 5000, .latency_ns = 13000};
	struct vhalt_config config;
	struct vhalt_spec spec;
	struct suite_vcpu vcpu;

	(void)context;
	memset(&vcpu, 0, sizeof(vcpu));
	vhalt_spec_parse("auto:sleep=2", &spec, NULL, 0);
	suite_spec_config(&spec, &(struct suite_setting){133000, 200000}, 3000, &config);
	vhalt_state_init(&vcpu.state, &config);
	h.t_ns = h.deadline_ns = 4000000;
	h.own_timer = true;
	for (int i = 0; i < 50; i++)
		suite_vcpu_halt(&vcpu, &config, &host, &h, false);
	/* Asleep until 26 us before the timer, awake 13 us later: C and 13 us of polling. */
	memset(&vcpu.sum, 0, sizeof(vcpu.sum));
	suite_vcpu_halt(&vcpu, &config, &host, &h, false);
	assert_near((double)vcpu.sum.cost_ns, 3000 + 13000, .001);
	assert_int_equal(vcpu.sum.latency_ns, 0);
	assert_int_equal(vcpu.sum.polled, 1);
	/* L twice as long as usual: running just in time. Three times: 13 us late, at price 10. */
	memset(&vcpu.sum, 0, sizeof(vcpu.sum));
	h.latency_ns = 39000;
	suite_vcpu_halt(&vcpu, &config, &host, &h, false);
	assert_near((double)vcpu.sum.cost_ns, 3000 + 130000, .001);
	assert_near((double)vcpu.sum.latency_ns, 13000, .001);
	/* An event long before the timer ends an ordinary block. */
	memset(&vcpu.sum, 0, sizeof(vcpu.sum));
	h.own_timer = false;
	h.t_ns = 1000000;
	suite_vcpu_halt(&vcpu, &config, &host, &h, false);
	assert_int_equal(vcpu.sum.cost_ns, 133000);
	assert_int_equal(vcpu.sum.latency_ns, 39000);
}

static void test_best_fixed(void **context)
{
	static const char *const windows[] = {"none", "always:max_ns=10us", "always:max_ns=25us",
					      "always:max_ns=40us", "always:max_ns=200us"};
	const struct suite_host host = {.b_ns = 50000, .max_ns = 200000, .switch_ns = 3000};

	(void)context;
	for (uint32_t w = 0; w < suite_nr_workloads(); w++) {
		struct suite_sum best;

		suite_workload_generate(w, &setting, 1, halts, NR);
		assert_int_equal(suite_best_fixed(&host, halts, NR, &best), 0);
		assert_true(best.cost_ns >= best.oracle_ns);
		for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
			assert_true(best.cost_ns <= drive(windows[i], &host, NR).cost_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rng_sequence),
		cmocka_unit_test(test_rng_distributions),
		cmocka_unit_test(test_every_workload),
		cmocka_unit_test(test_workload_figures),
		cmocka_unit_test(test_same_seed_same_halts),
		cmocka_unit_test(test_drive_fixed),
		cmocka_unit_test(test_drive_sleep),
		cmocka_unit_test(test_best_fixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

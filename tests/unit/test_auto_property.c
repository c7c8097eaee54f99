// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Properties of policy `auto` under random lives. VHALT_SEED=N repeats or varies them.

#include "tests/unit/auto_rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "suite/drive.h"
#include "suite/rng.h"
#include "suite/table.h"

static uint64_t seed = 20240229;

/* --- the search against the rule it implements ----------------------------------------------- */

/* As a config of that price and ceiling makes them. */
static void random_prices(struct suite_rng *rng, struct auto_prices *p)
{
	uint32_t max_ns = suite_rng_below(rng, 2000000);
	const uint64_t values[VHALT_PARAMS_MAX] = {0, max_ns, 0, 0,
						   1 + suite_rng_below(rng, 400000)};
	struct rig rig;

	assert_int_equal(vhalt_config_init(&rig.config, VHALT_POLICY_AUTO, values, NULL), 0);
	*p = (struct auto_prices){.b_ns = (uint32_t)values[4], .max_ns = max_ns};
	p->ski_ns = p->b_ns < max_ns ? p->b_ns : max_ns;
	p->nr_grace = auto_bucket(p->ski_ns + 1);
	p->nr_short = auto_bucket(p->ski_ns) + 1;
	p->nr_short = p->nr_short < AUTO_WINDOWS ? p->nr_short : AUTO_WINDOWS;
	p->nr_windows = rig_config(&rig)->nr_windows;
	p->partial = rig_config(&rig)->partial;
}

/* A context as halts might have left it: some modes, full or thin. */
static void random_row(struct suite_rng *rng, struct auto_state *s, uint32_t context)
{
	uint32_t modes = 1 + suite_rng_below(rng, 3), nr = suite_rng_below(rng, 600);
	uint32_t mode[3];

	for (uint32_t i = 0; i < modes; i++)
		mode[i] = suite_rng_below(rng, AUTO_BUCKETS);
	while (nr--)
		auto_count(s, context, mode[suite_rng_below(rng, modes)],
			   context == AUTO_CONTEXT_ALL ? 16 : 1);
}

/* The rule as it is written down: one window after the other, no shortcut. */
static uint32_t slow_cheapest(const struct auto_belief *belief, const struct auto_prices *p,
			      uint32_t nr_windows)
{
	uint64_t best = (uint64_t)belief->total * p->b_ns, met = 0, rest = belief->total;
	uint32_t window = 0;

	for (uint32_t i = 0; i < nr_windows; i++) {
		bool partial = p->partial && i + 1 == p->nr_windows;
		uint64_t end = partial ? p->max_ns : auto_window_ns[i + 1], cost, grace;

		if (partial && auto_place(belief->places, i) >= p->partial)
			break;
		met += (uint64_t)auto_weight(belief, i) * auto_mid_ns(belief, i);
		rest -= auto_weight(belief, i);
		cost = met + rest * (end + p->b_ns);
		grace = end <= p->ski_ns ? best >> 7 : 0;
		if (cost >= best + grace || (!window && cost >= best))
			continue;
		best = cost < best ? cost : best;
		window = i + 1;
	}
	return window;
}

static uint32_t total_of(const struct auto_belief *belief)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < AUTO_BUCKETS; i++)
		total += auto_weight(belief, i);
	return total;
}

static void test_search(void **context)
{
	struct suite_rng rng;
	uint32_t polled = 0;

	(void)context;
	suite_rng_init(&rng, seed, 1);
	for (int i = 0; i < 20000; i++) {
		struct auto_state s = {0};
		struct auto_prices p;
		struct auto_base base;
		struct auto_belief belief;
		uint32_t nr_windows, window;
		uint64_t cost;

		random_prices(&rng, &p);
		random_row(&rng, &s, AUTO_CONTEXT_ALL);
		random_row(&rng, &s, AUTO_CONTEXT_RUN);
		s.places = suite_rng_u64(&rng);
		auto_parent(&s, &p, &base);
		belief = auto_believe(&s, &p, AUTO_CONTEXT_RUN, &base);
		assert_int_equal(total_of(&belief), belief.total);
		nr_windows = suite_rng_below(&rng, p.nr_windows + 1);
		window = auto_cheapest(&belief, &p, nr_windows, &cost);
		assert_int_equal(window, slow_cheapest(&belief, &p, nr_windows));
		assert_true(cost <= (uint64_t)belief.total * p.b_ns);
		polled += window != 0;
	}
	/* Beliefs of both kinds were there. */
	assert_in_range(polled, 2000, 18000);
}

static void test_slow_belief(void **context)
{
	struct suite_rng rng;
	struct auto_state s = {0};

	(void)context;
	suite_rng_init(&rng, seed, 2);
	for (int i = 0; i < 10000; i++) {
		struct auto_prices p;
		struct auto_base base;
		struct auto_belief belief;

		auto_count_slow(&s, suite_rng_below(&rng, AUTO_BUCKETS));
		random_prices(&rng, &p);
		belief = auto_believe_slow(&s, &p, &base);
		assert_int_equal(total_of(&belief), belief.total);
		for (uint32_t b = 0; b < AUTO_BUCKETS; b++)
			assert_in_range(s.slow[b], 0, 1023);
	}
}

/* --- any life at all ------------------------------------------------------------------------- */

/* Lengths of every magnitude, and the ends of the range. */
static uint64_t random_ns(struct suite_rng *rng)
{
	uint32_t shift = suite_rng_below(rng, 64);
	uint64_t value = suite_rng_u64(rng) >> shift;

	return suite_rng_chance(rng, .1) ? ~value : value;
}

static void random_config(struct suite_rng *rng, struct vhalt_config *config)
{
	const struct vhalt_policy *policy = vhalt_policy_get(VHALT_POLICY_AUTO);
	uint64_t values[VHALT_PARAMS_MAX];

	for (uint32_t i = 0; i < policy->nr_params; i++) {
		const struct vhalt_param *param = &policy->params[i];
		/* Every magnitude that fits, so that small latencies and prices are there too. */
		uint32_t shift = 63 - suite_rng_below(rng, 18);
		uint64_t value = suite_rng_u64(rng) >> shift;

		values[i] = param->min + value % (param->max - param->min + 1);
		if (suite_rng_chance(rng, .2))
			values[i] = suite_rng_chance(rng, .5) ? param->min : param->max;
	}
	assert_int_equal(vhalt_config_init(config, VHALT_POLICY_AUTO, values, NULL), 0);
	if (suite_rng_chance(rng, .3))
		vhalt_auto_scale(config, (uint32_t)random_ns(rng));
}

static void check_state(const struct auto_state *s)
{
	for (uint32_t i = 0; i < AUTO_CONTEXTS; i++) {
		uint32_t sum = 0;

		for (uint32_t j = 0; j < AUTO_BUCKETS; j++)
			sum += s->row[i].count[j];
		assert_int_equal(sum, s->filled[i]);
	}
	assert_in_range(s->scheme, 0, AUTO_SCHEMES - 1);
	assert_in_range(s->latency_samples, 0, AUTO_LATENCY_SURE);
}

/* After a halt that was charged. */
static void check_debt(const struct auto_state *s, const struct auto_config *c, int64_t b_ns)
{
	assert_true(s->debt_ns >= -8 * b_ns);
	assert_true(s->debt_ns <= 9 * b_ns + c->max_ns);
}

static void check_plan(struct vhalt_plan plan, const struct auto_config *c,
		       const struct vhalt_hint *hint)
{
	if (hint->must_block) {
		assert_int_equal(plan.window_ns, 0);
		assert_int_equal(plan.sleep_ns, 0);
	}
	if (!c->sleep)
		assert_int_equal(plan.sleep_ns, 0);
	assert_true(plan.window_ns <= c->max_ns);
	if (plan.sleep_ns)
		assert_true(plan.window_ns > 0);
	if (plan.sleep_ns && hint->deadline_ns != VHALT_NO_DEADLINE_NS)
		assert_true(plan.sleep_ns < hint->deadline_ns);
}

/* One halt: its length, and what is known of it when it begins. */
static uint64_t random_halt(struct suite_rng *rng, struct vhalt_hint *hint)
{
	uint32_t most_ns = suite_rng_chance(rng, .4) ? 300000 : 20000000;
	uint64_t t_ns = suite_rng_below(rng, most_ns);

	if (suite_rng_chance(rng, .05))
		t_ns = random_ns(rng);
	*hint = (struct vhalt_hint){.deadline_ns = VHALT_NO_DEADLINE_NS};
	hint->run_ns = random_ns(rng);
	if (suite_rng_chance(rng, .5))
		hint->deadline_ns = t_ns + suite_rng_below(rng, 100000);
	else if (suite_rng_chance(rng, .5))
		hint->deadline_ns = random_ns(rng);
	hint->must_block = suite_rng_chance(rng, .05);
	return t_ns;
}

/* How it ended, now and then in a way that makes no sense. */
static struct vhalt_outcome random_outcome(struct suite_rng *rng, struct vhalt_plan plan,
					   uint64_t t_ns)
{
	struct vhalt_outcome outcome = {
		.halt_ns = t_ns, .wake_ns = VHALT_UNKNOWN_NS, .window_ns = plan.window_ns};

	if (suite_rng_chance(rng, .05))
		outcome.window_ns = (uint32_t)random_ns(rng);
	outcome.flags = t_ns <= plan.window_ns ? VHALT_OUTCOME_POLLED : 0U;
	if (suite_rng_chance(rng, .1))
		outcome.flags = suite_rng_below(rng, 32);
	if (suite_rng_chance(rng, .3))
		outcome.wake_ns = suite_rng_chance(rng, .9) ? t_ns / 2 : random_ns(rng);
	return outcome;
}

static void test_any_life(void **context)
{
	struct suite_rng rng;
	struct rig rig;
	uint32_t polls = 0, sleeps = 0;

	(void)context;
	suite_rng_init(&rng, seed, 3);
	random_config(&rng, &rig.config);
	vhalt_state_init(&rig.state, &rig.config);
	for (int i = 0; i < 300000; i++) {
		const struct auto_config *c = rig_config(&rig);
		struct vhalt_hint hint;
		uint64_t t_ns = random_halt(&rng, &hint);
		struct vhalt_plan plan = vhalt_decide(&rig.state, &rig.config, &hint);
		struct vhalt_outcome outcome = random_outcome(&rng, plan, t_ns);
		uint32_t b_ns = rig_b_ns(&rig);

		check_plan(plan, c, &hint);
		polls += plan.window_ns && !plan.sleep_ns;
		sleeps += plan.sleep_ns != 0;
		vhalt_update(&rig.state, &rig.config, &outcome);
		check_state(rig_state(&rig));
		if (!(outcome.flags & ~(uint32_t)VHALT_OUTCOME_POLLED))
			check_debt(rig_state(&rig), c, b_ns);
		if (suite_rng_chance(&rng, .002))
			random_config(&rng, &rig.config);
		if (suite_rng_chance(&rng, .001))
			vhalt_state_init(&rig.state, &rig.config);
	}
	printf("%u polls, %u sleeps first\n", polls, sleeps);
	assert_true(polls > 1000);
	assert_true(sleeps > 100);
}

/* --- random workloads ------------------------------------------------------------------------ */

static double ratio_of(const char *text, const struct suite_setting *setting,
		       const struct suite_halt *halts, uint32_t nr)
{
	struct suite_host host = {
		.b_ns = setting->b_ns, .max_ns = setting->max_ns, .switch_ns = 3000};
	struct vhalt_config config;
	struct vhalt_spec spec;
	struct suite_sum sum;

	assert_int_equal(vhalt_spec_parse(text, &spec, NULL, 0), 0);
	suite_spec_config(&spec, setting, host.switch_ns, &config);
	sum = suite_drive(&config, &host, halts, nr);
	assert_int_equal(sum.halts, nr);
	assert_true(sum.cost_ns > 0);
	return (double)sum.cost_ns / (double)sum.oracle_ns;
}

/* Against the oracle the bound holds for each; against KVM it is the rule with rare exceptions. */
static void test_random_workloads(void **context)
{
	enum { WORKLOADS = 400, LENGTH = 2000 };
	static const uint32_t b_us[] = {10, 20, 50, 100, 150, 300};
	static struct suite_halt halts[LENGTH];
	uint32_t above = 0;
	double log_sum = 0;

	(void)context;
	for (uint32_t i = 0; i < WORKLOADS; i++) {
		struct suite_setting setting = {b_us[i % 6] * 1000, i / 6 % 2 ? 1000000 : 200000};
		double ours, kvm;

		suite_random_generate(i, seed, halts, LENGTH);
		ours = ratio_of("auto", &setting, halts, LENGTH);
		kvm = fmin(ratio_of("kvm:shrink=0", &setting, halts, LENGTH),
			   ratio_of("kvm:shrink=2", &setting, halts, LENGTH));
		/* Unstamped, T is off by what L differs from its mean: hence not 2.13. */
		if (ours > 2.3 || ours > 1.25 * kvm)
			fail_msg("workload %u, B %u us: %.3f of the oracle, %.3f of kvm", i,
				 setting.b_ns / 1000, ours, ours / kvm);
		above += ours > 1.04 * kvm;
		log_sum += log(ours / kvm);
	}
	printf("%u of %u above 1.04 of kvm, geometric mean %.3f\n", above, WORKLOADS,
	       exp(log_sum / WORKLOADS));
	assert_true(above <= WORKLOADS / 50);
	assert_true(log_sum < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_slow_belief),
		cmocka_unit_test(test_any_life),
		cmocka_unit_test(test_random_workloads),
	};
	const char *text = getenv("VHALT_SEED");

	if (text)
		seed = strtoull(text, NULL, 0);
	printf("VHALT_SEED=%llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

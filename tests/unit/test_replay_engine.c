// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The replay engine: hand-computed costs, groups, ceilings, and results that threads do not change.
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/defaults.h"
#include "replay/engine.h"
#include "replay/run.h"
#include "tests/unit/replay_fixture.h"

#define UNKNOWN TRACE_UNKNOWN_U32

static struct replay *begin(enum replay_by by, unsigned int threads, const char *const *policies)
{
	struct replay_options options = {.by = by, .threads = threads};
	struct replay *replay;

	replay_model_init(&options.model);
	assert_int_equal(replay_create(&replay, &options), 0);
	for (int i = 0; policies[i]; i++) {
		struct vhalt_spec spec = fixture_spec(policies[i]);

		replay_spec_adopt(&spec, &options.model);
		assert_int_equal(replay_add_policy(replay, &spec, REPLAY_ROW_CEILINGS), i);
	}
	return replay;
}

static void end(struct replay *replay, struct fixture *f)
{
	assert_int_equal(replay_feed(replay, &f->info, f->halts, f->nr), 0);
	replay_end_recording(replay, &f->info, NULL);
	assert_int_equal(replay_finish(replay), 0);
}

static struct replay_metrics metrics_of(const struct replay *replay, uint32_t row, uint32_t group)
{
	struct replay_metrics m;

	replay_metrics(replay, row, group, &m);
	return m;
}

/* Three halts of 5, 100 and 1000 us, the last two blocked with 7 and 9 us. B = 10 L + 3 us. */
static void test_costs_by_hand(void **state)
{
	static const char *const policies[] = {"none", "always:max=150us", "always:max=50us", NULL};
	struct replay *replay = begin(REPLAY_BY_TOTAL, 1, policies);
	struct replay_metrics m;
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	fixture_polled(&f, 0, 5000);
	fixture_blocked(&f, 0, 107000, 7000);
	fixture_blocked(&f, 0, 1009000, 9000);
	f.info.duration_ns = 10000000;
	end(replay, &f);
	assert_int_equal(replay_nr_rows(replay), 4);
	assert_int_equal(replay_nr_groups(replay), 1);

	/* none: three blocks; the first halt has no latency of its own and is charged 13 us. */
	m = metrics_of(replay, 0, 0);
	assert_int_equal(m.cost_ns, 10 * (13000 + 7000 + 9000) + 3 * 3000);
	assert_true(m.poll_cpu_pct == 0 && m.polled_pct == 0);
	assert_true(m.latency_mean_ns == 29000.0 / 3);
	assert_int_equal(m.latency_p50_ns, 9088); /* 9000 and its bucket's middle, below 1/64 */
	assert_int_equal(m.latency_p99_ns, 13000);

	/* 150 us: polls 5 and 100 us, wastes 150 us on the third. */
	m = metrics_of(replay, 1, 0);
	assert_int_equal(m.cost_ns, 5000 + 100000 + 150000 + 10 * 9000 + 3000);
	assert_true(fabs(m.poll_cpu_pct - 2.55) < 1e-9);
	assert_true(fabs(m.poll_useful_pct - 1.05) < 1e-9);
	assert_true(fabs(m.poll_wasted_pct - 1.5) < 1e-9);
	assert_true(fabs(m.polled_pct - 200.0 / 3) < 1e-9);
	assert_int_equal(m.latency_p50_ns, 0);
	assert_int_equal(m.latency_p99_ns, 9000);

	m = metrics_of(replay, 2, 0);
	assert_int_equal(m.cost_ns, 5000 + 50000 + 73000 + 50000 + 93000);

	/* Oracle: polls 5 us; 100 us is above B = 73 us, so it blocks both others. */
	m = metrics_of(replay, 3, 0);
	assert_int_equal(m.cost_ns, 5000 + 73000 + 93000);
	assert_true(m.ratio_to_oracle == 1);
	assert_true(replay_row(replay, 3)->oracle);
	replay_destroy(replay);
	fixture_fini(&f);
}

/* Cut and invalid halts are not in the cost; policies see them. */
static void test_counted_apart(void **state)
{
	static const char *const policies[] = {"kvm", NULL};
	struct replay *replay = begin(REPLAY_BY_TOTAL, 1, policies);
	const struct replay_tally *tally;
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	fixture_blocked(&f, 0, 60000, 5000);				  /* 0 -> 10 us */
	fixture_blocked(&f, 0, 60000, 5000)->flags |= TRACE_HALT_INVALID; /* -> 0 */
	fixture_blocked(&f, 0, 9000, 5000);		      /* blocks at T = 4 us: 0 -> 10 us */
	fixture_blocked(&f, 0, 4000, 1000)->window_ns = 5000; /* cut: 4 us <= 10 us keeps */
	fixture_polled(&f, 0, 9999);			      /* polled within 10 us */
	end(replay, &f);
	tally = replay_result(replay, 0, 0);
	assert_int_equal(tally->blocked, 2);
	assert_int_equal(tally->polled, 1);
	assert_int_equal(tally->useful_ns, 9999);
	assert_int_equal(tally->wasted_ns, 0);
	assert_int_equal(replay_group(replay, 0)->counts.invalid, 1);
	assert_int_equal(replay_group(replay, 0)->counts.cut_short, 1);
	assert_int_equal(replay_group(replay, 0)->counts.counted, 3);
	replay_destroy(replay);
	fixture_fini(&f);
}

/* Without an invalid flag the third halt would have found a window of 20 us and been polled. */
static void test_valid_instead(void **state)
{
	static const char *const policies[] = {"kvm", NULL};
	struct replay *replay = begin(REPLAY_BY_TOTAL, 1, policies);
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	fixture_blocked(&f, 0, 60000, 5000);
	fixture_blocked(&f, 0, 60000, 5000);
	fixture_blocked(&f, 0, 9000, 5000);
	end(replay, &f);
	assert_int_equal(replay_result(replay, 0, 0)->polled, 1);
	replay_destroy(replay);
	fixture_fini(&f);
}

static void test_no_latency_no_oracle_cost(void **state)
{
	static const char *const policies[] = {"always:max=2us", NULL};
	struct replay_options options = {.by = REPLAY_BY_TOTAL, .threads = 1};
	struct vhalt_spec spec = fixture_spec(policies[0]);
	struct replay *replay;
	struct fixture f;

	(void)state;
	replay_model_init(&options.model);
	options.model.price = 0;
	options.model.switch_ns = 0;
	assert_int_equal(replay_create(&replay, &options), 0);
	assert_int_equal(replay_add_policy(replay, &spec, 0), 0);
	fixture_init(&f, 1);
	fixture_polled(&f, 0, 5000);
	end(replay, &f);
	assert_int_equal(metrics_of(replay, 0, 0).cost_ns, 2000);
	assert_true(isnan(metrics_of(replay, 0, 0).ratio_to_oracle));
	assert_true(metrics_of(replay, 1, 0).ratio_to_oracle == 1);
	replay_destroy(replay);
	fixture_fini(&f);
}

/* A replay that is told nothing, and one that is only created. */
static void test_empty(void **state)
{
	static const char *const policies[] = {"kvm", NULL};
	struct replay *replay = begin(REPLAY_BY_VM, 2, policies);
	struct fixture f;

	(void)state;
	replay_destroy(replay);
	replay = begin(REPLAY_BY_VM, 2, policies);
	fixture_init(&f, 1);
	end(replay, &f);
	assert_int_equal(metrics_of(replay, 0, 0).cost_ns, 0);
	assert_true(metrics_of(replay, 0, 0).ratio_to_oracle == 1);
	replay_destroy(replay);
	fixture_fini(&f);
}

static void fill(struct fixture *f, uint32_t vcpus, size_t halts)
{
	fixture_init(f, vcpus);
	f->info.has_latency = true;
	for (size_t i = 0; i < halts; i++) {
		uint32_t vcpu = (uint32_t)(i / 50 % vcpus);
		uint64_t t_ns = fixture_draw(f, 10) ? 1000 + fixture_draw(f, 60000 * (vcpu + 1))
						    : fixture_draw(f, 5000000);

		if (fixture_draw(f, 3))
			fixture_blocked(f, vcpu, t_ns + 9000,
					6000 + (uint32_t)fixture_draw(f, 9000));
		else
			fixture_polled(f, vcpu, t_ns);
	}
}

static const char *const all_policies[] = {"none",  "always", "toggle", "dynamic",	"kvm",
					   "guest", "pv",     "auto",	"auto:sleep=1", NULL};

/* Total, VM and vCPU sums agree, whatever the number of threads and the size of batches. */
static void test_same_by_all_ways(void **state)
{
	static const struct {
		enum replay_by by;
		unsigned int threads;
		size_t piece;
		bool one_policy; /* fewer policies than threads: shards of vCPUs */
	} ways[] = {
		{REPLAY_BY_TOTAL, 1, 1000000, false}, {REPLAY_BY_TOTAL, 3, 777, false},
		{REPLAY_BY_VM, 2, 50, false},	      {REPLAY_BY_VCPU, 4, 100000, false},
		{REPLAY_BY_VM, 7, 12345, true},	      {REPLAY_BY_TOTAL, 1, 3, true},
	};
	static const char *const only_kvm[] = {"kvm", NULL};
	struct replay_tally expected[10] = {{0}};
	struct fixture f;

	(void)state;
	fill(&f, 5, 60000);
	for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++) {
		struct replay *r = begin(ways[w].by, ways[w].threads,
					 ways[w].one_policy ? only_kvm : all_policies);

		for (size_t at = 0; at < f.nr; at += ways[w].piece)
			assert_int_equal(
				replay_feed(r, &f.info, f.halts + at,
					    f.nr - at < ways[w].piece ? f.nr - at : ways[w].piece),
				0);
		replay_end_recording(r, &f.info, NULL);
		assert_int_equal(replay_finish(r), 0);
		assert_int_equal(replay_nr_groups(r), ways[w].by == REPLAY_BY_TOTAL ? 1 : 6);
		for (uint32_t row = 0; row < replay_nr_rows(r); row++) {
			uint32_t as = ways[w].one_policy ? (row ? 9 : 4) : row;
			struct replay_tally parts = {0};

			if (!w)
				expected[row] = *replay_result(r, row, 0);
			assert_memory_equal(replay_result(r, row, 0), &expected[as],
					    sizeof(*expected));
			for (uint32_t g = 1; g < replay_nr_groups(r); g++)
				replay_tally_add(&parts, replay_result(r, row, g));
			if (replay_nr_groups(r) > 1)
				assert_memory_equal(&parts, &expected[as], sizeof(parts));
		}
		replay_destroy(r);
	}
	/* And they are not all the same number. */
	assert_true(expected[4].polled != expected[3].polled);
	assert_true(expected[8].timer_wakes > 0);
	fixture_fini(&f);
}

/* Nobody beats the oracle by polling. */
static void test_oracle_bounds(void **state)
{
	struct replay *r = begin(REPLAY_BY_VM, 2, all_policies);
	struct fixture f;

	(void)state;
	fill(&f, 3, 30000);
	end(r, &f);
	for (uint32_t row = 0; row < 8; row++)
		for (uint32_t g = 0; g < replay_nr_groups(r); g++)
			assert_true(metrics_of(r, row, g).ratio_to_oracle >= 1);
	replay_destroy(r);
	fixture_fini(&f);
}

static void test_ceilings(void **state)
{
	static const char *const policies[] = {"kvm", NULL};
	struct replay *r = begin(REPLAY_BY_VM, 1, policies);
	struct fixture f;

	(void)state;
	fixture_init(&f, 2);
	f.vms[1].ceiling_ns = 0;
	for (int i = 0; i < 100; i++)
		for (uint32_t v = 0; v < 2; v++)
			fixture_blocked(&f, v, 15000, 5000);
	end(r, &f);
	assert_int_equal(replay_result(r, 0, 1)->polled, 99);
	assert_int_equal(replay_result(r, 0, 2)->polled, 0);
	assert_int_equal(replay_group(r, 2)->ceiling_ns, 0);
	assert_int_equal(replay_group(r, 1)->ceiling_ns, UNKNOWN);
	assert_string_equal(replay_group(r, 2)->label, "vm1 (pid 101)");
	replay_destroy(r);
	fixture_fini(&f);
}

/* VMs of a second recording are others, however they are called; wall times add up. */
static void test_several_recordings(void **state)
{
	static const char *const policies[] = {"kvm", NULL};
	struct replay *r = begin(REPLAY_BY_VCPU, 2, policies);
	struct fixture a, b;

	(void)state;
	fixture_init(&a, 1);
	fixture_init(&b, 2);
	fixture_blocked(&a, 0, 60000, 5000);
	a.info.duration_ns = 1000;
	fixture_blocked(&b, 0, 15000, 5000); /* a new vCPU: no window yet */
	fixture_blocked(&b, 1, 15000, 5000);
	snprintf(b.vcpus[1].name, TRACE_NAME_BYTES, "evil\033[31m\xff");
	assert_int_equal(replay_feed(r, &a.info, a.halts, a.nr), 0);
	replay_end_recording(r, &a.info, "one");
	assert_int_equal(replay_feed(r, &b.info, b.halts, b.nr), 0);
	replay_end_recording(r, &b.info, "two");
	assert_int_equal(replay_finish(r), 0);
	assert_int_equal(replay_nr_groups(r), 4);
	assert_string_equal(replay_group(r, 1)->label, "one: vm0/0 (tid 200)");
	assert_string_equal(replay_group(r, 2)->label, "two: vm0/0 (tid 200)");
	assert_string_equal(replay_group(r, 3)->label, "two: evil?[31m? (tid 201)");
	assert_int_equal(replay_result(r, 0, 0)->blocked, 3);
	assert_int_equal(replay_group(r, 0)->wall_ns, 1000 + 15000);
	assert_int_equal(replay_group(r, 0)->counts.halts, 3);
	replay_destroy(r);
	fixture_fini(&a);
	fixture_fini(&b);
}

static void test_foreign_halts(void **state)
{
	static const char *const policies[] = {"kvm", NULL};
	struct replay *r = begin(REPLAY_BY_VM, 1, policies);
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	fixture_polled(&f, 0, 5)->vcpu = 1;
	assert_int_equal(replay_feed(r, &f.info, f.halts, f.nr), -EPROTO);
	f.halts[0].vcpu = 0;
	f.vcpus[0].vm = 1;
	replay_destroy(r);
	r = begin(REPLAY_BY_VM, 1, policies);
	assert_int_equal(replay_feed(r, &f.info, f.halts, f.nr), -EPROTO);
	replay_destroy(r);
	fixture_fini(&f);
}

static void test_bad_specs(void **state)
{
	static const char *const policies[] = {NULL};
	struct replay *r = begin(REPLAY_BY_VM, 1, policies);
	struct vhalt_spec spec = fixture_spec("kvm:clamp=1");

	(void)state;
	spec.values[vhalt_spec_param(VHALT_POLICY_KVM, "clamp")] = 2;
	assert_int_equal(replay_add_policy(r, &spec, 0), -ERANGE);
	spec.policy = VHALT_NR_POLICIES;
	assert_int_equal(replay_add_policy(r, &spec, 0), -EINVAL);
	replay_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs_by_hand),
		cmocka_unit_test(test_counted_apart),
		cmocka_unit_test(test_valid_instead),
		cmocka_unit_test(test_no_latency_no_oracle_cost),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_same_by_all_ways),
		cmocka_unit_test(test_oracle_bounds),
		cmocka_unit_test(test_ceilings),
		cmocka_unit_test(test_several_recordings),
		cmocka_unit_test(test_foreign_halts),
		cmocka_unit_test(test_bad_specs),
	};

	return cmocka_run_group_tests_name("replay_engine", tests, NULL, NULL);
}

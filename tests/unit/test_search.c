// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The search finds what is there, ties go to the present setting, and noise is not recommended.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/confidence.h"
#include "replay/pool.h"
#include "replay/search.h"
#include "tests/unit/replay_fixture.h"

static void take(struct replay_sample *sample, struct fixture *f)
{
	struct replay_model model;

	replay_model_init(&model);
	assert_int_equal(replay_sample_init(sample, &model, f->nr), 0);
	assert_int_equal(replay_sample_feed(sample, &f->info, f->halts, f->nr), 0);
	replay_sample_end_recording(sample, &f->info, NULL);
}

static uint64_t candidate_value(const struct replay_search *search, uint32_t i, const char *key)
{
	return search->candidates[i].spec.values[vhalt_spec_param(VHALT_POLICY_KVM, key)];
}

static void run(struct replay_search *search, struct replay_sample *sample, struct fixture *f,
		const char *present)
{
	struct vhalt_spec spec = fixture_spec(present);
	struct replay_pool *pool;

	take(sample, f);
	assert_int_equal(replay_pool_create(&pool, 3), 0);
	assert_int_equal(replay_search_run(search, sample, &spec, pool), 0);
	replay_pool_destroy(pool);
}

/* Halts of 30 us, now and then one of 4 ms: a window below 30 us only burns CPU. */
static void fill_short(struct fixture *f, uint32_t vcpu, size_t halts)
{
	for (size_t i = 0; i < halts; i++)
		fixture_blocked(f, vcpu,
				fixture_draw(f, 50) ? 28000 + 13000 + fixture_draw(f, 4000)
						    : 4000000,
				TRACE_UNKNOWN_U32);
}

/* Halts of 150 us: at a B of 133 us polling for them never pays. */
static void fill_long(struct fixture *f, uint32_t vcpu, size_t halts)
{
	for (size_t i = 0; i < halts; i++)
		fixture_blocked(f, vcpu, 150000 + 13000 + fixture_draw(f, 9000), TRACE_UNKNOWN_U32);
}

static void test_finds_the_window(void **state)
{
	struct replay_search search;
	struct replay_sample sample;
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	fill_short(&f, 0, 5000);
	run(&search, &sample, &f, "kvm:halt_poll_ns=10us");
	assert_in_range(candidate_value(&search, search.best, "halt_poll_ns"), 40000, 200000);
	assert_true(search.candidates[search.best].cost_ns < search.candidates[0].cost_ns / 2);
	assert_true(replay_search_cross_gain(&search, 0) > 0.5);
	assert_true(replay_search_cross_gain(&search, 1) > 0.5);
	for (uint32_t i = 0; i < search.nr_candidates; i++) {
		const struct replay_candidate *c = &search.candidates[i];

		assert_true(c->cost_ns * 1.0021 >= search.candidates[search.best].cost_ns);
		assert_int_equal(c->half_cost_ns[0] + c->half_cost_ns[1], c->cost_ns);
		assert_true(i == 0 || c->changes > 0);
		assert_true(candidate_value(&search, i, "halt_poll_ns") <= sample.model.max_ns);
		for (uint32_t j = 0; j < i; j++)
			assert_memory_not_equal(c->spec.values, search.candidates[j].spec.values,
						sizeof(c->spec.values));
	}
	replay_search_fini(&search);
	replay_sample_fini(&sample);
	fixture_fini(&f);
}

static void test_switches_polling_off(void **state)
{
	struct replay_search search;
	struct replay_sample sample;
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	fill_long(&f, 0, 5000);
	run(&search, &sample, &f, "kvm");
	assert_int_equal(candidate_value(&search, search.best, "halt_poll_ns"), 0);
	/* One change says it; the rest stays as it is. */
	assert_int_equal(search.candidates[search.best].changes, 1);
	replay_search_fini(&search);
	replay_sample_fini(&sample);
	fixture_fini(&f);
}

/* Halts nobody polls for: every setting that grows no window costs the same. */
static void test_ties_go_to_the_present(void **state)
{
	static const char *const present[] = {"kvm", "kvm:halt_poll_ns=0", "kvm:shrink=0,grow=7"};
	(void)state;
	for (size_t p = 0; p < 3; p++) {
		struct replay_search search;
		struct replay_sample sample;
		struct fixture f;

		fixture_init(&f, 1);
		for (int i = 0; i < 3000; i++)
			fixture_blocked(&f, 0, 4000000, TRACE_UNKNOWN_U32);
		run(&search, &sample, &f, present[p]);
		assert_int_equal(search.best, 0);
		assert_int_equal(search.half_best[0], 0);
		assert_true(replay_search_cross_gain(&search, 0) == 0);
		replay_search_fini(&search);
		replay_sample_fini(&sample);
		fixture_fini(&f);
	}
}

/* Whatever ceiling ends the waste of a present one that is too high: mainline's is taken. */
static void test_ties_go_to_mainline(void **state)
{
	struct replay_search search;
	struct replay_sample sample;
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	for (int i = 0; i < 3000; i++)
		fixture_blocked(&f, 0, 4000000, TRACE_UNKNOWN_U32);
	run(&search, &sample, &f, "kvm:halt_poll_ns=10ms,shrink=0");
	assert_int_equal(candidate_value(&search, search.best, "halt_poll_ns"), 200000);
	assert_int_equal(candidate_value(&search, search.best, "shrink"), 0);
	assert_int_equal(search.candidates[search.best].changes, 1);
	replay_search_fini(&search);
	replay_sample_fini(&sample);
	fixture_fini(&f);
}

static void test_each_vm_has_its_own(void **state)
{
	struct replay_search search;
	struct replay_sample sample;
	struct fixture f;
	uint32_t pick[2];

	(void)state;
	fixture_init(&f, 2);
	fill_short(&f, 0, 4000);
	fill_long(&f, 1, 4000);
	run(&search, &sample, &f, "kvm");
	for (uint32_t vm = 0; vm < 2; vm++) {
		uint64_t sum = 0;

		pick[vm] = replay_search_vm(&search, 0, vm);
		for (uint32_t i = 0; i < search.nr_vms; i++)
			sum += search.vm_cost_ns[i];
		assert_int_equal(sum, search.candidates[0].cost_ns);
	}
	assert_in_range(candidate_value(&search, pick[0], "halt_poll_ns"), 40000, 200000);
	/* A ceiling below 150 us is never in vain there for long: it costs what not polling does.
	 */
	assert_true(candidate_value(&search, pick[1], "halt_poll_ns") < 150000);
	/* Only the ceiling is a VM's own. */
	assert_true(replay_search_on_curve(&search, pick[0], 0));
	assert_true(replay_search_on_curve(&search, pick[1], 0));
	replay_search_fini(&search);
	replay_sample_fini(&sample);
	fixture_fini(&f);
}

/* A VM's recorded ceiling holds for the whole host's cost, not for what the VM could have. */
static void test_ceilings(void **state)
{
	struct replay_search search;
	struct replay_sample sample;
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	f.vms[0].ceiling_ns = 0;
	fill_short(&f, 0, 3000);
	run(&search, &sample, &f, "kvm");
	assert_int_equal(search.best, 0);
	for (uint32_t i = 0; i < search.nr_candidates; i++)
		assert_int_equal(search.candidates[i].cost_ns, search.candidates[0].cost_ns);
	assert_true(search.vm_cost_ns[replay_search_vm(&search, 0, 0)] <
		    search.candidates[0].cost_ns / 2);
	replay_search_fini(&search);
	replay_sample_fini(&sample);
	fixture_fini(&f);
}

/* Long recordings are thinned by whole stretches, the same ones each time. */
static void test_thinning(void **state)
{
	struct replay_sample sample, again;
	struct fixture f;
	uint64_t *costs, kept = 0;
	struct vhalt_spec spec = fixture_spec("kvm");

	(void)state;
	fixture_init(&f, 2);
	for (uint32_t i = 0; i < 3 * REPLAY_SAMPLE_HALTS / 2; i++)
		fixture_blocked(&f, i & 1, 20000 + i, TRACE_UNKNOWN_U32);
	take(&sample, &f);
	take(&again, &f);
	assert_int_equal(sample.one_of, 2);
	assert_in_range(sample.nr_halts, REPLAY_SAMPLE_HALTS / 2, REPLAY_SAMPLE_HALTS);
	assert_int_equal(sample.nr_blocks, again.nr_blocks);
	for (uint32_t b = 0; b < sample.nr_blocks; b++) {
		const struct sample_block *block = &sample.blocks[b];

		kept += block->count;
		assert_memory_equal(block, &again.blocks[b], sizeof(*block));
		/* Every second halt is the same vCPU's next one. */
		for (uint32_t i = 1; i < block->count; i++)
			assert_int_equal(sample.halts[block->first + i].t_ns,
					 sample.halts[block->first + i - 1].t_ns + 2);
	}
	assert_int_equal(kept, sample.counted);
	costs = calloc(sample.nr_blocks, sizeof(*costs));
	assert_int_equal(replay_sample_costs(&sample, &spec, true, costs), 0);
	free(costs);
	replay_sample_fini(&again);
	replay_sample_fini(&sample);
	fixture_fini(&f);
}

/* --- confidence ------------------------------------------------------------------------------- */

enum { BLOCKS = 200 };

static enum confidence_verdict judge(const uint64_t *present, const uint64_t *other,
				     uint64_t counted, const double *cross)
{
	struct confidence_costs costs = {present, other, NULL,		BLOCKS,
					 counted, 1e9,	 cross != NULL, {0, 0}};
	struct confidence result;
	uint8_t half[BLOCKS];

	for (uint32_t i = 0; i < BLOCKS; i++)
		half[i] = i & 1;
	costs.half = half;
	if (cross) {
		costs.cross_gain[0] = cross[0];
		costs.cross_gain[1] = cross[1];
	}
	assert_int_equal(confidence_judge(&result, &costs), 0);
	assert_true(result.low <= result.gain + 1e-9 && result.gain <= result.high + 1e-9);
	return result.verdict;
}

static void test_verdicts(void **state)
{
	static const double carries[] = {0.1, 0.1}, chance[] = {0.1, -0.01};
	uint64_t present[BLOCKS], better[BLOCKS], slightly[BLOCKS], lucky[BLOCKS], half[BLOCKS];

	(void)state;
	for (uint32_t i = 0; i < BLOCKS; i++) {
		present[i] = 100000 + i;
		better[i] = 90000 - i % 7 * 100;
		slightly[i] = 98000;
		/* One block of 200 makes all of the difference, and the other way round by halves.
		 */
		lucky[i] = i == 77 ? 1 : present[i] + 1000;
		present[77] = 9000000;
		half[i] = i & 1 ? present[i] / 2 : present[i] + 1000;
	}
	assert_int_equal(judge(present, better, 5000, NULL), CONFIDENCE_SURE);
	assert_int_equal(judge(present, better, 5000, carries), CONFIDENCE_SURE);
	assert_int_equal(judge(present, better, 5000, chance), CONFIDENCE_NOISE);
	assert_int_equal(judge(present, better, CONFIDENCE_HALTS_MIN, NULL), CONFIDENCE_SURE);
	assert_int_equal(judge(present, better, CONFIDENCE_HALTS_MIN - 1, NULL), CONFIDENCE_FEW);
	assert_int_equal(judge(present, present, 5000, NULL), CONFIDENCE_NO_GAIN);
	assert_int_equal(judge(better, present, 5000, NULL), CONFIDENCE_NO_GAIN);
	assert_int_equal(judge(present, lucky, 5000, NULL), CONFIDENCE_NOISE);
	assert_int_equal(judge(present, half, 5000, NULL), CONFIDENCE_NOISE);
	present[77] = 100077;
	assert_int_equal(judge(present, slightly, 5000, NULL), CONFIDENCE_SMALL);
}

/* Two blocks of 200, one in each half, carry all of the gain: a resample may well miss both. */
static void test_few_blocks_carry_the_gain(void **state)
{
	uint64_t present[BLOCKS], other[BLOCKS];

	(void)state;
	for (uint32_t i = 0; i < BLOCKS; i++) {
		present[i] = 100000;
		other[i] = 101000;
	}
	present[10] = present[11] = 9000000;
	assert_int_equal(judge(present, other, 5000, NULL), CONFIDENCE_NOISE);
}

/* What is picked from one half is judged in the other. */
static void test_cross_gain(void **state)
{
	struct replay_candidate candidates[3] = {
		{.half_cost_ns = {1000, 1000}},
		{.half_cost_ns = {500, 900}},
		{.half_cost_ns = {1200, 400}},
	};
	struct replay_search search = {
		.candidates = candidates, .nr_candidates = 3, .best = 1, .half_best = {1, 2}};

	(void)state;
	assert_true(replay_search_cross_gain(&search, 0) < -0.19);
	assert_true(replay_search_cross_gain(&search, 1) > 0.09);
	candidates[0].half_cost_ns[0] = 0;
	assert_true(replay_search_cross_gain(&search, 0) == 0);
}

/* A tenth of next to nothing is not worth a change. */
static void test_small_in_absolute_terms(void **state)
{
	uint64_t present[2] = {50000, 50000}, other[2] = {40000, 40000};
	uint8_t half[2] = {0, 1};
	struct confidence_costs costs = {present, other, half, 2, 5000, 1e9, false, {0, 0}};
	struct confidence result;

	(void)state;
	assert_int_equal(confidence_judge(&result, &costs), 0);
	assert_int_equal(result.verdict, CONFIDENCE_SMALL);
	costs.wall_ns = 1e7;
	assert_int_equal(confidence_judge(&result, &costs), 0);
	assert_int_equal(result.verdict, CONFIDENCE_SURE);
	costs.nr = 0;
	assert_int_equal(confidence_judge(&result, &costs), 0);
	assert_int_equal(result.verdict, CONFIDENCE_FEW);
}

/* The rate of false alarms: two settings that differ by chance alone, 200 recordings. */
static void test_noise_is_not_recommended(void **state)
{
	struct fixture f;
	int alarms = 0;

	(void)state;
	fixture_init(&f, 1);
	for (int recording = 0; recording < 200; recording++) {
		uint64_t present[BLOCKS], other[BLOCKS];

		for (uint32_t i = 0; i < BLOCKS; i++) {
			present[i] = 100000 + fixture_draw(&f, 100000);
			other[i] = 100000 + fixture_draw(&f, 100000);
		}
		alarms += judge(present, other, 5000, NULL) == CONFIDENCE_SURE;
	}
	assert_in_range(alarms, 0, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_the_window),
		cmocka_unit_test(test_switches_polling_off),
		cmocka_unit_test(test_ties_go_to_the_present),
		cmocka_unit_test(test_ties_go_to_mainline),
		cmocka_unit_test(test_each_vm_has_its_own),
		cmocka_unit_test(test_ceilings),
		cmocka_unit_test(test_thinning),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_few_blocks_carry_the_gain),
		cmocka_unit_test(test_cross_gain),
		cmocka_unit_test(test_small_in_absolute_terms),
		cmocka_unit_test(test_noise_is_not_recommended),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}

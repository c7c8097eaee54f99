// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The simulator's event queue, run queue and random durations.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/event.h"
#include "sim/random.h"
#include "sim/rq.h"

static uint32_t take(struct sim_queue *q, uint64_t time_ns)
{
	uint32_t handle;

	assert_true(sim_queue_take(q, &handle));
	assert_int_equal(q->now_ns, time_ns);
	return handle;
}

static void orders_by_time_priority_and_arrival(void **state)
{
	struct sim_queue q;
	uint32_t handle;

	(void)state;
	assert_int_equal(sim_queue_init(&q, 8), 0);
	sim_queue_arm(&q, 0, 50, 1);
	sim_queue_arm(&q, 1, 50, 0);
	sim_queue_arm(&q, 2, 10, 3);
	sim_queue_arm(&q, 3, 50, 1);
	sim_queue_arm(&q, 4, 10, 3);
	assert_int_equal(sim_queue_length(&q), 5);
	assert_int_equal(take(&q, 10), 2);
	assert_int_equal(take(&q, 10), 4);
	assert_int_equal(take(&q, 50), 1);
	assert_int_equal(take(&q, 50), 0);
	assert_int_equal(take(&q, 50), 3);
	assert_false(sim_queue_take(&q, &handle));
	assert_int_equal(sim_queue_length(&q), 0);
	sim_queue_fini(&q);
}

static void moves_and_cancels_by_handle(void **state)
{
	struct sim_queue q;
	uint32_t handle;

	(void)state;
	assert_int_equal(sim_queue_init(&q, 4), 0);
	sim_queue_arm(&q, 0, 10, 0);
	sim_queue_arm(&q, 1, 20, 0);
	sim_queue_arm(&q, 2, 30, 0);
	sim_queue_arm(&q, 2, 5, 0);  /* earlier */
	sim_queue_arm(&q, 0, 40, 0); /* later */
	sim_queue_cancel(&q, 3);     /* not armed */
	assert_int_equal(take(&q, 5), 2);
	assert_false(sim_queue_armed(&q, 2));
	sim_queue_cancel(&q, 1); /* with a hole at the top */
	assert_int_equal(sim_queue_time_ns(&q, 0), 40);
	sim_queue_arm(&q, 3, 1, 0); /* the past is now */
	assert_int_equal(take(&q, 5), 3);
	assert_int_equal(take(&q, 40), 0);
	assert_false(sim_queue_take(&q, &handle));
	sim_queue_fini(&q);
}

static void refuses_sizes(void **state)
{
	struct sim_queue q;

	(void)state;
	assert_int_equal(sim_queue_init(&q, 0), -EINVAL);
	assert_int_equal(sim_queue_init(&q, SIM_QUEUE_HANDLES_MAX + 1), -EINVAL);
}

/* Against a plain array: a random mix of arming, moving, cancelling and taking. */
enum { HANDLES = 300, OPERATIONS = 60000 };

static struct {
	uint64_t time_ns, order;
	bool armed;
} model[HANDLES];

static uint32_t first_of_model(void)
{
	uint32_t best = HANDLES;

	for (uint32_t i = 0; i < HANDLES; i++)
		if (model[i].armed && (best == HANDLES || model[i].time_ns < model[best].time_ns ||
				       (model[i].time_ns == model[best].time_ns &&
					model[i].order < model[best].order)))
			best = i;
	return best;
}

static void agrees_with_an_array(void **state)
{
	struct suite_rng rng;
	struct sim_queue q;
	uint64_t order = 0;

	(void)state;
	suite_rng_init(&rng, 7, 0);
	assert_int_equal(sim_queue_init(&q, HANDLES), 0);
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		uint32_t h = suite_rng_below(&rng, HANDLES), what = suite_rng_below(&rng, 8);
		uint32_t priority = suite_rng_below(&rng, SIM_QUEUE_PRIORITIES), got;

		if (what < 4) {
			model[h].armed = true;
			model[h].time_ns = q.now_ns + suite_rng_below(&rng, 50);
			model[h].order = (uint64_t)priority << 60 | order++;
			sim_queue_arm(&q, h, model[h].time_ns, priority);
		} else if (what == 4) {
			model[h].armed = false;
			sim_queue_cancel(&q, h);
		} else {
			uint32_t want = first_of_model();

			assert_int_equal(sim_queue_take(&q, &got), want < HANDLES);
			if (want < HANDLES)
				assert_int_equal(got, want);
			if (want < HANDLES)
				model[want].armed = false;
		}
	}
	sim_queue_fini(&q);
}

/* A run queue of as many entities, in the same way. */
struct entity {
	struct sim_rq_node node;
	bool in;
};

static void run_queue_agrees_with_an_array(void **state)
{
	static struct entity e[HANDLES];
	struct sim_rq_nodes nodes = {(char *)e, sizeof(*e)};
	struct suite_rng rng;
	struct sim_rq rq;

	(void)state;
	suite_rng_init(&rng, 8, 0);
	sim_rq_init(&rq);
	for (uint32_t n = 0; n < OPERATIONS; n++) {
		uint32_t i = suite_rng_below(&rng, HANDLES), first = sim_rq_first(&rq), second;

		if (first != SIM_NONE && suite_rng_below(&rng, 4) == 0)
			i = first;
		if (e[i].in)
			sim_rq_remove(&rq, nodes, i);
		else
			sim_rq_add(&rq, nodes, i, suite_rng_below(&rng, 1000));
		e[i].in = !e[i].in;
		first = sim_rq_first(&rq);
		second = sim_rq_second(&rq, nodes);
		for (uint32_t k = 0; k < HANDLES; k++) {
			if (!e[k].in)
				continue;
			assert_true(e[first].node.key <= e[k].node.key);
			if (k != first)
				assert_true(e[second].node.key <= e[k].node.key);
		}
	}
}

static void logarithms_are_exact_at_powers(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 63; i++) {
		assert_int_equal(sim_log2_q16(1ULL << i), i << 16);
		assert_int_equal(sim_exp2_q16(i << 16), 1ULL << i);
	}
	/* 2^16.5 and its logarithm, to a few parts in 10^5. */
	assert_in_range(sim_exp2_q16(16 * 65536 + 32768), 92680, 92682);
	assert_in_range(sim_log2_q16(92682), 16 * 65536 + 32767, 16 * 65536 + 32769);
}

static void durations_have_their_means(void **state)
{
	uint64_t exp = 0, around = 0, below = 0;
	struct suite_rng rng;

	(void)state;
	suite_rng_init(&rng, 3, 0);
	for (int i = 0; i < 100000; i++) {
		uint64_t a = sim_random_around_ns(&rng, 10000);

		assert_in_range(a, 5000, 15000);
		around += a;
		exp += sim_random_exp_ns(&rng, 10000);
		below += sim_random_lognormal_ns(&rng, 10000, 512) < 10000;
	}
	assert_in_range(around / 100000, 9950, 10050);
	assert_in_range(exp / 100000, 9900, 10100);
	assert_in_range(below, 49500, 50500);
}

/* The same numbers on every compiler: this is what "deterministic" rests on. */
static void durations_are_golden(void **state)
{
	struct suite_rng rng;

	(void)state;
	suite_rng_init(&rng, 1, 0x73696d);
	assert_int_equal(sim_random_exp_ns(&rng, 1000000), 462249);
	assert_int_equal(sim_random_around_ns(&rng, 1000000), 960318);
	assert_int_equal(sim_random_lognormal_ns(&rng, 1000000, 358), 1711485);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_by_time_priority_and_arrival),
		cmocka_unit_test(moves_and_cancels_by_handle),
		cmocka_unit_test(refuses_sizes),
		cmocka_unit_test(agrees_with_an_array),
		cmocka_unit_test(run_queue_agrees_with_an_array),
		cmocka_unit_test(logarithms_are_exact_at_powers),
		cmocka_unit_test(durations_have_their_means),
		cmocka_unit_test(durations_are_golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// When the wake event of a recorded halt came, and which halts are counted apart.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/halt.h"
#include "replay/hist.h"

#define UNKNOWN TRACE_UNKNOWN_U32
#define NONE	VHALT_NO_DEADLINE_NS

enum { W = TRACE_HALT_WAITED, I = TRACE_HALT_INVALID, G = TRACE_HALT_GAP };

struct row {
	const char *what;
	uint64_t halt_ns, deadline_ns;
	uint32_t latency_ns, window_ns, flags;
	/* expected */
	uint64_t t_ns;
	uint32_t charge_ns, out;
};

static const struct row rows[] = {
	{"polled", 5000, NONE, UNKNOWN, 10000, 0, 5000, 13000, REPLAY_HALT_STAMPED},
	{"polled at once", 0, NONE, UNKNOWN, 10000, 0, 1, 13000, REPLAY_HALT_STAMPED},
	{"blocked, measured", 50000, NONE, 7000, UNKNOWN, W, 43000, 7000, REPLAY_HALT_STAMPED},
	{"blocked, not measured", 50000, NONE, UNKNOWN, UNKNOWN, W, 37000, 13000, 0},
	{"shorter than its latency", 5000, NONE, UNKNOWN, UNKNOWN, W, 1, 13000, 0},
	{"never inside the window", 50000, NONE, UNKNOWN, 45000, W, 45001, 13000, 0},
	{"as long as the window", 50000, NONE, 7000, 50000, W, 50001, 7000, REPLAY_HALT_STAMPED},
	{"cut short", 4999, NONE, UNKNOWN, 5000, W, 4999, 13000, REPLAY_HALT_CUT},
	{"cut short, measured", 4999, NONE, 900, 5000, W, 4999, 900,
	 REPLAY_HALT_CUT | REPLAY_HALT_STAMPED},
	{"polled below the window is not cut", 4999, NONE, UNKNOWN, 5000, 0, 4999, 13000,
	 REPLAY_HALT_STAMPED},
	{"invalid", 50000, NONE, 7000, UNKNOWN, W | I, 43000, 7000,
	 REPLAY_HALT_INVALID | REPLAY_HALT_STAMPED},
	{"own timer, exact", 50000, 43000, 7000, UNKNOWN, W, 43000, 7000,
	 REPLAY_HALT_OWN_TIMER | REPLAY_HALT_STAMPED},
	{"well before the timer", 50000, 44001, 7000, UNKNOWN, W, 43000, 7000, REPLAY_HALT_STAMPED},
	{"own timer within the doubt", 50000, 50000, UNKNOWN, UNKNOWN, W, 37000, 13000,
	 REPLAY_HALT_OWN_TIMER},
	{"beyond the doubt", 50000, 51001, UNKNOWN, UNKNOWN, W, 37000, 13000, 0},
	{"polled until the timer", 3900, 4000, UNKNOWN, 5000, 0, 3900, 13000,
	 REPLAY_HALT_OWN_TIMER | REPLAY_HALT_STAMPED},
};

static struct trace_halt recorded(const struct row *row)
{
	return (struct trace_halt){.halt_ns = row->halt_ns,
				   .run_ns = 77,
				   .deadline_ns = row->deadline_ns,
				   .latency_ns = row->latency_ns,
				   .window_ns = row->window_ns,
				   .flags = row->flags};
}

static void test_t(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trace_halt in = recorded(&rows[i]);
		struct replay_counts counts = {0};
		struct replay_model model;
		struct replay_halt out;

		replay_model_init(&model);
		model.stamped = true;
		replay_halts_from_trace(&out, &in, 1, &model, &counts);
		if (out.t_ns != rows[i].t_ns || out.flags != rows[i].out ||
		    out.latency_ns != rows[i].charge_ns)
			fail_msg("%s: T %lu flags %x latency %u", rows[i].what,
				 (unsigned long)out.t_ns, out.flags, out.latency_ns);
		assert_int_equal(out.run_ns, 77);
		assert_int_equal(out.deadline_ns, rows[i].deadline_ns);
		model.stamped = false;
		replay_halts_from_trace(&out, &in, 1, &model, &counts);
		assert_int_equal(out.flags, rows[i].out & ~(uint32_t)REPLAY_HALT_STAMPED);
	}
}

/* A given latency is charged to every halt, but T is still found by the measured one. */
static void test_given_latency(void **state)
{
	struct trace_halt in = recorded(&rows[2]);
	struct replay_counts counts = {0};
	struct replay_model model;
	struct replay_halt out;

	(void)state;
	replay_model_init(&model);
	model.latency_ns = 30000;
	model.source = REPLAY_LATENCY_GIVEN;
	replay_halts_from_trace(&out, &in, 1, &model, &counts);
	assert_int_equal(out.t_ns, 43000);
	assert_int_equal(out.latency_ns, 30000);
	in.latency_ns = UNKNOWN;
	replay_halts_from_trace(&out, &in, 1, &model, &counts);
	assert_int_equal(out.t_ns, 20000);
}

static void test_counts(void **state)
{
	struct replay_counts counts = {0};
	struct replay_model model;
	struct trace_halt in[5];
	struct replay_halt out[5];

	(void)state;
	replay_model_init(&model);
	in[0] = recorded(&rows[0]);
	in[1] = recorded(&rows[2]);
	in[2] = recorded(&rows[7]);
	in[3] = recorded(&rows[10]);
	in[4] = recorded(&rows[7]);
	in[4].flags |= I | G;
	replay_halts_from_trace(out, in, 5, &model, &counts);
	assert_int_equal(counts.halts, 5);
	assert_int_equal(counts.counted, 2);
	assert_int_equal(counts.cut_short, 1);
	assert_int_equal(counts.invalid, 2);
	assert_int_equal(counts.gaps, 1);
	assert_int_equal(counts.measured, 2);
	assert_int_equal(counts.unknown_window, 2);
	assert_true(out[4].run_ns == VHALT_UNKNOWN_NS);
	replay_halts_from_trace(out, in, 5, &model, &counts);
	assert_int_equal(counts.halts, 10);
	assert_int_equal(counts.counted, 4);
}

/* Every bucket's middle is within 1/64 of all its values. */
static void test_histogram_error(void **state)
{
	(void)state;
	for (uint64_t v = 1; v <= UINT32_MAX; v += 1 + v / 97) {
		struct replay_hist hist;
		uint32_t got;

		replay_hist_init(&hist);
		hist.count[replay_hist_bucket((uint32_t)v)] = 1;
		hist.count[REPLAY_HIST_BUCKETS - 1]++; /* no help from the extremes */
		hist.min_ns = 0;
		hist.max_ns = UINT32_MAX;
		got = replay_hist_percentile(&hist, 0, 500000);
		if (got * 64.0 < v * 63.0 || got * 64.0 > v * 65.0)
			fail_msg("%lu came back as %u", (unsigned long)v, got);
	}
	assert_true(replay_hist_bucket(UINT32_MAX) == REPLAY_HIST_BUCKETS - 1);
}

static void test_histogram_percentiles(void **state)
{
	struct replay_hist hist, other;

	(void)state;
	replay_hist_init(&hist);
	assert_int_equal(replay_hist_percentile(&hist, 0, 990000), 0);
	assert_int_equal(replay_hist_percentile(&hist, 7, 990000), 0);
	replay_hist_add(&hist, 13333);
	replay_hist_add(&hist, 13333);
	/* All equal: exact. Half are zero: the median is, the next is not. */
	assert_int_equal(replay_hist_percentile(&hist, 0, 1), 13333);
	assert_int_equal(replay_hist_percentile(&hist, 2, 500000), 0);
	assert_int_equal(replay_hist_percentile(&hist, 2, 500001), 13333);
	replay_hist_init(&other);
	for (int i = 0; i < 98; i++)
		replay_hist_add(&other, 20);
	replay_hist_merge(&hist, &other);
	/* 98 of 100 are 20: rank 98 still is, rank 99 is not. */
	assert_int_equal(replay_hist_percentile(&hist, 0, 980000), 20);
	assert_in_range(replay_hist_percentile(&hist, 0, 990000), 13125, 13333);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_t),
		cmocka_unit_test(test_given_latency),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_histogram_error),
		cmocka_unit_test(test_histogram_percentiles),
	};

	return cmocka_run_group_tests_name("replay_halt", tests, NULL, NULL);
}

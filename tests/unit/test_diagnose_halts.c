// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Rules about recorded halts: each fires on what it is for and is silent on the nearest that is
// not.
#include "tests/unit/diagnose_rig.h"

/* --- what the rules are for, and the nearest that is not -----------------------------------------
 */

/* Wake events every @period_ns, the guest runs a while after each. */
static void tick(struct rig *r, uint64_t period_ns, uint64_t jitter_ns, uint32_t window_ns, int nr)
{
	uint64_t at_ns = 0;

	for (int i = 0; i < nr; i++) {
		uint64_t run_ns = 5000 + draw(r, 20000),
			 off_ns = jitter_ns ? draw(r, jitter_ns) : 0;
		uint64_t due_ns = at_ns + period_ns + off_ns;

		put(r, 0, run_ns, due_ns - r->now_ns[0] - run_ns, window_ns);
		at_ns += period_ns;
	}
}

static void ticks_bad(struct rig *r)
{
	tick(r, 4000000, 20000, 0, 500);
}
static void ticks_good(struct rig *r)
{
	tick(r, 4000000, 3900000, 0, 500);
}

/* A tick among twice as many wake-ups of other kinds. */
static void ticks_hidden(struct rig *r)
{
	for (uint64_t due_ns = 4000000; due_ns < 4000000000ULL; due_ns += 4000000) {
		uint64_t first_ns = 300000 + draw(r, 1500000),
			 second_ns = 200000 + draw(r, 1500000);

		put(r, 0, 5000, first_ns, 0);
		put(r, 0, 5000, second_ns, 0);
		put(r, 0, 5000, due_ns - r->now_ns[0] - 5000, 0);
	}
}

static void ticks_polled_bad(struct rig *r)
{
	tick(r, 1000000, 10000, 200000, 2000);
}
static void ticks_polled_good(struct rig *r)
{
	tick(r, 1000000, 10000, 0, 2000);
}

static void messages_bad(struct rig *r)
{
	for (int i = 0; i < 5000; i++)
		for (uint32_t v = 0; v < 2; v++)
			put(r, v, 10000 + draw(r, 20000), 20000 + draw(r, 60000), 100000);
}

/* As short, but seldom: nobody passes messages. */
static void messages_good(struct rig *r)
{
	for (int i = 0; i < 2000; i++)
		put(r, 0, 900000 + draw(r, 900000), 20000 + draw(r, 60000), 100000);
}

/* Bursts of @nr wake-ups, 20 us apart, once a second. */
static void bursts(struct rig *r, int nr, uint64_t apart_ns)
{
	for (int burst = 0; burst < 10; burst++) {
		put(r, 0, 5000, 1000000000, 0);
		for (int i = 0; i < nr; i++)
			put(r, 0, 3000, apart_ns, 0);
	}
}

static void storm_bad(struct rig *r)
{
	bursts(r, 300, 20000);
}
static void storm_good(struct rig *r)
{
	bursts(r, 300, 3000000);
}

static void idle_bad(struct rig *r)
{
	for (int i = 0; i < 40; i++)
		put(r, 0, 20000, 50000000 + draw(r, 200000000), 0);
}

static void idle_good(struct rig *r)
{
	for (int i = 0; i < 40; i++)
		put(r, 0, 90000000, 50000000 + draw(r, 200000000), 0);
}

/* Every @one_of th poll ends after a tenth of its window, though its event is far away. */
static void cut(struct rig *r, int one_of)
{
	for (int i = 0; i < 2000; i++) {
		struct trace_halt h = halt(r, 0, 10000, 400000 + draw(r, 90000), 100000);

		if (i % one_of == 0)
			h.halt_ns = 10000;
		add(r, &h);
	}
}

static void cut_bad(struct rig *r)
{
	cut(r, 4);
}
static void cut_good(struct rig *r)
{
	cut(r, 40);
}

static void sticky_bad(struct rig *r)
{
	for (int i = 0; i < 3000; i++)
		put(r, 0, 20000, 120000 + draw(r, 60000), 200000);
}

/* The same, but the window comes and goes. */
static void sticky_good(struct rig *r)
{
	for (int i = 0; i < 3000; i++)
		put(r, 0, 20000, 120000 + draw(r, 60000),
		    i % 8 ? 200000 : 190000 - (uint32_t)(i % 3));
}

/* Half of the halts end within 15 us, half are far beyond any window. */
static void ceiling_high_bad(struct rig *r)
{
	for (int i = 0; i < 4000; i++)
		put(r, 0, 10000 + draw(r, 5000), i & 1 ? 5000000 : 15000 - draw(r, 4000), 200000);
}

/* As wide a window, but every halt falls into it: a lower one would only cost latency. */
static void ceiling_high_good(struct rig *r)
{
	for (int i = 0; i < 4000; i++)
		put(r, 0, 10000 + draw(r, 5000), 40000 + draw(r, 50000), 200000);
}

/* Short halts all, just beyond (or within) a small ceiling. */
static void below(struct rig *r, uint32_t ceiling_ns)
{
	r->vm.ceiling_ns = ceiling_ns;
	for (int i = 0; i < 4000; i++)
		put(r, 0, 10000 + draw(r, 5000), 30000 + draw(r, 20000), ceiling_ns);
}

static void ceiling_low_bad(struct rig *r)
{
	below(r, 20000);
}
static void ceiling_low_good(struct rig *r)
{
	below(r, 60000);
}

static void polling_off_bad(struct rig *r)
{
	for (int i = 0; i < 1000; i++)
		put(r, 0, 50000 + draw(r, 50000), 40000 + draw(r, 400000), TRACE_UNKNOWN_U32);
}

/* No short halt: a window that never grew says nothing. */
static void polling_off_good(struct rig *r)
{
	for (int i = 0; i < 1000; i++)
		put(r, 0, 50000 + draw(r, 50000), 240000 + draw(r, 400000), TRACE_UNKNOWN_U32);
}

/* Short halts and a long one now and then, which shrinks the window to @to_ns. */
static void shrinks(struct rig *r, uint32_t to_ns)
{
	r->info.params.shrink = to_ns ? 2 : 0;
	for (int i = 0; i < 400; i++) {
		struct trace_halt h = halt(r, 0, 10000, 900000, 80000);

		h.flags |= TRACE_HALT_WINDOW;
		h.old_ns = 80000;
		h.new_ns = to_ns;
		add(r, &h);
		for (int n = 0; n < 4; n++)
			put(r, 0, 10000, 30000, n < 2 ? to_ns : 80000);
	}
}

static void shrink_zero_bad(struct rig *r)
{
	shrinks(r, 0);
}
static void shrink_zero_good(struct rig *r)
{
	shrinks(r, 40000);
}

static void invalids(struct rig *r, int one_of)
{
	for (int i = 0; i < 2000; i++) {
		struct trace_halt h = halt(r, 0, 10000, 400000 + draw(r, 90000), 0);

		if (i % one_of == 0)
			h.flags |= TRACE_HALT_INVALID;
		add(r, &h);
	}
}

static void invalid_bad(struct rig *r)
{
	invalids(r, 10);
}
static void invalid_good(struct rig *r)
{
	invalids(r, 30);
}

static const struct row {
	const char *rule;
	void (*bad)(struct rig *r), (*good)(struct rig *r);
} rows[] = {
	{"ticks", ticks_bad, ticks_good},
	{"ticks", ticks_hidden, ticks_good},
	{"ticks", ticks_bad, messages_bad},
	{"ticks-polled", ticks_polled_bad, ticks_polled_good},
	{"messages", messages_bad, messages_good},
	{"messages", messages_bad, ticks_polled_bad},
	{"storm", storm_bad, storm_good},
	{"storm", storm_bad, messages_bad},
	{"idle", idle_bad, idle_good},
	{"idle", idle_bad, ticks_bad},
	{"cut-short", cut_bad, cut_good},
	{"sticky-window", sticky_bad, sticky_good},
	{"ceiling-high", ceiling_high_bad, ceiling_high_good},
	{"ceiling-low", ceiling_low_bad, ceiling_low_good},
	{"ceiling-low", ceiling_low_bad, ticks_polled_bad},
	{"polling-off", polling_off_bad, polling_off_good},
	{"polling-off", polling_off_bad, ceiling_high_bad},
	{"shrink-zero", shrink_zero_bad, shrink_zero_good},
	{"invalid-wakeups", invalid_bad, invalid_good},
};

static struct findings diagnose(void (*fill)(struct rig *r))
{
	struct findings findings = {.list = NULL};
	struct rig r;

	rig_init(&r);
	fill(&r);
	diagnose_halts_end_recording(r.d, &r.info, NULL);
	diagnose_halts_findings(r.d, &findings);
	diagnose_halts_destroy(r.d);
	return findings;
}

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct findings bad = diagnose(rows[i].bad), good = diagnose(rows[i].good);
		const struct finding *finding = findings_has(&bad, rows[i].rule);

		print_message("# %zu %s: %s\n", i, rows[i].rule, finding ? finding->evidence : "-");
		assert_non_null(finding);
		assert_true(finding->subject[0] && finding->rule->todo[0]);
		if (findings_has(&good, rows[i].rule))
			fail_msg("%zu %s: %s", i, rows[i].rule,
				 findings_has(&good, rows[i].rule)->evidence);
		findings_fini(&bad);
		findings_fini(&good);
	}
}

static void test_all_covered(void **state)
{
	(void)state;
	for (uint32_t r = 0; r < diagnose_nr_halts_rules; r++) {
		bool covered = false;

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			covered |= !strcmp(rows[i].rule, diagnose_halts_rules[r].rule.name);
		if (!covered)
			fail_msg("no test for %s", diagnose_halts_rules[r].rule.name);
	}
}

/* Polls cut short say nothing about a window's size. */
static void test_cut_short_is_no_small_window(void **state)
{
	struct findings f = diagnose(cut_bad);

	(void)state;
	assert_null(findings_has(&f, "ceiling-low"));
	assert_null(findings_has(&f, "ceiling-high"));
	findings_fini(&f);
}

static void test_figures(void **state)
{
	struct findings f = diagnose(ticks_bad);
	const struct finding *tick_found = findings_has(&f, "ticks");

	(void)state;
	assert_non_null(tick_found);
	assert_non_null(strstr(tick_found->evidence, "250.0 Hz"));
	assert_non_null(strstr(tick_found->evidence, "no timer deadlines"));
	assert_string_equal(tick_found->subject, "web vCPU 0 (tid 200, CPU/KVM)");
	findings_fini(&f);
	f = diagnose(messages_bad);
	assert_non_null(strstr(findings_has(&f, "messages")->evidence, "1 other vCPU "));
	findings_fini(&f);
	f = diagnose(cut_bad);
	assert_non_null(strstr(findings_has(&f, "cut-short")->evidence, "500 of 2000 polls"));
	assert_non_null(strstr(findings_has(&f, "cut-short")->evidence,
			       "10us on average, of windows "
			       "of 100us"));
	findings_fini(&f);
}

/* Deadlines tell whose timer it is. */
static void test_whose_timer(void **state)
{
	struct findings findings = {.list = NULL};
	struct rig r;

	(void)state;
	rig_init(&r);
	for (int i = 0; i < 500; i++) {
		struct trace_halt h = halt(&r, 0, 10000, 3980000, 0);

		h.deadline_ns = 3980000;
		add(&r, &h);
	}
	diagnose_halts_end_recording(r.d, &r.info, NULL);
	diagnose_halts_findings(r.d, &findings);
	assert_non_null(strstr(findings_has(&findings, "ticks")->evidence, "the vCPU's own"));
	findings_fini(&findings);
	diagnose_halts_destroy(r.d);
}

/* Few halts show nothing, a window nobody recorded no cut, an unknown ceiling no judgement of it.
 */
static void few(struct rig *r)
{
	for (int i = 0; i < 4; i++)
		put(r, 0, 10000, 4000000, 100000);
}

static void unknown(struct rig *r)
{
	memset(&r->info.params, 0xff, sizeof(r->info.params));
	for (int i = 0; i < 4000; i++)
		put(r, 0, 500000 + draw(r, 700000), i & 1 ? 5000000 : 15000, TRACE_UNKNOWN_U32);
}

/* A trace without window changes: that the window never grew it cannot show. */
static void no_window_events(struct rig *r)
{
	r->info.kernel[0] = '\0';
	polling_off_bad(r);
}

static void test_nothing_claimed(void **state)
{
	static void (*const fills[])(struct rig *) = {few, unknown, no_window_events};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct findings f = diagnose(fills[i]);

		if (f.nr && (i < 2 || findings_has(&f, "polling-off")))
			fail_msg("%zu: %s: %s", i, f.list[0].rule->name, f.list[0].evidence);
		findings_fini(&f);
	}
}

static void test_user_halts(void **state)
{
	struct trace_events events = {.layout = "ftrace text"};
	struct findings findings = {.list = NULL};
	struct rig r;

	(void)state;
	for (uint64_t user = 0; user < 2; user++) {
		rig_init(&r);
		events.count[TRACE_EVENT_HLT] = 5;
		events.count[TRACE_EVENT_USER_HLT] = user * 4;
		diagnose_halts_events(r.d, &events);
		diagnose_halts_end_recording(r.d, &r.info, NULL);
		diagnose_halts_findings(r.d, &findings);
		assert_int_equal(findings.nr, user);
		if (user)
			assert_non_null(strstr(findings.list[0].evidence, "4 exits to user space"));
		findings_fini(&findings);
		diagnose_halts_destroy(r.d);
	}
}

/* Memory is bounded: vCPUs beyond the limit are counted, not kept. */
static void test_many_vcpus(void **state)
{
	uint32_t nr = DIAGNOSE_VCPUS_MAX + 100;
	struct trace_vcpu *vcpus = calloc(nr, sizeof(*vcpus));
	struct rig r;

	(void)state;
	rig_init(&r);
	r.info.vcpus = vcpus;
	r.info.nr_vcpus = nr;
	for (uint32_t i = 0; i < nr; i++) {
		struct trace_halt h = {.halt_ns = 5, .vcpu = i};

		assert_int_equal(diagnose_halts_feed(r.d, &r.info, &h, 1), 0);
	}
	diagnose_halts_end_recording(r.d, &r.info, NULL);
	assert_int_equal(diagnose_halts_left_out(r.d), 100);
	diagnose_halts_destroy(r.d);
	free(vcpus);
}

static void test_bins(void **state)
{
	(void)state;
	for (uint64_t ns = 0; ns < 1ULL << 36; ns += ns / 7 + 1) {
		uint32_t bin = diagnose_bin(ns);

		assert_true(bin < DIAGNOSE_BINS);
		assert_true(diagnose_bin_ns(bin) <= ns);
		if (bin + 1 < DIAGNOSE_BINS)
			assert_true(ns < diagnose_bin_ns(bin + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_all_covered),
		cmocka_unit_test(test_cut_short_is_no_small_window),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_whose_timer),
		cmocka_unit_test(test_nothing_claimed),
		cmocka_unit_test(test_user_halts),
		cmocka_unit_test(test_many_vcpus),
		cmocka_unit_test(test_bins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

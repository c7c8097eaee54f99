// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Rules about statistics: each fires on what it is for and is silent on the nearest that is not.
#include "tests/unit/stats_fixture.h"

#include "diagnose/stats.h"

#define HEAD "Event Total %Total CurAvg/s\n"
#define PERF "VM-EXIT Samples Samples% Time% Min Time Max Time Avg time\n"

static const struct row {
	const char *rule;
	const char *bad, *good; /* statistics that break the rule; the nearest that do not */
} rows[] = {
	/* The same guest, waker and vCPU on one CPU: polls of 200 ns. */
	{"cut-short",
	 "halt_attempted_poll: 5000\nhalt_successful_poll: 0\nhalt_poll_success_ns: 0\n"
	 "halt_poll_fail_ns: 1000000\nhalt_wakeup: 5001\n",
	 "halt_attempted_poll: 5000\nhalt_successful_poll: 0\nhalt_poll_success_ns: 0\n"
	 "halt_poll_fail_ns: 50000000\nhalt_wakeup: 5001\n"},
	/* By the histogram: the mean alone, above half the window, would not show it. */
	{"cut-short",
	 "halt_attempted_poll: 600\nhalt_successful_poll: 0\nhalt_poll_success_ns: 0\n"
	 "halt_poll_fail_ns: 40000000\nhalt_poll_fail_hist: 0 0 0 0 0 0 0 0 0 400 0 0 0 0 0 0 0 0 "
	 "200\n",
	 "halt_attempted_poll: 600\nhalt_successful_poll: 0\nhalt_poll_success_ns: 0\n"
	 "halt_poll_fail_ns: 40000000\nhalt_poll_fail_hist: 0 0 0 0 0 0 0 0 0 200 0 0 0 0 0 0 0 0 "
	 "400\n"},
	/* Polls of 4 us under a smallest window of 5 us are whole, under one of 10 us they are not.
	 */
	{"cut-short",
	 "halt_attempted_poll: 600\nhalt_successful_poll: 0\nhalt_poll_success_ns: 0\n"
	 "halt_poll_fail_ns: 2400000\nhalt_wakeup: 600\n",
	 "/sys/module/kvm/parameters/halt_poll_ns_grow_start:5000\n"
	 "halt_attempted_poll: 600\nhalt_successful_poll: 0\nhalt_poll_success_ns: 0\n"
	 "halt_poll_fail_ns: 2400000\nhalt_wakeup: 600\n"},
	{"polls-in-vain",
	 "halt_attempted_poll: 1000\nhalt_successful_poll: 300\nhalt_poll_success_ns: 12000000\n"
	 "halt_poll_fail_ns: 70000000\n",
	 "halt_attempted_poll: 1000\nhalt_successful_poll: 700\nhalt_poll_success_ns: 42000000\n"
	 "halt_poll_fail_ns: 40000000\n"},
	{"few-hits", "halt_attempted_poll: 1000\nhalt_successful_poll: 400\n",
	 "halt_attempted_poll: 1000\nhalt_successful_poll: 600\n"},
	{"ceiling-high",
	 "halt_attempted_poll: 2000\nhalt_successful_poll: 1000\nhalt_poll_success_ns: 12000000\n"
	 "halt_poll_fail_ns: 190000000\n"
	 "halt_poll_success_hist: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000 0 0 0 0 0\n"
	 "halt_poll_fail_hist: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000 0\n",
	 /* Successes as late as the failures: no lower ceiling keeps them. */
	 "halt_attempted_poll: 2000\nhalt_successful_poll: 1900\nhalt_poll_success_ns: 150000000\n"
	 "halt_poll_fail_ns: 19000000\n"
	 "halt_poll_success_hist: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1900 0 0\n"
	 "halt_poll_fail_hist: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 100 0\n"},
	{"sticky-window",
	 "halt_attempted_poll: 10000\nhalt_successful_poll: 9990\nhalt_poll_success_ns: "
	 "1500000000\n"
	 "halt_poll_fail_ns: 2000000\nhalt_wait_ns: 10000000\n",
	 "halt_attempted_poll: 10000\nhalt_successful_poll: 9990\nhalt_poll_success_ns: "
	 "1500000000\n"
	 "halt_poll_fail_ns: 2000000\nhalt_wait_ns: 9000000000\n"},
	{"polling-off", "halt_attempted_poll: 0\nhalt_successful_poll: 0\nhalt_wakeup: 5000\n",
	 "halt_attempted_poll: 1\nhalt_successful_poll: 0\nhalt_wakeup: 5000\n"},
	{"invalid-wakeups", "halt_poll_invalid: 300\nhalt_wakeup: 1000\nhalt_successful_poll: 0\n",
	 "halt_poll_invalid: 19\nhalt_wakeup: 100\nhalt_successful_poll: 0\n"},
	{"user-halts", "halt_exits: 5000\nhalt_wakeup: 20\nhalt_successful_poll: 0\n",
	 "halt_exits: 5000\nhalt_wakeup: 2000\nhalt_successful_poll: 600\n"},
	{"user-halts", HEAD "kvm_vcpu_wakeup 10 1.0 1\nkvm_userspace_exit(HLT) 900 9.0 5\n",
	 HEAD "kvm_vcpu_wakeup 10 1.0 1\nkvm_userspace_exit(IO) 900 9.0 5\n"},
	{"ticks", HEAD "kvm_vcpu_wakeup 1000 9.0 99\nkvm_wait_lapic_expire 990 9.0 99\n",
	 HEAD "kvm_vcpu_wakeup 1000 9.0 99\nkvm_wait_lapic_expire 300 9.0 99\n"},
	{"window-still", HEAD "kvm_vcpu_wakeup 5000 9.0 99\nkvm_halt_poll_ns 7 0.0 0\n",
	 HEAD "kvm_vcpu_wakeup 5000 9.0 99\nkvm_halt_poll_ns 51 0.1 0\n"},
	{"window-restless", HEAD "kvm_vcpu_wakeup 5000 9.0 99\nkvm_halt_poll_ns 1400 3.0 9\n",
	 HEAD "kvm_vcpu_wakeup 5000 9.0 99\nkvm_halt_poll_ns 499 1.0 0\n"},
	{"short-halts", PERF "HLT 900 90.00% 90.00% 1.00us 900.00us 40.00us ( +- 1.00% )\n",
	 PERF "HLT 900 90.00% 90.00% 1.00us 900.00us 400.00us ( +- 1.00% )\n"},
	{"halts-minor",
	 PERF "IRQ 900 90.00% 98.00% 1.00us 900.00us 40.00us ( +- 1.00% )\n"
	      "WFx 100 10.00% 2.00% 1.00us 9.00us 8.00us ( +- 1.00% )\n",
	 PERF "IRQ 900 90.00% 90.00% 1.00us 900.00us 40.00us ( +- 1.00% )\n"
	      "WFx 100 10.00% 10.00% 1.00us 90.00us 40.00us ( +- 1.00% )\n"},
	{"halts-past", "Event Total Current\nexits 500000 4000\nhalt_exits 3000 0\n",
	 "Event Total Current\nexits 500000 4000\nhalt_exits 3000 2\n"},
	{"part-of-a-second", HEAD "kvm_exit 100 50.0 400\nkvm_entry 100 50.0 400\nTotal 200 800\n",
	 HEAD "kvm_exit 100 50.0 100\nkvm_entry 100 50.0 100\nTotal 200 200\n"},
	{"rows-missing", HEAD "kvm_exit 100 10.0 4\nTotal 1000 40\n",
	 HEAD "kvm_exit 990 99.0 4\nTotal 1000 40\n"},
	{"contradiction", "halt_attempted_poll: 10\nhalt_successful_poll: 11\n",
	 "halt_attempted_poll: 11\nhalt_successful_poll: 11\n"},
	{"contradiction",
	 "halt_attempted_poll: 900\nhalt_successful_poll: 500\nhalt_poll_success_hist: 0 100 200\n",
	 "halt_attempted_poll: 900\nhalt_successful_poll: 500\nhalt_poll_success_hist: 0 300 "
	 "190\n"},
	{"contradiction",
	 "halt_attempted_poll: 900\nhalt_successful_poll: 500\nhalt_poll_fail_hist: 0 100 200\n",
	 "halt_attempted_poll: 900\nhalt_successful_poll: 500\nhalt_poll_fail_hist: 0 200 200\n"},
	{"contradiction",
	 "halt_attempted_poll: 900\nhalt_successful_poll: 0\nhalt_poll_success_ns: 5\n",
	 "halt_attempted_poll: 900\nhalt_successful_poll: 1\nhalt_poll_success_ns: 5\n"},
	{"contradiction",
	 "halt_attempted_poll: 900\nhalt_successful_poll: 900\nhalt_poll_fail_ns: 5\n",
	 "halt_attempted_poll: 900\nhalt_successful_poll: 899\nhalt_poll_fail_ns: 5\n"},
	{"off-but-polled", "/sys/module/kvm/parameters/halt_poll_ns:0\nhalt_attempted_poll: 1\n",
	 "/sys/module/kvm/parameters/halt_poll_ns:0\nhalt_attempted_poll: 0\n"},
	{"off-but-polled", "halt_poll_success_ns: 900\n/sys/module/kvm/parameters/halt_poll_ns:0\n",
	 "halt_poll_success_ns: 900\n/sys/module/kvm/parameters/halt_poll_ns:1\n"},
	/* What is configured need not be in force. */
	{"off-but-polled", "halt_successful_poll: 9\n/sys/module/kvm/parameters/halt_poll_ns:0\n",
	 "halt_successful_poll: 9\noptions kvm halt_poll_ns=0\n"},
	{"events-lost",
	 PERF "HLT 900 90.00% 90.00% 1.00us 900.00us 40.00us ( +- 1.00% )\nLost events: 3\n",
	 PERF "HLT 900 90.00% 90.00% 1.00us 900.00us 40.00us ( +- 1.00% )\nLost events: 0\n"},
	{"contradiction", PERF "HLT 900 90.00% 90.00% 5.00us 9.00us 40.00us ( +- 1.00% )\n",
	 PERF "HLT 900 90.00% 90.00% 5.00us 40.00us 40.00us ( +- 1.00% )\n"},
	{"contradiction", HEAD "kvm_exit 5000 50.0 4\nTotal 1000 40\n",
	 HEAD "kvm_exit 1010 99.0 4\nTotal 1000 40\n"},
	{"contradiction", HEAD "kvm_exit 500 50.0 4\nkvm_exit(HLT) 600 100.0 4\n",
	 HEAD "kvm_exit 500 50.0 4\nkvm_exit(HLT) 505 100.0 4\n"},
};

static bool fires(const char *text, const char *rule, struct finding *copy)
{
	struct findings findings = {.list = NULL};
	struct read_stats r = read_text(text);
	const struct finding *found;
	bool yes;

	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_int_equal(diagnose_stats(r.stats, NULL, NULL, &findings), 0);
	found = findings_has(&findings, rule);
	yes = found != NULL;
	if (found)
		*copy = *found;
	findings_fini(&findings);
	read_done(&r);
	return yes;
}

static void test_rules(void **state)
{
	struct finding finding;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %zu %s\n", i, rows[i].rule);
		assert_true(fires(rows[i].bad, rows[i].rule, &finding));
		assert_true(finding.subject[0] && finding.evidence[0] && finding.rule->todo[0]);
		assert_false(fires(rows[i].good, rows[i].rule, &finding));
	}
}

static void test_all_covered(void **state)
{
	(void)state;
	for (uint32_t r = 0; r < diagnose_nr_stats_rules; r++) {
		bool covered = false;

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			covered |= !strcmp(rows[i].rule, diagnose_stats_rules[r].rule.name);
		if (!covered)
			fail_msg("no test for %s", diagnose_stats_rules[r].rule.name);
	}
}

/* Polls cut short are that and nothing else: a larger or smaller window is not proposed. */
static void test_cut_short_alone(void **state)
{
	struct finding finding;

	(void)state;
	assert_false(fires(rows[0].bad, "polls-in-vain", &finding));
	assert_false(fires(rows[0].bad, "ceiling-high", &finding));
	assert_true(fires(rows[0].bad, "cut-short", &finding));
	assert_non_null(strstr(finding.evidence, "200ns"));
	assert_null(strstr(finding.rule->todo, "Raise"));
}

/* A rate of the moment rules one cause out: switching off later. */
static void test_off_causes(void **state)
{
	static const char off[] = "/sys/module/kvm/parameters/halt_poll_ns:0\n";
	struct finding finding;
	char text[300];

	(void)state;
	snprintf(text, sizeof(text), "%shalt_attempted_poll: 12\n", off);
	assert_true(fires(text, "off-but-polled", &finding));
	assert_non_null(strstr(finding.evidence, "12 polls"));
	assert_non_null(strstr(finding.evidence, "switched off after"));
	assert_non_null(strstr(finding.evidence, "KVM_CAP_HALT_POLL"));
	snprintf(text, sizeof(text), "%s%shalt_attempted_poll 12 1.0 3\n", off, HEAD);
	assert_true(fires(text, "off-but-polled", &finding));
	assert_null(strstr(finding.evidence, "switched off after"));
	assert_non_null(strstr(finding.evidence, "KVM_CAP_HALT_POLL"));
}

static void test_coarse(void **state)
{
	struct read_stats r = read_text(
		"halt_attempted_poll: 2000\nhalt_successful_poll: 1000\nhalt_poll_success_ns: "
		"12288000\n"
		"halt_poll_fail_ns: 196608000\n"
		"halt_poll_success_hist: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000 0 0 0 0 0\n"
		"halt_poll_fail_hist: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000 0\n");
	const struct diagnose_model model = {10, 20000, 5000};
	struct diagnose_coarse c;

	(void)state;
	diagnose_coarse(&c, &r.sums[0], &model);
	assert_true(c.known && c.has_best);
	assert_int_equal(c.block_ns, 205000);
	assert_int_equal(c.hits, 1000);
	assert_int_equal(c.fails, 1000);
	/* 12.288 ms + 196.608 ms polled, a thousand blocks. */
	assert_int_equal((uint64_t)c.paid_ns, 12288000 + 196608000 + 205000000);
	assert_int_equal((uint64_t)c.none_ns, 410000000);
	/* All successes are below 2^14 ns, so that is what pays: the failures then cost that each.
	 */
	assert_int_equal(c.best_ns, 16384);
	assert_int_equal((uint64_t)c.best_cost_ns, 12288000 + 1000 * 16384 + 205000000);
	assert_int_equal(c.longest_ns, 262144);
	read_done(&r);
	r = read_text("halt_attempted_poll: 2000\nhalt_successful_poll: 1000\n");
	diagnose_coarse(&c, &r.sums[0], NULL);
	assert_false(c.known);
	assert_int_equal(c.block_ns, 133000);
	read_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),		cmocka_unit_test(test_all_covered),
		cmocka_unit_test(test_cut_short_alone), cmocka_unit_test(test_coarse),
		cmocka_unit_test(test_off_causes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Rules about settings: each fires on what it is for and is silent on the nearest sound setting.
#include "tests/unit/stats_fixture.h"

#include "diagnose/stats.h"

#define KVM(name, value)   "/sys/module/kvm/parameters/" name ":" value "\n"
#define GUEST(name, value) "/sys/module/haltpoll/parameters/guest_halt_poll_" name ":" value "\n"
#define IDLE(name, value)  "/sys/devices/system/cpu/cpuidle/current_" name ":" value "\n"
#define POLLING_GUEST	   GUEST("ns", "200000") IDLE("driver", "haltpoll") IDLE("governor", "haltpoll")
#define NONE		   UINT64_MAX

static const struct row {
	const char *rule;
	const char *bad, *good; /* settings that break the rule; the nearest that do not */
	struct diagnose_context bad_context, good_context;
} rows[] = {
	{"bad-value",
	 KVM("halt_poll_ns", "20000O"),
	 KVM("halt_poll_ns", "200000"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"bad-value",
	 KVM("halt_poll_ns", "4294967296"),
	 KVM("halt_poll_ns", "4294967295"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"bad-value",
	 GUEST("ns", "-1"),
	 GUEST("allow_shrink", "Y"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"start-above-ceiling",
	 KVM("halt_poll_ns", "9999") KVM("halt_poll_ns_grow_start", "10000"),
	 KVM("halt_poll_ns", "10000") KVM("halt_poll_ns_grow_start", "10000"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"start-above-ceiling",
	 KVM("halt_poll_ns", "5000") KVM("halt_poll_ns_grow_start", "10000"),
	 KVM("halt_poll_ns", "0") KVM("halt_poll_ns_grow_start", "10000"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"guest-start-above-ceiling",
	 GUEST("ns", "40000") GUEST("grow_start", "50000"),
	 GUEST("ns", "50000") GUEST("grow_start", "50000"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"no-growth",
	 KVM("halt_poll_ns", "200000") KVM("halt_poll_ns_grow", "0"),
	 KVM("halt_poll_ns", "200000") KVM("halt_poll_ns_grow", "2"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"no-growth",
	 KVM("halt_poll_ns", "200000") KVM("halt_poll_ns_grow", "1"),
	 KVM("halt_poll_ns", "0") KVM("halt_poll_ns_grow", "0"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"no-shrinking",
	 KVM("halt_poll_ns_shrink", "1"),
	 KVM("halt_poll_ns_shrink", "2"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"shrink-zero",
	 KVM("halt_poll_ns", "200000") KVM("halt_poll_ns_shrink", "0"),
	 KVM("halt_poll_ns", "0") KVM("halt_poll_ns_shrink", "0"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"allow-shrink-off",
	 GUEST("ns", "200000") GUEST("allow_shrink", "N"),
	 GUEST("ns", "200000") GUEST("allow_shrink", "Y"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"both-poll",
	 POLLING_GUEST KVM("halt_poll_ns", "200000"),
	 POLLING_GUEST KVM("halt_poll_ns", "0"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	/* Parameters alone do not show that the guest polls: its governor does. */
	{"both-poll",
	 POLLING_GUEST KVM("halt_poll_ns", "200000"),
	 GUEST("ns", "200000") KVM("halt_poll_ns", "200000"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	/* One machine's own parameters are for its guests, not for itself. */
	{"both-poll",
	 GUEST("ns", "200000") IDLE("driver", "acpi_idle") IDLE("governor", "haltpoll")
		 KVM("halt_poll_ns", "200000"),
	 POLLING_GUEST KVM("halt_poll_ns", "200000"),
	 {NONE, NONE, NONE, true},
	 {NONE, NONE, NONE, true}},
	{"guest-inactive",
	 GUEST("ns", "2400000") IDLE("driver", "intel_idle") IDLE("governor", "menu"),
	 GUEST("ns", "2400000") IDLE("driver", "haltpoll") IDLE("governor", "haltpoll"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"guest-inactive",
	 GUEST("ns", "2400000") IDLE("driver", "none"),
	 GUEST("ns", "2400000"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	/* The kernel's own default is nobody's choice. */
	{"guest-inactive",
	 GUEST("ns", "200001") IDLE("driver", "none") IDLE("governor", "menu"),
	 GUEST("ns", "200000") IDLE("driver", "none") IDLE("governor", "menu"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"guest-zero",
	 GUEST("ns", "0") IDLE("driver", "haltpoll"),
	 GUEST("ns", "0") IDLE("driver", "none"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"not-in-force",
	 "options kvm halt_poll_ns=400000\n" KVM("halt_poll_ns", "200000"),
	 "options kvm halt_poll_ns=200000\n" KVM("halt_poll_ns", "200000"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"not-in-force",
	 "quiet kvm.halt_poll_ns=0 ro\n" KVM("halt_poll_ns", "200000"),
	 "quiet kvm.halt_poll_ns=0 ro\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"configured-twice",
	 "options kvm halt_poll_ns=400000\nquiet kvm.halt_poll_ns=0\n",
	 "options kvm halt_poll_ns=400000\nquiet kvm.halt_poll_ns=400000\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"guest-unreached",
	 "options haltpoll guest_halt_poll_ns=200000\n",
	 "quiet haltpoll.guest_halt_poll_ns=200000\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	/* What is configured is judged like what is in force, where that is not known. */
	{"bad-value",
	 "options haltpoll guest_halt_poll_ns=2ms\n",
	 "options haltpoll guest_halt_poll_ns=2000000\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"guest-start-above-ceiling",
	 "options haltpoll guest_halt_poll_ns=40000 guest_halt_poll_grow_start=50000\n",
	 "options haltpoll guest_halt_poll_ns=50000 guest_halt_poll_grow_start=50000\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"guest-start-above-ceiling",
	 "options haltpoll guest_halt_poll_ns=40000 guest_halt_poll_grow_start=50000\n",
	 GUEST("ns", "200000") "options haltpoll guest_halt_poll_ns=40000 "
			       "guest_halt_poll_grow_start=50000\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"start-above-ceiling",
	 "options kvm halt_poll_ns=5000\n" KVM("halt_poll_ns_grow_start", "10000"),
	 "options kvm halt_poll_ns=10000\n" KVM("halt_poll_ns_grow_start", "10000"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"no-growth",
	 "quiet haltpoll.guest_halt_poll_ns=200000 haltpoll.guest_halt_poll_grow=1\n",
	 "quiet haltpoll.guest_halt_poll_ns=200000 haltpoll.guest_halt_poll_grow=2\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"allow-shrink-off",
	 "options haltpoll guest_halt_poll_allow_shrink=off\n",
	 "options haltpoll guest_halt_poll_allow_shrink=on\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"allow-shrink-off",
	 "options haltpoll guest_halt_poll_allow_shrink=n\n",
	 "options haltpoll guest_halt_poll_allow_shrink=y\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"guest-inactive",
	 "options haltpoll guest_halt_poll_ns=2400000\n" IDLE("governor", "menu"),
	 "options haltpoll guest_halt_poll_ns=2400000\n" IDLE("governor", "haltpoll"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"guest-zero",
	 "options haltpoll guest_halt_poll_ns=0\n" IDLE("driver", "haltpoll"),
	 "options haltpoll guest_halt_poll_ns=1\n" IDLE("driver", "haltpoll"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"tick-under-ceiling",
	 "options haltpoll guest_halt_poll_ns=2400000\nCONFIG_HZ=1000\n",
	 "options haltpoll guest_halt_poll_ns=2400000\nCONFIG_HZ=250\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"tick-under-ceiling",
	 GUEST("ns", "2400000") "CONFIG_HZ=1000\n",
	 GUEST("ns", "2400000") "CONFIG_HZ=250\n",
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"tick-under-ceiling",
	 KVM("halt_poll_ns", "1000000"),
	 KVM("halt_poll_ns", "999999"),
	 {NONE, 1000000, NONE, false},
	 {NONE, 1000000, NONE, false}},
	{"tick-under-ceiling",
	 KVM("halt_poll_ns", "1000000"),
	 KVM("halt_poll_ns", "1000000"),
	 {NONE, 1000000, NONE, false},
	 {NONE, 4000000, NONE, false}},
	{"ceiling-above-1ms",
	 KVM("halt_poll_ns", "1000000"),
	 KVM("halt_poll_ns", "999999"),
	 {NONE, NONE, NONE, false},
	 {NONE, NONE, NONE, false}},
	{"vm-ceiling",
	 KVM("halt_poll_ns", "200000"),
	 KVM("halt_poll_ns", "200000"),
	 {0, NONE, NONE, false},
	 {200000, NONE, NONE, false}},
};

static bool fires(const char *text, const struct diagnose_context *context, const char *rule,
		  struct finding *copy)
{
	struct findings findings = {.list = NULL};
	struct read_stats r = read_text(text);
	const struct finding *found;
	bool yes;

	assert_int_equal(r.error, 0);
	diagnose_settings(r.stats, context, &findings);
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
		const struct row *row = &rows[i];

		print_message("# %zu %s\n", i, row->rule);
		assert_true(fires(row->bad, &row->bad_context, row->rule, &finding));
		assert_true(finding.subject[0] && finding.evidence[0] && finding.rule->todo[0]);
		assert_false(fires(row->good, &row->good_context, row->rule, &finding));
	}
}

/* A finding that rests on what is configured says so. */
static void test_configured_says_so(void **state)
{
	const struct diagnose_context none = {NONE, NONE, NONE, false};
	struct finding finding;

	(void)state;
	assert_true(fires("options kvm halt_poll_ns_shrink=1\n", &none, "no-shrinking", &finding));
	assert_non_null(strstr(finding.evidence, "what is in force is not listed"));
	assert_true(fires(KVM("halt_poll_ns_shrink", "1"), &none, "no-shrinking", &finding));
	assert_null(strstr(finding.evidence, "not listed"));
}

/* Every rule of the table has a row above. */
static void test_all_covered(void **state)
{
	(void)state;
	for (uint32_t r = 0; r < diagnose_nr_settings_rules; r++) {
		bool covered = false;

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			covered |= !strcmp(rows[i].rule, diagnose_settings_rules[r].rule.name);
		if (!covered)
			fail_msg("no test for %s", diagnose_settings_rules[r].rule.name);
	}
}

/* Mainline's defaults, as host and as guest, are nothing to complain about. */
static void test_defaults_are_clean(void **state)
{
	struct findings findings = {.list = NULL};
	struct read_stats r = read_text(KVM("halt_poll_ns", "200000") KVM("halt_poll_ns_grow", "2")
						KVM("halt_poll_ns_grow_start", "10000")
							KVM("halt_poll_ns_shrink", "2"));

	(void)state;
	diagnose_settings(r.stats, NULL, &findings);
	assert_int_equal(findings.nr, 0);
	read_done(&r);
	r = read_text(POLLING_GUEST GUEST("grow", "2") GUEST("grow_start", "50000")
			      GUEST("shrink", "2") GUEST("allow_shrink", "Y"));
	diagnose_settings(r.stats, NULL, &findings);
	assert_int_equal(findings.nr, 0);
	read_done(&r);
	findings_fini(&findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_all_covered),
		cmocka_unit_test(test_configured_says_so),
		cmocka_unit_test(test_defaults_are_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Parameters of several hosts, or of one at several times, in one file: never one mixed list.
#include "tests/unit/stats_fixture.h"

#include "diagnose/stats.h"

#define KVM(name, value)   "/sys/module/kvm/parameters/" name ":" value "\n"
#define GUEST(name, value) "/sys/module/haltpoll/parameters/guest_halt_poll_" name ":" value "\n"
#define IDLE(name, value)  "/sys/devices/system/cpu/cpuidle/current_" name ":" value "\n"
#define CEILING		   "halt_poll_ns"
#define START		   "halt_poll_ns_grow_start"

/* The findings of a text; freed by the caller. */
static struct findings judge(const struct read_stats *r)
{
	struct findings findings = {.list = NULL};

	assert_int_equal(r->error, 0);
	diagnose_settings(r->stats, NULL, &findings);
	return findings;
}

/* Two hosts, told apart by prompts, headings, blank lines or nothing; B starts above its ceiling.
 */
static void test_two_hosts(void **state)
{
	static const struct {
		const char *text, *label;
		uint64_t line;	 /* where the second list begins */
		bool two_values; /* no prompt says that they are two hosts */
	} rows[] = {
		{"root@a:~# grep . /sys/module/kvm/parameters/*\n" KVM(CEILING, "200000") KVM(
			 START,
			 "10000") "[root@b ~]# grep . /sys/module/kvm/parameters/*\n" KVM(CEILING,
											  "5000")
			 KVM(START, "10000"),
		 "b", 5, false},
		{"a:" KVM(CEILING, "200000") "a:" KVM(START, "10000") "b:" KVM(
			 CEILING, "5000") "b:" KVM(START, "10000"),
		 "b", 3, false},
		{"=== east ===\n" KVM(CEILING, "200000") KVM(START, "10000") "=== west ===\n" KVM(
			 CEILING, "5000") KVM(START, "10000"),
		 "west", 5, true},
		{KVM(CEILING, "200000") KVM(START, "10000") "\n" KVM(CEILING, "5000")
			 KVM(START, "10000"),
		 "list at line 4", 4, true},
		/* What comes first in a list need not be what repeats. */
		{KVM(CEILING, "200000") KVM(START, "10000") "then\n" KVM("enable_pmu", "Y")
			 KVM(START, "10000") KVM(CEILING, "5000"),
		 "then", 4, true},
		/* Values that both have do not hide the ones that differ. */
		{KVM("enable_pmu", "Y") KVM(CEILING, "200000") KVM(START, "10000")
			 KVM("enable_pmu", "Y") KVM(CEILING, "5000") KVM(START, "10000"),
		 "list at line 4", 4, true},
		{"==> /sys/module/kvm/parameters/" CEILING " <==\n200000\n\n"
		 "==> /sys/module/kvm/parameters/" START " <==\n10000\n\n"
		 "==> /sys/module/kvm/parameters/" CEILING " <==\n5000\n\n"
		 "==> /sys/module/kvm/parameters/" START " <==\n10000\n",
		 "list at line 8", 8, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct read_stats r = read_text(rows[i].text);
		struct findings findings = judge(&r);
		const struct finding *start = findings_has(&findings, "start-above-ceiling");
		char line[32];

		print_message("# %zu\n", i);
		assert_int_equal(r.stats->nr_sets, 2);
		assert_string_equal(r.stats->sets[1].label, rows[i].label);
		assert_int_equal(r.nr_reports, 1);
		snprintf(line, sizeof(line), "f: line %d: ", (int)rows[i].line);
		assert_reported(&r, line);
		assert_reported(&r, "\"200000\"");
		assert_reported(&r, "\"5000\"");
		assert_int_equal(r.stats->damaged, 0);
		/* Which of the two holds nobody knows. */
		assert_string_equal(setting(&r, "kvm", CEILING), "(none)");
		assert_non_null(start);
		assert_non_null(strstr(start->subject, rows[i].label));
		assert_int_equal(findings_has(&findings, "two-values") != NULL, rows[i].two_values);
		findings_fini(&findings);
		read_done(&r);
	}
}

/* What only one of two hosts has is not the other's. */
static void test_not_mixed(void **state)
{
	static const char *const texts[] = {
		"east\n" KVM(CEILING, "200000") KVM(START, "10000") "west\n" KVM(CEILING, "5000"),
		/* No name comes twice, but the prompts are of two hosts. */
		"a: " KVM(START, "10000") "b: " KVM(CEILING, "5000"),
		"a | CHANGED | rc=0 >>\n" KVM(START, "10000") "b | CHANGED | rc=0 >>\n" KVM(CEILING,
											    "5000"),
		"$ ssh root@a cat /sys/module/kvm/parameters/" START "\n10000\n"
		"$ ssh root@b cat /sys/module/kvm/parameters/" CEILING "\n5000\n",
		"a# cat /sys/module/kvm/parameters/" START "\n10000\n"
		"b# cat /sys/module/kvm/parameters/" CEILING "\n5000\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct read_stats r = read_text(texts[i]);
		struct findings findings = judge(&r);

		print_message("# %zu\n", i);
		assert_int_equal(r.stats->nr_sets, 2);
		assert_null(findings_has(&findings, "start-above-ceiling"));
		findings_fini(&findings);
		read_done(&r);
	}
}

/* One question, "cat PATH", that several hosts answer; c has nothing to say. */
static void test_answers(void **state)
{
#define PATH "/sys/module/kvm/parameters/" CEILING
	static const char *const texts[] = {
		"$ pdsh -w a,b,c cat " PATH "\n"
		"c: cat: " PATH ": No such file or directory\na: 200000\nb: 0\nhalt_exits: 12\n",
		"$ ansible all -a 'cat " PATH "'\na | CHANGED | rc=0 >>\n200000\n"
		"c | FAILED | rc=1 >>\ncat: " PATH ": No such file or directory\n"
		"b | CHANGED | rc=0 >>\n0\nhalt_exits: 12\n",
		"$ ssh a cat " PATH "\n200000\n$ ssh c cat " PATH "\ncat: " PATH
		": No such file or directory\n$ ssh -4 -p 22 root@b cat " PATH "\n0\n"
		"halt_exits: 12\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct read_stats r = read_text(texts[i]);

		print_message("# %zu\n", i);
		assert_int_equal(r.error, 0);
		assert_int_equal(r.stats->nr_sets, 2);
		assert_int_equal(r.stats->nr_settings, 2);
		assert_string_equal(r.stats->sets[0].label, "a");
		assert_string_equal(r.stats->settings[0].value, "200000");
		assert_string_equal(r.stats->sets[1].label, "b");
		assert_string_equal(r.stats->settings[1].value, "0");
		assert_reported(&r, "could not be read");
		assert_int_equal(r.stats->damaged, 1);
		assert_int_equal(total(&r, 0, "halt_exits"), 12);
		read_done(&r);
	}
#undef PATH
}

/* The same values again, or a host and its guest: one list. */
static void test_one_list(void **state)
{
	static const char *const texts[] = {
		KVM(CEILING, "5000") KVM(START, "10000") "\nagain\n" KVM(CEILING, "5000")
			KVM(START, "10000"),
		KVM(CEILING, "5000") KVM(CEILING, "5000") KVM(CEILING, "5000") KVM(START, "10000"),
		KVM(CEILING, "5000") "some words in between.\n" KVM(START, "10000"),
		"root@host:~# cat /sys/module/kvm/parameters/" CEILING "\n5000\n"
		"root@host:~# cat /sys/module/kvm/parameters/" START "\n10000\n"
		"root@guest:~# cat /sys/module/haltpoll/parameters/guest_halt_poll_ns\n7\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct read_stats r = read_text(texts[i]);
		struct findings findings = judge(&r);

		print_message("# %zu\n", i);
		assert_int_equal(r.stats->nr_sets, 1);
		assert_int_equal(r.nr_reports, 0);
		assert_string_equal(setting(&r, "kvm", CEILING), "5000");
		assert_int_equal(findings.nr, 1);
		assert_non_null(findings_has(&findings, "start-above-ceiling"));
		findings_fini(&findings);
		read_done(&r);
	}
}

/* A host and its guest, both with an idle driver: apart, but for the rule about both. */
static void test_host_and_guest(void **state)
{
	static const char *const texts[] = {
		"host# grep .\n" KVM(CEILING, "200000") IDLE("driver", "intel_idle")
			IDLE("governor", "menu") "guest# grep .\n" GUEST("ns", "200000")
				IDLE("driver", "none") IDLE("governor", "haltpoll"),
		"host# grep .\n" KVM(CEILING, "0") IDLE("driver", "intel_idle")
			IDLE("governor", "menu") "guest# grep .\n" GUEST("ns", "200000")
				IDLE("driver", "none") IDLE("governor", "haltpoll"),
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct read_stats r = read_text(texts[i]);
		struct findings findings = judge(&r);

		assert_int_equal(r.stats->nr_sets, 2);
		assert_int_equal(findings_has(&findings, "both-poll") != NULL, i == 0);
		findings_fini(&findings);
		read_done(&r);
	}
}

/* What a program says of a file it could not read comes of no host, and is no value. */
static void test_complaints(void **state)
{
	struct read_stats r = read_text(
		"cat: /sys/module/kvm/parameters/" START ": No such file or directory\n"
		"busybox: /sys/module/kvm/parameters/" START ": Permission denied\n" KVM(
			CEILING, "5000") "grep: /sys/module/kvm/parameters/x: Is a directory\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_sets, 1);
	assert_int_equal(r.stats->nr_settings, 1);
	assert_false(r.stats->sets[0].host);
	read_done(&r);
}

/* Twice with two values: both are said, and none is taken. */
static void test_duplicate(void **state)
{
	struct read_stats r = read_text("halt_poll_ns: 1\nhalt_poll_ns: 40000\n");
	struct findings findings = judge(&r);
	const struct finding *two = findings_has(&findings, "two-values");

	(void)state;
	assert_non_null(two);
	assert_non_null(strstr(two->evidence, "1 in line 1 and 40000 in line 2"));
	assert_reported(&r, "f: line 2: ");
	assert_string_equal(setting(&r, "kvm", CEILING), "(none)");
	findings_fini(&findings);
	read_done(&r);
}

/* Written in between: the last holds, and the first is not forgotten. */
static void test_written(void **state)
{
	static const char *const commands[] = {
		"# echo 5000 > /sys/module/kvm/parameters/halt_poll_ns\n",
		"$ echo 5000 | sudo tee /sys/module/kvm/parameters/halt_poll_ns\n",
	};
	char text[400];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct read_stats r;
		struct findings findings;

		snprintf(text, sizeof(text), "%s%s%s%s", KVM(CEILING, "200000"),
			 KVM(START, "10000"), commands[i], KVM(CEILING, "5000"));
		r = read_text(text);
		findings = judge(&r);
		assert_int_equal(r.stats->nr_sets, 1);
		assert_string_equal(setting(&r, "kvm", CEILING), "5000");
		assert_reported(&r,
				"f: line 4: kvm.halt_poll_ns is \"5000\" here and \"200000\" in "
				"line 1");
		assert_non_null(findings_has(&findings, "start-above-ceiling"));
		assert_null(findings_has(&findings, "two-values"));
		findings_fini(&findings);
		read_done(&r);
	}
}

/* Statistics beside two lists are of one of the two hosts: no rule may choose. */
static void test_summary(void **state)
{
	struct read_stats r = read_text(
		KVM(CEILING, "0") KVM(CEILING, "200000") "halt_attempted_poll: 5000\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_true(r.sums[0].halt_poll_ns == STATS_UNKNOWN);
	read_done(&r);
}

/* More lists than are told apart: said, and nothing of them is mixed in. */
static void test_many(void **state)
{
	char text[8192];
	size_t used = 0;
	struct read_stats r;

	(void)state;
	for (int i = 0; i < 40; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, KVM(CEILING, "%d"), i);
	r = read_text(text);
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_sets, STATS_SETS_MAX);
	assert_int_equal(r.stats->damaged, 40 - STATS_SETS_MAX);
	assert_reported(&r, "more than 16 lists");
	for (uint32_t i = 0; i < r.stats->nr_settings; i++)
		assert_true(r.stats->settings[i].set < STATS_SETS_MAX);
	read_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_hosts),      cmocka_unit_test(test_not_mixed),
		cmocka_unit_test(test_one_list),       cmocka_unit_test(test_duplicate),
		cmocka_unit_test(test_written),	       cmocka_unit_test(test_summary),
		cmocka_unit_test(test_many),	       cmocka_unit_test(test_complaints),
		cmocka_unit_test(test_host_and_guest), cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

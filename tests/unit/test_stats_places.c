// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Whose value a listed path is: of the host, a VM, a vCPU, an idle state of a CPU, and of when.
#include "tests/unit/stats_fixture.h"

static void test_debugfs(void **state)
{
	struct read_stats r = read_text("/sys/kernel/debug/kvm/halt_exits:1000\n"
					"/sys/kernel/debug/kvm/812-14/halt_exits:600\n"
					"/sys/kernel/debug/kvm/812-14/vcpu0/tsc-offset:77\n"
					"/sys/kernel/debug/kvm/812-14/vcpu1/tsc-offset:78\n"
					"/sys/kernel/debug/kvm/900-14/halt_exits:400\n"
					"/sys/kernel/debug/kvm/812-14/halt_wakeup:500\n"
					"/sys/kernel/debug/kvm/900-14/halt_wakeup:(error)\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->kinds, STATS_COUNTERS);
	assert_int_equal(r.stats->nr_scopes, 5);
	assert_string_equal(r.stats->scopes[1].label, "VM 812-14");
	assert_string_equal(r.stats->scopes[2].label, "VM 812-14 vCPU 0");
	assert_int_equal(total(&r, 0, "halt_exits"), 1000);
	assert_int_equal(total(&r, 1, "halt_exits"), 600);
	assert_int_equal(total(&r, 1, "halt_wakeup"), 500);
	assert_int_equal(total(&r, 4, "halt_exits"), 400);
	assert_null(stats_find(r.stats, 4, "halt_wakeup"));
	assert_reported(&r, "f: line 7: halt_wakeup: \"(error)\" is no number");
	read_done(&r);
}

/* The same counters again are of another time or host: never the last of each. */
static void test_again(void **state)
{
	struct read_stats r = read_text("/sys/kernel/debug/kvm/halt_exits:1000\n"
					"/sys/kernel/debug/kvm/halt_wakeup:600\n"
					"/sys/kernel/debug/kvm/halt_exits:1500\n"
					"/sys/kernel/debug/kvm/halt_wakeup:700\n");

	(void)state;
	assert_int_equal(r.stats->nr_scopes, 2);
	assert_string_equal(r.stats->scopes[0].label, "host, line 1");
	assert_int_equal(r.stats->scopes[0].nr_values, 2);
	assert_int_equal(total(&r, 0, "halt_wakeup"), 600);
	assert_string_equal(r.stats->scopes[1].label, "host");
	assert_int_equal(total(&r, 1, "halt_exits"), 1500);
	assert_int_equal(total(&r, 1, "halt_wakeup"), 700);
	read_done(&r);
	/* Of several hosts at once, in the order they answered. */
	r = read_text("a: /sys/kernel/debug/kvm/halt_exits:1000\n"
		      "b: /sys/kernel/debug/kvm/halt_exits:1500\n"
		      "a: /sys/kernel/debug/kvm/halt_wakeup:600\n");
	assert_int_equal(r.stats->nr_scopes, 2);
	assert_string_equal(r.stats->scopes[1].label, "b: host");
	assert_int_equal(total(&r, 0, "halt_wakeup"), 600);
	read_done(&r);
}

/* Idle states are each CPU's own. */
static void test_idle_states(void **state)
{
	struct read_stats r = read_text("/sys/devices/system/cpu/cpu0/cpuidle/state1/usage:5\n"
					"/sys/devices/system/cpu/cpu0/cpuidle/state2/usage:6\n"
					"/sys/devices/system/cpu/cpu11/cpuidle/state1/usage:7\n"
					"cpu11/cpuidle/state1/s2idle/usage:8\n"
					"/sys/devices/system/cpu/cpuidle/current_driver:none\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_int_equal(r.stats->nr_sets, 1);
	assert_string_equal(setting(&r, "cpuidle", "cpu0/state1/usage"), "5");
	assert_string_equal(setting(&r, "cpuidle", "cpu0/state2/usage"), "6");
	assert_string_equal(setting(&r, "cpuidle", "cpu11/state1/usage"), "7");
	assert_string_equal(setting(&r, "cpuidle", "cpu11/state1/s2idle/usage"), "8");
	assert_string_equal(setting(&r, "cpuidle", "current_driver"), "none");
	read_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debugfs),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_idle_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt inspect as a command: what it prints of each kind of file, and its exit codes.
#include "tests/unit/command_run.h"

#include <jansson.h>

/* The command is not in the library of parts: its files are built in here. */
#include "tool/options.c"
#include "tool/diagnose_print.c"
#include "tool/stats_print.c"
#undef DURATION
#include "tool/inspect_trace.c"
#include "tool/cmd_inspect.c"

/* One file of each kind: is it named, and is its point made? */
static void test_inspect(void **state)
{
	static const struct {
		const char *name, *text, *says[4];
	} files[] = {
		{"windows",
		 "5000: kvm_halt_poll_ns: vcpu 3: halt_poll_ns 10000 (grow 0)\n"
		 "6000: kvm_halt_poll_ns: vcpu 3: halt_poll_ns 20000 (grow 10000)\n"
		 "7000: kvm_halt_poll_ns: vcpu 3: halt_poll_ns 0 (shrink 20000)\n",
		 {"text", "3 steps of vCPU 3, 0 to 20000 ns", "nothing to replay",
		  "no wake-ups (kvm_vcpu_wakeup)"}},
		{"user",
		 "  vm x-71 [000] .... 8.000001: kvm_exit: reason HLT rip 0x1 info 0 0\n"
		 "  vm x-71 [000] .... 8.000002: kvm_userspace_exit: reason KVM_EXIT_HLT (5)\n"
		 "  vm x-71 [000] d..1 8.000009: kvm_entry: vcpu 0\n",
		 {"ftrace text", "before 5.10", "[user-halts]", "nothing to replay"}},
		{"table",
		 " Event                 Total Current\n"
		 " halt_attempted_poll    6000       9\n"
		 " halt_successful_poll   1500       2\n",
		 {"kvm_stat table", "25.0 %", "[few-hits]", "it cannot be replayed"}},
		{"perf",
		 "Analyze events for all VMs, VCPU 2:\n\n VM-EXIT Samples Samples% Time% Min Time "
		 "Max "
		 "Time Avg time\n\n HLT 700 100.00% 100.00% 1.00us 90.00us 30.00us ( +- 1.00% )\n",
		 {"perf kvm stat report", "all VMs, VCPU 2", "30us on average", "[short-halts]"}},
		{"modinfo",
		 "parm:           halt_poll_ns:uint\n",
		 {"modinfo", "not their values", "shows nothing", NULL}},
		{"mixed",
		 "/sys/module/kvm/parameters/halt_poll_ns:5000\n"
		 "/sys/module/kvm/parameters/halt_poll_ns_grow_start:10000\n"
		 "  vm-71 [000] .... 8.000009: kvm_vcpu_wakeup: wait time 30 ns, polling valid\n",
		 {"ftrace text", "halts      1 of", "parameter listing", "[start-above-ceiling]"}},
		{"cut",
		 "kvm_exit            4000000   50.0    16000\nkvm_entry           4000000   50.0  "
		 "  1",
		 {"kvm_stat table", "damaged    1 left out",
		  "line 2: the file ends within this row", "no newline"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct run r = run(cmd_inspect, write_file(files[i].name, files[i].text), NULL);

		print_message("# %s\n", files[i].name);
		assert_int_equal(r.code, 0);
		assert_string_equal(r.err, "");
		for (int s = 0; s < 4 && files[i].says[s]; s++)
			assert_says(r.out, files[i].says[s]);
	}
}

static void test_inspect_refuses(void **state)
{
	struct run r = run(cmd_inspect, write_file("prose", "Dear all,\nhello.\n"), NULL);

	(void)state;
	assert_int_equal(r.code, 1);
	assert_says(r.out, "not read");
	r = run(cmd_inspect, write_file("empty", ""), NULL);
	assert_int_equal(r.code, 1);
	assert_says(r.out, "empty");
	r = run(cmd_inspect, "/nonexistent/file", NULL);
	assert_int_equal(r.code, 1);
	r = run(cmd_inspect, test_folder, NULL);
	assert_int_equal(r.code, 1);
	r = run(cmd_inspect, NULL, NULL);
	assert_int_equal(r.code, 2);
}

static void test_inspect_json(void **state)
{
	const char *path = write_file("json", "halt_exits: 12\nhalt_poll_fail_hist: 0 3\n");
	struct run r = run(cmd_inspect, "--json", path);
	json_t *root = json_loads(r.out, 0, NULL), *file;

	(void)state;
	assert_int_equal(r.code, 0);
	assert_non_null(root);
	file = json_array_get(json_object_get(root, "files"), 0);
	assert_string_equal(json_string_value(json_object_get(file, "path")), path);
	assert_true(json_is_true(json_object_get(file, "recognised")));
	assert_int_equal(json_array_size(json_object_get(file, "counters")), 2);
	assert_non_null(json_object_get(file, "findings"));
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inspect),
		cmocka_unit_test(test_inspect_refuses),
		cmocka_unit_test(test_inspect_json),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

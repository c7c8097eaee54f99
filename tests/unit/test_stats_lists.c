// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Lists of parameters and counters, in all the ways shells, tools and monitors print them.
#include "tests/unit/stats_fixture.h"

#include <errno.h>

static void test_grep(void **state)
{
	struct read_stats r = read_text(
		"/sys/module/kvm/parameters/halt_poll_ns:50000\n"
		"/sys/module/kvm/parameters/halt_poll_ns_shrink:4\n"
		"/sys/module/kvm/parameters/made_up_by_a_vendor:-7\n"
		"/sys/module/kvm/parameters/nx_huge_pages:off, by hand\n"
		"/sys/module/haltpoll/parameters/guest_halt_poll_ns:300000\n"
		"/sys/devices/system/cpu/cpuidle/available_governors:menu teo \n"
		"/sys/devices/system/cpu/cpuidle/current_governor:menu\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_int_equal(r.stats->kinds, STATS_SETTINGS);
	assert_int_equal(r.stats->nr_settings, 7);
	assert_string_equal(setting(&r, "kvm", "halt_poll_ns"), "50000");
	/* Unknown ones are kept. */
	assert_string_equal(setting(&r, "kvm", "made_up_by_a_vendor"), "-7");
	assert_string_equal(setting(&r, "kvm", "nx_huge_pages"), "off, by hand");
	assert_string_equal(setting(&r, "haltpoll", "guest_halt_poll_ns"), "300000");
	assert_string_equal(setting(&r, "cpuidle", "current_governor"), "menu");
	assert_int_equal(stats_setting(r.stats, "kvm", "halt_poll_ns")->place, 1);
	read_done(&r);
}

static void test_tail(void **state)
{
	struct read_stats r = read_text(
		"# tail -n +1 /sys/module/kvm/parameters/*\r\n"
		"==> /sys/module/kvm/parameters/enable_pmu <==\r\nY\r\n\r\n"
		"==> /sys/module/kvm/parameters/halt_poll_ns <==\r\n70000\r\n\r\n"
		"==> /sys/module/kvm/parameters/halt_poll_ns_grow <==\r\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_string_equal(setting(&r, "kvm", "enable_pmu"), "Y");
	assert_string_equal(setting(&r, "kvm", "halt_poll_ns"), "70000");
	assert_string_equal(setting(&r, "kvm", "halt_poll_ns_grow"), "(none)");
	assert_reported(&r, "no value follows");
	read_done(&r);
}

/* One layout a row: what becomes of halt_poll_ns. */
static void test_layouts(void **state)
{
	static const char *const texts[] = {
		"/sys/module/kvm/parameters/halt_poll_ns:40000\n",
		"/sys/module/kvm/parameters/halt_poll_ns: 40000\n",
		"/sys/module/kvm/parameters/halt_poll_ns=40000\n",
		"/sys/module/kvm/parameters/halt_poll_ns 40000\n",
		"module/kvm/parameters/halt_poll_ns\t40000\n",
		"kvm/parameters/halt_poll_ns:40000\n",
		"halt_poll_ns: 40000\n",
		"halt_poll_ns = 40000\n",
		"halt_poll_ns=40000\n",
		"halt_poll_ns:40000\n",
		"    halt_poll_ns        = \"40000\"\n",
		"halt_poll_ns 40000\n",
		"> /sys/module/kvm/parameters/halt_poll_ns:40000\r\n",
		"$ cat /sys/module/kvm/parameters/halt_poll_ns\n40000\n",
		"root@host:~# cat /sys/module/kvm/parameters/halt_poll_ns\n40000\n",
		"/sys/module/kvm/parameters/halt_poll_ns\n40000\n",
		"Some words before it.\n\nhalt_poll_ns: 40000\nand after.\n",
		"/sys/module/kvm/parameters/halt_poll_ns:40000",
		"\033[35m/sys/module/kvm/parameters/halt_poll_ns\033[m\033[36m:\033[m40000\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct read_stats r = read_text(texts[i]);

		print_message("# %zu\n", i);
		assert_int_equal(r.error, 0);
		assert_string_equal(setting(&r, "kvm", "halt_poll_ns"), "40000");
		assert_int_equal(r.nr_reports, 0);
		read_done(&r);
	}
}

static void test_configured(void **state)
{
	struct read_stats r = read_text(
		"options kvm halt_poll_ns=400000 nx_huge_pages=off\n"
		"BOOT_IMAGE=/vmlinuz root=/dev/sda kvm.halt_poll_ns_shrink=2 "
		"cpuidle_haltpoll.force=1 net.ifnames=0 quiet\n"
		"CONFIG_HZ=1000\n"
		"/sys/module/kvm/parameters/halt_poll_ns:200000\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_settings, 6);
	assert_true(r.stats->settings[0].configured);
	assert_string_equal(r.stats->settings[0].value, "400000");
	assert_string_equal(r.stats->settings[2].name, "halt_poll_ns_shrink");
	assert_string_equal(r.stats->settings[3].module, "cpuidle_haltpoll");
	assert_true(r.stats->settings[0].modprobe);
	assert_false(r.stats->settings[2].modprobe);
	/* In force is what sysfs has. */
	assert_string_equal(setting(&r, "kvm", "halt_poll_ns"), "200000");
	assert_string_equal(setting(&r, "kvm", "halt_poll_ns_shrink"), "(none)");
	assert_string_equal(setting(&r, "config", "CONFIG_HZ"), "1000");
	read_done(&r);
	/* Quoted, and with the other dash: the same to the kernel. */
	r = read_text("options kvm halt-poll-ns=\"400000\"\n");
	assert_int_equal(r.error, 0);
	assert_string_equal(r.stats->settings[0].name, "halt_poll_ns");
	assert_string_equal(r.stats->settings[0].value, "400000");
	read_done(&r);
	/* A backslash makes the next line part of this one, and of no other. */
	r = read_text("options kvm halt_poll_ns=400000 \\\n  halt_poll_ns_grow=4\\\n"
		      "halt_poll_ns_shrink=3\nhalt_poll_ns_grow_start=5\n");
	assert_int_equal(r.stats->nr_settings, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(r.stats->settings[i].modprobe, i < 3);
	assert_string_equal(r.stats->settings[1].module, "kvm");
	assert_string_equal(r.stats->settings[1].value, "4");
	assert_string_equal(r.stats->settings[2].value, "3");
	read_done(&r);
}

/* modinfo says which parameters there are: no value of it may be made up. */
static void test_modinfo(void **state)
{
	struct read_stats r = read_text(
		"filename:       /lib/modules/6.1.0-18-amd64/kernel/kvm.ko\n"
		"license:        GPL\n"
		"vermagic:       6.1.0-18-amd64 SMP preempt mod_unload\n"
		"parm:           halt_poll_ns:uint\n"
		"parm:           halt_poll_ns_grow:uint\n");
	struct stats_kernel kernel;

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->kinds, STATS_MODINFO);
	assert_int_equal(r.stats->nr_settings, 0);
	stats_guess_kernel(&kernel, r.stats);
	assert_string_equal(kernel.text, "6.1.0-18-amd64");
	read_done(&r);
}

static void test_decoded(void **state)
{
	struct read_stats r = read_text("halt_successful_poll: 30\n"
					"halt_attempted_poll: 100\n"
					"halt_poll_success_ns: 900000\n"
					"halt_poll_fail_ns: 3500000\n"
					"halt_poll_fail_hist: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 20 50\n"
					"something_new: 5\n"
					"halt_wakeup: 18446744073709551615\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.sums[0].attempted, 100);
	assert_int_equal(r.sums[0].fail_ns, 3500000);
	assert_non_null(r.sums[0].fail_hist);
	assert_int_equal(r.sums[0].fail_hist->nr, 17);
	assert_int_equal(r.sums[0].fail_hist->bucket[16], 50);
	assert_int_equal(total(&r, 0, "something_new"), 5);
	assert_int_equal(stats_find(r.stats, 0, "halt_poll_fail_ns")->unit, STATS_NS);
	assert_true(r.sums[0].wakeups == STATS_UNKNOWN);
	assert_reported(&r, "beyond 2^64-2");
	read_done(&r);
}

static void test_monitor(void **state)
{
	struct read_stats r = read_text("(qemu) info stats vcpu\n"
					"vcpu (qom path: /machine/unattached/device[0])\n"
					"  provider: kvm\n"
					"    halt_exits (cumulative): 500\n"
					"    halt_wait_ns (cumulative, ns): 12345\n"
					"    halt_wait_hist (log2-histogram, ns): [0, 3, 5]\n"
					"vcpu (qom path: /machine/unattached/device[1])\n"
					"  provider: kvm\n"
					"    halt_exits (cumulative): 700\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_scopes, 2);
	assert_int_equal(total(&r, 0, "halt_exits"), 500);
	assert_int_equal(r.sums[0].wait_ns, 12345);
	assert_int_equal(r.sums[0].wait_hist->bucket[2], 5);
	assert_int_equal(total(&r, 1, "halt_exits"), 700);
	read_done(&r);
}

static void test_json(void **state)
{
	struct read_stats r = read_text(
		"{\"return\": [{\"provider\": \"kvm\", \"qom-path\": \"/m/0\", \"stats\": "
		"[{\"name\": "
		"\"guest_mode\", \"value\": false}, {\"name\": \"halt_exits\", \"value\": 12}, "
		"{\"name\": "
		"\"halt_wait_hist\", \"value\": [0, 1, 2]}]}, {\"provider\": \"kvm\", "
		"\"qom-path\": \"/m/1\", "
		"\"stats\": [{\"name\": \"halt_exits\", \"value\": 13}]}]}\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(total(&r, 0, "halt_exits"), 12);
	assert_int_equal(r.sums[0].wait_hist->bucket[1], 1);
	assert_int_equal(total(&r, 1, "halt_exits"), 13);
	assert_null(stats_find(r.stats, 0, "guest_mode"));
	read_done(&r);
}

static void test_json_lines(void **state)
{
	struct read_stats r = read_text(
		"{\n  \"return\": [\n    {\n      \"provider\": \"kvm\",\n"
		"      \"stats\": [\n        {\n          \"name\": "
		"\"halt_exits\",\n          \"value\": 12\n        },\n        "
		"{\n          \"name\": \"halt_wakeup\",\n          \"value\": "
		"7\n        }\n      ]\n    }\n  ]\n}\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_scopes, 1);
	assert_int_equal(total(&r, 0, "halt_exits"), 12);
	assert_int_equal(total(&r, 0, "halt_wakeup"), 7);
	read_done(&r);
}

static void test_format_files(void **state)
{
	struct read_stats r = read_text(
		"name: kvm_vcpu_wakeup\nID: 77\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\n\tfield:__u64 ns;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:bool waited;\toffset:16;\tsize:1;\tsigned:0;\n\n"
		"print fmt: \"%s time\", REC->waited\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->kinds, STATS_FORMAT);
	assert_string_equal(setting(&r, "event", "kvm_vcpu_wakeup"), "ns@8+8 waited@16+1");
	read_done(&r);
}

/* What a file names reaches terminals as printable ASCII only. */
static void test_printable(void **state)
{
	struct read_stats r = read_text("name: kvm_x\nID: 4\n"
					"\tfield:u64 n\377s;\toffset:8;\tsize:8;\n");

	(void)state;
	assert_string_equal(setting(&r, "event", "kvm_x"), "n?s@8+8");
	read_done(&r);
	r = read_text("vermagic:  6.1.0\351x SMP\nparm: a:uint\n");
	assert_string_equal(r.stats->kernel, "6.1.0?x");
	read_done(&r);
	r = read_text("Linux 6.1.0\351x SMP\nhalt_exits: 4\n");
	assert_string_equal(r.stats->kernel, "6.1.0?x");
	read_done(&r);
	r = read_text("h\351 te:\nhalt_poll_ns: 1\nh\351te:\nhalt_poll_ns: 2\n");
	assert_string_equal(r.stats->sets[1].label, "h?te");
	read_done(&r);
}

/* Types, patterns and errors stand where values do, and are none. */
static void test_no_values(void **state)
{
	static const char *const texts[] = {
		"halt_poll_ns:uint\n",
		"halt_poll_ns: (uint)\n",
		"# cat /sys/module/kvm/parameters/halt_poll_ns_{grow,shrink}\n2\n",
		"# cat /sys/module/kvm/parameters/halt_poll_ns?\n2\n",
		"$ cat /sys/module/kvm/parameters/halt_poll_ns\ncat: "
		"/sys/module/kvm/parameters/halt_poll_ns: No such file or directory\n",
		"$ cat /sys/module/kvm/parameters/halt_poll_ns\ncat: "
		"/sys/module/kvm/parameters/halt_poll_ns: Permission denied\n",
	};
	char text[400];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct read_stats r;

		snprintf(text, sizeof(text), "%s/sys/module/kvm/parameters/halt_poll_ns_grow:2\n",
			 texts[i]);
		r = read_text(text);
		assert_int_equal(r.error, 0);
		assert_int_equal(r.stats->nr_settings, 1);
		assert_int_equal(r.stats->damaged, i > 3);
		read_done(&r);
	}
}

/* Words that look like lists and are none. */
static void test_prose(void **state)
{
	struct read_stats r = read_text(
		"/sys/module/kvm/parameters/halt_poll_ns:200000\n"
		"Thanks Bob\nRegards: the other Bob and more\nkvm_stat says:\n"
		"/etc/passwd:root\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_settings, 1);
	assert_int_equal(r.stats->nr_values, 0);
	assert_int_equal(r.stats->ignored, 4);
	read_done(&r);
	r = read_text("/etc/passwd:root\nname value\nfoo: 12\n");
	assert_int_equal(r.error, -EPROTO);
}

/* A hostile list stays within bounds and says what it lacks. */
static void test_bounds(void **state)
{
	size_t lines = 20000, used = 0, room = lines * 64;
	char *text = malloc(room);
	struct read_stats r;

	(void)state;
	for (size_t i = 0; i < lines; i++)
		used += (size_t)snprintf(text + used, room - used,
					 "/sys/module/kvm/parameters/p%zu:1\n", i);
	r = read_text(text);
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_settings, STATS_SETTINGS_MAX);
	assert_int_equal(r.stats->left_out, lines - STATS_SETTINGS_MAX);
	read_done(&r);
	memset(text, 'x', 20000);
	memcpy(text, "halt_exits: 5\n", 14);
	text[20000] = '\0';
	r = read_text(text);
	assert_int_equal(total(&r, 0, "halt_exits"), 5);
	assert_reported(&r, "f: line 2: longer than");
	read_done(&r);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grep),	     cmocka_unit_test(test_tail),
		cmocka_unit_test(test_layouts),	     cmocka_unit_test(test_configured),
		cmocka_unit_test(test_modinfo),	     cmocka_unit_test(test_decoded),
		cmocka_unit_test(test_monitor),	     cmocka_unit_test(test_json),
		cmocka_unit_test(test_format_files), cmocka_unit_test(test_json_lines),
		cmocka_unit_test(test_prose),	     cmocka_unit_test(test_printable),
		cmocka_unit_test(test_no_values),    cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

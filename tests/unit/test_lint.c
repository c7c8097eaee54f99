// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt lint as a command: exit codes, and the settings of a machine made up in a folder.
#include "tests/unit/command_run.h"

/* The command is not in the library of parts: its files are built in here. */
#include "tool/options.c"
#include "tool/diagnose_print.c"
#include "tool/inspect_trace.c"
#include "tool/lint_live.c"
#include "tool/cmd_lint.c"

static void test_lint(void **state)
{
	struct run r = run(cmd_lint, write_file("good", "halt_poll_ns: 200000\n"), NULL);

	(void)state;
	assert_int_equal(r.code, 0);
	assert_says(r.out, "1 settings of halt polling, 0 problems");
	r = run(cmd_lint, write_file("bad", "halt_poll_ns: 5000\nhalt_poll_ns_grow_start: 10000\n"),
		NULL);
	assert_int_equal(r.code, 1);
	assert_says(r.out, "[start-above-ceiling]");
	/* What is only worth knowing is no problem. */
	r = run(cmd_lint, write_file("note", "halt_poll_ns: 5000\nhalt_poll_ns_shrink: 0\n"), NULL);
	assert_int_equal(r.code, 0);
	assert_says(r.out, "[shrink-zero]");
	r = run(cmd_lint, write_file("none", "halt_exits: 5000\n"), NULL);
	assert_int_equal(r.code, 1);
	assert_says(r.err, "no settings of halt polling");
}

static void make(const char *path, const char *name, const char *value)
{
	char text[512];
	FILE *file;

	snprintf(text, sizeof(text), "%s%s", test_folder, path);
	for (char *slash = text + strlen(test_folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(text, 0755);
		*slash = '/';
	}
	mkdir(text, 0755);
	strcat(strcat(text, "/"), name);
	file = fopen(text, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", value);
	fclose(file);
}

/* A guest with vendor's values that no governor uses, and a host's own parameters elsewhere. */
static void test_lint_live(void **state)
{
	char parameters[512];
	struct run r;

	(void)state;
	snprintf(parameters, sizeof(parameters), "%s/params", test_folder);
	setenv("VHALT_HOST_ROOT", test_folder, 1);
	setenv("VHALT_KVM_PARAMETERS", parameters, 1);
	r = run(cmd_lint, NULL, NULL);
	assert_int_equal(r.code, 1);
	assert_says(r.err, "neither kvm nor haltpoll is loaded");
	make("/params", "halt_poll_ns", "200000");
	make("/params", "halt_poll_ns_grow_start", "10000");
	r = run(cmd_lint, "live", NULL);
	assert_int_equal(r.code, 0);
	assert_says(r.out, "live: 2 settings of halt polling, 0 problems");
	make("/sys/module/haltpoll/parameters", "guest_halt_poll_ns", "2400000");
	make("/sys/devices/system/cpu/cpuidle", "current_governor", "menu");
	make("/sys/devices/system/cpu/cpuidle", "current_driver", "none");
	make("/etc/modprobe.d", "kvm.conf", "options kvm halt_poll_ns=400000");
	r = run(cmd_lint, "live", NULL);
	assert_int_equal(r.code, 1);
	assert_says(r.out, "[guest-inactive]");
	assert_says(r.out, "[not-in-force]");
	/* The two sides are not each other's. */
	assert_silent(r.out, "[both-poll]");
	unsetenv("VHALT_HOST_ROOT");
	unsetenv("VHALT_KVM_PARAMETERS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lint),
		cmocka_unit_test(test_lint_live),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Recorder: names and numbers of VMs and vCPUs as VMMs give them, and looking tasks up in /proc.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/recorder_names.h"

static void test_vcpu_numbers(void **state)
{
	static const struct {
		const char *name;
		uint32_t number;
	} rows[] = {
		{"CPU 0/KVM", 0},
		{"CPU 3/KVM", 3},
		{"CPU 127/KVM", 127},
		{"CPU 1234567/KVM", 1234567}, /* full length, but the number is not at the end */
		{"CPU 3/TCG", TRACE_UNKNOWN_U32},
		{"CPU 3", TRACE_UNKNOWN_U32},
		{"CPU /KVM", TRACE_UNKNOWN_U32},
		{"CPU -1/KVM", TRACE_UNKNOWN_U32},
		{"fc_vcpu 0", 0},
		{"fc_vcpu 12", 12},
		{"vcpu3", 3},
		{"vcpu0", 0},
		{"kvm-vcpu-7", 7},
		{"crosvm_vcpu0", 0},
		{"vcpu", TRACE_UNKNOWN_U32},
		{"vcpu 3x", TRACE_UNKNOWN_U32},
		{"vcpu--3", TRACE_UNKNOWN_U32},
		{"vhalt-rr/1", 1},
		{"vhalt-tick/0", 0},
		{"vhalt-rr", TRACE_UNKNOWN_U32},
		{"vhalt-rr/", TRACE_UNKNOWN_U32},
		{"vhalt-longnam/1", TRACE_UNKNOWN_U32}, /* 15 bytes: 10 may have become 1 */
		{"crosvm_vcpu1234", TRACE_UNKNOWN_U32},
		{"vcpu4294967295", TRACE_UNKNOWN_U32},
		{"vcpu4294967294", 4294967294U},
		{"qemu-system-x86", TRACE_UNKNOWN_U32},
		{"worker/3", TRACE_UNKNOWN_U32},
		{"", TRACE_UNKNOWN_U32},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t number = recorder_vcpu_number(rows[i].name);

		if (number != rows[i].number)
			fail_msg("\"%s\": %u, not %u", rows[i].name, number, rows[i].number);
	}
}

/* Arguments are written with "|" for the NUL that ends each. */
static size_t make_cmdline(const char *text, char *cmdline)
{
	size_t n = strlen(text);

	for (size_t i = 0; i <= n; i++)
		cmdline[i] = text[i] == '|' ? '\0' : text[i];
	return n;
}

static void test_vm_names(void **state)
{
	static const struct {
		const char *comm, *cmdline, *name;
	} rows[] = {
		{"qemu-system-x86", "qemu|-name|guest=web1,debug-threads=on|-m|1G|",
		 "web1 (qemu-system-x86)"},
		{"qemu-system-x86", "qemu|-name|web1|", "web1 (qemu-system-x86)"},
		{"qemu-system-x86", "qemu|-name|guest=a,,b,process=x|", "a,b (qemu-system-x86)"},
		{"qemu-system-x86", "qemu|-m|1G|", "qemu-system-x86"},
		{"qemu-system-x86", "", "qemu-system-x86"},
		{"firecracker", "firecracker|--id|i-0123|--api-sock|/s|", "i-0123 (firecracker)"},
		{"firecracker", "firecracker|--id=i-0123|", "i-0123 (firecracker)"},
		{"lkvm", "lkvm|run|--name|box|", "box (lkvm)"},
		{"qemu", "qemu|-name|", "qemu"},       /* no value */
		{"qemu", "qemu|-name|web", "qemu"},    /* value cut off */
		{"qemu", "qemu|-named|web|", "qemu"},  /* another option */
		{"qemu", "qemu|-name||-m|1|", "qemu"}, /* an empty name */
		{"qemu", "qemu|-name|guest=|", "qemu"},
		{"qemu", "qemu|-name|a\033[31mb\n|", "a?[31mb? (qemu)"},
		{"qe\tmu", "", "qe?mu"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char cmdline[256], name[TRACE_NAME_BYTES];
		size_t n = make_cmdline(rows[i].cmdline, cmdline);

		recorder_vm_name(rows[i].comm, cmdline, n, name);
		assert_string_equal(name, rows[i].name);
	}
}

/* A name longer than there is room for loses its own end, never the process's name. */
static void test_vm_name_long(void **state)
{
	char cmdline[400] = "qemu", name[TRACE_NAME_BYTES];
	size_t n = strlen(cmdline) + 1;

	(void)state;
	n += (size_t)sprintf(cmdline + n, "-name") + 1;
	memset(cmdline + n, 'x', 300);
	n += 300;
	cmdline[n++] = '\0';
	recorder_vm_name("qemu-system-x86", cmdline, n, name);
	assert_int_equal(strlen(name), TRACE_NAME_BYTES - 1);
	assert_string_equal(name + TRACE_NAME_BYTES - 1 - 18, " (qemu-system-x86)");
}

static void test_task_of_this_process(void **state)
{
	uint32_t pid = (uint32_t)getpid(), tid = (uint32_t)syscall(SYS_gettid);
	struct recorder_task task, again;

	(void)state;
	if (!recorder_in_host_pids())
		skip();
	assert_int_equal(prctl(PR_SET_NAME, "CPU 5/KVM"), 0);
	recorder_task_read(NULL, pid, tid, &task);
	assert_string_equal(task.thread_name, "CPU 5/KVM");
	assert_true(task.thread_start > 0);
	assert_true(task.vm_start > 0);
	recorder_task_read(NULL, pid, tid, &again);
	assert_int_equal(task.thread_start, again.thread_start);
	/* The start time is found behind a name with blanks and brackets. */
	assert_int_equal(prctl(PR_SET_NAME, "a) b (c"), 0);
	recorder_task_read(NULL, pid, tid, &again);
	assert_string_equal(again.thread_name, "a) b (c");
	assert_int_equal(task.thread_start, again.thread_start);
}

static void test_task_that_is_gone(void **state)
{
	char vm_name[64], thread_name[64];
	struct recorder_task task;
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!recorder_in_host_pids())
		skip();
	recorder_task_read(NULL, (uint32_t)pid, (uint32_t)pid, &task);
	snprintf(vm_name, sizeof(vm_name), "pid %d (exited)", (int)pid);
	snprintf(thread_name, sizeof(thread_name), "tid %d (exited)", (int)pid);
	assert_string_equal(task.vm_name, vm_name);
	assert_string_equal(task.thread_name, thread_name);
	assert_int_equal(task.thread_start, 0);
	assert_int_equal(task.vm_start, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vcpu_numbers),
		cmocka_unit_test(test_vm_names),
		cmocka_unit_test(test_vm_name_long),
		cmocka_unit_test(test_task_of_this_process),
		cmocka_unit_test(test_task_that_is_gone),
	};

	return cmocka_run_group_tests_name("recorder_names", tests, NULL, NULL);
}

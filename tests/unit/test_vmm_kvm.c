// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Micro-VMM on a real /dev/kvm: ends, stops, faults, child processes. Skipped where there is none.
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm/child.h"
#include "vmm/vmm.h"

#define MS 1000000ULL

/* How long anything may take that ends by itself: generous, the machine may be an emulated one. */
#define LIMIT_MS 30000

static void need_kvm(void)
{
	if (access("/dev/kvm", R_OK | W_OK)) {
		print_message("no usable /dev/kvm: %s\n", strerror(errno));
		skip();
	}
}

static struct vmm_config config_of(const char *guest)
{
	struct vmm_config c;

	assert_int_equal(vmm_config_init(&c, guest), 0);
	return c;
}

static struct vmm *start(const struct vmm_config *c)
{
	struct vmm_error e = {""};
	struct vmm *vm;

	if (vmm_create(c, &vm, &e) || vmm_start(vm, &e))
		fail_msg("%s: %s", c->guest, e.text);
	return vm;
}

static int run(const struct vmm_config *c, struct vmm_result *r)
{
	struct vmm *vm = start(c);
	int err = vmm_wait(vm, r);

	vmm_destroy(vm);
	return err;
}

static void sleep_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void test_exact_rounds(void **state)
{
	struct vmm_config c = config_of("rr");
	struct vmm_result r;

	(void)state;
	need_kvm();
	c.duration_ns = 0;
	c.rounds = 100;
	c.watchdog_ns = LIMIT_MS * MS;
	assert_int_equal(run(&c, &r), 0);
	assert_int_equal(r.end, VMM_END_DONE);
	assert_string_equal(r.error_text.text, "");
	for (int n = 0; n < 2; n++) {
		assert_int_equal(r.vcpus[n].rounds, 100);
		assert_int_equal(r.vcpus[n].wakeups, 100);
		assert_true(r.vcpus[n].cpu_ns > 0);
	}
	assert_int_equal(r.vcpus[0].latency.count, 100);
	assert_int_equal(r.vcpus[1].latency.count, 0);
	assert_true(r.vcpus[0].latency.min_ns > 0);
	assert_true(r.vcpus[0].latency.min_ns <= r.vcpus[0].latency.p50_ns);
	assert_true(r.vcpus[0].latency.p50_ns <= r.vcpus[0].latency.p99_ns);
	assert_true(r.vcpus[0].latency.p99_ns <= r.vcpus[0].latency.max_ns);
	assert_true(r.vcpus[0].latency.max_ns <= r.elapsed_ns);
}

static void test_think_time_slows_the_rounds(void **state)
{
	struct vmm_config c = config_of("rr");
	struct vmm_result r;

	(void)state;
	need_kvm();
	c.duration_ns = 0;
	c.rounds = 50;
	c.think_ns = 4 * MS;
	c.watchdog_ns = LIMIT_MS * MS;
	assert_int_equal(run(&c, &r), 0);
	assert_true(r.elapsed_ns >= 50 * 4 * MS);
	assert_true(r.vcpus[0].latency.p50_ns < 50 * 4 * MS); /* not part of the round trip */
}

static void test_stop(void **state)
{
	struct vmm_config c = config_of("idle");
	struct vmm *vm;
	struct vmm_result r;

	(void)state;
	need_kvm();
	vm = start(&c);
	vmm_stop(vm);
	vmm_stop(vm);
	assert_int_equal(vmm_wait(vm, &r), 0);
	assert_int_equal(r.end, VMM_END_STOPPED);
	assert_true(r.elapsed_ns < c.duration_ns);
	assert_int_equal(vmm_wait(vm, &r), 0); /* a second time, the same */
	assert_int_equal(vmm_start(vm, NULL), -EALREADY);
	vmm_destroy(vm);
}

static void test_stop_before_start(void **state)
{
	struct vmm_config c = config_of("tick");
	struct vmm_result r;
	struct vmm *vm;

	(void)state;
	need_kvm();
	assert_int_equal(vmm_create(&c, &vm, NULL), 0);
	assert_int_equal(vmm_wait(vm, &r), -EINVAL);
	vmm_stop(vm);
	assert_int_equal(vmm_start(vm, NULL), 0);
	assert_int_equal(vmm_wait(vm, &r), 0);
	assert_int_equal(r.end, VMM_END_STOPPED);
	vmm_destroy(vm);
}

static struct vmm *stopped_by_signal;

static void on_alarm(int signal_number)
{
	(void)signal_number;
	vmm_stop(stopped_by_signal);
}

static void test_stop_from_a_signal_handler(void **state)
{
	struct vmm_config c = config_of("rr");
	struct vmm_result r;

	(void)state;
	need_kvm();
	c.duration_ns = LIMIT_MS * MS;
	stopped_by_signal = start(&c);
	signal(SIGALRM, on_alarm);
	ualarm(100000, 0);
	assert_int_equal(vmm_wait(stopped_by_signal, &r), 0);
	signal(SIGALRM, SIG_DFL);
	assert_int_equal(r.end, VMM_END_STOPPED);
	vmm_destroy(stopped_by_signal);
}

static void test_destroy_of_a_running_vm(void **state)
{
	struct vmm_config c = config_of("crash");

	(void)state;
	need_kvm();
	c.fault = VMM_FAULT_SPIN;
	c.duration_ns = LIMIT_MS * MS;
	vmm_destroy(start(&c));
	vmm_destroy(NULL);
}

static void test_watchdog(void **state)
{
	struct vmm_config c = config_of("crash");
	struct vmm_result r;

	(void)state;
	need_kvm();
	c.fault = VMM_FAULT_SPIN;
	c.duration_ns = 0;
	c.watchdog_ns = 200 * MS;
	assert_int_equal(run(&c, &r), -ETIMEDOUT);
	assert_int_equal(r.end, VMM_END_FAILED);
	assert_int_equal(r.error, -ETIMEDOUT);
	assert_string_equal(r.error_text.text,
			    "guest crash did not finish within 200 ms (watchdog)");
	assert_true(r.elapsed_ns >= 200 * MS);
	assert_true(r.vcpus[0].cpu_ns > 0);
}

static void test_faults_say_reason_and_rip(void **state)
{
	static const struct {
		enum vmm_fault fault;
		const char *says;
	} cases[] = {
		{VMM_FAULT_PORT, "guest crash, vCPU 0: unexpected exit 2 (IO), OUT to port 0x52, "
				 "1 byte(s) at RIP 0x10"},
		{VMM_FAULT_EXCEPTION,
		 "guest crash, vCPU 0: exception 6, error code 0x0, CS 0x23, RSP 0x23f"},
		{VMM_FAULT_TRIPLE,
		 "guest crash, vCPU 0: unexpected exit 8 (SHUTDOWN), triple fault at RIP 0x"},
	};

	(void)state;
	need_kvm();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vmm_config c = config_of("crash");
		struct vmm_result r;

		c.fault = cases[i].fault;
		c.duration_ns = LIMIT_MS * MS;
		assert_int_equal(run(&c, &r), -EIO);
		assert_int_equal(r.end, VMM_END_FAILED);
		if (!strstr(r.error_text.text, cases[i].says))
			fail_msg("\"%s\" lacks \"%s\"", r.error_text.text, cases[i].says);
	}
}

/* In one process: the VM beside a dying one neither ends nor loses its ticks. */
static void test_a_dying_guest_takes_only_its_vm(void **state)
{
	struct vmm_config tick = config_of("tick"), crash = config_of("crash");
	struct vmm_result r;
	struct vmm *vm;

	(void)state;
	need_kvm();
	tick.hz = 100;
	tick.duration_ns = 0;
	tick.rounds = 60;
	tick.watchdog_ns = LIMIT_MS * MS;
	crash.duration_ns = LIMIT_MS * MS;
	vm = start(&tick);
	for (int f = VMM_FAULT_PORT; f <= VMM_FAULT_TRIPLE; f++) {
		struct vmm_result dead;

		crash.fault = (enum vmm_fault)f;
		assert_int_equal(run(&crash, &dead), -EIO);
	}
	assert_int_equal(vmm_wait(vm, &r), 0);
	vmm_destroy(vm);
	assert_int_equal(r.end, VMM_END_DONE);
	assert_int_equal(r.vcpus[0].rounds, 60);
}

static void test_end_fd(void **state)
{
	struct vmm_config c = config_of("tick");
	struct pollfd p = {.events = POLLIN};
	struct vmm_result r;
	struct vmm *vm;

	(void)state;
	need_kvm();
	c.duration_ns = 300 * MS;
	vm = start(&c);
	p.fd = vmm_end_fd(vm);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(poll(&p, 1, LIMIT_MS), 1);
	assert_int_equal(vmm_wait(vm, &r), 0);
	assert_int_equal(r.end, VMM_END_TIME);
	vmm_destroy(vm);
}

/* A ceiling of 0 must stop KVM from polling; its own counters say so. */
static void test_ceiling(void **state)
{
	struct vmm_config c = config_of("tick");
	struct vmm_result r;

	(void)state;
	need_kvm();
	c.duration_ns = 0;
	c.rounds = 100;
	c.watchdog_ns = LIMIT_MS * MS;
	c.halt_poll_ns = 0;
	assert_int_equal(run(&c, &r), 0);
	if (!r.vcpus[0].kvm.valid)
		skip();
	assert_int_equal(r.vcpus[0].kvm.halt_attempted_poll, 0);
	assert_int_equal(r.vcpus[0].kvm.halt_poll_fail_ns, 0);
	assert_true(r.vcpus[0].kvm.halt_exits > 0);
	/* Far above the 4 ms period: the window grows until it covers it, so polling is seen. */
	c.halt_poll_ns = 50 * MS;
	assert_int_equal(run(&c, &r), 0);
	assert_true(r.vcpus[0].kvm.halt_attempted_poll > 0);
	assert_true(r.vcpus[0].kvm.halt_successful_poll > 0);
}

static void assert_file_says(const char *path, const char *expected)
{
	char text[64] = "";
	FILE *f = fopen(path, "re");

	if (!f || !fgets(text, sizeof(text), f))
		fail_msg("%s cannot be read", path);
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(text, expected);
}

/* Has @pid a thread of that name? */
static bool has_thread(pid_t pid, const char *wanted)
{
	bool found = false;
	char path[320];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((d = readdir(dir))) {
		char name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", (int)pid, d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue; /* "." and ".." */
		if (fgets(name, sizeof(name), f))
			found |= !strncmp(name, wanted, strlen(wanted));
		fclose(f);
	}
	closedir(dir);
	return found;
}

/* The gate holds the guest: no vCPU thread before "go", whatever time passes. */
static void test_child_waits_at_its_gate(void **state)
{
	struct vmm_config c = config_of("tick");
	struct vmm_child child;
	struct vmm_error e = {""};
	struct vmm_result r;
	char path[64];

	(void)state;
	need_kvm();
	c.duration_ns = LIMIT_MS * MS;
	assert_int_equal(vmm_child_start(&c, &child, &e), 0);
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)child.pid);
	assert_file_says(path, "vhalt-tick");
	sleep_ms(200); /* it must not start by itself; longer only makes this stricter */
	assert_false(has_thread(child.pid, "vhalt-tick/0"));
	assert_int_equal(vmm_child_go(&child), 0);
	for (int i = 0; i < LIMIT_MS / 10 && !has_thread(child.pid, "vhalt-tick/0"); i++)
		sleep_ms(10);
	assert_true(has_thread(child.pid, "vhalt-tick/0"));
	sleep_ms(200);
	vmm_child_stop(&child);
	assert_int_equal(vmm_child_wait(&child, &r), 0);
	assert_int_equal(r.end, VMM_END_STOPPED);
	assert_true(r.vcpus[0].halts > 0);
	assert_true(r.elapsed_ns >= 200 * MS);
}

static void test_children_stop(void **state)
{
	struct vmm_config c[2] = {config_of("rr"), config_of("burst")};
	struct vmm_child child[2];
	struct vmm_result r;

	(void)state;
	need_kvm();
	for (int i = 0; i < 2; i++) {
		c[i].duration_ns = LIMIT_MS * MS;
		assert_int_equal(vmm_child_start(&c[i], &child[i], NULL), 0);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(vmm_child_go(&child[i]), 0);
	sleep_ms(200);
	vmm_child_stop(&child[0]);
	kill(child[1].pid, SIGTERM); /* as good as vmm_child_stop() */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(vmm_child_wait(&child[i], &r), 0);
		assert_int_equal(r.end, VMM_END_STOPPED);
		assert_string_equal(r.guest, c[i].guest);
	}
}

static void test_child_never_released(void **state)
{
	struct vmm_config c = config_of("tick");
	struct vmm_child child;
	struct vmm_result r;

	(void)state;
	need_kvm();
	assert_int_equal(vmm_child_start(&c, &child, NULL), 0);
	assert_int_equal(vmm_child_wait(&child, &r), 0);
	assert_int_equal(r.end, VMM_END_STOPPED);
	assert_int_equal(r.vcpus[0].halts, 0);
}

static void test_child_failures_are_told(void **state)
{
	struct vmm_config c = config_of("crash");
	struct vmm_child child;
	struct vmm_result r;

	(void)state;
	need_kvm();
	c.duration_ns = LIMIT_MS * MS;
	assert_int_equal(vmm_child_start(&c, &child, NULL), 0);
	assert_int_equal(vmm_child_go(&child), 0);
	assert_int_equal(vmm_child_wait(&child, &r), -EIO);
	assert_non_null(strstr(r.error_text.text, "port 0x52"));

	c.fault = VMM_FAULT_SPIN;
	assert_int_equal(vmm_child_start(&c, &child, NULL), 0);
	assert_int_equal(vmm_child_go(&child), 0);
	kill(child.pid, SIGKILL);
	assert_int_equal(vmm_child_wait(&child, &r), -EPIPE);
	assert_int_equal(r.end, VMM_END_FAILED);
	assert_non_null(strstr(r.error_text.text, "was killed by signal 9"));
}

/* In the parent that is going to be killed. */
static _Noreturn void hold_child(const struct vmm_config *c, int fd)
{
	struct vmm_child child;

	if (vmm_child_start(c, &child, NULL) || vmm_child_go(&child))
		_exit(1);
	if (write(fd, &child.pid, sizeof(child.pid)) != sizeof(child.pid))
		_exit(1);
	for (;;)
		pause();
}

static void test_child_dies_with_its_parent(void **state)
{
	struct vmm_config c = config_of("tick");
	pid_t parent, orphan = -1;
	int fds[2], status;

	(void)state;
	need_kvm();
	c.duration_ns = LIMIT_MS * MS;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* so that we can wait for it */
	assert_int_equal(pipe(fds), 0);
	parent = fork();
	assert_true(parent >= 0);
	if (!parent)
		hold_child(&c, fds[1]);
	close(fds[1]);
	assert_int_equal(read(fds[0], &orphan, sizeof(orphan)), sizeof(orphan));
	close(fds[0]);
	kill(parent, SIGKILL);
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_int_equal(waitpid(orphan, &status, 0), orphan);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_rounds),
		cmocka_unit_test(test_think_time_slows_the_rounds),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_stop_before_start),
		cmocka_unit_test(test_stop_from_a_signal_handler),
		cmocka_unit_test(test_destroy_of_a_running_vm),
		cmocka_unit_test(test_watchdog),
		cmocka_unit_test(test_faults_say_reason_and_rip),
		cmocka_unit_test(test_a_dying_guest_takes_only_its_vm),
		cmocka_unit_test(test_end_fd),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_child_waits_at_its_gate),
		cmocka_unit_test(test_children_stop),
		cmocka_unit_test(test_child_never_released),
		cmocka_unit_test(test_child_failures_are_told),
		cmocka_unit_test(test_child_dies_with_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Recorder: wake-up latency, measured on a thread of this process that really sleeps.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "tests/unit/recorder_fixture.h"

enum { SLEEPS = 3 };

struct sleeper {
	const struct recorder *recorder;
	int bytes[2], tids[2]; /* pipes: what ends a halt; the sleeper's tid before each */
	int failed;
	uint64_t slept_ns[SLEEPS];
};

/* Halts that block until the pipe has a byte. */
static void *run_sleeper(void *arg)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	struct sleeper *s = arg;
	char byte;

	for (int i = 0; i < SLEEPS; i++) {
		uint64_t began = now_ns();

		s->failed |= write(s->tids[1], &tid, sizeof(tid)) != sizeof(tid);
		s->failed |= read(s->bytes[0], &byte, 1) != 1;
		s->slept_ns[i] = now_ns() - began;
		s->failed |= fire_wakeup(s->recorder, s->slept_ns[i], true, true);
	}
	/* Nobody woke it since: blocked by word only, and not at all. */
	s->failed |= fire_wakeup(s->recorder, 500, true, true);
	s->failed |= fire_wakeup(s->recorder, 500, false, true);
	return NULL;
}

/* Waits until the thread sleeps: it has nothing else to sleep for than the pipe. */
static void wait_until_asleep(pid_t tid)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	for (;;) {
		FILE *file = fopen(path, "re");
		const char *p;

		assert_non_null(file);
		assert_non_null(fgets(text, sizeof(text), file));
		fclose(file);
		p = strrchr(text, ')');
		if (p && p[1] && p[2] == 'S')
			return;
		sched_yield();
	}
}

static void test_latency(void **state)
{
	const uint32_t pid = (uint32_t)getpid();
	struct sleeper sleeper = {0};
	struct recording r;
	pthread_t thread;
	pid_t tid;

	(void)state;
	if (!can_record())
		skip();
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		print_message("skipped: this kernel has no BTF\n");
		skip();
	}
	begin_with(&r, (struct recorder_config){.pids = &pid, .nr_pids = 1, .latency = true});
	sleeper.recorder = r.recorder;
	assert_int_equal(pipe(sleeper.bytes), 0);
	assert_int_equal(pipe(sleeper.tids), 0);
	assert_int_equal(pthread_create(&thread, NULL, run_sleeper, &sleeper), 0);
	for (int i = 0; i < SLEEPS; i++) {
		assert_int_equal(read(sleeper.tids[0], &tid, sizeof(tid)), sizeof(tid));
		wait_until_asleep(tid);
		assert_int_equal(write(sleeper.bytes[1], "", 1), 1);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(sleeper.failed, 0);
	finish(&r);
	assert_true(r.info->has_latency);
	assert_int_equal(r.nr_halts, SLEEPS + 2);
	/* The thread is watched from its first halt on. */
	assert_int_equal(r.halts[0].latency_ns, TRACE_UNKNOWN_U32);
	for (int i = 1; i < SLEEPS; i++) {
		assert_int_equal(r.halts[i].halt_ns, sleeper.slept_ns[i]);
		assert_true(r.halts[i].latency_ns > 0);
		assert_true(r.halts[i].latency_ns <= r.halts[i].halt_ns);
	}
	assert_int_equal(r.halts[SLEEPS].latency_ns, TRACE_UNKNOWN_U32);
	assert_int_equal(r.halts[SLEEPS + 1].latency_ns, TRACE_UNKNOWN_U32);
	for (int i = 0; i < 2; i++) {
		close(sleeper.bytes[i]);
		close(sleeper.tids[i]);
	}
	release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency),
	};

	skip_reason = find_skip_reason();
	return cmocka_run_group_tests_name("recorder_latency", tests, NULL, NULL);
}

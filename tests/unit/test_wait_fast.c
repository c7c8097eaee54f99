// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The waiter's fast mode: entered after polls that were met, left by a membarrier, and safe where
// that fails. Looks into the waiter: the mode is nothing callers see.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/wait_internal.h"
#include "wait_rig.h"

enum { WATCHDOG_S = 120 };

static uint32_t mode_of(struct rig *rig)
{
	return __atomic_load_n(&wait_waiter_of(&rig->waiter)->mode, __ATOMIC_RELAXED);
}

static uint32_t fast_of(struct rig *rig)
{
	return __atomic_load_n(&wait_engine_of(&rig->engine)->fast, __ATOMIC_RELAXED);
}

static int allowed_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

struct kicker {
	struct rig *rig;
	uint32_t stop;
};

/* Kicks each time a poll has begun, so that none is early. */
static void *kick_each_poll(void *arg)
{
	struct kicker *k = arg;
	uint64_t polls = 0;

	while (!__atomic_load_n(&k->stop, __ATOMIC_ACQUIRE)) {
		struct vhalt_waiter_stats stats = rig_stats(k->rig);

		if (stats.halt_attempted_poll == polls) {
			sched_yield();
			continue;
		}
		polls = stats.halt_attempted_poll;
		vhalt_waiter_kick(&k->rig->waiter);
	}
	return NULL;
}

static void turns_fast_when_polls_are_met_and_back_when_it_blocks(void **state)
{
	struct kicker k = {.stop = 0};
	struct vhalt_waiter_stats stats;
	pthread_t thread;
	struct rig rig;

	(void)state;
	if (allowed_cpus() < 2) {
		print_message("the kicker needs a CPU beside the polling one\n");
		skip();
	}
	rig_init(&rig, "always:max=4s");
	if (!fast_of(&rig)) {
		print_message("this kernel has no membarrier(PRIVATE_EXPEDITED)\n");
		skip();
	}
	k.rig = &rig;
	assert_int_equal(mode_of(&rig), MODE_SLOW);
	assert_int_equal(pthread_create(&thread, NULL, kick_each_poll, &k), 0);
	/* On a busy machine cuts and forced blocks begin the count anew: a deadline ends those. */
	while (mode_of(&rig) != MODE_FAST)
		vhalt_waiter_wait(&rig.waiter, now_ns() + 10 * MS);
	post(&k.stop);
	pthread_join(thread, NULL);
	stats = rig_stats(&rig);
	assert_true(stats.halt_successful_poll >= 64);

	/* A kick in fast mode is found by the next wait, whether it polls or not. */
	vhalt_waiter_kick(&rig.waiter);
	assert_true(vhalt_waiter_kicked(&rig.waiter));
	assert_int_equal(vhalt_waiter_wait(&rig.waiter, VHALT_NO_DEADLINE_NS), VHALT_WAKE_KICK);
	assert_int_equal(mode_of(&rig), MODE_FAST);

	/* No polling any more: it has to block, and must be slow before. */
	assert_int_equal(vhalt_config_parse("none", &wait_engine_of(&rig.engine)->config, NULL, 0),
			 0);
	vhalt_waiter_wait(&rig.waiter, now_ns() + 1 * MS);
	assert_int_equal(mode_of(&rig), MODE_SLOW);
	assert_int_equal(fast_of(&rig), 1);
}

static void *kick_once(void *arg)
{
	vhalt_waiter_kick(arg);
	return NULL;
}

/* 50 kicks of a waiter that is fast and blocks. Return: the child's exit code, 0 if all came. */
static int wait_in_child(struct rig *rig)
{
	for (int i = 0; i < 50; i++) {
		pthread_t thread;

		wait_waiter_of(&rig->waiter)->mode = MODE_FAST;
		if (pthread_create(&thread, NULL, kick_once, &rig->waiter))
			return 2;
		if (vhalt_waiter_wait(&rig->waiter, VHALT_NO_DEADLINE_NS) != VHALT_WAKE_KICK)
			return 3;
		pthread_join(thread, NULL);
	}
	/* And its deadline is kept, however it sleeps. */
	wait_waiter_of(&rig->waiter)->mode = MODE_FAST;
	if (vhalt_waiter_wait(&rig->waiter, now_ns() + 5 * MS) != VHALT_WAKE_DEADLINE)
		return 4;
	return mode_of(rig) == MODE_SLOW ? 0 : 5;
}

/* From now on membarrier() fails with ENOSYS here. */
static int forbid_membarrier(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int exit_code_of(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The child has its parent's engine, but its registration is its own to make. */
static void works_after_fork(void **state)
{
	struct rig rig;
	pid_t child;

	(void)state;
	rig_init(&rig, "none");
	child = fork();
	if (!child) {
		alarm(WATCHDOG_S);
		_exit(wait_in_child(&rig));
	}
	assert_int_equal(exit_code_of(child), 0);
}

static void loses_nothing_where_membarrier_is_forbidden_later(void **state)
{
	struct rig rig;
	pid_t child;
	int code;

	(void)state;
	rig_init(&rig, "none");
	child = fork();
	if (!child) {
		alarm(WATCHDOG_S);
		if (forbid_membarrier())
			_exit(77);
		code = wait_in_child(&rig);
		_exit(!code && fast_of(&rig) ? 6 : code);
	}
	code = exit_code_of(child);
	if (code == 77) {
		print_message("seccomp filters cannot be set here\n");
		skip();
	}
	assert_int_equal(code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_fast_when_polls_are_met_and_back_when_it_blocks),
		cmocka_unit_test(works_after_fork),
		cmocka_unit_test(loses_nothing_where_membarrier_is_forbidden_later),
	};

	alarm(WATCHDOG_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

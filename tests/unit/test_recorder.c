// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Recorder: the real BPF programs on this kernel, up to the file they make: who, what, in which
// order.
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tests/unit/recorder_fixture.h"

static void test_one_vcpu(void **state)
{
	struct recorder_counts counts;
	struct recording r;
	uint64_t began;

	(void)state;
	if (!can_record())
		skip();
	assert_int_equal(prctl(PR_SET_NAME, "CPU 5/KVM"), 0);
	began = now_ns();
	begin(&r, 0);
	wait_until(now_ns() + 1000000);
	assert_int_equal(fire_wakeup(r.recorder, 1000, true, true), 0);
	assert_int_equal(fire_decision(r.recorder, 6, 10000, 0), 0);
	assert_int_equal(fire_wakeup(r.recorder, 2000, false, true), 0);
	assert_int_equal(fire_wakeup(r.recorder, 3000, true, false), 0);
	assert_int_equal(fire_decision(r.recorder, 6, 0, 10000), 0);
	assert_int_equal(fire_wakeup(r.recorder, 4000, true, true), 0);
	drain_all(&r);
	recorder_counts(r.recorder, &counts);
	assert_int_equal(counts.halts, 4);
	assert_int_equal(counts.lost, 0);
	assert_int_equal(counts.vms, 1);
	assert_int_equal(counts.vcpus, 1);
	finish(&r);
	assert_int_equal(r.nr_halts, 4);
	assert_string_equal(trace_reader_format(r.reader), "vht");
	assert_int_equal(r.info->nr_vms, 1);
	assert_int_equal(r.info->nr_vcpus, 1);
	assert_int_equal(r.info->vms[0].pid, getpid());
	assert_int_equal(r.info->vcpus[0].tid, syscall(SYS_gettid));
	assert_int_equal(r.info->vcpus[0].number, 6);
	if (recorder_in_host_pids())
		assert_string_equal(r.info->vcpus[0].name, "CPU 5/KVM");
	assert_true(r.info->duration_ns > 0 && r.info->duration_ns < now_ns() - began);
	assert_true(r.info->origin_unix_ns > 0);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(r.halts[i].halt_ns, 1000 * (i + 1));
		assert_int_equal(r.halts[i].latency_ns, TRACE_UNKNOWN_U32);
		assert_true(r.halts[i].start_ns < r.info->duration_ns);
	}
	assert_int_equal(r.halts[0].flags, TRACE_HALT_WAITED);
	assert_int_equal(r.halts[1].flags, TRACE_HALT_WINDOW | TRACE_HALT_GROW);
	assert_int_equal(r.halts[2].flags, TRACE_HALT_WAITED | TRACE_HALT_INVALID);
	assert_int_equal(r.halts[3].flags, TRACE_HALT_WAITED | TRACE_HALT_WINDOW);
	assert_int_equal(r.halts[0].window_ns, TRACE_UNKNOWN_U32);
	assert_int_equal(r.halts[1].window_ns, 0);
	assert_int_equal(r.halts[2].window_ns, 10000);
	assert_int_equal(r.halts[3].window_ns, 10000);
	assert_int_equal(r.halts[1].new_ns, 10000);
	assert_int_equal(r.halts[3].old_ns, 10000);
	release(&r);
}

static void test_halt_under_way_at_the_start(void **state)
{
	struct recorder_counts counts;
	struct recording r;

	(void)state;
	if (!can_record())
		skip();
	begin(&r, 0);
	assert_int_equal(fire_wakeup(r.recorder, 10000000000ULL, true, true), 0);
	assert_int_equal(fire_wakeup(r.recorder, 100, true, true), 0);
	drain_all(&r);
	recorder_counts(r.recorder, &counts);
	assert_int_equal(counts.early, 1);
	assert_int_equal(counts.halts, 1);
	finish(&r);
	assert_int_equal(r.nr_halts, 1);
	assert_true(r.halts[0].run_ns != VHALT_UNKNOWN_NS);
	release(&r);
}

/* --- vCPU threads that move between CPUs and are drained meanwhile ------------------------------
 */

enum { MOVERS = 4, MOVER_HALTS = 4000 };

struct mover {
	const struct recorder *recorder;
	uint32_t index, nr_cpus, tid;
	int failed;
};

/* Halt i is i % 97 + 1 ns long, every third has a decision i -> i + 1; moves wherever one can. */
static void *run_mover(void *arg)
{
	struct mover *m = arg;
	uint32_t random = m->index + 1;

	m->tid = (uint32_t)syscall(SYS_gettid);
	for (uint32_t i = 0; i < MOVER_HALTS; i++) {
		random = random * 1664525 + 1013904223;
		if (random >> 29 == 0)
			move_to((random >> 20) % m->nr_cpus);
		if (i % 3 == 0) {
			m->failed |= fire_decision(m->recorder, m->index, i + 1, i);
			if (random >> 29 == 1)
				move_to((random >> 20) % m->nr_cpus);
		}
		m->failed |= fire_wakeup(m->recorder, i % 97 + 1, i & 1, true);
	}
	return NULL;
}

static void check_mover(const struct recording *r, uint32_t tid, uint32_t number)
{
	uint64_t end_ns = 0;
	uint32_t i = 0;

	for (uint32_t k = 0; k < r->nr_halts; k++) {
		const struct trace_halt *h = &r->halts[k];

		if (r->info->vcpus[h->vcpu].tid != tid)
			continue;
		assert_int_equal(h->halt_ns, i % 97 + 1);
		assert_int_equal(!!(h->flags & TRACE_HALT_WAITED), i & 1);
		assert_int_equal(!!(h->flags & TRACE_HALT_WINDOW), i % 3 == 0);
		assert_false(h->flags & TRACE_HALT_GAP);
		if (i % 3 == 0) {
			assert_int_equal(h->old_ns, i);
			assert_int_equal(h->new_ns, i + 1);
			assert_int_equal(r->info->vcpus[h->vcpu].number, number);
		}
		if (i) {
			assert_int_equal(h->run_ns, h->start_ns - end_ns);
			assert_true(h->start_ns >= end_ns);
		}
		end_ns = h->start_ns + h->halt_ns;
		i++;
	}
	assert_int_equal(i, MOVER_HALTS);
}

static void test_threads_that_move(void **state)
{
	struct mover movers[MOVERS];
	pthread_t threads[MOVERS];
	struct pollfd timer;
	struct recording r;

	(void)state;
	if (!can_record())
		skip();
	begin(&r, 0);
	for (uint32_t i = 0; i < MOVERS; i++) {
		movers[i] = (struct mover){
			.recorder = r.recorder, .index = i, .nr_cpus = (uint32_t)get_nprocs()};
		assert_int_equal(pthread_create(&threads[i], NULL, run_mover, &movers[i]), 0);
	}
	timer = (struct pollfd){.fd = recorder_poll_fd(r.recorder), .events = POLLIN};
	for (uint32_t i = 0; i < MOVERS; i++) {
		while (pthread_tryjoin_np(threads[i], NULL)) {
			assert_int_equal(poll(&timer, 1, 10000), 1);
			assert_int_equal(recorder_drain(r.recorder), 0);
		}
		assert_int_equal(movers[i].failed, 0);
	}
	finish(&r);
	assert_int_equal(r.info->lost, 0);
	assert_int_equal(r.info->nr_vms, 1);
	assert_int_equal(r.info->nr_vcpus, MOVERS);
	for (uint32_t i = 0; i < MOVERS; i++)
		check_mover(&r, movers[i].tid, i);
	release(&r);
}

/* Fires one wake-up in a child process. */
static uint32_t fire_in_child(const struct recorder *recorder, uint64_t halt_ns)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(fire_wakeup(recorder, halt_ns, true, true) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return (uint32_t)pid;
}

static void test_other_processes_left_out(void **state)
{
	struct recording r;

	(void)state;
	if (!can_record())
		skip();
	begin(&r, 0);
	fire_in_child(r.recorder, 1);
	assert_int_equal(fire_wakeup(r.recorder, 2, true, true), 0);
	finish(&r);
	assert_int_equal(r.nr_halts, 1);
	assert_int_equal(r.halts[0].halt_ns, 2);
	assert_int_equal(r.info->nr_vms, 1);
	release(&r);
}

/* All processes; one that has ended before it could be asked for its name is recorded all the same.
 */
static void test_process_that_is_gone(void **state)
{
	char name[64];
	uint32_t pid, vm = UINT32_MAX;
	struct recording r;

	(void)state;
	if (!can_record() || !recorder_in_host_pids())
		skip();
	begin_with(&r, (struct recorder_config){.ring_bytes = RING_BYTES});
	pid = fire_in_child(r.recorder, 1);
	finish(&r);
	for (uint32_t i = 0; i < r.info->nr_vms; i++)
		if (r.info->vms[i].pid == pid)
			vm = i;
	assert_int_not_equal(vm, UINT32_MAX);
	snprintf(name, sizeof(name), "pid %u (exited)", pid);
	assert_string_equal(r.info->vms[vm].name, name);
	release(&r);
}

/* A ceiling the caller knows gets into the file, and caps windows the kernel does not report. */
static void test_ceilings(void **state)
{
	const uint32_t pid = (uint32_t)getpid();
	const struct recorder_ceiling ceilings[] = {{pid + 1, 0}, {pid, 15000}};
	struct recording r;

	(void)state;
	if (!can_record() || !recorder_in_host_pids())
		skip();
	begin_with(&r, (struct recorder_config){.pids = &pid,
						.nr_pids = 1,
						.ring_bytes = RING_BYTES,
						.ceilings = ceilings,
						.nr_ceilings = 2});
	assert_int_equal(fire_decision(r.recorder, 0, 20000, 10000), 0);
	assert_int_equal(fire_wakeup(r.recorder, 1, true, true), 0);
	assert_int_equal(fire_wakeup(r.recorder, 2, true, true), 0);
	assert_int_equal(recorder_stop(r.recorder), 0);
	assert_true(recorder_has_vm(r.recorder, pid));
	assert_false(recorder_has_vm(r.recorder, pid + 1));
	finish(&r);
	assert_int_equal(r.info->vms[0].ceiling_ns, 15000);
	assert_int_equal(r.nr_halts, 2);
	assert_int_equal(r.halts[1].window_ns, 15000);
	release(&r);
}

static void test_two_recordings(void **state)
{
	struct recording one, two;

	(void)state;
	if (!can_record())
		skip();
	begin(&one, 0);
	begin(&two, 0);
	assert_int_equal(fire_decision(one.recorder, 0, 10000, 0), 0);
	assert_int_equal(fire_wakeup(two.recorder, 2, true, true), 0);
	assert_int_equal(fire_wakeup(one.recorder, 1, true, true), 0);
	finish(&one);
	assert_int_equal(fire_wakeup(two.recorder, 2, true, true), 0);
	finish(&two);
	assert_int_equal(one.nr_halts, 1);
	assert_int_equal(one.halts[0].halt_ns, 1);
	assert_true(one.halts[0].flags & TRACE_HALT_WINDOW);
	assert_int_equal(two.nr_halts, 2);
	assert_int_equal(two.halts[0].halt_ns, 2);
	assert_false(two.halts[0].flags & TRACE_HALT_WINDOW);
	release(&one);
	release(&two);
}

static void test_nothing_is_left(void **state)
{
	uint32_t ids[2];
	struct recording r;

	(void)state;
	if (!can_record())
		skip();
	begin(&r, 0);
	for (int i = 0; i < 2; i++) {
		struct bpf_prog_info info = {0};
		uint32_t bytes = sizeof(info);
		int fd = recorder_program_fd(r.recorder, (enum recorder_program)i);

		assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &bytes), 0);
		ids[i] = info.id;
	}
	finish(&r);
	release(&r);
	for (int i = 0; i < 2; i++) {
		int fd = bpf_prog_get_fd_by_id(ids[i]);

		/* Newer kernels free a link's program an RCU grace period later. */
		for (int tries = 0; fd >= 0 && tries < 1000; tries++) {
			close(fd);
			syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
			fd = bpf_prog_get_fd_by_id(ids[i]);
		}
		assert_true(fd < 0);
	}
}

static void test_cost(void **state)
{
	struct recorder_counts counts;
	struct recording r;

	(void)state;
	if (!can_record())
		skip();
	begin_with(&r, (struct recorder_config){.ring_bytes = RING_BYTES, .statistics = true});
	for (int i = 0; i < 10; i++)
		assert_int_equal(fire_wakeup(r.recorder, 1, true, true), 0);
	recorder_counts(r.recorder, &counts);
	assert_true(counts.probe_runs >= 10);
	assert_true(counts.probe_ns > 0);
	finish(&r);
	release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_vcpu),
		cmocka_unit_test(test_halt_under_way_at_the_start),
		cmocka_unit_test(test_threads_that_move),
		cmocka_unit_test(test_other_processes_left_out),
		cmocka_unit_test(test_process_that_is_gone),
		cmocka_unit_test(test_ceilings),
		cmocka_unit_test(test_two_recordings),
		cmocka_unit_test(test_nothing_is_left),
		cmocka_unit_test(test_cost),
	};

	skip_reason = find_skip_reason();
	return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}

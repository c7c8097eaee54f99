// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Recorder: from slots to halts: identity of VMs and vCPUs, run times, windows in force, gaps.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/recorder_track.h"

#define ORIGIN_NS 1000000000ULL
#define PARAM_NS  200000U

/* The tasks a test has; looked up by tid. */
struct fake {
	uint64_t thread_start, vm_start;
	const char *thread_name;
	unsigned int nr_looked_up;
};

struct fixture {
	struct recorder_track track;
	struct fake fake;
	struct trace_halt halt;
	uint64_t epoch;
};

static void read_fake(void *context, uint32_t pid, uint32_t tid, struct recorder_task *task)
{
	struct fake *fake = context;

	memset(task, 0, sizeof(*task));
	snprintf(task->vm_name, sizeof(task->vm_name), "vm of %u", pid);
	snprintf(task->thread_name, sizeof(task->thread_name), "%s",
		 fake->thread_name ? fake->thread_name : "");
	if (!fake->thread_name)
		snprintf(task->thread_name, sizeof(task->thread_name), "vcpu%u", tid % 10);
	task->thread_start = fake->thread_start;
	task->vm_start = fake->vm_start;
	fake->nr_looked_up++;
}

static struct fixture the_fixture;

static int setup(void **state)
{
	struct fixture *f = &the_fixture;

	memset(f, 0, sizeof(*f));
	f->fake = (struct fake){.thread_start = 100, .vm_start = 50};
	*state = f;
	return recorder_track_init(&f->track, ORIGIN_NS, PARAM_NS, read_fake, &f->fake);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	recorder_track_fini(&f->track);
	return 0;
}

/* A blocked, valid halt without a decision, [start, start + halt) after the origin. */
static struct recorder_slot plain(uint32_t tid, uint64_t start_ns, uint64_t halt_ns)
{
	return (struct recorder_slot){
		.time_ns = ORIGIN_NS + start_ns + halt_ns,
		.halt_ns = halt_ns,
		.tid = tid,
		.pid = 4000,
		.latency_ns = RECORDER_NO_LATENCY,
		.flags = RECORDER_WAITED | RECORDER_VALID,
	};
}

static struct recorder_slot decided(uint32_t tid, uint64_t start_ns, uint64_t halt_ns,
				    uint32_t old_ns, uint32_t new_ns)
{
	struct recorder_slot slot = plain(tid, start_ns, halt_ns);

	slot.flags |= RECORDER_DECIDED | (new_ns > old_ns ? RECORDER_GROW : 0);
	slot.old_ns = old_ns;
	slot.new_ns = new_ns;
	slot.number = tid % 10;
	return slot;
}

static int take(struct fixture *f, struct recorder_slot slot)
{
	return recorder_track_slot(&f->track, &slot, f->epoch, &f->halt);
}

/* The window found to be in force in that halt. */
static uint32_t window_of(struct fixture *f, struct recorder_slot slot)
{
	assert_true(take(f, slot) & RECORDER_STEP_HALT);
	return f->halt.window_ns;
}

static void test_first_halt(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(take(f, plain(4003, 512, 7000)), RECORDER_STEP_HALT);
	assert_int_equal(f->halt.start_ns, 512);
	assert_int_equal(f->halt.halt_ns, 7000);
	assert_true(f->halt.run_ns == VHALT_UNKNOWN_NS);
	assert_true(f->halt.deadline_ns == VHALT_NO_DEADLINE_NS);
	assert_int_equal(f->halt.latency_ns, TRACE_UNKNOWN_U32);
	assert_int_equal(f->halt.window_ns, TRACE_UNKNOWN_U32);
	assert_int_equal(f->halt.vcpu, 0);
	assert_int_equal(f->halt.flags, TRACE_HALT_WAITED);
	assert_int_equal(f->track.nr_vms, 1);
	assert_int_equal(f->track.nr_vcpus, 1);
	assert_int_equal(recorder_track_vm(&f->track, 0)->pid, 4000);
	assert_string_equal(recorder_track_vm(&f->track, 0)->name, "vm of 4000");
	assert_int_equal(recorder_track_vm(&f->track, 0)->ceiling_ns, TRACE_UNKNOWN_U32);
	assert_int_equal(recorder_track_vcpu(&f->track, 0)->tid, 4003);
	assert_int_equal(recorder_track_vcpu(&f->track, 0)->number, 3);
	assert_string_equal(recorder_track_vcpu(&f->track, 0)->name, "vcpu3");
}

static void test_flags(void **state)
{
	struct fixture *f = *state;
	struct recorder_slot slot = plain(1, 0, 10);

	slot.flags = 0;
	take(f, slot);
	assert_int_equal(f->halt.flags, TRACE_HALT_INVALID);
	slot = decided(1, 100, 10, 0, 10000);
	take(f, slot);
	assert_int_equal(f->halt.flags, TRACE_HALT_WAITED | TRACE_HALT_WINDOW | TRACE_HALT_GROW);
	assert_int_equal(f->halt.old_ns, 0);
	assert_int_equal(f->halt.new_ns, 10000);
	slot = decided(1, 200, 10, 10000, 0);
	take(f, slot);
	assert_int_equal(f->halt.flags, TRACE_HALT_WAITED | TRACE_HALT_WINDOW);
}

static void test_run_time(void **state)
{
	struct fixture *f = *state;

	take(f, plain(1, 0, 1000));
	take(f, plain(2, 128, 100));
	take(f, plain(1, 1512, 1000));
	assert_int_equal(f->halt.run_ns, 512);
	take(f, plain(2, 292, 50));
	assert_int_equal(f->halt.run_ns, 64);
	assert_int_equal(f->halt.vcpu, 1);
	/* Clocks a little apart: never before the last halt's end. */
	take(f, plain(1, 2450, 100));
	assert_int_equal(f->halt.run_ns, 0);
	assert_int_equal(f->halt.start_ns, 2512);
	take(f, plain(1, 2740, 100));
	assert_int_equal(f->halt.run_ns, 128);
}

/* Starts and run times are kept to 64 ns; lengths exactly, and the rounding never adds up. */
static void test_clock_unit(void **state)
{
	struct fixture *f = *state;

	take(f, plain(1, 1001, 7));
	assert_int_equal(f->halt.start_ns, 1024);
	for (uint64_t i = 1; i < 1000; i++) {
		uint64_t start_ns = 1001 + i * 5003;

		take(f, plain(1, start_ns, 1007));
		assert_int_equal(f->halt.halt_ns, 1007);
		assert_int_equal(f->halt.run_ns % 64, 0);
		assert_in_range(f->halt.start_ns, start_ns - 32, start_ns + 32);
	}
}

static void test_latency(void **state)
{
	struct fixture *f = *state;
	struct recorder_slot slot = plain(1, 0, 100000);

	slot.latency_ns = 12990;
	take(f, slot);
	assert_int_equal(f->halt.latency_ns, 12992);
	/* Met by polling: nobody woke it. */
	slot = plain(1, 200000, 1000);
	slot.latency_ns = 10;
	slot.flags &= ~RECORDER_WAITED;
	take(f, slot);
	assert_int_equal(f->halt.latency_ns, TRACE_UNKNOWN_U32);
}

static void test_before_the_origin(void **state)
{
	struct fixture *f = *state;
	struct recorder_slot slot = plain(1, 0, 100);

	/* Over before the recording began: nobody is named. */
	slot.time_ns = ORIGIN_NS - 1;
	assert_int_equal(take(f, slot), 0);
	assert_int_equal(f->track.nr_vcpus, 0);
	/* Under way when it began: left out, but what follows is whole. */
	slot = decided(1, 0, 5000, 0, 10000);
	slot.time_ns = ORIGIN_NS + 1000;
	assert_int_equal(take(f, slot), 0);
	assert_int_equal(f->track.early, 1);
	assert_int_equal(f->track.nr_vcpus, 1);
	assert_int_equal(take(f, plain(1, 1320, 5000)), RECORDER_STEP_HALT);
	assert_int_equal(f->halt.run_ns, 320);
	assert_int_equal(f->halt.window_ns, 10000);
	assert_int_equal(f->halt.start_ns, 1320);
	/* A length nobody can have: longer than the machine is up. */
	slot = plain(1, 10000, 100);
	slot.halt_ns = UINT64_MAX;
	assert_int_equal(take(f, slot), 0);
	assert_int_equal(f->track.early, 2);
}

static void test_window_follows_decisions(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(window_of(f, plain(1, 0, 10)), TRACE_UNKNOWN_U32);
	assert_int_equal(window_of(f, decided(1, 100, 10, 0, 10000)), 0);
	assert_int_equal(window_of(f, plain(1, 200, 10)), 10000);
	assert_int_equal(window_of(f, decided(1, 300, 10, 10000, 20000)), 10000);
	assert_int_equal(window_of(f, plain(1, 400, 10)), 20000);
	/* Another vCPU's window is its own. */
	assert_int_equal(window_of(f, plain(2, 500, 10)), TRACE_UNKNOWN_U32);
	assert_int_equal(window_of(f, decided(1, 600, 10, 20000, 0)), 20000);
	assert_int_equal(window_of(f, plain(1, 700, 10)), 0);
}

/* Nobody said what the VM's ceiling is: the parameter's, until the kernel's capping shows another.
 */
static void test_window_under_parameter(void **state)
{
	struct fixture *f = *state;

	window_of(f, decided(1, 100, 10, 160000, 320000));
	assert_int_equal(window_of(f, plain(1, 200, 10)), PARAM_NS);
	/* The next decision starts from less: that is the ceiling. */
	assert_int_equal(window_of(f, decided(1, 300, 10, 150000, 300000)), 150000);
	assert_int_equal(window_of(f, plain(1, 400, 10)), 150000);
	/* It starts from more than the ceiling known: raised, nobody knows how far. */
	assert_int_equal(window_of(f, decided(1, 500, 10, 300000, 600000)), 300000);
	assert_int_equal(window_of(f, plain(1, 600, 10)), 600000);
}

static void test_window_under_known_ceiling(void **state)
{
	struct fixture *f = *state;

	const struct recorder_ceiling ceilings[] = {{4000, 1}, {4001, 2}, {4000, 50000}};

	assert_int_equal(recorder_track_set_ceilings(&f->track, ceilings, 3), 0);
	window_of(f, decided(1, 100, 10, 40000, 80000));
	assert_int_equal(window_of(f, plain(1, 200, 10)), 50000);
	assert_int_equal(recorder_track_vm(&f->track, 0)->ceiling_ns, 50000);
	window_of(f, decided(1, 300, 10, 50000, 25000));
	assert_int_equal(window_of(f, plain(1, 400, 10)), 25000);
}

static void test_gap(void **state)
{
	struct fixture *f = *state;

	window_of(f, decided(1, 100, 10, 0, 10000));
	window_of(f, decided(2, 120, 10, 0, 10000));
	f->epoch++;
	assert_int_equal(window_of(f, plain(1, 200, 10)), TRACE_UNKNOWN_U32);
	assert_int_equal(f->halt.flags, TRACE_HALT_WAITED | TRACE_HALT_GAP);
	assert_true(f->halt.run_ns == VHALT_UNKNOWN_NS);
	/* Only once for each vCPU; its own decision is known again at once. */
	assert_int_equal(window_of(f, plain(1, 330, 10)), TRACE_UNKNOWN_U32);
	assert_int_equal(f->halt.flags, TRACE_HALT_WAITED);
	assert_int_equal(f->halt.run_ns, 128);
	assert_int_equal(window_of(f, decided(2, 320, 10, 10000, 20000)), 10000);
	assert_true(f->halt.flags & TRACE_HALT_GAP);
	assert_int_equal(window_of(f, plain(2, 340, 10)), 20000);
	/* A vCPU that was never seen has nothing that could carry over. */
	window_of(f, plain(3, 400, 10));
	assert_false(f->halt.flags & TRACE_HALT_GAP);
}

static void test_number_learnt_later(void **state)
{
	struct fixture *f = *state;

	f->fake.thread_name = "worker";
	assert_int_equal(take(f, plain(7, 0, 10)), RECORDER_STEP_HALT);
	assert_int_equal(recorder_track_vcpu(&f->track, 0)->number, TRACE_UNKNOWN_U32);
	assert_int_equal(take(f, decided(7, 100, 10, 0, 10000)),
			 RECORDER_STEP_HALT | RECORDER_STEP_NUMBER);
	assert_int_equal(f->halt.vcpu, 0);
	assert_int_equal(recorder_track_vcpu(&f->track, 0)->number, 7);
	assert_int_equal(take(f, decided(7, 200, 10, 10000, 0)), RECORDER_STEP_HALT);
	/* Known with the first halt: there is nothing to correct. */
	assert_int_equal(take(f, decided(8, 300, 10, 0, 10000)), RECORDER_STEP_HALT);
	assert_int_equal(recorder_track_vcpu(&f->track, 1)->number, 8);
}

static void test_identity(void **state)
{
	struct fixture *f = *state;
	struct recorder_slot slot;

	take(f, plain(1, 0, 10));
	take(f, plain(2, 50, 10));
	take(f, plain(1, 100, 10));
	assert_int_equal(f->fake.nr_looked_up, 2);
	assert_int_equal(f->track.nr_vms, 1);
	assert_int_equal(f->track.nr_vcpus, 2);
	/* The same thread id in another process: another vCPU in another VM. */
	slot = plain(1, 200, 10);
	slot.pid = 5000;
	take(f, slot);
	assert_int_equal(f->halt.vcpu, 2);
	assert_true(f->halt.run_ns == VHALT_UNKNOWN_NS);
	assert_int_equal(f->track.nr_vms, 2);
	assert_int_equal(recorder_track_vcpu(&f->track, 2)->vm, 1);
	/* A new thread of the first. */
	take(f, plain(3, 300, 10));
	assert_int_equal(f->halt.vcpu, 3);
	assert_int_equal(recorder_track_vcpu(&f->track, 3)->vm, 0);
	/* The process id was used again: the process began at another time. */
	f->fake.vm_start = 51;
	take(f, plain(4, 400, 10));
	assert_int_equal(recorder_track_vcpu(&f->track, 4)->vm, 2);
	assert_int_equal(f->track.nr_vms, 3);
}

static void test_thread_id_used_again(void **state)
{
	const uint64_t minute_ns = 60000000000ULL;
	struct fixture *f = *state;

	take(f, plain(1, 0, 10));
	/* Silent for long, but the same thread. */
	take(f, plain(1, minute_ns, 10));
	assert_int_equal(f->fake.nr_looked_up, 2);
	assert_int_equal(f->halt.vcpu, 0);
	assert_in_range(f->halt.run_ns, minute_ns - 10 - 32, minute_ns - 10 + 32);
	/* A long halt is a silence too. */
	take(f, plain(1, minute_ns + 100, minute_ns));
	assert_int_equal(f->fake.nr_looked_up, 3);
	assert_int_equal(f->halt.vcpu, 0);
	/* Gone when it is asked for. */
	f->fake.thread_start = 0;
	take(f, plain(1, 3 * minute_ns, 10));
	assert_int_equal(f->halt.vcpu, 0);
	/* Silent for long, and another one when it comes back. */
	f->fake.thread_start = 777;
	take(f, plain(1, 4 * minute_ns, 10));
	assert_int_equal(f->halt.vcpu, 1);
	assert_true(f->halt.run_ns == VHALT_UNKNOWN_NS);
	assert_int_equal(f->track.nr_vcpus, 2);
	assert_int_equal(f->track.nr_vms, 1);
}

static void test_many(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 3000; i++) {
		struct recorder_slot slot = plain(RECORDER_TID_LIMIT - 1 - i, i, 10);

		slot.pid = 4000 + i % 100;
		assert_int_equal(take(f, slot), RECORDER_STEP_HALT);
		assert_int_equal(f->halt.vcpu, i);
	}
	assert_int_equal(f->track.nr_vms, 100);
	assert_int_equal(f->track.nr_vcpus, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_halt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flags, setup, teardown),
		cmocka_unit_test_setup_teardown(test_run_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock_unit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_latency, setup, teardown),
		cmocka_unit_test_setup_teardown(test_before_the_origin, setup, teardown),
		cmocka_unit_test_setup_teardown(test_window_follows_decisions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_window_under_parameter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_window_under_known_ceiling, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_number_learnt_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_identity, setup, teardown),
		cmocka_unit_test_setup_teardown(test_thread_id_used_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
	};

	return cmocka_run_group_tests_name("recorder_track", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Recorder: merging the per-CPU rings, with a writer in user space that keeps the programs' rules.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/recorder_ring.h"

enum { CPUS = 4, SLOTS = 64 };

#define REGION_BYTES (sizeof(struct recorder_region) + SLOTS * sizeof(struct recorder_slot))
#define NEVER	     UINT64_MAX

struct fixture {
	unsigned char *memory;
	struct recorder_rings rings;
};

static struct recorder_region *region(struct fixture *f, unsigned int cpu)
{
	return (struct recorder_region *)(void *)(f->memory + cpu * REGION_BYTES);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->memory = aligned_alloc(64, CPUS * REGION_BYTES);
	memset(f->memory, 0, CPUS * REGION_BYTES);
	*state = f;
	return recorder_rings_init(&f->rings, f->memory, REGION_BYTES, CPUS, SLOTS);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	recorder_rings_fini(&f->rings);
	free(f->memory);
	free(f);
	return 0;
}

/* What on_wakeup does, in two halves so that a test can look in between. NULL: lost. */
static struct recorder_slot *put(struct fixture *f, unsigned int cpu, uint32_t tid,
				 uint64_t time_ns, uint64_t *position)
{
	struct recorder_region *r = region(f, cpu);
	struct recorder_slot *slot;

	if (r->head - r->tail >= SLOTS) {
		r->lost++;
		return NULL;
	}
	*position = r->head++;
	slot = &r->slots[*position % SLOTS];
	slot->time_ns = time_ns;
	slot->tid = tid;
	slot->flags = r->lost != r->lost_marked ? RECORDER_AFTER_LOSS : 0;
	return slot;
}

static void commit(struct fixture *f, unsigned int cpu, struct recorder_slot *slot,
		   uint64_t position)
{
	struct recorder_region *r = region(f, cpu);

	slot->seq = (uint32_t)position + 1;
	if (slot->flags & RECORDER_AFTER_LOSS)
		r->lost_marked = r->lost;
}

static bool halt(struct fixture *f, unsigned int cpu, uint32_t tid, uint64_t time_ns)
{
	uint64_t position;
	struct recorder_slot *slot = put(f, cpu, tid, time_ns, &position);

	if (slot)
		commit(f, cpu, slot, position);
	return slot != NULL;
}

/* The next slot is the one of @tid at @time_ns; its epoch. */
static uint64_t expect(struct fixture *f, uint32_t tid, uint64_t time_ns)
{
	uint64_t epoch;
	const struct recorder_slot *slot = recorder_rings_next(&f->rings, &epoch);

	assert_non_null(slot);
	assert_int_equal(slot->tid, tid);
	assert_int_equal(slot->time_ns, time_ns);
	return epoch;
}

static void expect_end(struct fixture *f)
{
	uint64_t epoch;

	assert_null(recorder_rings_next(&f->rings, &epoch));
	assert_null(recorder_rings_next(&f->rings, &epoch));
}

static void test_empty(void **state)
{
	struct fixture *f = *state;

	recorder_rings_begin(&f->rings, NEVER, false);
	expect_end(f);
	assert_int_equal(recorder_rings_lost(&f->rings), 0);
}

static void test_merges_by_time(void **state)
{
	struct fixture *f = *state;
	uint64_t epoch;

	halt(f, 2, 1, 10);
	halt(f, 0, 1, 20);
	halt(f, 2, 2, 30);
	halt(f, 3, 1, 40);
	halt(f, 0, 2, 50);
	recorder_rings_begin(&f->rings, NEVER, false);
	epoch = expect(f, 1, 10);
	assert_int_equal(expect(f, 1, 20), epoch);
	assert_int_equal(expect(f, 2, 30), epoch);
	assert_int_equal(expect(f, 1, 40), epoch);
	assert_int_equal(expect(f, 2, 50), epoch);
	expect_end(f);
	/* All is given back. */
	assert_int_equal(region(f, 0)->tail, 2);
	assert_int_equal(region(f, 1)->tail, 0);
	assert_int_equal(region(f, 2)->tail, 2);
	assert_int_equal(region(f, 3)->tail, 1);
}

/* What came after the clock was read waits, though an earlier slot of another CPU is not there yet.
 */
static void test_horizon(void **state)
{
	struct fixture *f = *state;

	halt(f, 0, 1, 10);
	halt(f, 0, 2, 30);
	halt(f, 1, 3, 29);
	recorder_rings_begin(&f->rings, 30, false);
	expect(f, 1, 10);
	expect(f, 3, 29);
	expect_end(f);
	assert_int_equal(region(f, 0)->tail, 1);
	halt(f, 1, 1, 25);
	recorder_rings_begin(&f->rings, 31, false);
	expect(f, 1, 25);
	expect(f, 2, 30);
	expect_end(f);
}

/* A slot that is being filled holds back its own CPU, and nobody else. */
static void test_uncommitted(void **state)
{
	struct fixture *f = *state;
	uint64_t position;
	struct recorder_slot *slot;

	halt(f, 0, 1, 10);
	slot = put(f, 0, 2, 20, &position);
	halt(f, 1, 4, 40);
	recorder_rings_begin(&f->rings, NEVER, false);
	expect(f, 1, 10);
	expect(f, 4, 40);
	expect_end(f);
	commit(f, 0, slot, position);
	halt(f, 0, 3, 50);
	recorder_rings_begin(&f->rings, NEVER, false);
	expect(f, 2, 20);
	expect(f, 3, 50);
	expect_end(f);
}

/* A round given up in the middle (an error of writing) leaves its rest to the next one. */
static void test_abandoned_round(void **state)
{
	struct fixture *f = *state;

	halt(f, 0, 1, 10);
	halt(f, 0, 1, 20);
	recorder_rings_begin(&f->rings, NEVER, false);
	expect(f, 1, 10);
	recorder_rings_begin(&f->rings, NEVER, false);
	expect(f, 1, 10);
	expect(f, 1, 20);
	expect_end(f);
}

static void test_wraps_many_times(void **state)
{
	struct fixture *f = *state;
	uint64_t now = 1, epoch = 0;

	/* Near the end of 32 bits, so that the sequence word wraps too. */
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		region(f, cpu)->head = region(f, cpu)->tail = 0xffffff00ULL;
		f->rings.rings[cpu].position = 0xffffff00ULL;
	}
	for (int round = 0; round < 50; round++) {
		uint64_t first = now;

		for (int i = 0; i < SLOTS; i++, now++)
			assert_true(halt(f, (unsigned int)round % 2, 7, now));
		recorder_rings_begin(&f->rings, NEVER, false);
		for (uint64_t t = first; t < now; t++)
			assert_int_equal(expect(f, 7, t), epoch);
		expect_end(f);
	}
}

static void test_full_ring_counts(void **state)
{
	struct fixture *f = *state;
	uint64_t epoch, now = 1;

	halt(f, 1, 8, now++);
	for (int i = 0; i < SLOTS + 5; i++, now++)
		assert_int_equal(halt(f, 0, 7, now), i < SLOTS);
	assert_int_equal(recorder_rings_lost(&f->rings), 5);
	halt(f, 1, 8, now++);
	recorder_rings_begin(&f->rings, NEVER, false);
	/* What came before the loss is whole ... */
	epoch = expect(f, 8, 1);
	for (uint64_t t = 2; t < 2 + SLOTS; t++)
		assert_int_equal(expect(f, 7, t), epoch);
	/* ... and what comes after it is not, whichever CPU it was on. */
	assert_int_not_equal(expect(f, 8, now - 1), epoch);
	expect_end(f);
	/* The loss is told by the next slot of the CPU; from there on all is whole again. */
	halt(f, 1, 8, now);
	halt(f, 0, 7, now + 1);
	halt(f, 1, 8, now + 2);
	halt(f, 0, 7, now + 3);
	recorder_rings_begin(&f->rings, NEVER, false);
	expect(f, 8, now);
	epoch = expect(f, 7, now + 1);
	assert_int_equal(expect(f, 8, now + 2), epoch);
	assert_int_equal(expect(f, 7, now + 3), epoch);
	expect_end(f);
}

/* The slot that tells the loss is there but beyond the horizon: others must not count as whole. */
static void test_loss_told_beyond_horizon(void **state)
{
	struct fixture *f = *state;
	uint64_t epoch;

	halt(f, 0, 9, 1);
	recorder_rings_begin(&f->rings, NEVER, false);
	epoch = expect(f, 9, 1);
	expect_end(f);
	region(f, 1)->lost = 1;
	halt(f, 0, 9, 50);
	halt(f, 1, 7, 100);
	assert_int_equal(region(f, 1)->lost_marked, 1);
	recorder_rings_begin(&f->rings, 60, false);
	assert_int_not_equal(expect(f, 9, 50), epoch);
	expect_end(f);
}

/* Doubt is about this round and what was stamped beyond its horizon: the next one. */
static void test_doubt(void **state)
{
	struct fixture *f = *state;
	uint64_t epoch[7];

	for (uint64_t t = 1; t <= 2; t++)
		halt(f, 0, 7, t);
	recorder_rings_begin(&f->rings, NEVER, false);
	epoch[0] = expect(f, 7, 1);
	assert_int_equal(expect(f, 7, 2), epoch[0]);
	expect_end(f);
	for (uint64_t t = 3; t <= 4; t++)
		halt(f, 0, 7, t);
	recorder_rings_begin(&f->rings, NEVER, true);
	epoch[1] = expect(f, 7, 3);
	epoch[2] = expect(f, 7, 4);
	expect_end(f);
	for (uint64_t t = 5; t <= 6; t++)
		halt(f, 0, 7, t);
	recorder_rings_begin(&f->rings, NEVER, false);
	epoch[3] = expect(f, 7, 5);
	epoch[4] = expect(f, 7, 6);
	expect_end(f);
	for (uint64_t t = 7; t <= 8; t++)
		halt(f, 0, 7, t);
	recorder_rings_begin(&f->rings, NEVER, false);
	epoch[5] = expect(f, 7, 7);
	epoch[6] = expect(f, 7, 8);
	expect_end(f);
	for (int i = 0; i < 5; i++)
		assert_true(epoch[i] < epoch[i + 1]);
	assert_int_equal(epoch[5], epoch[6]);
}

/* --- any schedule --- */

enum { THREADS = 6, STEPS = 200000, MAX_LATE = 3, NOBODY = THREADS };

struct thread {
	uint32_t made;		    /* sequence number of its last halt */
	uint32_t lost;		    /* highest sequence number that was lost */
	uint32_t read;		    /* highest that was read */
	uint64_t epoch;		    /* of that one */
	struct recorder_slot *open; /* reserved, not committed: the thread stands in the program */
	uint64_t open_position;
	unsigned int open_cpu;
};

struct schedule {
	struct thread threads[THREADS];
	unsigned int preempted[CPUS]; /* the thread that stands in the program there, or NOBODY */
	uint64_t now, missed, missed_seen;
	unsigned int gaps;
};

static uint64_t seed;
static bool may_preempt; /* else a thread standing in the program keeps its CPU, as up to 6.x */

static unsigned int draw(unsigned int below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)(seed % below);
}

/* One thread goes on: it finishes the halt it is in, or makes one, on any CPU. */
static void step_thread(struct fixture *f, struct schedule *s)
{
	uint32_t tid = draw(THREADS);
	struct thread *t = &s->threads[tid];
	unsigned int cpu = draw(CPUS);
	struct recorder_slot *slot;
	uint64_t position;

	if (t->open) {
		commit(f, t->open_cpu, t->open, t->open_position);
		s->preempted[t->open_cpu] = NOBODY;
		t->open = NULL;
		return;
	}
	if (s->preempted[cpu] != NOBODY && !may_preempt)
		return;
	t->made++;
	/* The kernel does not run the program a second time on a CPU. */
	if (s->preempted[cpu] != NOBODY) {
		s->missed++;
		t->lost = t->made;
		return;
	}
	slot = put(f, cpu, tid, ++s->now, &position);
	if (!slot) {
		t->lost = t->made;
		return;
	}
	slot->halt_ns = t->made;
	if (draw(8)) {
		commit(f, cpu, slot, position);
		return;
	}
	t->open = slot;
	t->open_position = position;
	t->open_cpu = cpu;
	s->preempted[cpu] = tid;
}

static void read_round(struct fixture *f, struct schedule *s, uint64_t horizon)
{
	const struct recorder_slot *slot;
	uint64_t epoch;

	recorder_rings_begin(&f->rings, horizon, s->missed != s->missed_seen);
	s->missed_seen = s->missed;
	while ((slot = recorder_rings_next(&f->rings, &epoch)) != NULL) {
		struct thread *t = &s->threads[slot->tid];
		uint32_t number = (uint32_t)slot->halt_ns;

		assert_true(slot->time_ns < horizon);
		assert_true(number > t->read);
		/* Numbers are missing: then the epoch must tell. */
		if (number != t->read + 1 && t->read)
			assert_int_not_equal(epoch, t->epoch);
		s->gaps += t->read && epoch != t->epoch;
		t->read = number;
		t->epoch = epoch;
	}
}

/* Return: whether anything was lost. */
static bool run_schedule(struct fixture *f, unsigned int reader_period)
{
	struct schedule s = {.preempted = {NOBODY, NOBODY, NOBODY, NOBODY}};
	bool lost = false;

	for (int i = 0; i < STEPS; i++) {
		step_thread(f, &s);
		if (!draw(reader_period)) {
			uint64_t horizon = s.now + 1;

			/* Halts made between reading the clock and looking at the rings. */
			for (unsigned int late = draw(MAX_LATE); late; late--)
				step_thread(f, &s);
			read_round(f, &s, horizon);
		}
	}
	for (uint32_t tid = 0; tid < THREADS; tid++)
		if (s.threads[tid].open)
			commit(f, s.threads[tid].open_cpu, s.threads[tid].open,
			       s.threads[tid].open_position);
	read_round(f, &s, NEVER);
	for (uint32_t tid = 0; tid < THREADS; tid++) {
		lost |= s.threads[tid].lost != 0;
		assert_true(s.threads[tid].read == s.threads[tid].made ||
			    s.threads[tid].lost == s.threads[tid].made);
	}
	/* No cry of wolf either. */
	assert_int_equal(lost, s.missed || recorder_rings_lost(&f->rings));
	assert_int_equal(lost, s.gaps > 0);
	return lost;
}

/* Threads that move about, are preempted inside the program, and a reader that is often late. */
static void test_any_schedule(void **state)
{
	bool was_lost[2] = {false, false};

	for (unsigned int period = 3; period <= 1000; period *= 2) {
		seed = 20260101 + period;
		may_preempt = false;
		was_lost[run_schedule(*state, period)] = true;
		teardown(state);
		assert_int_equal(setup(state), 0);
		may_preempt = true;
		run_schedule(*state, period);
		teardown(state);
		assert_int_equal(setup(state), 0);
	}
	/* Both cases came up. */
	assert_true(was_lost[false] && was_lost[true]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_merges_by_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_horizon, setup, teardown),
		cmocka_unit_test_setup_teardown(test_uncommitted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_abandoned_round, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wraps_many_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_ring_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_loss_told_beyond_horizon, setup, teardown),
		cmocka_unit_test_setup_teardown(test_doubt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_schedule, setup, teardown),
	};

	return cmocka_run_group_tests_name("recorder_ring", tests, NULL, NULL);
}

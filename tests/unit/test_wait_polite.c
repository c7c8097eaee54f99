// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The waiter among others: it gives its CPU to tasks that want it, and keeps to a shared budget.
#include <errno.h>
#include <pthread.h>

#include "wait_rig.h"

static unsigned int some_cpu(void)
{
	unsigned int cpu = 0;
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

static void start_on(unsigned int cpu, pthread_t *thread, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setaffinity_np(&attr, sizeof(set), &set), 0);
	assert_int_equal(pthread_create(thread, &attr, run, arg), 0);
	pthread_attr_destroy(&attr);
}

struct shared_cpu {
	struct rig rig;
	uint32_t rounds;
};

static void *poller_main(void *arg)
{
	struct shared_cpu *s = arg;

	for (uint32_t i = 0; i < s->rounds; i++)
		vhalt_waiter_wait(&s->rig.waiter, VHALT_NO_DEADLINE_NS);
	return NULL;
}

/* Wants the same CPU all the time. Kicks when the poll was cut, or none was tried. */
static void *hog_main(void *arg)
{
	struct shared_cpu *s = arg;

	for (uint32_t round = 1; round <= s->rounds; round++) {
		struct vhalt_waiter_stats stats;

		do
			vhalt_waiter_stats(&s->rig.waiter, &stats);
		while (stats.cuts + stats.forced < round);
		vhalt_waiter_kick(&s->rig.waiter);
		do
			vhalt_waiter_stats(&s->rig.waiter, &stats);
		while (stats.halts + stats.immediate < round);
	}
	return NULL;
}

/* With a window of four seconds the test ends at once, or the poll was not given up. */
static void poll_gives_way(void **state)
{
	static struct shared_cpu s;
	struct vhalt_waiter_stats stats;
	pthread_t poller, hog;

	(void)state;
	s.rounds = 12;
	rig_init(&s.rig, "always:max=4s");
	start_on(some_cpu(), &hog, hog_main, &s);
	start_on(some_cpu(), &poller, poller_main, &s);
	pthread_join(poller, NULL);
	pthread_join(hog, NULL);
	stats = rig_stats(&s.rig);
	assert_int_equal(stats.halts, 12);
	assert_int_equal(stats.halt_successful_poll, 0);
	assert_int_equal(stats.cuts, stats.halt_attempted_poll);
	assert_int_equal(stats.cuts + stats.forced, 12);
	assert_true(stats.cuts >= 2);
	/* After two cuts in a row it stops trying for a while. */
	assert_true(stats.forced >= 1);
	assert_true(stats.halt_poll_fail_ns < 12 * 1000 * MS);
}

/* --- budget --- */

/* Halts of 100 us that `always` polls whole, for @for_ns. Return: ns burnt. */
static uint64_t poll_for(struct rig *rig, uint64_t for_ns)
{
	struct vhalt_engine_stats stats;
	uint64_t end_ns = now_ns() + for_ns, now;

	while ((now = now_ns()) < end_ns)
		vhalt_waiter_wait(&rig->waiter, now + 100 * US);
	vhalt_engine_stats(&rig->engine, &stats);
	return stats.burnt_ns;
}

static void gate_keeps_always_to_the_cap(void **state)
{
	struct vhalt_engine_stats stats;
	struct rig rig;

	(void)state;
	rig_init(&rig, "always:max=200us");
	assert_int_equal(vhalt_engine_set_budget(&rig.engine, 50000, 1), 0);
	/* 5 % of one CPU, the gate at 6 %; before the first tick is settled it is open. */
	assert_true(poll_for(&rig, 500 * MS) < 100 * MS);
	vhalt_engine_stats(&rig.engine, &stats);
	assert_true(stats.gated > 100);
	assert_true(stats.ticks > 5);
	assert_true(rig_stats(&rig).forced >= stats.gated);
}

static void price_rises_when_auto_burns_too_much(void **state)
{
	struct vhalt_engine_stats stats;
	struct rig rig;

	(void)state;
	rig_init(&rig, "auto:b=200us");
	assert_int_equal(vhalt_engine_set_budget(&rig.engine, 1000, 1), 0);
	vhalt_engine_stats(&rig.engine, &stats);
	assert_int_equal(stats.factor, VHALT_FACTOR_ONE);
	poll_for(&rig, 300 * MS);
	vhalt_engine_stats(&rig.engine, &stats);
	assert_true(stats.factor > VHALT_FACTOR_ONE);
}

static void without_budget_nobody_counts(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, "always:max=200us");
	assert_int_equal(poll_for(&rig, 2 * MS), 0);
	assert_int_equal(vhalt_engine_set_budget(&rig.engine, 1000001, 1), -ERANGE);
	assert_int_equal(vhalt_engine_set_budget(&rig.engine, 500000, 0), 0);
	assert_true(poll_for(&rig, 2 * MS) > 0);
	assert_int_equal(vhalt_engine_set_budget(&rig.engine, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poll_gives_way),
		cmocka_unit_test(gate_keeps_always_to_the_cap),
		cmocka_unit_test(price_rises_when_auto_burns_too_much),
		cmocka_unit_test(without_budget_nobody_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

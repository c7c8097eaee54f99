// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Many kickers, few waiters, no pattern: every message arrives, whatever is polled or blocked.
// Built again with ThreadSanitizer by tests/tsan, which also watches the messages' own memory.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "wait_rig.h"

enum { KICKERS = 3, WAITERS = 2, WATCHDOG_S = 240 };

/* Messages one kicker has for one waiter: a count that is not atomic but for the flag beside it. */
struct mailbox {
	uint32_t full;
	uint64_t message;
} __attribute__((aligned(64)));

struct world {
	struct vhalt_engine engine;
	struct vhalt_waiter waiters[WAITERS];
	struct mailbox boxes[WAITERS][KICKERS];
	uint32_t messages; /* each kicker sends each waiter so many */
	uint64_t got[WAITERS];
	bool deadlines;
};

struct actor {
	struct world *world;
	unsigned int index;
	uint64_t seed;
};

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*seed >> 33) % below;
}

static void *kicker_main(void *arg)
{
	struct actor *a = arg;
	struct world *w = a->world;

	for (uint32_t i = 1; i <= w->messages; i++)
		for (unsigned int to = 0; to < WAITERS; to++) {
			struct mailbox *box = &w->boxes[to][a->index];

			while (__atomic_load_n(&box->full, __ATOMIC_ACQUIRE))
				sched_yield();
			box->message = i;
			__atomic_store_n(&box->full, 1, __ATOMIC_RELEASE);
			vhalt_waiter_kick(&w->waiters[to]);
			if (!draw(&a->seed, 8))
				vhalt_waiter_kick(&w->waiters[to]);
		}
	return NULL;
}

static uint64_t empty_boxes(struct world *w, unsigned int me)
{
	uint64_t got = 0;

	for (unsigned int from = 0; from < KICKERS; from++) {
		struct mailbox *box = &w->boxes[me][from];

		if (!__atomic_load_n(&box->full, __ATOMIC_ACQUIRE))
			continue;
		got += box->message;
		__atomic_store_n(&box->full, 0, __ATOMIC_RELEASE);
	}
	return got;
}

static void *waiter_main(void *arg)
{
	struct actor *a = arg;
	struct world *w = a->world;
	const uint64_t all = (uint64_t)KICKERS * w->messages * (w->messages + 1) / 2;

	while (w->got[a->index] < all) {
		uint64_t deadline_ns = VHALT_NO_DEADLINE_NS;

		/* Deadlines of the length of a wake-up: they race with the kicks. */
		if (w->deadlines && draw(&a->seed, 2))
			deadline_ns = now_ns() + draw(&a->seed, 100 * US);
		if (vhalt_waiter_wait(&w->waiters[a->index], deadline_ns) == VHALT_WAKE_KICK)
			w->got[a->index] += empty_boxes(w, a->index);
	}
	return NULL;
}

/* A lost kick would hang: the alarm ends the program then, and the run is a failure. */
static void all_arrive(const char *policy, uint32_t cap_ppm, bool deadlines)
{
	static struct world w;
	struct actor kickers[KICKERS], waiters[WAITERS];
	pthread_t kicker[KICKERS], waiter[WAITERS];
	struct vhalt_config config;
	struct vhalt_engine_stats engine;
	const char *messages = getenv("VHALT_STRESS_MESSAGES");

	w = (struct world){.deadlines = deadlines};
	w.messages = messages ? (uint32_t)strtoul(messages, NULL, 10) : 2000;
	assert_int_equal(vhalt_config_parse(policy, &config, NULL, 0), 0);
	vhalt_engine_init(&w.engine, &config);
	if (cap_ppm)
		assert_int_equal(vhalt_engine_set_budget(&w.engine, cap_ppm, 1), 0);
	for (unsigned int i = 0; i < WAITERS; i++) {
		vhalt_waiter_init(&w.waiters[i], &w.engine);
		waiters[i] = (struct actor){&w, i, i + 1};
		assert_int_equal(pthread_create(&waiter[i], NULL, waiter_main, &waiters[i]), 0);
	}
	for (unsigned int i = 0; i < KICKERS; i++) {
		kickers[i] = (struct actor){&w, i, i + 100};
		assert_int_equal(pthread_create(&kicker[i], NULL, kicker_main, &kickers[i]), 0);
	}
	for (unsigned int i = 0; i < KICKERS; i++)
		pthread_join(kicker[i], NULL);
	for (unsigned int i = 0; i < WAITERS; i++) {
		struct vhalt_waiter_stats stats;

		/* Read beside the waiter. */
		vhalt_waiter_stats(&w.waiters[i], &stats);
		pthread_join(waiter[i], NULL);
		assert_int_equal(w.got[i], (uint64_t)KICKERS * w.messages * (w.messages + 1) / 2);
	}
	vhalt_engine_stats(&w.engine, &engine);
	assert_true(cap_ppm || !engine.ticks);
}

static void blocking(void **state)
{
	(void)state;
	all_arrive("none", 0, false);
}

static void blocking_with_deadlines(void **state)
{
	(void)state;
	all_arrive("none", 0, true);
}

static void polling_a_little(void **state)
{
	(void)state;
	all_arrive("always:max=10us", 0, true);
}

static void by_itself(void **state)
{
	(void)state;
	all_arrive("auto", 0, true);
}

static void sleeping_first_under_a_budget(void **state)
{
	(void)state;
	all_arrive("auto:sleep=1", 20000, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocking),
		cmocka_unit_test(blocking_with_deadlines),
		cmocka_unit_test(polling_a_little),
		cmocka_unit_test(by_itself),
		cmocka_unit_test(sleeping_first_under_a_budget),
	};

	alarm(WATCHDOG_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

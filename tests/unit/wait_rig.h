/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the tests of the waiter share: one waiter, and threads that wait for each other's progress.
 */
#ifndef VHALT_TESTS_WAIT_RIG_H
#define VHALT_TESTS_WAIT_RIG_H

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include <vhalt/wait.h>

#define US 1000ULL
#define MS 1000000ULL

/* A waiter with an engine of its own. */
struct rig {
	struct vhalt_engine engine;
	struct vhalt_waiter waiter;
};

static inline void rig_init(struct rig *rig, const char *policy)
{
	struct vhalt_config config;

	assert_int_equal(vhalt_config_parse(policy, &config, NULL, 0), 0);
	vhalt_engine_init(&rig->engine, &config);
	vhalt_waiter_init(&rig->waiter, &rig->engine);
}

static inline struct vhalt_waiter_stats rig_stats(const struct rig *rig)
{
	struct vhalt_waiter_stats stats;

	vhalt_waiter_stats(&rig->waiter, &stats);
	return stats;
}

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static inline uint64_t hist_sum(const uint32_t hist[VHALT_HIST_BUCKETS])
{
	uint64_t sum = 0;

	for (int i = 0; i < VHALT_HIST_BUCKETS; i++)
		sum += hist[i];
	return sum;
}

/* Let others run until @flag is at least @value: the event itself, however long it takes. */
static inline void await(const uint32_t *flag, uint32_t value)
{
	while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < value)
		sched_yield();
}

static inline void post(uint32_t *flag)
{
	__atomic_fetch_add(flag, 1, __ATOMIC_RELEASE);
}

#endif

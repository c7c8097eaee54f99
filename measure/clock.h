/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Clocks, sleep and threads bound to a CPU, as the benchmarks need them. */
#ifndef VHALT_MEASURE_CLOCK_H
#define VHALT_MEASURE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "util/clock.h"

/** measure_cpu_ns - CPU time of the calling thread. */
static inline uint64_t measure_cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/** measure_sleep_until - until @ns of CLOCK_MONOTONIC; a signal ends it early. */
static inline void measure_sleep_until(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/** measure_thread_start - a thread that runs on @cpu alone. Return: 0, or -errno. */
int measure_thread_start(pthread_t *thread, unsigned int cpu, void *(*run)(void *), void *arg);

#endif

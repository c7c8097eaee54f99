/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The system's clocks as nanoseconds. */
#ifndef VHALT_UTIL_CLOCK_H
#define VHALT_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

/** clock_read_ns - any clock of clock_gettime(). No system call where the vDSO serves it. */
static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/** clock_now_ns - CLOCK_MONOTONIC, the time of everything that is measured or waited for. */
static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The system calls of the waiter: sleep on its futex, wake who sleeps there, and membarrier(). */
#ifndef VHALT_LIB_WAIT_FUTEX_H
#define VHALT_LIB_WAIT_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/wait_internal.h"

/**
 * wait_futex_sleep - sleep until woken or @until_ns (CLOCK_MONOTONIC), if the futex says 1.
 *
 * Returns early for any reason. Keeps errno. Return: is the time up?
 */
static inline bool wait_futex_sleep(uint32_t *futex, uint64_t until_ns)
{
	const int saved = errno;
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / 1000000000ULL),
		.tv_nsec = (long)(until_ns % 1000000000ULL),
	};
	long err = syscall(SYS_futex, futex, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 1,
			   until_ns == VHALT_NO_DEADLINE_NS ? NULL : &until, NULL,
			   FUTEX_BITSET_MATCH_ANY);
	bool up = err && errno == ETIMEDOUT;

	errno = saved;
	return up;
}

/** wait_futex_wake - wake the one thread that sleeps there, if any. Keeps errno. */
static inline void wait_futex_wake(uint32_t *futex)
{
	const int saved = errno;

	syscall(SYS_futex, futex, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
	errno = saved;
}

/** wait_barrier_register - let this process use wait_barrier(). Return: may it? Keeps errno. */
static inline bool wait_barrier_register(void)
{
	const int saved = errno;
	long err = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);

	errno = saved;
	return !err;
}

/**
 * wait_barrier - every running thread of this process passes a full memory barrier before it
 * returns. Return: did they? (A child after fork() is not registered yet.) Keeps errno.
 */
static inline bool wait_barrier(void)
{
	const int saved = errno;
	bool done = !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) ||
		    (wait_barrier_register() &&
		     !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));

	errno = saved;
	return done;
}

#endif

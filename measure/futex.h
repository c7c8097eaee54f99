/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A bare futex as an event: what the waiter is compared with. */
#ifndef VHALT_MEASURE_FUTEX_H
#define VHALT_MEASURE_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/** measure_futex_wait - sleep until @word is 1, and take it back to 0. */
static inline void measure_futex_wait(uint32_t *word)
{
	while (!__atomic_exchange_n(word, 0, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/** measure_futex_wake - set @word to 1 and wake who waits for it. */
static inline void measure_futex_wake(uint32_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Polling politely: offer the CPU to other tasks, and notice when one has taken it. */
#ifndef VHALT_LIB_WAIT_POLITE_H
#define VHALT_LIB_WAIT_POLITE_H

/*
 * KVM polls while single_task_running(), which user space cannot ask. What it can do, with figures
 * in docs/embedding.md: give way actively, by sched_yield() now and then, and know exactly whether
 * the CPU was given to another task meanwhile, by restartable sequences.
 *
 * The kernel clears rseq->rseq_cs of a thread that comes back from being switched out (or from a
 * signal handler) outside of the sequence described there. So a descriptor of a sequence that no
 * code ever runs in is a flag: set by us, cleared by the scheduler, one load to read. Where no rseq
 * is registered (glibc before 2.35, other libraries, the tunable glibc.pthread.rseq=0), a gap
 * between two looks at the clock stands in: it takes interrupts and a hypervisor's theft for tasks
 * when they are long, and misses tasks that are short.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
	WAIT_POLITE_YIELD_NS = 50000, /* polling between two offers of the CPU */
	WAIT_POLITE_GAP_NS = 50000,   /* without rseq: a longer gap was another task */
};

/** One poll. */
struct wait_polite {
	uint64_t *flag;	   /* rseq->rseq_cs of this thread, NULL: not registered */
	uint64_t last_ns;  /* the last look at the clock */
	uint64_t yield_ns; /* when to offer the CPU next */
};

/** wait_polite_begin - a poll begins at @now_ns, in this thread. */
void wait_polite_begin(struct wait_polite *polite, uint64_t now_ns);

/** wait_polite_end - the poll is over; every begin needs one, in the same thread. */
void wait_polite_end(struct wait_polite *polite);

/**
 * wait_polite_yielded - was another task given this CPU since the poll began? Offers it if it is
 * time to.
 * @now_ns:  the time now, read by the caller
 */
bool wait_polite_yielded(struct wait_polite *polite, uint64_t now_ns);

/** wait_polite_pause - let the core's other hardware thread and its power have it for a moment. */
static inline void wait_polite_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ volatile("yield" : : : "memory");
#else
	__asm__ volatile("" : : : "memory");
#endif
}

#endif

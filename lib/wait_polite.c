// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Polling politely: offer the CPU to other tasks, and notice when one has taken it.
#include "lib/wait_polite.h"

#include <sched.h>
#include <stddef.h>

#include "lib/wait_internal.h"
#include "util/clock.h"

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

/*
 * A sequence nobody is ever in: it "runs" in the first of two words of data. The kernel checks the
 * rest of the descriptor even so: the abort address must lie outside, behind the signature.
 */
static const uint32_t nowhere[2] = {RSEQ_SIG, 0};
static const struct {
	uint32_t version, flags;
	const void *start;
	uintptr_t length;
	const void *abort;
} __attribute__((aligned(32))) sequence = {0, 0, &nowhere[0], sizeof(nowhere[0]), &nowhere[1]};

static uint64_t *flag_of_thread(void)
{
	if (!__rseq_size || sizeof(void *) != sizeof(uint64_t))
		return NULL;
	return (uint64_t *)(void *)((char *)__builtin_thread_pointer() + __rseq_offset +
				    offsetof(struct rseq, rseq_cs));
}

static uint64_t flag_value(void)
{
	return (uint64_t)(uintptr_t)&sequence;
}
#else
static uint64_t *flag_of_thread(void)
{
	return NULL;
}

static uint64_t flag_value(void)
{
	return 0;
}
#endif

void wait_polite_begin(struct wait_polite *polite, uint64_t now_ns)
{
	polite->flag = flag_of_thread();
	polite->last_ns = now_ns;
	polite->yield_ns = now_ns + WAIT_POLITE_YIELD_NS;
	if (polite->flag)
		__atomic_store_n(polite->flag, flag_value(), __ATOMIC_RELAXED);
}

void wait_polite_end(struct wait_polite *polite)
{
	/* The descriptor is ours: nothing may point to it once we are gone. */
	if (polite->flag)
		__atomic_store_n(polite->flag, 0, __ATOMIC_RELAXED);
}

static bool was_away(struct wait_polite *polite, uint64_t now_ns)
{
	uint64_t gap_ns = now_ns - polite->last_ns;

	polite->last_ns = now_ns;
	if (polite->flag)
		return __atomic_load_n(polite->flag, __ATOMIC_RELAXED) != flag_value();
	return gap_ns > WAIT_POLITE_GAP_NS;
}

bool wait_polite_yielded(struct wait_polite *polite, uint64_t now_ns)
{
	if (was_away(polite, now_ns))
		return true;
	if (now_ns < polite->yield_ns)
		return false;
	sched_yield();
	polite->yield_ns = now_ns + WAIT_POLITE_YIELD_NS;
	return was_away(polite, polite->flag ? now_ns : clock_now_ns());
}

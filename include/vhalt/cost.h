/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What one halt costs: the yardstick of every policy, of the replay and of the suite. */
#ifndef VHALT_COST_H
#define VHALT_COST_H

#include <vhalt/types.h>

/*
 * T is the time from the halt to the wake event, w the window polled, L the wake-up latency of a
 * blocked vCPU, C the CPU cost of one block/wake pair, price the ns of CPU one ns of latency is
 * worth. B = price*L + C is the break-even cost of blocking. A halt met by polling costs the CPU it
 * burns, T; any other the whole window and then B.
 */

/**
 * vhalt_break_even_ns - B = price * latency + switch cost, saturating at 2^63-1.
 * @price:       ns of CPU per ns of latency, 0 and up
 * @latency_ns:  wake-up latency L of a blocked vCPU
 * @switch_ns:   CPU cost C of one block/wake pair
 */
static inline uint64_t vhalt_break_even_ns(uint32_t price, uint64_t latency_ns, uint64_t switch_ns)
{
	const uint64_t most = ~0ULL >> 1;
	/* In halves: a 64-bit division to see an overflow coming is a library call on 32 bits. */
	uint64_t high = (latency_ns >> 32) * price, low = (latency_ns & 0xffffffff) * price;

	if (high > most >> 32 || low > most - (high << 32) ||
	    switch_ns > most - ((high << 32) + low))
		return most;
	return (high << 32) + low + switch_ns;
}

/** vhalt_cost_ns - cost of a halt of @t_ns under a window of @window_ns at break-even @b_ns. */
static inline uint64_t vhalt_cost_ns(uint64_t t_ns, uint64_t window_ns, uint64_t b_ns)
{
	return t_ns <= window_ns ? t_ns : window_ns + b_ns;
}

/**
 * vhalt_oracle_cost_ns - cost of the clairvoyant poll-only choice: min(T, B) where T <= max, else B.
 *
 * No policy that must choose a window before it knows T can beat it without arming a timer.
 */
static inline uint64_t vhalt_oracle_cost_ns(uint64_t t_ns, uint64_t max_ns, uint64_t b_ns)
{
	return t_ns <= max_ns && t_ns < b_ns ? t_ns : b_ns;
}

#endif

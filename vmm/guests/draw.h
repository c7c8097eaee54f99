/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The seeded sequence of timers of guest "burst"; pure, so that tests can foretell it. */
#ifndef VHALT_VMM_GUESTS_DRAW_H
#define VHALT_VMM_GUESTS_DRAW_H

#include <stdint.h>

#define DRAW_DIGEST_INIT 0xcbf29ce484222325ULL /* FNV-1a, 64 bits: offset basis */

/** draw_u64 - the next number of the splitmix64 sequence (Steele, Lea, Flood 2014). */
static inline uint64_t draw_u64(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/**
 * draw_timer_ns - the next timer: short with a chance of @short_percent, else long; its length is
 * uniform between half and one and a half times @short_ns or @long_ns (both at least 2).
 * Draws two numbers from @state, always. Cannot fail.
 */
static inline uint64_t draw_timer_ns(uint64_t *state, uint64_t short_ns, uint64_t long_ns,
				     uint64_t short_percent)
{
	uint64_t kind = (draw_u64(state) >> 32) % 100;
	uint64_t centre_ns = kind < short_percent ? short_ns : long_ns;
	uint64_t span = draw_u64(state) >> 32;

	/* centre is below 2^32 ns (one LAPIC count), so the product stays below 2^64. */
	return centre_ns / 2 + ((centre_ns * span) >> 32);
}

/** draw_digest - @digest extended by the eight bytes of @value, lowest first (FNV-1a). */
static inline uint64_t draw_digest(uint64_t digest, uint64_t value)
{
	for (int i = 0; i < 64; i += 8)
		digest = (digest ^ ((value >> i) & 0xff)) * 0x100000001b3ULL;
	return digest;
}

#endif

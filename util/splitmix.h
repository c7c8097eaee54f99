/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* splitmix64 (Steele, Lea, Flood 2014): a small generator of random numbers, the same everywhere.
 */
#ifndef VHALT_UTIL_SPLITMIX_H
#define VHALT_UTIL_SPLITMIX_H

#include <stdint.h>

/** splitmix_next - the next number of the sequence whose state is @x; any state is a good seed. */
static inline uint64_t splitmix_next(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

#endif

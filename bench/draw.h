/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Random numbers of the benchmarks: one sequence, the same in every run. */
#ifndef VHALT_BENCH_DRAW_H
#define VHALT_BENCH_DRAW_H

#include <stdint.h>

static uint64_t seed = 20260101;

/** draw - 0 to @below - 1, by a xorshift generator. */
static inline uint64_t draw(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Which bins make a column of numbers short: a dyadic partition of least description length.
#include "trace/vht_numbers.h"

/*
 * Candidates are the dyadic intervals [a * 2^k, (a + 1) * 2^k). An interval that holds n of the N
 * numbers costs, as one bin, n * (k + log2(N / n)) bits, and a line in the table. It is cut in two
 * where the best partition of its halves is cheaper. Halving from 2^63 downwards looks like a lot
 * of levels; but a half without numbers ends at once.
 */

enum {
	ROOM = 4 * VHT_BINS_MAX, /* bins held while choosing; more are only counted */
	/* Bits a line of the table costs: its width, and its part of zstd's table of code lengths.
	 */
	BIN_BITS = 6,
	FEW = 16,      /* fewer numbers than this are not worth a cut of their own ... */
	FEW_PART = 64, /* ... unless they are more than this part of all */
};

struct chooser {
	const uint64_t *sorted;
	uint64_t min, max;
	double total_log2, bin_bits;
	size_t few, nr;
	uint8_t width[ROOM];
	uint64_t base;
};

/* Base-2 logarithm of 1..2^32, within 0.01: enough to weigh bins, and much faster than log2(). */
static double rough_log2(size_t nr)
{
	unsigned whole = 63U - (unsigned)__builtin_clzll(nr);
	double part = (double)nr / (double)(1ULL << whole) - 1;

	return whole + part * (1.3465 - 0.3465 * part);
}

static void add_bin(struct chooser *c, uint64_t start, unsigned width)
{
	if (!c->nr)
		c->base = start;
	if (c->nr < ROOM)
		c->width[c->nr] = (uint8_t)width;
	c->nr++;
}

static size_t first_not_below(const uint64_t *sorted, size_t lo, size_t hi, uint64_t bound)
{
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sorted[mid] < bound)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Appends the best bins for sorted[lo..hi), all within @width bits from @start on; their cost. */
static double choose(struct chooser *c, size_t lo, size_t hi, uint64_t start, unsigned width)
{
	size_t nr = hi - lo, mark = c->nr, mid;
	double whole = c->bin_bits, parts;
	uint64_t half = width ? 1ULL << (width - 1) : 0;

	if (!nr && (start > c->max || start + (half ? 2 * half - 1 : 0) < c->min))
		return 0;
	if (nr)
		whole += (double)nr * (width + c->total_log2 - rough_log2(nr));
	if (nr > c->few && (double)(nr * width) > c->bin_bits) {
		mid = first_not_below(c->sorted, lo, hi, start + half);
		parts = choose(c, lo, mid, start, width - 1);
		parts += choose(c, mid, hi, start + half, width - 1);
		if (parts < whole)
			return parts;
	}
	c->nr = mark;
	add_bin(c, start, width);
	return whole;
}

/* Least significant digit first; digits that all numbers share are skipped, and most are. */
static uint64_t *sort(uint64_t *values, uint64_t *scratch, size_t nr)
{
	uint64_t varying = 0;

	for (size_t i = 1; i < nr; i++)
		varying |= values[i] ^ values[0];
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t place[256] = {0}, sum = 0;
		uint64_t *other = scratch;

		if (!(varying >> shift & 0xff))
			continue;
		for (size_t i = 0; i < nr; i++)
			place[values[i] >> shift & 0xff]++;
		for (size_t d = 0; d < 256; d++) {
			size_t count = place[d];

			place[d] = sum;
			sum += count;
		}
		for (size_t i = 0; i < nr; i++)
			other[place[values[i] >> shift & 0xff]++] = values[i];
		scratch = values;
		values = other;
	}
	return values;
}

void vht_bins_choose(struct vht_bins *bins, uint64_t *values, uint64_t *scratch, size_t nr)
{
	const uint64_t top = 1ULL << VHT_WIDTH_MAX;
	struct chooser c = {.bin_bits = BIN_BITS};
	size_t mid;

	c.sorted = sort(values, scratch, nr);
	c.min = c.sorted[0];
	c.max = c.sorted[nr - 1];
	c.total_log2 = rough_log2(nr);
	c.few = nr / FEW_PART < FEW ? nr / FEW_PART : FEW;
	mid = first_not_below(c.sorted, 0, nr, top);
	do {
		c.nr = 0;
		choose(&c, 0, mid, 0, VHT_WIDTH_MAX);
		choose(&c, mid, nr, top, VHT_WIDTH_MAX);
		c.bin_bits *= 2;
	} while (c.nr > VHT_BINS_MAX);
	bins->base = c.base;
	bins->nr = (unsigned)c.nr;
	memcpy(bins->width, c.width, c.nr);
}

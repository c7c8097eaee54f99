// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The memory of policy `auto`: decayed histograms of halt lengths, and the belief they give.

#include "core/auto_internal.h"

/*
 * Half-octave grid: every edge is 2^k or 1.5 * 2^k, so a bucket is found by one fls and one shift.
 * From 262144 on whole octaves: windows there are rarely right, and 16 counters make two words. The
 * grid is absolute: B, max and price may change without touching the counts.
 */
const uint32_t auto_window_ns[AUTO_BUCKETS] = {
	0,     4096,  6144,  8192,   12288,  16384,  24576,  32768,
	49152, 65536, 98304, 131072, 196608, 262144, 524288, 1048576,
};

const uint32_t auto_cell_ns[AUTO_WINDOWS] = {
	256, 128, 128, 256, 256, 512, 512, 1024, 1024, 2048, 2048, 4096, 4096, 16384, 32768,
};

enum {
	PRIOR_STRENGTH = 6,   /* the prior counts like so many halts */
	PARENT_STRENGTH = 10, /* the parent counts like so many halts of a thin context */
	LONG_PRIOR = 90,      /* of 256: a new vCPU's halt is long with probability 0.35 ... */
	FLOOR = 16,	      /* of 256 per halt: no short bucket is ever ruled out */
	SLOW_FULL = 1024,     /* halts in one bucket that make the slow histogram be halved */
	SLOW_UNIT = 16,	      /* weight of one of its halts; its floor is 1/16 of a halt as well */
};

/* ... and else short, spread evenly over the buckets up to ski_ns: 166 / nr_short. */
static const uint8_t short_prior[AUTO_BUCKETS] = {
	0, 166, 83, 55, 41, 33, 27, 23, 20, 18, 16, 15, 13, 12, 11, 11,
};

/* log2 of the width of a cell. */
static const uint8_t cell_shift[AUTO_WINDOWS] = {8,  7,	 7,  8,	 8,  9,	 9, 10,
						 10, 11, 11, 12, 12, 14, 15};

/* nr_short floors, then none: the row that begins AUTO_BUCKETS - nr_short in. */
static const uint16_t floors[2 * AUTO_BUCKETS] = {
	FLOOR, FLOOR, FLOOR, FLOOR, FLOOR, FLOOR, FLOOR, FLOOR,
	FLOOR, FLOOR, FLOOR, FLOOR, FLOOR, FLOOR, FLOOR, FLOOR,
};

static const uint8_t no_counts[AUTO_BUCKETS];

/* 65536 / k, so that the hot path need not divide. Entries 0 and 1 are not used. */
#define R1(k)  (uint16_t)(65536 / ((k) > 1 ? (k) : 2))
#define R4(k)  R1(k), R1((k) + 1), R1((k) + 2), R1((k) + 3)
#define R16(k) R4(k), R4((k) + 4), R4((k) + 8), R4((k) + 12)
#define R64(k) R16(k), R16((k) + 16), R16((k) + 32), R16((k) + 48)

static const uint16_t reciprocal[256 + 16] = {R64(0), R64(64), R64(128), R64(192), R16(256)};

static uint32_t row_sum(const union auto_row *row)
{
	const uint64_t even = 0x00ff00ff00ff00ffULL;
	uint64_t sum = (row->word[0] & even) + (row->word[0] >> 8 & even) + (row->word[1] & even) +
		       (row->word[1] >> 8 & even);

	return (uint32_t)(sum * 0x0001000100010001ULL >> 48);
}

/* Rounds the last bucket up and the others down: in doubt a halt is long. */
static void row_halve(union auto_row *row)
{
	const uint64_t low7 = 0x7f7f7f7f7f7f7f7fULL;
	uint32_t last = row->count[AUTO_BUCKETS - 1];

	row->word[0] = row->word[0] >> 1 & low7;
	row->word[1] = row->word[1] >> 1 & low7;
	row->count[AUTO_BUCKETS - 1] = (uint8_t)((last + 1) >> 1);
}

void auto_count(struct auto_state *s, uint32_t context, uint32_t bucket, uint32_t by)
{
	union auto_row *row = &s->row[context];

	if (s->filled[context] + by > 255) {
		row_halve(row);
		s->filled[context] = (uint8_t)row_sum(row);
	}
	row->count[bucket] = (uint8_t)(row->count[bucket] + by);
	s->filled[context] = (uint8_t)(s->filled[context] + by);
}

/*
 * One cell at a time: so the place is near the median, and a stray halt moves it by a sixteenth of
 * the bucket.
 */
void auto_note_place(struct auto_state *s, uint32_t bucket, uint32_t t_ns)
{
	uint32_t cell, place;

	if (bucket >= AUTO_WINDOWS || !t_ns)
		return;
	cell = (t_ns - auto_window_ns[bucket] - 1) >> cell_shift[bucket];
	place = auto_place(s->places, bucket);
	/* No carry: a place below 15 goes up, one above 0 goes down. */
	s->places ^= AUTO_PLACES_MIDDLE;
	if (cell > place)
		s->places += 1ULL << 4 * bucket;
	else if (cell < place)
		s->places -= 1ULL << 4 * bucket;
	s->places ^= AUTO_PLACES_MIDDLE;
}

void auto_count_slow(struct auto_state *s, uint32_t bucket)
{
	if (++s->slow[bucket] < SLOW_FULL)
		return;
	for (uint32_t i = 0; i < AUTO_BUCKETS; i++)
		s->slow[i] >>= 1;
}

void auto_parent(const struct auto_state *s, const struct auto_prices *p, struct auto_base *parent)
{
	const uint8_t *count = s->row[AUTO_CONTEXT_ALL].count;
	uint32_t r = reciprocal[s->filled[AUTO_CONTEXT_ALL] + PRIOR_STRENGTH] * PARENT_STRENGTH;
	uint32_t prior = PRIOR_STRENGTH * short_prior[p->nr_short], total = 0, weight, i;

	for (i = 0; i < p->nr_short; i++) {
		weight = ((((uint32_t)count[i] << 8) + prior) * r >> 16) + FLOOR;
		parent->weight[i] = (uint16_t)weight;
		total += weight;
	}
	for (; i < AUTO_BUCKETS - 1; i++) {
		weight = ((uint32_t)count[i] << 8) * r >> 16;
		parent->weight[i] = (uint16_t)weight;
		total += weight;
	}
	weight = (((uint32_t)count[i] << 8) + PRIOR_STRENGTH * LONG_PRIOR) * r >> 16;
	parent->weight[i] = (uint16_t)weight;
	parent->total = total + weight;
}

struct auto_belief auto_believe(const struct auto_state *s, const struct auto_prices *p,
				uint32_t context, const struct auto_base *parent)
{
	uint32_t filled = s->filled[context];
	struct auto_belief belief = {
		.count = s->row[context].count, .places = s->places, .total = filled << 8};

	if (filled < AUTO_THIN) {
		belief.base = parent->weight;
		belief.total += parent->total;
	} else {
		belief.base = floors + AUTO_BUCKETS - p->nr_short;
		belief.total += FLOOR * p->nr_short;
	}
	return belief;
}

struct auto_belief auto_believe_slow(const struct auto_state *s, const struct auto_prices *p,
				     struct auto_base *base)
{
	const uint16_t *least = floors + AUTO_BUCKETS - p->nr_short;

	base->total = 0;
	for (uint32_t i = 0; i < AUTO_BUCKETS; i++) {
		uint32_t weight = SLOW_UNIT * s->slow[i] + (least[i] != 0);

		base->weight[i] = (uint16_t)weight;
		base->total += weight;
	}
	return (struct auto_belief){no_counts, base->weight, s->places, base->total};
}

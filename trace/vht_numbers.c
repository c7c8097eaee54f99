// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Columns of 64-bit numbers in .vht files: packing them into bins and bits, and back.
#include "trace/vht_numbers.h"

#include <errno.h>

enum {
	WIDTH_AT_ONCE = 56, /* bits one unaligned 64-bit load surely holds */
	PIECE_LEAST = 64,   /* bytes: a shorter piece costs more headers than it saves */
	UNIT_MOST = 15,	    /* numbers are kept in units of at most 2^15 */
};

void vht_pieces_cut(struct vht_pieces *pieces, size_t end, bool noise)
{
	size_t begin = pieces->nr ? pieces->piece[pieces->nr - 1].end : 0;

	if (end - begin >= PIECE_LEAST && pieces->nr < VHT_PIECES_MAX)
		pieces->piece[pieces->nr++] = (struct vht_piece){end, noise};
}

/* lower[i] is where bin i begins. */
static void bins_lower(const struct vht_bins *bins, uint64_t lower[VHT_BINS_MAX])
{
	lower[0] = bins->base;
	for (unsigned i = 1; i < bins->nr; i++)
		lower[i] = lower[i - 1] + (1ULL << bins->width[i - 1]);
}

static unsigned bin_of(const uint64_t *lower, unsigned nr, uint64_t value)
{
	unsigned bin = 0;

	for (unsigned left = nr; left > 1;) {
		unsigned half = left / 2;

		bin += value >= lower[bin + half] ? half : 0;
		left -= half;
	}
	return bin;
}

/* Writes each number's bits, least significant first; returns the bytes used. */
static size_t pack(uint8_t *to, const uint64_t *values, const uint8_t *index, size_t nr,
		   unsigned unit, const struct vht_bins *bins, const uint64_t *lower)
{
	uint8_t *const begin = to;
	uint64_t bits = 0;
	unsigned filled = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t place = (values[i] >> unit) - lower[index[i]];
		unsigned width = bins->width[index[i]];

		bits |= place << filled;
		filled += width;
		if (filled >= 64) {
			vht_store_u64(to, bits);
			to += 8;
			filled -= 64;
			/* width < 64, so some of it went into the word just stored. */
			bits = filled ? place >> (width - filled) : 0;
		}
	}
	vht_store_u64(to, bits);
	return (size_t)(to - begin) + (filled + 7) / 8;
}

/* The largest power of two that divides all numbers, as its exponent. */
static unsigned unit_of(const uint64_t *values, size_t nr)
{
	uint64_t all = 1ULL << UNIT_MOST;

	for (size_t i = 0; i < nr; i++)
		all |= values[i];
	return (unsigned)__builtin_ctzll(all);
}

void vht_numbers_encode(struct vht_buffer *out, struct vht_pieces *pieces, const uint64_t *values,
			size_t nr, uint64_t *scratch)
{
	unsigned unit = unit_of(values, nr);
	uint64_t lower[VHT_BINS_MAX];
	struct vht_bins bins;
	uint8_t *index, *packed;
	size_t bytes;

	for (size_t i = 0; i < nr; i++)
		scratch[i] = values[i] >> unit;
	vht_bins_choose(&bins, scratch, scratch + nr, nr);
	bins_lower(&bins, lower);
	vht_put_u8(out, (uint8_t)unit);
	vht_put_varint(out, bins.base);
	vht_put_u8(out, (uint8_t)(bins.nr - 1));
	vht_put_bytes(out, bins.width, bins.nr);
	vht_pieces_cut(pieces, out->used, false);

	index = vht_buffer_reserve(out, nr + 4 + nr * 8 + 8);
	if (!index)
		return;
	for (size_t i = 0; i < nr; i++)
		index[i] = (uint8_t)bin_of(lower, bins.nr, values[i] >> unit);
	packed = index + nr + 4;
	bytes = pack(packed, values, index, nr, unit, &bins, lower);
	vht_store_u32(packed - 4, (uint32_t)bytes);
	out->used += nr + 4;
	vht_pieces_cut(pieces, out->used, false);
	out->used += bytes;
	vht_pieces_cut(pieces, out->used, true);
}

struct unpacker {
	uint64_t lower[VHT_BINS_MAX], mask[VHT_BINS_MAX];
	uint8_t width[VHT_BINS_MAX]; /* 0 beyond @nr */
	unsigned nr;
	uint8_t widest, unit;
};

static int unpacker_read(struct unpacker *u, struct vht_cursor *from)
{
	const uint8_t *width;
	uint64_t next;

	u->unit = vht_get_u8(from);
	next = vht_get_varint(from);
	u->nr = vht_get_u8(from) + 1U;
	u->widest = 0;
	memset(u->width, 0, sizeof(u->width));
	width = vht_get_bytes(from, u->nr);
	for (unsigned i = 0; width && i < u->nr; i++) {
		if (width[i] > VHT_WIDTH_MAX)
			return -EBADMSG;
		u->lower[i] = next;
		u->mask[i] = (1ULL << width[i]) - 1;
		u->width[i] = width[i];
		next += 1ULL << width[i];
		if (width[i] > u->widest)
			u->widest = width[i];
	}
	return width && u->unit <= UNIT_MOST ? 0 : -EBADMSG;
}

/* How far a run of numbers led. */
struct unpacked {
	size_t bits;
	uint8_t last_bin; /* the highest bin named */
};

/*
 * The hot loop of every reader. Hostile indices may lead it beyond the bits, within the slack, or
 * beyond the bins, to a width of 0: no test in here, the caller tells by what is returned.
 */
static struct unpacked unpack(const struct unpacker *u, const uint8_t *index, const uint8_t *bits,
			      uint64_t *values, size_t nr)
{
	struct unpacked to = {0, 0};

	for (size_t i = 0; i < nr; i++) {
		uint64_t word = vht_load_u64(bits + to.bits / 8) >> (to.bits % 8);
		uint8_t bin = index[i];

		values[i] = (u->lower[bin] + (word & u->mask[bin])) << u->unit;
		to.bits += u->width[bin];
		to.last_bin = bin > to.last_bin ? bin : to.last_bin;
	}
	return to;
}

/* The same for bins wider than one load holds; rare. */
static struct unpacked unpack_wide(const struct unpacker *u, const uint8_t *index,
				   const uint8_t *bits, uint64_t *values, size_t nr)
{
	struct unpacked to = {0, 0};

	for (size_t i = 0; i < nr; i++) {
		uint64_t word = vht_load_u64(bits + to.bits / 8) >> (to.bits % 8);
		uint8_t bin = index[i];

		if (to.bits % 8)
			word |= (uint64_t)bits[to.bits / 8 + 8] << (64 - to.bits % 8);
		values[i] = (u->lower[bin] + (word & u->mask[bin])) << u->unit;
		to.bits += u->width[bin];
		to.last_bin = bin > to.last_bin ? bin : to.last_bin;
	}
	return to;
}

int vht_numbers_decode(struct vht_cursor *from, uint64_t *values, size_t nr)
{
	const uint8_t *index, *bits;
	struct unpacked to;
	struct unpacker u;
	size_t bytes;

	if (unpacker_read(&u, from))
		return -EBADMSG;
	index = vht_get_bytes(from, nr);
	bytes = vht_get_u32(from);
	bits = vht_get_bytes(from, bytes);
	if (!index || !bits)
		return -EBADMSG;
	to = u.widest <= WIDTH_AT_ONCE ? unpack(&u, index, bits, values, nr)
				       : unpack_wide(&u, index, bits, values, nr);
	if (to.last_bin >= u.nr || (to.bits + 7) / 8 != bytes ||
	    (to.bits % 8 && bits[bytes - 1] >> to.bits % 8))
		return -EBADMSG;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Columns of 64-bit numbers in .vht files: an index of a bin each, and the bits within it. */
#ifndef VHALT_TRACE_VHT_NUMBERS_H
#define VHALT_TRACE_VHT_NUMBERS_H

#include "trace/vht_bytes.h"
#include "trace/vht_frame.h"

/*
 * Times scatter: their low bits are noise, which no compressor can shrink, and only their rough
 * place is predictable. So a number is written as the index of a bin, one byte that entropy coding
 * shrinks to a few bits, and its exact place within the bin, plain bits. Bins are cut to the data
 * of the frame, so that within each the numbers are spread about evenly; that comes within some
 * hundredths of a bit of what the distribution allows, for any shape of it.
 */

enum {
	VHT_BINS_MAX = 256,
	VHT_WIDTH_MAX = 63, /* bits within a bin */
	/* How far beyond the end of its bits a decoder may read (and then refuse what it read). */
	VHT_NUMBERS_SLACK = VHT_HALTS_MAX * VHT_WIDTH_MAX / 8 + 8,
};

/** Bins side by side: each begins where the one before it ends. */
struct vht_bins {
	uint64_t base;
	unsigned nr; /* 1..VHT_BINS_MAX */
	uint8_t width[VHT_BINS_MAX];
};

/**
 * vht_bins_choose - bins that make @values short.
 * @values:   1..VHT_HALTS_MAX numbers; left sorted, or not, as it comes
 * @scratch:  room for as many
 *
 * Every value lies in a bin. Cannot fail.
 */
void vht_bins_choose(struct vht_bins *bins, uint64_t *values, uint64_t *scratch, size_t nr);

/** A stretch of a payload that compresses best on its own. */
struct vht_piece {
	size_t end; /* offset in the payload; it begins where the one before it ends */
	bool noise; /* holds bits that cannot be compressed */
};

enum { VHT_PIECES_MAX = 160 };

struct vht_pieces {
	struct vht_piece piece[VHT_PIECES_MAX];
	unsigned nr;
};

/** vht_pieces_cut - end a piece at @end, unless it would be too short to pay. */
void vht_pieces_cut(struct vht_pieces *pieces, size_t end, bool noise);

/**
 * vht_numbers_encode - append @nr (1..VHT_HALTS_MAX) numbers, with bins of their own.
 * @scratch:  room for 2 * @nr numbers
 */
void vht_numbers_encode(struct vht_buffer *out, struct vht_pieces *pieces, const uint64_t *values,
			size_t nr, uint64_t *scratch);

/**
 * vht_numbers_decode - read @nr (1..VHT_HALTS_MAX) numbers.
 *
 * VHT_NUMBERS_SLACK bytes behind the end of the cursor must be readable; what they hold does not
 * matter. Return: 0, -EBADMSG (@values is then undefined).
 */
int vht_numbers_decode(struct vht_cursor *from, uint64_t *values, size_t nr);

#endif

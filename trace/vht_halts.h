/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The payload of a halts frame: streams of one vCPU each, column by column; see vht(5). */
#ifndef VHALT_TRACE_VHT_HALTS_H
#define VHALT_TRACE_VHT_HALTS_H

#include "trace/halt.h"
#include "trace/vht_bytes.h"
#include "trace/vht_frame.h"
#include "trace/vht_numbers.h"
#include "trace/window.h"

enum vht_section {
	VHT_SECTION_STREAMS = 1,
	VHT_SECTION_OPS = 2,
	VHT_SECTION_RUN = 3,
	VHT_SECTION_HALT = 4,
	VHT_SECTION_RUN_APART = 5,
	VHT_SECTION_WINDOW_APART = 6,
	VHT_SECTION_DECISION_APART = 7,
	VHT_SECTION_LATENCY = 8,
	VHT_SECTION_DEADLINE = 9,
	VHT_NR_SECTIONS,
};

/** Operation byte: the five flags of a halt, and what could not be foretold. */
enum vht_op {
	VHT_OP_FLAGS = TRACE_HALT_WAITED | TRACE_HALT_INVALID | TRACE_HALT_WINDOW |
		       TRACE_HALT_GROW | TRACE_HALT_GAP,
	VHT_OP_RUN_APART = 1 << 5,
	VHT_OP_WINDOW_APART = 1 << 6,
	VHT_OP_DECISION_APART = 1 << 7,
};

/* Added to a known latency, so that 0 can stand for unknown; divisible by any unit of numbers. */
#define VHT_LATENCY_KNOWN 32768U

/** How windows are foretold to grow and shrink: KVM's module parameters. */
struct vht_growth {
	uint32_t grow, grow_start_ns, shrink;
};

/** The halts of one vCPU in one frame. */
struct vht_stream {
	uint32_t vcpu, vm, tid;
	uint32_t nr;	      /* halts, at least 1 */
	uint64_t prev_end_ns; /* end of the vCPU's halt before, 0 where there was none */
	uint32_t window_ns;   /* in force after it, or TRACE_UNKNOWN_U32 */
	uint32_t ceiling_ns;  /* of windows, or TRACE_UNKNOWN_U32 */
};

/** vht_window_foretell - the window after a decision that grew (or shrank) @old_ns. */
static inline uint32_t vht_window_foretell(const struct vht_growth *growth, uint32_t old_ns,
					   bool grew)
{
	uint64_t next;

	if (grew) {
		next = (uint64_t)old_ns * growth->grow;
		if (next < growth->grow_start_ns)
			next = growth->grow_start_ns;
		if (!growth->grow)
			return old_ns;
		return next < UINT32_MAX ? (uint32_t)next : UINT32_MAX;
	}
	next = growth->shrink ? old_ns / growth->shrink : 0;
	return next < growth->grow_start_ns ? 0 : (uint32_t)next;
}

/**
 * vht_window_learn - the ceiling after a window in force that was not foretold; it is only learnt
 * from windows that are both known, as vht(5) has it.
 * @ceiling_ns:  as known so far
 * @window_ns:   as the last decision left it
 * @in_force_ns: what became of it
 */
static inline uint32_t vht_window_learn(uint32_t ceiling_ns, uint32_t window_ns,
					uint32_t in_force_ns)
{
	if (window_ns == TRACE_UNKNOWN_U32 || in_force_ns == TRACE_UNKNOWN_U32)
		return ceiling_ns;
	return trace_window_ceiling(ceiling_ns, window_ns, in_force_ns);
}

/** What is encoded: halts stream after stream, streams with much in common side by side. */
struct vht_batch {
	struct vht_growth growth;
	struct vht_stream *streams;
	uint32_t nr_streams;
	uint32_t nr_alone; /* the first so many streams form groups of their own, the rest one */
	const struct trace_halt *halts;
	uint32_t nr; /* 1..VHT_HALTS_MAX: the sum over the streams */
};

/** Memory the encoder works in; zeroed it is empty. Freed by vht_encoder_fini(). */
struct vht_encoder {
	struct vht_buffer payload;
	struct vht_pieces pieces;
	struct vht_buffer apart[3]; /* run times, windows, decisions */
	uint64_t *numbers;	    /* 3 * VHT_HALTS_MAX: a column and the room to sort it */
};

/**
 * vht_halts_encode - make the payload of a halts frame.
 *
 * @encoder->payload and @encoder->pieces hold the result until the next call. Window and ceiling of
 * each stream are then those after its last halt.
 * Return: 0, -ENOMEM.
 */
int vht_halts_encode(struct vht_encoder *encoder, const struct vht_batch *batch);

void vht_encoder_fini(struct vht_encoder *encoder);

/** What was decoded; zeroed it is empty. Grows as it must, freed by vht_decoded_fini(). */
struct vht_decoded {
	struct trace_halt *halts; /* stream after stream */
	struct vht_stream *streams;
	uint32_t nr_streams, nr_groups;
	uint32_t *groups;  /* halts in each group of streams */
	uint64_t *columns; /* four, for the decoder's own use */
	uint32_t size;	   /* halts the arrays have room for */
};

void vht_decoded_fini(struct vht_decoded *decoded);

/**
 * vht_halts_decode - read the payload of a halts frame of @nr halts.
 * @payload:  behind its @bytes, VHT_NUMBERS_SLACK more must be readable
 *
 * Indices of VMs and vCPUs are below VHT_INDEX_MAX; that no vCPU has two streams is left to the
 * caller. Return: 0, -EBADMSG (the payload breaks the format's rules), -ENOMEM.
 */
int vht_halts_decode(struct vht_decoded *decoded, const uint8_t *payload, size_t bytes,
		     uint32_t nr);

#endif

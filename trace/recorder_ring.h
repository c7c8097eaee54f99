/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Reading the recorder's per-CPU rings as one stream, each thread's halts in the order they had. */
#ifndef VHALT_TRACE_RECORDER_RING_H
#define VHALT_TRACE_RECORDER_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/recorder_shared.h"

/** One CPU's ring, as the reader sees it. */
struct recorder_ring {
	struct recorder_region *region;
	uint64_t position; /* next slot to hand out */
	uint64_t end;	   /* slots below it are committed and older than the round's horizon */
	bool open_at_end;  /* events were lost, or may have been, just before slot @end */
};

/** A ring that has slots left in this round, by the time of its next one. */
struct recorder_heap_entry {
	uint64_t time_ns;
	struct recorder_ring *ring;
};

/**
 * All rings. The caller's memory; fields are private.
 *
 * Why a round ends at a horizon: the halts of a thread that moves between CPUs lie in several
 * rings, and while one ring is read the thread may still write to another. Of two halts of one
 * thread the earlier is committed before the later is even stamped. So whatever is stamped before
 * the clock was read, and then the rings looked at, has all of its thread's earlier halts visible.
 */
struct recorder_rings {
	struct recorder_ring *rings;
	struct recorder_heap_entry *heap; /* a binary heap, the oldest first */
	uint32_t nr_heap;
	uint32_t nr_rings;
	uint32_t nr_slots;
	uint32_t nr_open;     /* rings whose next slot comes after a loss, or may */
	bool has_slot;	      /* the slot at the top of the heap is in the caller's hands */
	uint32_t nr_doubtful; /* rounds, this one included, in which every halt is in doubt */
	uint64_t epoch;
};

/**
 * recorder_rings_init - read rings that lie in @memory.
 * @memory:	   @nr_rings regions of @region_bytes, shared with whoever writes them; kept
 * @nr_slots:	   slots per region, a power of two
 *
 * Return: 0, -ENOMEM.
 */
int recorder_rings_init(struct recorder_rings *rings, void *memory, size_t region_bytes,
			uint32_t nr_rings, uint32_t nr_slots);

/** recorder_rings_fini - free what recorder_rings_init() took; the memory stays the caller's. */
void recorder_rings_fini(struct recorder_rings *rings);

/**
 * recorder_rings_begin - begin a round.
 * @horizon_ns:  CLOCK_MONOTONIC read before this call; slots of this time and later stay for the
 *		 next round
 * @doubt:	 something was lost since the last round, at a place the rings do not tell
 */
void recorder_rings_begin(struct recorder_rings *rings, uint64_t horizon_ns, bool doubt);

/**
 * recorder_rings_next - the next slot of the round.
 * @epoch:  grows whenever events were, or may have been, lost between this slot and one handed out
 *	    before: a halt carries nothing over from one that had another epoch
 *
 * Return: the slot, valid until the next call; NULL at the end of the round, which has then given
 * all slots back to the writers.
 */
const struct recorder_slot *recorder_rings_next(struct recorder_rings *rings, uint64_t *epoch);

/** recorder_rings_lost - events that found no room so far. */
uint64_t recorder_rings_lost(const struct recorder_rings *rings);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Reading the recorder's per-CPU rings as one stream, each thread's halts in the order they had.
#include "trace/recorder_ring.h"

#include <errno.h>
#include <stdlib.h>

/* How often a long round gives read slots back, so that the writers need not wait for its end. */
enum { GIVE_BACK_SLOTS = 256 };

static uint64_t load(const recorder_u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static const struct recorder_slot *slot_at(const struct recorder_rings *rings,
					   const struct recorder_ring *ring, uint64_t position)
{
	return &ring->region->slots[position & (rings->nr_slots - 1)];
}

static void give_back(struct recorder_ring *ring)
{
	__atomic_store_n(&ring->region->tail, ring->position, __ATOMIC_RELEASE);
}

int recorder_rings_init(struct recorder_rings *rings, void *memory, size_t region_bytes,
			uint32_t nr_rings, uint32_t nr_slots)
{
	*rings = (struct recorder_rings){.nr_rings = nr_rings, .nr_slots = nr_slots};
	rings->rings = calloc(nr_rings, sizeof(*rings->rings));
	rings->heap = calloc(nr_rings, sizeof(*rings->heap));
	if (!rings->rings || !rings->heap) {
		recorder_rings_fini(rings);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nr_rings; i++)
		rings->rings[i].region = (struct recorder_region *)((char *)memory +
								    i * region_bytes);
	return 0;
}

void recorder_rings_fini(struct recorder_rings *rings)
{
	free(rings->rings);
	free(rings->heap);
	*rings = (struct recorder_rings){0};
}

/* Puts the entry at @i, which may have grown older than its children, where it belongs. */
static void sift_down(struct recorder_rings *rings, uint32_t i)
{
	struct recorder_heap_entry *heap = rings->heap;
	const struct recorder_heap_entry moved = heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < rings->nr_heap && heap[child + 1].time_ns < heap[child].time_ns)
			child++;
		if (child >= rings->nr_heap || heap[child].time_ns >= moved.time_ns)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moved;
}

/* Whether events of this CPU are missing, or may be, at the place the ring has been read to. */
static bool is_open(const struct recorder_rings *rings, const struct recorder_ring *ring)
{
	if (ring->position == ring->end)
		return ring->open_at_end;
	return slot_at(rings, ring, ring->position)->flags & RECORDER_AFTER_LOSS;
}

static bool is_committed(const struct recorder_slot *slot, uint64_t position)
{
	return __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE) == (uint32_t)(position + 1);
}

/* Finds what this round may hand out of one ring. */
static void look_at(struct recorder_rings *rings, struct recorder_ring *ring, uint64_t horizon_ns)
{
	const uint64_t limit = ring->position + rings->nr_slots;
	const struct recorder_slot *slot = NULL;
	uint64_t marked, lost;

	/*
	 * Before the slots: a loss that no slot tells yet must be seen here. The slot that tells it
	 * is committed before lost_marked moves, so then it is seen below.
	 */
	marked = load(&ring->region->lost_marked);
	lost = load(&ring->region->lost);
	for (ring->end = ring->position; ring->end < limit; ring->end++) {
		slot = slot_at(rings, ring, ring->end);
		if (!is_committed(slot, ring->end)) {
			slot = NULL;
			break;
		}
		if (slot->time_ns >= horizon_ns)
			break;
	}
	if (ring->end < limit && slot)
		ring->open_at_end = slot->flags & RECORDER_AFTER_LOSS;
	else
		ring->open_at_end = lost != marked;
}

void recorder_rings_begin(struct recorder_rings *rings, uint64_t horizon_ns, bool doubt)
{
	rings->nr_heap = 0;
	rings->has_slot = false;
	/* It may have been lost between two halts of this round, or beyond the horizon, of the
	 * next. */
	rings->epoch += rings->nr_doubtful > 0;
	if (doubt)
		rings->nr_doubtful = 2;
	else if (rings->nr_doubtful)
		rings->nr_doubtful--;
	rings->nr_open = rings->nr_doubtful > 0;
	for (uint32_t i = 0; i < rings->nr_rings; i++) {
		struct recorder_ring *ring = &rings->rings[i];

		look_at(rings, ring, horizon_ns);
		rings->nr_open += is_open(rings, ring);
		if (ring->position < ring->end)
			rings->heap[rings->nr_heap++] = (struct recorder_heap_entry){
				.time_ns = slot_at(rings, ring, ring->position)->time_ns,
				.ring = ring,
			};
	}
	for (uint32_t i = rings->nr_heap / 2; i-- > 0;)
		sift_down(rings, i);
}

/* Steps past the slot at the top of the heap. */
static void step(struct recorder_rings *rings)
{
	struct recorder_ring *ring = rings->heap[0].ring;

	rings->nr_open -= is_open(rings, ring);
	ring->position++;
	rings->nr_open += is_open(rings, ring);
	if (ring->position < ring->end) {
		rings->heap[0].time_ns = slot_at(rings, ring, ring->position)->time_ns;
		if (ring->position % GIVE_BACK_SLOTS == 0)
			give_back(ring);
	} else {
		give_back(ring);
		rings->heap[0] = rings->heap[--rings->nr_heap];
	}
	sift_down(rings, 0);
}

const struct recorder_slot *recorder_rings_next(struct recorder_rings *rings, uint64_t *epoch)
{
	const struct recorder_ring *ring;

	if (rings->has_slot)
		step(rings);
	rings->has_slot = rings->nr_heap > 0;
	if (!rings->has_slot)
		return NULL;
	/* While anything may be missing nobody's halt carries over to his next one. */
	rings->epoch += rings->nr_open > 0;
	*epoch = rings->epoch;
	ring = rings->heap[0].ring;
	return slot_at(rings, ring, ring->position);
}

uint64_t recorder_rings_lost(const struct recorder_rings *rings)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < rings->nr_rings; i++)
		lost += load(&rings->rings[i].region->lost);
	return lost;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The simulator's event queue: timers with handles, ordered by (time, priority, first come).
#include "sim/event.h"

#include <errno.h>
#include <stdlib.h>

enum { HANDLE_BITS = 22, SEQUENCE_BITS = 40, LINE_BYTES = 64, CHILDREN = 4 };

#define HANDLE_MASK ((1ULL << HANDLE_BITS) - 1)

static uint32_t handle_of(const struct sim_queue_node *node)
{
	return (uint32_t)(node->order & HANDLE_MASK);
}

/* One comparison without a branch; the handle's bits never decide, the sequence above them differs.
 */
static bool before(const struct sim_queue_node *a, const struct sim_queue_node *b)
{
	unsigned __int128 x = (unsigned __int128)a->time_ns << 64 | a->order;
	unsigned __int128 y = (unsigned __int128)b->time_ns << 64 | b->order;

	return x < y;
}

int sim_queue_init(struct sim_queue *q, uint32_t handles)
{
	uintptr_t first;

	*q = (struct sim_queue){.capacity = handles};
	if (!handles || handles > SIM_QUEUE_HANDLES_MAX)
		return -EINVAL;
	/* One node beyond the last, so that heap[1] can begin a cache line. */
	q->memory = calloc((size_t)handles + 2 * CHILDREN, sizeof(*q->heap));
	q->place = calloc(handles, sizeof(*q->place));
	if (!q->memory || !q->place) {
		sim_queue_fini(q);
		return -ENOMEM;
	}
	first = ((uintptr_t)q->memory + sizeof(*q->heap) + LINE_BYTES - 1) &
		~(uintptr_t)(LINE_BYTES - 1);
	q->heap = (struct sim_queue_node *)(first - sizeof(*q->heap));
	return 0;
}

void sim_queue_fini(struct sim_queue *q)
{
	free(q->memory);
	free(q->place);
	q->memory = NULL;
	q->place = NULL;
}

static void put(struct sim_queue *q, uint32_t i, struct sim_queue_node node)
{
	q->heap[i] = node;
	q->place[handle_of(&node)] = i + 1;
}

static void rise(struct sim_queue *q, uint32_t i, struct sim_queue_node node)
{
	while (i) {
		uint32_t parent = (i - 1) / CHILDREN;

		if (!before(&node, &q->heap[parent]))
			break;
		put(q, i, q->heap[parent]);
		i = parent;
	}
	put(q, i, node);
}

static uint32_t least_child(const struct sim_queue *q, uint32_t first)
{
	uint32_t best = first, end = first + CHILDREN < q->nr ? first + CHILDREN : q->nr;

	for (uint32_t c = first + 1; c < end; c++)
		best = before(&q->heap[c], &q->heap[best]) ? c : best;
	return best;
}

/* Depths are counted from the top, where nearly all walks begin. */
static void sink(struct sim_queue *q, uint32_t i, struct sim_queue_node node)
{
	uint32_t first, level = 0;

	while ((first = i * CHILDREN + 1) < q->nr) {
		uint32_t child = least_child(q, first);

		if (!before(&q->heap[child], &node))
			break;
		put(q, i, q->heap[child]);
		if (level < SIM_QUEUE_LEVELS)
			q->rose[level++] = handle_of(&q->heap[child]);
		i = child;
	}
	put(q, i, node);
}

/* Takes node @i out: the last one goes where it was. */
static void drop(struct sim_queue *q, uint32_t i)
{
	struct sim_queue_node last = q->heap[--q->nr];

	if (i == q->nr)
		return;
	if (i && before(&last, &q->heap[(i - 1) / CHILDREN]))
		rise(q, i, last);
	else
		sink(q, i, last);
}

static void fill_hole(struct sim_queue *q)
{
	if (!q->hole)
		return;
	q->hole = false;
	drop(q, 0);
}

void sim_queue_arm(struct sim_queue *q, uint32_t handle, uint64_t time_ns, uint32_t priority)
{
	struct sim_queue_node node = {.time_ns = time_ns > q->now_ns ? time_ns : q->now_ns};
	uint32_t place = q->place[handle];

	if (q->sequence >> SEQUENCE_BITS)
		abort();
	node.order = (uint64_t)priority << (HANDLE_BITS + SEQUENCE_BITS) |
		     q->sequence++ << HANDLE_BITS | handle;
	if (!place && q->hole) {
		q->hole = false;
		sink(q, 0, node);
	} else if (!place) {
		rise(q, q->nr++, node);
	} else {
		uint32_t i = place - 1;

		if (i && before(&node, &q->heap[(i - 1) / CHILDREN]))
			rise(q, i, node);
		else
			sink(q, i, node);
	}
}

void sim_queue_cancel(struct sim_queue *q, uint32_t handle)
{
	uint32_t place = q->place[handle];

	if (!place)
		return;
	q->place[handle] = 0;
	drop(q, place - 1);
}

bool sim_queue_take(struct sim_queue *q, uint32_t *handle)
{
	fill_hole(q);
	if (!q->nr)
		return false;
	*handle = handle_of(&q->heap[0]);
	q->now_ns = q->heap[0].time_ns;
	q->place[*handle] = 0;
	/* Nothing comes before all zeroes: whatever is moved meanwhile stays below the hole. */
	q->heap[0] = (struct sim_queue_node){0};
	q->hole = true;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The simulator's event queue: timers with handles, ordered by (time, priority, first come). */
#ifndef VHALT_SIM_EVENT_H
#define VHALT_SIM_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A handle is a number below the capacity given at creation; each is a timer that is armed at most
 * once at a time. Who owns which handle is the caller's business: entities get theirs for life, so
 * nothing is allocated while the simulation runs.
 *
 * The queue is a heap of four children a node. A node is 16 bytes and the four siblings share a
 * cache line. The event taken last leaves a hole at the top, which the next arming fills: the usual
 * "take an event, arm another" then costs one walk instead of two.
 */

/** Most handles a queue can have, and the priorities: 0 comes first. */
#define SIM_QUEUE_HANDLES_MAX (1U << 22)
#define SIM_QUEUE_PRIORITIES  4U

/** Depths of the heap that tell who came up to them; 0 is the top. */
#define SIM_QUEUE_LEVELS 4U

/** One armed timer; for event.c, and for those who print queues. */
struct sim_queue_node {
	uint64_t time_ns;
	uint64_t order; /* priority: 2 bits, sequence number: 40, handle: 22 */
};

struct sim_queue {
	struct sim_queue_node *heap; /* four to a cache line: heap[1] begins one */
	uint32_t *place;	     /* of each handle: index in heap + 1, or 0 when not armed */
	void *memory;		     /* what heap lies in */
	uint64_t now_ns;	     /* time of the event taken last */
	uint64_t sequence;
	uint32_t nr, capacity;
	uint32_t rose[SIM_QUEUE_LEVELS]; /* per depth: handle that moved up to it last, a hint */
	bool hole;			 /* heap[0] has been taken; nr counts it still */
};

/**
 * sim_queue_init - an empty queue at time 0.
 * @handles:  1 to SIM_QUEUE_HANDLES_MAX
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int sim_queue_init(struct sim_queue *queue, uint32_t handles);

/** sim_queue_fini - free what init allocated. */
void sim_queue_fini(struct sim_queue *queue);

/**
 * sim_queue_arm - arm @handle for @time_ns, or move it there if it is armed.
 * @time_ns:   earlier than now counts as now
 * @priority:  below SIM_QUEUE_PRIORITIES; among equals in time and priority the one armed first
 *             comes first, and moving counts as arming anew
 *
 * Cannot fail. Ends the process by abort() after 2^40 armings.
 */
void sim_queue_arm(struct sim_queue *queue, uint32_t handle, uint64_t time_ns, uint32_t priority);

/** sim_queue_cancel - disarm @handle; nothing happens when it is not armed. */
void sim_queue_cancel(struct sim_queue *queue, uint32_t handle);

/** sim_queue_armed - is @handle armed? */
static inline bool sim_queue_armed(const struct sim_queue *queue, uint32_t handle)
{
	return queue->place[handle];
}

/** sim_queue_time_ns - when @handle is due; only while it is armed. */
static inline uint64_t sim_queue_time_ns(const struct sim_queue *queue, uint32_t handle)
{
	return queue->heap[queue->place[handle] - 1].time_ns;
}

/** sim_queue_length - how many handles are armed. */
static inline uint32_t sim_queue_length(const struct sim_queue *queue)
{
	return queue->nr - queue->hole;
}

/**
 * sim_queue_take - take the first event: disarms its handle and moves now_ns to its time.
 * @handle:  receives it
 *
 * Return: false when nothing is armed.
 */
bool sim_queue_take(struct sim_queue *queue, uint32_t *handle);

#endif

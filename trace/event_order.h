/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Puts events back into the order of time, as far as a fixed number of them reaches. */
#ifndef VHALT_TRACE_EVENT_ORDER_H
#define VHALT_TRACE_EVENT_ORDER_H

#include <stddef.h>

#include "trace/event.h"

/*
 * How many events may pass before one that happened earlier: lines that changed places, buffers of
 * CPUs that were merged coarsely. Memory: 4096 x 160 bytes.
 */
#define EVENT_ORDER_EVENTS 4096

/** Zero it before use. */
struct event_order {
	/* A ring, sorted by key; equal ones in order of arrival. */
	struct event_order_entry {
		uint64_t key_ns;
		uint32_t slot;
	} entries[EVENT_ORDER_EVENTS];
	uint32_t head, nr;
	/* Where the events are: they stay in place while the ring moves. */
	struct trace_event events[EVENT_ORDER_EVENTS + 1];
	uint32_t free[EVENT_ORDER_EVENTS + 1]; /* slots given back */
	uint32_t nr_free, nr_used;
	uint32_t taken; /* the slot last handed out */
	bool has_taken;
	bool moved;	   /* the last event put in came late and was moved */
	uint64_t taken_ns; /* key of the last one taken */
};

/**
 * event_order_put - add an event; there must be room.
 *
 * An event without a time takes that of the newest. Return: false if it is earlier than what was
 * taken already: it was not added.
 */
bool event_order_put(struct event_order *order, const struct trace_event *event);

/** event_order_full - is there no more room? Then one must be taken. */
static inline bool event_order_full(const struct event_order *order)
{
	return order->nr == EVENT_ORDER_EVENTS;
}

/** event_order_take - the earliest event, valid until the next take; NULL: none left. */
const struct trace_event *event_order_take(struct event_order *order);

#endif

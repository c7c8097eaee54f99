// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Puts events back into the order of time: a sorted ring; in order is the cheap case.
#include "trace/event_order.h"

static struct event_order_entry *entry(struct event_order *order, uint32_t index)
{
	return &order->entries[(order->head + index) % EVENT_ORDER_EVENTS];
}

/* A slot nobody uses; there is one more of them than entries. */
static uint32_t take_slot(struct event_order *order)
{
	return order->nr_free ? order->free[--order->nr_free] : order->nr_used++;
}

bool event_order_put(struct event_order *order, const struct trace_event *event)
{
	uint64_t newest_ns = order->nr ? entry(order, order->nr - 1)->key_ns : order->taken_ns;
	uint64_t key_ns = event->time_ns == VHALT_UNKNOWN_NS ? newest_ns : event->time_ns;
	uint32_t at = order->nr, slot;

	if (key_ns < order->taken_ns)
		return false;
	order->moved = key_ns < newest_ns;
	for (; at > 0 && entry(order, at - 1)->key_ns > key_ns; at--)
		*entry(order, at) = *entry(order, at - 1);
	slot = take_slot(order);
	order->events[slot] = *event;
	*entry(order, at) = (struct event_order_entry){key_ns, slot};
	order->nr++;
	return true;
}

const struct trace_event *event_order_take(struct event_order *order)
{
	struct event_order_entry *first = entry(order, 0);

	if (order->has_taken)
		order->free[order->nr_free++] = order->taken;
	order->has_taken = order->nr;
	if (!order->nr)
		return NULL;
	order->head = (order->head + 1) % EVENT_ORDER_EVENTS;
	order->nr--;
	order->taken_ns = first->key_ns;
	order->taken = first->slot;
	return &order->events[first->slot];
}

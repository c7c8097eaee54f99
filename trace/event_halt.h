/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The halt that a wake-up in an event trace ends: when it began, under which window, woken when. */
#ifndef VHALT_TRACE_EVENT_HALT_H
#define VHALT_TRACE_EVENT_HALT_H

#include "trace/event_threads.h"
#include "trace/halt.h"

/**
 * event_halt_end - make a halt of a wake-up and of what its thread knew before.
 * @thread: a vCPU; what it knows is moved on past this halt
 * @wakeup: a TRACE_EVENT_WAKEUP of it
 * @halt:   receives the halt
 *
 * Cannot fail: what the trace does not show is unknown in the halt. Return: whether the halt seems
 * to begin before the one before it ended, by more than coarse clocks explain; it is then put
 * behind that one, without a run time.
 */
bool event_halt_end(struct event_thread *thread, const struct trace_event *wakeup,
		    struct trace_halt *halt);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The halt that a wake-up in an event trace ends: when it began, under which window, woken when.
#include "trace/event_halt.h"

#include "trace/window.h"

/*
 * The window in force during a halt. A decision says from which window it started: that one held.
 * Else it is what the last decision left, capped where a ceiling was learnt.
 */
static uint32_t window_in_force(const struct event_thread *thread)
{
	if (thread->decided)
		return thread->decision.old_ns;
	return trace_window_capped(thread->window_ns, thread->ceiling_ns);
}

static void learn_window(struct event_thread *thread)
{
	if (!thread->decided)
		return;
	thread->ceiling_ns = trace_window_ceiling(thread->ceiling_ns, thread->window_ns,
						  thread->decision.old_ns);
	thread->window_ns = thread->decision.new_ns;
}

static uint32_t halt_flags(const struct event_thread *thread, const struct trace_event *e)
{
	uint32_t flags = thread->gap ? TRACE_HALT_GAP : 0;

	if (e->flags & TRACE_EVENT_WAITED)
		flags |= TRACE_HALT_WAITED;
	if (e->flags & TRACE_EVENT_INVALID)
		flags |= TRACE_HALT_INVALID;
	if (thread->decided)
		flags |= TRACE_HALT_WINDOW |
			 (thread->decision.flags & TRACE_EVENT_GROW ? TRACE_HALT_GROW : 0);
	return flags;
}

/* Time from the wake event to the end of the halt, if the trace shows it and it is within. */
static uint32_t take_latency(struct event_thread *thread, const struct trace_event *e)
{
	uint64_t latency_ns = e->time_ns - thread->waking_ns;
	bool known = thread->waking_ns != VHALT_UNKNOWN_NS && e->time_ns != VHALT_UNKNOWN_NS &&
		     e->flags & TRACE_EVENT_WAITED && latency_ns <= e->ns &&
		     latency_ns < TRACE_UNKNOWN_U32;

	thread->waking_ns = VHALT_UNKNOWN_NS;
	return known ? (uint32_t)latency_ns : TRACE_UNKNOWN_U32;
}

/*
 * When the halt began, and how long the vCPU ran before it. Clocks of whole microseconds make
 * halts seem to overlap by as much; more is a clock that does not measure time, or the same events
 * twice, and then nothing is known of the run time. Return: was it more?
 */
static bool place(struct event_thread *thread, const struct trace_event *e, struct trace_halt *halt)
{
	enum { OVERLAP_NS = 2000 };
	uint64_t time_ns = e->time_ns, end_ns = thread->end_ns;
	bool overlaps = false;

	if (time_ns == VHALT_UNKNOWN_NS) {
		halt->start_ns = end_ns;
	} else {
		halt->start_ns = time_ns > e->ns ? time_ns - e->ns : 0;
		if (halt->start_ns < end_ns && thread->halted) {
			overlaps = end_ns - halt->start_ns > OVERLAP_NS;
			halt->start_ns = end_ns;
		}
		if (thread->halted && !thread->gap && thread->timed && !overlaps)
			halt->run_ns = halt->start_ns - end_ns;
	}
	if (__builtin_add_overflow(halt->start_ns, e->ns, &thread->end_ns))
		thread->end_ns = halt->start_ns = INT64_MAX;
	thread->timed = time_ns != VHALT_UNKNOWN_NS;
	return overlaps;
}

bool event_halt_end(struct event_thread *thread, const struct trace_event *e,
		    struct trace_halt *halt)
{
	bool overlaps;

	*halt = (struct trace_halt){
		.halt_ns = e->ns,
		.run_ns = VHALT_UNKNOWN_NS,
		.deadline_ns = VHALT_NO_DEADLINE_NS,
		.latency_ns = take_latency(thread, e),
		.window_ns = window_in_force(thread),
		.old_ns = thread->decided ? thread->decision.old_ns : 0,
		.new_ns = thread->decided ? thread->decision.new_ns : 0,
		.vcpu = thread->vcpu,
		.flags = halt_flags(thread, e),
	};
	overlaps = place(thread, e, halt);
	learn_window(thread);
	thread->halted = true;
	thread->decided = thread->hlt = thread->gap = false;
	return overlaps;
}

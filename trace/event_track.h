/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From the events of another tool's trace to halts: who halted, under which window, after what. */
#ifndef VHALT_TRACE_EVENT_TRACK_H
#define VHALT_TRACE_EVENT_TRACK_H

#include "trace/reader_format.h"

/*
 * Common to all formats that are event traces. A format hands over events as they come:
 *
 *	event_track_create -> { event_track_add } -> event_track_end -> event_track_destroy
 *				event_track_take whenever a batch is full, and at the end
 *
 * What it does with them:
 * - Threads are told apart by their id, never by name; a thread id that comes back in another
 *   process is another thread.
 * - kvm_vcpu_wakeup is a halt: it has its whole length, and ends when the event was traced.
 * - kvm_halt_poll_ns belongs to the next kvm_vcpu_wakeup of its thread; the window it leaves is in
 *   force from the next halt on, but for the ceiling, which is learnt when the kernel caps it.
 * - sched_waking of a thread within its halt is the wake event: what is left of the halt is L.
 * - After lost events nothing carries over: run time and window of the next halt are unknown.
 * - kvm_exit, kvm_entry and kvm_userspace_exit make no halts; they tell of those that are missing.
 */
struct event_track;

/** Threads a trace may have; those beyond are left out, and counted. */
enum { EVENT_TRACK_THREADS = 65536 };

/**
 * event_track_create - begin.
 * @reader: its info, events, diag and watch are used; must outlive the tracker
 *
 * Return: the tracker, or NULL without memory.
 */
struct event_track *event_track_create(struct trace_reader *reader);

/** event_track_events - the counts, which formats add to. */
struct trace_events *event_track_events(struct event_track *track);

/** event_track_add - the next event. Return: 0, -ENOMEM. */
int event_track_add(struct event_track *track, const struct trace_event *event);

/**
 * event_track_hole - an event could not be read: nothing carries over it.
 * @event: its time, thread and CPU where they are known; of any thread if its tid is unknown
 *
 * Return: 0, -ENOMEM.
 */
int event_track_hole(struct event_track *track, const struct trace_event *event);

/** event_track_full - is a batch full? Then it must be taken before the next event. */
bool event_track_full(const struct event_track *track);

/**
 * event_track_end - no more events come.
 * Return: 1 when a batch is full: take it and call again; 0 when all is done; -ENOMEM.
 */
int event_track_end(struct event_track *track);

/** event_track_take - the halts gathered so far, those of a vCPU together. Return: their number. */
ssize_t event_track_take(struct event_track *track, const struct trace_halt **halts);

/**
 * event_track_report - after the end: say what was lost or odd and, if there were no halts, why.
 * Return: 0, or -ENODATA without any halt.
 */
int event_track_report(struct event_track *track);

/** event_track_destroy - free it and the tables in the reader's info. NULL is allowed. */
void event_track_destroy(struct event_track *track);

#endif

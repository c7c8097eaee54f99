// SPDX-License-Identifier: GPL-2.0-only OR MIT
// From the events of another tool's trace to halts: who halted, under which window, after what.
#include "trace/event_track.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event_halt.h"
#include "trace/event_order.h"
#include "trace/event_say.h"
#include "trace/event_threads.h"

enum {
	BATCH = 4096,
	LOSS_CPUS = 1024, /* CPUs whose last event is remembered */
	EARLY = 1024,	  /* threads woken before they were known as vCPUs: remembered by id */
	/* Of a LOST event: what is missing began here, and ends at the next one without it. */
	LOSS_BEGINS = 1 << 30,
	/* Of a LOST event: one unreadable event of thread @tid, or of any if that is unknown. */
	HOLE = 1 << 29,
};

struct event_track {
	struct trace_reader *reader;
	struct trace_events events;
	struct event_threads threads;
	struct trace_halt halts[BATCH], grouped[BATCH];
	size_t nr_halts;
	uint64_t total_halts;
	uint64_t epoch;	   /* counts losses */
	uint64_t begin_ns; /* of the earliest halt or event */
	/* A loss that was told and comes before the next event. */
	struct trace_event lost;
	bool has_lost;
	uint32_t losing; /* CPUs that lose events at the place reached */
	struct early_waking {
		uint64_t time_ns, epoch;
		uint32_t tid;
	} early[EARLY];
	uint64_t cpu_ns[LOSS_CPUS]; /* 1 + time of the last event of each CPU; 0: none yet */
	struct event_order order;
};

struct event_track *event_track_create(struct trace_reader *reader)
{
	struct event_track *track = calloc(1, sizeof(*track));

	if (!track)
		return NULL;
	track->reader = reader;
	track->begin_ns = UINT64_MAX;
	track->events.first_ns = track->events.last_ns = VHALT_UNKNOWN_NS;
	event_threads_init(&track->threads, &reader->info);
	reader->events = &track->events;
	return track;
}

struct trace_events *event_track_events(struct event_track *track)
{
	return &track->events;
}

static int on_wakeup(struct event_track *track, struct event_thread *thread,
		     const struct trace_event *e)
{
	struct trace_halt *halt = &track->halts[track->nr_halts];
	int err = event_threads_make_vcpu(&track->threads, thread);

	if (err)
		return err;
	track->events.overlaps += event_halt_end(thread, e, halt);
	if (halt->start_ns < track->begin_ns)
		track->begin_ns = halt->start_ns;
	track->reader->info.has_latency |= halt->latency_ns != TRACE_UNKNOWN_U32;
	track->nr_halts++;
	track->total_halts++;
	return 0;
}

/*
 * What was under way on @thread when events were lost is unknown. Done when the thread is next met,
 * for a hostile trace has many threads and many losses; @e: what it is met by.
 */
static void forget(struct event_track *track, struct event_thread *thread,
		   const struct trace_event *e)
{
	if (thread->epoch == track->epoch)
		return;
	/* A wake-up tells its halt's whole length, whatever was lost meanwhile. */
	track->events.unknown_halts += thread->hlt && (!e || e->kind != TRACE_EVENT_WAKEUP);
	thread->epoch = track->epoch;
	thread->gap = true;
	thread->hlt = thread->decided = false;
	thread->window_ns = TRACE_UNKNOWN_U32;
	thread->waking_ns = VHALT_UNKNOWN_NS;
}

/* Any thread may be woken; which of them are vCPUs shows later, with their first halt. */
static void on_waking(struct event_track *track, const struct trace_event *e)
{
	struct event_thread *thread = event_threads_known(&track->threads, e->tid);

	if (!thread) {
		track->early[e->tid % EARLY] = (struct early_waking){e->time_ns, track->epoch,
								     e->tid};
		return;
	}
	forget(track, thread, e);
	thread->waking_ns = e->time_ns;
}

/*
 * A trace tells a loss of one CPU before the next event of it, so the missing ones lie between
 * that and the last one before. What other CPUs traced in the meantime is there, but a thread may
 * have been on the losing one in between: nothing carries over from any event to the next.
 */
static void on_lost(struct event_track *track, const struct trace_event *e)
{
	if (e->flags & LOSS_BEGINS)
		track->losing++;
	else if (track->losing)
		track->losing--;
}

/* An event that could not be read is missing from its thread like a lost one. */
static void on_hole(struct event_track *track, const struct trace_event *e)
{
	struct event_thread *thread = event_threads_known(&track->threads, e->tid);

	if (e->tid == TRACE_UNKNOWN_U32) {
		track->epoch++;
	} else if (thread) {
		thread->epoch = track->epoch - 1;
		forget(track, thread, NULL);
	}
}

/* A thread that was woken before it was known. */
static void recall_waking(const struct event_track *track, struct event_thread *thread)
{
	const struct early_waking *early = &track->early[thread->tid % EARLY];

	if (!thread->halted && thread->waking_ns == VHALT_UNKNOWN_NS && early->tid == thread->tid &&
	    early->epoch == track->epoch)
		thread->waking_ns = early->time_ns;
}

/* The next event, in order. */
static int see(struct event_track *track, const struct trace_event *e)
{
	struct event_thread *thread = NULL;
	int err;

	if (e->flags & HOLE) {
		on_hole(track, e);
		return 0;
	}
	if (track->reader->watch.see && !(e->flags & LOSS_BEGINS))
		track->reader->watch.see(track->reader->watch.context, e);
	track->epoch += track->losing || e->kind == TRACE_EVENT_LOST;
	if (e->kind == TRACE_EVENT_LOST)
		on_lost(track, e);
	if (e->kind == TRACE_EVENT_WAKING)
		on_waking(track, e);
	if (e->kind >= TRACE_EVENT_WAKING)
		return 0;
	if (e->tid == TRACE_UNKNOWN_U32) {
		track->events.nameless++;
		return 0;
	}
	err = event_threads_find(&track->threads, e, track->epoch, &thread);
	if (err || !thread)
		return err;
	forget(track, thread, e);
	recall_waking(track, thread);
	switch (e->kind) {
	case TRACE_EVENT_WAKEUP: return on_wakeup(track, thread, e);
	case TRACE_EVENT_WINDOW:
		thread->decision = *e;
		thread->decided = true;
		break;
	case TRACE_EVENT_HLT: thread->hlt = true; break;
	default: thread->hlt = false; break;
	}
	return 0;
}

static void count(struct event_track *track, const struct trace_event *e)
{
	struct trace_events *events = &track->events;

	events->count[e->kind]++;
	if (e->time_ns == VHALT_UNKNOWN_NS)
		return;
	if (events->first_ns == VHALT_UNKNOWN_NS || e->time_ns < events->first_ns)
		events->first_ns = e->time_ns;
	if (events->last_ns == VHALT_UNKNOWN_NS || e->time_ns > events->last_ns)
		events->last_ns = e->time_ns;
}

/* Puts @e in its place; what is the earliest of all is then seen. */
static int put(struct event_track *track, const struct trace_event *e)
{
	if (!event_order_put(&track->order, e)) {
		/* It may have been any thread's: a loss, where it should have been. */
		track->events.too_late++;
		track->epoch++;
		return 0;
	}
	track->events.out_of_order += track->order.moved && e->kind != TRACE_EVENT_LOST;
	return event_order_full(&track->order) ? see(track, event_order_take(&track->order)) : 0;
}

/* Puts the beginning of a loss of CPU @cpu behind its last event, as far back as the order goes. */
static int begin_loss(struct event_track *track, uint32_t cpu)
{
	struct trace_event begin = track->lost;

	if (cpu >= LOSS_CPUS || !track->cpu_ns[cpu])
		return 0;
	begin.flags |= LOSS_BEGINS;
	begin.time_ns = track->cpu_ns[cpu] - 1;
	if (begin.time_ns < track->order.taken_ns)
		begin.time_ns = track->order.taken_ns;
	return put(track, &begin);
}

/* A loss is told before the event that follows it, and ends just before it in time. */
static int note_loss(struct event_track *track, const struct trace_event *e)
{
	struct trace_events *events = &track->events;

	events->lost += e->ns;
	events->lost_uncounted += !e->ns;
	if (!events->lost_place)
		events->lost_place = e->place;
	events->count[TRACE_EVENT_LOST]++;
	track->reader->info.lost += e->ns ? e->ns : 1;
	/* One loss behind another is one: the first has begun it. */
	if (track->has_lost)
		return 0;
	track->lost = *e;
	track->has_lost = true;
	return begin_loss(track, e->cpu);
}

/* Puts the end of the loss that was told, at @time_ns. */
static int end_loss(struct event_track *track, uint64_t time_ns)
{
	if (!track->has_lost)
		return 0;
	track->has_lost = false;
	track->lost.time_ns = time_ns;
	return put(track, &track->lost);
}

int event_track_add(struct event_track *track, const struct trace_event *event)
{
	int err;

	if (event->kind == TRACE_EVENT_LOST)
		return note_loss(track, event);
	count(track, event);
	if (event->cpu < LOSS_CPUS && event->time_ns != VHALT_UNKNOWN_NS)
		track->cpu_ns[event->cpu] = event->time_ns + 1;
	if (event->kind == TRACE_EVENT_OTHER)
		return 0;
	err = end_loss(track, event->time_ns);
	return err ? err : put(track, event);
}

int event_track_hole(struct event_track *track, const struct trace_event *event)
{
	struct trace_event hole = *event;

	hole.kind = TRACE_EVENT_LOST;
	hole.flags = HOLE;
	return put(track, &hole);
}

bool event_track_full(const struct event_track *track)
{
	/* An event may come with a loss before it. */
	return track->nr_halts >= BATCH - 3;
}

int event_track_end(struct event_track *track)
{
	const struct trace_event *e;
	struct trace_info *info = &track->reader->info;
	int err = end_loss(track, VHALT_UNKNOWN_NS);

	if (err)
		return err;
	while (!event_track_full(track) && (e = event_order_take(&track->order))) {
		err = see(track, e);
		if (err)
			return err;
	}
	if (event_track_full(track))
		return 1;
	for (uint32_t i = 0; i < track->threads.nr; i++)
		forget(track, &track->threads.all[i], NULL);
	if (track->events.first_ns < track->begin_ns)
		track->begin_ns = track->events.first_ns;
	if (track->events.last_ns != VHALT_UNKNOWN_NS)
		info->duration_ns = track->events.last_ns - track->begin_ns;
	return 0;
}

ssize_t event_track_take(struct event_track *track, const struct trace_halt **halts)
{
	ssize_t nr = (ssize_t)track->nr_halts;

	track->nr_halts = 0;
	*halts = track->grouped;
	return event_threads_group(&track->threads, track->halts, (size_t)nr, track->grouped)
		       ? -ENOMEM
		       : nr;
}

int event_track_report(struct event_track *track)
{
	struct event_story story = {
		.reader = track->reader,
		.events = &track->events,
		.halts = track->total_halts,
		.threads_left_out = track->threads.left_out,
	};

	track->reader->info.damaged_frames = track->events.unreadable + track->events.too_late;
	event_say(&story);
	return track->total_halts ? 0 : -ENODATA;
}

void event_track_destroy(struct event_track *track)
{
	if (!track)
		return;
	event_threads_fini(&track->threads);
	free(track);
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What is said at the end of an event trace: losses, oddities, and why it may hold no halts. */
#ifndef VHALT_TRACE_EVENT_SAY_H
#define VHALT_TRACE_EVENT_SAY_H

#include "trace/reader_format.h"

/** What there is to tell. */
struct event_story {
	struct trace_reader *reader;
	const struct trace_events *events;
	uint64_t halts;
	uint64_t threads_left_out; /* events of threads beyond what the tracker keeps */
};

/** event_say - report what @story holds to the reader's diag, one finding each. */
void event_say(const struct event_story *story);

/** event_say_at - report a finding at @place: a line of a text, a record of a trace.dat. */
__attribute__((format(printf, 3, 4))) void event_say_at(struct trace_reader *reader, uint64_t place,
							const char *format, ...);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The grammar of event traces as text: one engine for all layouts, from a line to an event. */
#ifndef VHALT_TRACE_TEXT_LINE_H
#define VHALT_TRACE_TEXT_LINE_H

#include "trace/event.h"
#include "trace/text_view.h"

/*
 * A line is read in four steps, each in a file of its own:
 *
 *	text_strip.c	takes off mail quoting, kernel log prefixes and line numbers
 *	text_line.c	finds "[time:] [system:]event:" in what is left
 *	text_prefix.c	reads thread, process, CPU, flags and time, which stand before it
 *	text_payload.c	reads what the event says, which stands behind it
 *
 * A thread name may hold anything, so all of the prefix is read from its end.
 */

enum text_kind {
	TEXT_EMPTY,   /* blank */
	TEXT_NOTE,    /* comment, header, call chain: known, and nothing in it is needed */
	TEXT_EVENT,   /* an event of ours: text_line.event */
	TEXT_OTHER,   /* another event; of it only time, thread and CPU are known */
	TEXT_LOST,    /* says that events are missing: text_line.event is of kind LOST */
	TEXT_PART,    /* begins an event that may go on in the next line */
	TEXT_BAD,     /* an event of ours that cannot be read: text_line.why */
	TEXT_UNKNOWN, /* none of these */
};

/** What a line says. */
struct text_line {
	struct trace_event event;
	uint32_t hints;	      /* enum trace_event_hints: what is seen in this line */
	uint32_t flags_width; /* of its flag column, 0: none */
	uint64_t overwritten; /* NOTE: what a header says of overwritten events */
	const char *why;      /* BAD, and PART if it is of an event of ours: what is wrong */
};

/** text_line_parse - read one line of @nr bytes, without its newline. Cannot fail. */
enum text_kind text_line_parse(struct text_line *line, const char *text, size_t nr);

/* --- the steps; each takes what it read off its view ------------------------------------------ */

/**
 * text_clean - take terminal colours out of a line, and make its no-break spaces blanks.
 * @to: at least @nr bytes
 * @changed: false: there is nothing of that in it, @to is untouched
 *
 * Return: how many bytes the line has then.
 */
size_t text_clean(char *to, const char *text, size_t nr, bool *changed);

/** text_strip - take quoting, log prefixes and line numbers off; adds to @hints what they were. */
void text_strip(struct text_view *view, uint32_t *hints);

/** text_note - TEXT_EMPTY, TEXT_NOTE, TEXT_LOST or TEXT_UNKNOWN: a line that holds no event. */
enum text_kind text_note(struct text_line *line, struct text_view view);

/**
 * text_prefix_time - read the time at the end of @view, whose last character is its colon.
 * Return: true if there is one; then line->event.time_ns and line->hints are set.
 */
bool text_prefix_time(struct text_line *line, struct text_view *view);

/**
 * text_prefix_who - read all of @view, from its end: flags, CPU, process, thread.
 * Return: false if it is nothing that can stand before an event.
 */
bool text_prefix_who(struct text_line *line, struct text_view view);

enum text_payload {
	TEXT_PAYLOAD_OK,
	TEXT_PAYLOAD_PART, /* ends too early */
	TEXT_PAYLOAD_BAD,  /* says something else */
};

/** text_payload_kind - is @name (@nr bytes) an event of ours? Its reader's number, else -1. */
int text_payload_kind(const char *name, size_t nr);

/**
 * text_payload_parse - read what stands behind the colon of event @kind of text_payload_kind().
 * @why: receives what is wrong when the result is not OK
 */
enum text_payload text_payload_parse(struct text_line *line, int kind, struct text_view view,
				     const char **why);

#endif

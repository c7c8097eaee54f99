// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Reading event traces as text: ftrace's own, trace-cmd report, perf script, dumps in a kernel log.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event_say.h"
#include "trace/event_track.h"
#include "trace/text_line.h"

enum {
	LINE_BYTES = 4096, /* a longer line is none of ours */
	HELD_BYTES = 1024, /* of lines that were wrapped, put together */
	HELD_LINES = 4,
	BAD_SHOWN = 20,	  /* lines reported one by one */
	QUOTE_BYTES = 80, /* of a line in a message */
};

struct text_reader {
	struct event_track *track;
	struct trace_events *events;
	uint64_t line;
	bool finished, told;
	/* The beginning of an event that may go on in the next line. */
	char held[HELD_BYTES];
	size_t held_nr;
	unsigned held_lines;
	uint64_t held_line;
	const char *held_why; /* what is wrong if it does not; NULL: not known to be one of ours */
};

/* --- recognising ------------------------------------------------------------------------------ */

/* A name with a colon is no event yet: a table may have one. Halts and windows read as no table. */
static bool is_event(const struct trace_event *e)
{
	return e->time_ns != VHALT_UNKNOWN_NS || e->tid != TRACE_UNKNOWN_U32 ||
	       e->kind == TRACE_EVENT_WAKEUP || e->kind == TRACE_EVENT_WINDOW;
}

static bool is_evidence(const struct text_line *line, enum text_kind kind, struct text_view text)
{
	static const char tracer[] = "# tracer:", entries[] = "# entries-in-buffer";
	size_t nr = (size_t)(text.end - text.at);

	switch (kind) {
	case TEXT_EVENT:
	case TEXT_OTHER: return is_event(&line->event);
	case TEXT_PART:
	case TEXT_BAD: return line->event.time_ns != VHALT_UNKNOWN_NS;
	case TEXT_LOST: return line->event.cpu != TRACE_UNKNOWN_U32;
	case TEXT_NOTE:
		return memmem(text.at, nr, tracer, sizeof(tracer) - 1) ||
		       memmem(text.at, nr, entries, sizeof(entries) - 1);
	default: return false;
	}
}

static bool is_evidence_here(const char *text, size_t nr)
{
	char clean[LINE_BYTES];
	struct text_line line;
	bool changed;

	nr = text_clean(clean, text, nr, &changed);
	text = changed ? clean : text;
	return is_evidence(&line, text_line_parse(&line, text, nr),
			   (struct text_view){text, text + nr});
}

static bool probe(const uint8_t *bytes, size_t nr, bool whole)
{
	const char *text = (const char *)bytes, *end = text + nr;

	if (memchr(bytes, '\0', nr))
		return false;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		size_t bytes_here = (size_t)(stop - text);

		if (!newline && !whole)
			break;
		if (bytes_here <= LINE_BYTES && is_evidence_here(text, bytes_here))
			return true;
		text = newline ? newline + 1 : end;
	}
	return false;
}

/* --- lines ------------------------------------------------------------------------------------ */

static void leave_out(struct trace_reader *reader, uint64_t place, const char *why,
		      struct text_view text)
{
	struct text_reader *r = reader->state;
	char quote[QUOTE_BYTES];

	text_skip_blanks(&text);
	text_copy(quote, sizeof(quote), text);
	if (!r->events->unreadable++)
		r->events->unreadable_place = place;
	if (r->events->unreadable <= BAD_SHOWN)
		event_say_at(reader, place, "\"%s\": %s; left out", quote, why);
	else if (r->events->unreadable == BAD_SHOWN + 1)
		event_say_at(reader, place, "more such lines; they are counted, and not shown");
}

static void count_unknown(struct text_reader *r, uint64_t place)
{
	if (!r->events->unknown++)
		r->events->unknown_place = place;
}

static void note_layout(struct trace_events *events, const struct text_line *line)
{
	events->hints |= line->hints;
	if (line->flags_width > events->flags_width)
		events->flags_width = line->flags_width;
}

/* Takes what a line, or several put together, says. */
static int take(struct trace_reader *reader, enum text_kind kind, struct text_line *line,
		uint64_t place, struct text_view text)
{
	struct text_reader *r = reader->state;

	line->event.place = place;
	switch (kind) {
	case TEXT_EVENT:
	case TEXT_OTHER:
		note_layout(r->events, line);
		return event_track_add(r->track, &line->event);
	case TEXT_LOST: return event_track_add(r->track, &line->event);
	case TEXT_NOTE: r->events->overwritten += line->overwritten; break;
	case TEXT_BAD:
		leave_out(reader, place, line->why, text);
		return event_track_hole(r->track, &line->event);
	case TEXT_UNKNOWN: count_unknown(r, place); break;
	case TEXT_EMPTY:
	case TEXT_PART: break;
	}
	return 0;
}

static void hold(struct text_reader *r, const char *text, size_t nr, const char *why)
{
	memcpy(r->held, text, nr);
	r->held_nr = nr;
	r->held_lines = 1;
	r->held_line = r->line;
	r->held_why = why;
}

/* What is held goes no further. @last: nor does the file. Return: 0, -ENOMEM. */
static int settle(struct trace_reader *reader, bool last)
{
	static const struct trace_event any = {.time_ns = VHALT_UNKNOWN_NS,
					       .tid = TRACE_UNKNOWN_U32,
					       .cpu = TRACE_UNKNOWN_U32};
	struct text_reader *r = reader->state;

	struct text_view held = {r->held, r->held + r->held_nr};

	if (!r->held_nr)
		return 0;
	r->held_nr = 0;
	if (last)
		r->events->hints |= TRACE_HINT_CUT;
	if (!r->held_why && !last)
		count_unknown(r, r->held_line);
	if (!r->held_why)
		return 0;
	leave_out(reader, r->held_line, r->held_why, held);
	return event_track_hole(r->track, &any);
}

/* Does a line of this kind stand on its own, whatever is held? */
static bool stands_alone(enum text_kind kind, const struct text_line *line)
{
	return kind == TEXT_LOST || kind == TEXT_EMPTY ||
	       (kind != TEXT_UNKNOWN && kind != TEXT_NOTE && line->event.tid != TRACE_UNKNOWN_U32 &&
		line->event.kind != TRACE_EVENT_WAKING);
}

/* Puts the line behind what is held. Return: 1 if that made sense, 0 if not, -ENOMEM. */
static int join(struct trace_reader *reader, const char *text, size_t nr)
{
	struct text_reader *r = reader->state;
	struct text_view rest = {text, text + nr}, whole;
	struct text_line line;
	enum text_kind kind;
	uint32_t hints = 0;
	size_t add;
	int err;

	text_strip(&rest, &hints);
	text_skip_blanks(&rest);
	add = (size_t)(rest.end - rest.at);
	if (r->held_lines == HELD_LINES || r->held_nr + add + 1 > HELD_BYTES)
		return 0;
	r->held[r->held_nr] = ' ';
	memcpy(r->held + r->held_nr + 1, rest.at, add);
	whole = (struct text_view){r->held, r->held + r->held_nr + 1 + add};
	kind = text_line_parse(&line, r->held, r->held_nr + 1 + add);
	if (kind != TEXT_EVENT && kind != TEXT_OTHER && kind != TEXT_PART)
		return 0;
	if (kind == TEXT_PART) {
		r->held_nr += 1 + add;
		r->held_lines++;
		r->held_why = line.why;
		return 1;
	}
	line.hints |= TRACE_HINT_WRAPPED;
	err = take(reader, kind, &line, r->held_line, whole);
	r->held_nr = 0;
	return err ? err : 1;
}

/* Text that is complete by the rules may still have lost its end, if the file ends in it. */
static bool is_cut(const struct text_reader *r, const struct text_line *line, enum text_kind kind)
{
	if (kind != TEXT_EVENT)
		return false;
	if (line->hints & TRACE_HINT_RAW)
		return true;
	return line->event.flags & TRACE_EVENT_NO_VALID && r->events->count[TRACE_EVENT_WAKEUP] &&
	       !(r->events->hints & TRACE_HINT_NO_VALID);
}

static int take_line(struct trace_reader *reader, const char *text, size_t nr, bool whole)
{
	struct text_reader *r = reader->state;
	struct text_line line;
	enum text_kind kind = text_line_parse(&line, text, nr);
	int err;

	if (!whole && is_cut(r, &line, kind)) {
		kind = TEXT_PART;
		line.why = "ends too early";
	}
	if (r->held_nr && !stands_alone(kind, &line)) {
		err = join(reader, text, nr);
		if (err)
			return err < 0 ? err : 0;
	}
	err = settle(reader, false);
	if (err)
		return err;
	if (kind == TEXT_PART && nr < HELD_BYTES) {
		hold(r, text, nr, line.why);
		return 0;
	}
	if (kind == TEXT_PART)
		kind = line.why ? TEXT_BAD : TEXT_UNKNOWN;
	return take(reader, kind, &line, r->line, (struct text_view){text, text + nr});
}

/* --- the format ------------------------------------------------------------------------------- */

static const char *layout_name(uint32_t hints)
{
	if (hints & TRACE_HINT_DMESG)
		return "ftrace dump in a kernel log";
	if (hints & TRACE_HINT_PERF)
		return "perf script";
	if (hints & TRACE_HINT_PADDED)
		return "trace-cmd report";
	if (hints & TRACE_HINT_CPU)
		return "ftrace text";
	return "event lines";
}

/* Reads on until a batch is full or the file is over. Return: 0, -ENOMEM. */
static int read_lines(struct trace_reader *reader)
{
	struct text_reader *r = reader->state;
	char clean[LINE_BYTES];
	const char *text;
	size_t nr;
	bool whole, changed;
	int err;

	while (!event_track_full(r->track)) {
		text = reader_input_line(&reader->input, LINE_BYTES, &nr, &whole);
		if (!text) {
			r->finished = true;
			return settle(reader, true);
		}
		r->events->lines = ++r->line;
		if (nr > LINE_BYTES) {
			err = settle(reader, false);
			if (err)
				return err;
			count_unknown(r, r->line);
			continue;
		}
		nr = text_clean(clean, text, nr, &changed);
		err = take_line(reader, changed ? clean : text, nr, whole);
		if (err)
			return err;
	}
	return 0;
}

/* The file is over and so are its halts. */
static int finish(struct trace_reader *reader)
{
	struct text_reader *r = reader->state;

	if (reader->input.error) {
		trace_diag_line(&reader->diag, reader->input.name, r->line + 1, "read: %s",
				strerror(-reader->input.error));
		return -EIO;
	}
	if (r->told)
		return 0;
	r->told = true;
	return event_track_report(r->track);
}

static ssize_t next(struct trace_reader *reader, const struct trace_halt **halts)
{
	struct text_reader *r = reader->state;
	ssize_t nr;
	int err = 0;

	if (!r->finished)
		err = read_lines(reader);
	if (!err && r->finished)
		err = event_track_end(r->track);
	if (err < 0)
		return err;
	r->events->layout = layout_name(r->events->hints);
	nr = event_track_take(r->track, halts);
	return nr ? nr : finish(reader);
}

static int open_text(struct trace_reader *reader)
{
	struct text_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->track = event_track_create(reader);
	if (!r->track) {
		free(r);
		return -ENOMEM;
	}
	r->events = event_track_events(r->track);
	r->events->layout = layout_name(0);
	reader->state = r;
	return 0;
}

static void close_text(struct trace_reader *reader)
{
	struct text_reader *r = reader->state;

	event_track_destroy(r->track);
	free(r);
}

const struct trace_format trace_format_text = {
	.name = "text",
	.summary = "event trace as text: ftrace, trace-cmd report, perf script",
	.probe = probe,
	.open = open_text,
	.next = next,
	.close = close_text,
};

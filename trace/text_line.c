// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One line of a text trace: where in it the event stands, whatever tool printed it.
#include "trace/text_line.h"

#include <string.h>

/*
 * Everything is found by its colons: "[time:] [period] [system:]event: payload". What stands before
 * is read by text_prefix.c from its end, so a thread name may hold anything, another event's name
 * included; the first place where all parts fit is taken.
 */
struct scan {
	struct text_view view;	   /* the line, stripped */
	struct text_line blank;	   /* a result without anything in it but what stripping showed */
	struct text_line timed;	   /* the same with the time last met */
	struct text_view before;   /* what stands before that time */
	const char *time_end;	   /* behind its colon; NULL: none met */
	struct text_line fallback; /* an event whose thread is not there, or cannot be read */
	bool has_fallback;
	struct text_line failed; /* an event of ours with something wrong in it */
	enum text_kind failure;	 /* BAD, PART; UNKNOWN: none */
};

static bool is_name_char(char c)
{
	return text_is_digit(c) || c == '_' || c == '-' || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* Where the word that ends at @end begins. */
static const char *word_begin(const char *begin, const char *end)
{
	while (end > begin && is_name_char(end[-1]))
		end--;
	return end;
}

/* May this stand between time and event: nothing, perf's period, trace-cmd's "(+12)"? */
static bool is_gap(const char *at, const char *end)
{
	struct text_view v = {at, end};

	text_skip_blanks(&v);
	if (v.end - v.at > 3 && v.at[0] == '(' && v.at[1] == '+') {
		v.at += 2;
		v.at += text_digits(v);
		if (v.at == v.end || *v.at++ != ')')
			return false;
	}
	v.at += text_digits(v);
	text_skip_blanks(&v);
	return v.at == v.end;
}

static void note_layout(struct text_line *line, const struct scan *s, const char *colon,
			bool has_system)
{
	if (has_system)
		line->hints |= TRACE_HINT_PERF;
	else if (colon + 2 < s->view.end && colon[1] == ' ' && colon[2] == ' ')
		line->hints |= TRACE_HINT_PADDED;
	if (line->event.time_ns == VHALT_UNKNOWN_NS)
		line->hints |= TRACE_HINT_NO_TIME;
}

/* An event of ours, number @kind, whose colon is at @colon; @who: its prefix could be read. */
static enum text_kind take_event(struct scan *s, struct text_line *line, int kind,
				 const char *colon, bool anchored, bool who)
{
	const char *why;
	enum text_payload payload = text_payload_parse(
		line, kind, (struct text_view){colon + 1, s->view.end}, &why);

	line->why = why;
	if (payload == TEXT_PAYLOAD_OK && who && line->event.tid != TRACE_UNKNOWN_U32)
		return TEXT_EVENT;
	if (!anchored && !who)
		return TEXT_UNKNOWN;
	/* Without a thread it may be part of a thread's name: only if nothing better comes. */
	if (payload == TEXT_PAYLOAD_OK && !s->has_fallback) {
		line->hints |= line->event.kind == TRACE_EVENT_WAKING ? 0 : TRACE_HINT_NO_TID;
		s->fallback = *line;
		s->has_fallback = true;
	} else if (payload != TEXT_PAYLOAD_OK && s->failure == TEXT_UNKNOWN) {
		s->failed = *line;
		s->failure = payload == TEXT_PAYLOAD_PART ? TEXT_PART : TEXT_BAD;
	}
	return TEXT_UNKNOWN;
}

/* The colon at @colon may end an event's name. */
static enum text_kind look_at(struct scan *s, struct text_line *line, const char *colon)
{
	const char *name = word_begin(s->view.at, colon), *begin = name;
	bool has_system = name > s->view.at && name[-1] == ':', anchored, who;
	int kind;

	if (name == colon)
		return TEXT_UNKNOWN;
	if (has_system)
		begin = word_begin(s->view.at, name - 1);
	anchored = s->time_end && s->time_end <= begin && is_gap(s->time_end, begin);
	kind = text_payload_kind(name, (size_t)(colon - name));
	if (kind < 0 && !anchored)
		return TEXT_UNKNOWN;
	*line = anchored ? s->timed : s->blank;
	who = text_prefix_who(line, anchored ? s->before : (struct text_view){s->view.at, begin});
	note_layout(line, s, colon, has_system);
	if (kind >= 0)
		return take_event(s, line, kind, colon, anchored, who);
	line->event.kind = TRACE_EVENT_OTHER;
	/* The idle task has number 0, which is nobody's: the CPU column tells that it is an event. */
	line->hints &= ~(uint32_t)TRACE_HINT_NO_TID;
	who &= line->event.tid != TRACE_UNKNOWN_U32 || line->event.cpu != TRACE_UNKNOWN_U32;
	return who ? TEXT_OTHER : TEXT_UNKNOWN;
}

static enum text_kind look_for_event(struct scan *s, struct text_line *line)
{
	const char *at = s->view.at, *end = s->view.end, *colon;
	enum text_kind kind;

	for (; (colon = memchr(at, ':', (size_t)(end - at))); at = colon + 1) {
		struct text_line timed = s->blank;
		struct text_view before = {s->view.at, colon + 1};

		if (colon + 1 < end && !text_is_blank(colon[1]))
			continue;
		if (text_prefix_time(&timed, &before)) {
			s->timed = timed;
			s->before = before;
			s->time_end = colon + 1;
			continue;
		}
		kind = look_at(s, line, colon);
		if (kind != TEXT_UNKNOWN)
			return kind;
	}
	return TEXT_UNKNOWN;
}

/* Is this at most one word? */
static bool is_word(const char *at, const char *end)
{
	struct text_view v = {at, end};

	for (text_skip_blanks(&v); v.at < v.end; v.at++)
		if (text_is_blank(*v.at))
			return false;
	return true;
}

/*
 * Is all of the line what stands before an event, at most the beginning of its name too? A mailer
 * then put the rest on the next line, or it is the last line and cut.
 */
static bool is_beginning(const struct scan *s, struct text_line *line)
{
	if (s->time_end && is_word(s->time_end, s->view.end)) {
		*line = s->timed;
		return text_prefix_who(line, s->before) && line->event.tid != TRACE_UNKNOWN_U32;
	}
	*line = s->blank;
	return s->view.at < s->view.end && text_prefix_who(line, s->view) &&
	       line->event.tid != TRACE_UNKNOWN_U32 && line->event.cpu != TRACE_UNKNOWN_U32;
}

/* "comm tid [001] 9.1: PERF_RECORD_LOST lost 17": the CPU stands where an event's does. */
static void take_cpu(const struct scan *s, struct text_line *line)
{
	struct text_line who = s->timed;

	if (s->time_end && text_prefix_who(&who, s->before))
		line->event.cpu = who.event.cpu;
}

enum text_kind text_line_parse(struct text_line *line, const char *text, size_t nr)
{
	struct scan s = {.view = {text, text + nr}, .failure = TEXT_UNKNOWN};
	enum text_kind kind;

	s.blank.event.time_ns = VHALT_UNKNOWN_NS;
	s.blank.event.tid = s.blank.event.pid = TRACE_UNKNOWN_U32;
	s.blank.event.cpu = s.blank.event.vcpu = TRACE_UNKNOWN_U32;
	text_strip(&s.view, &s.blank.hints);
	kind = look_for_event(&s, line);
	if (kind != TEXT_UNKNOWN)
		return kind;
	if (s.has_fallback) {
		*line = s.fallback;
		return TEXT_EVENT;
	}
	if (s.failure != TEXT_UNKNOWN) {
		*line = s.failed;
		return s.failure;
	}
	if (is_beginning(&s, line))
		return TEXT_PART;
	*line = s.blank;
	kind = text_note(line, s.view);
	if (kind == TEXT_LOST)
		take_cpu(&s, line);
	return kind;
}

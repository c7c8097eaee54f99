// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Lines of a text trace: what others put before them, and those that hold no event.
#include <string.h>
#include <strings.h>

#include "trace/text_line.h"

/* The bytes of an escape sequence such as "ESC [01;31m", which begins at @at. */
static size_t escape_bytes(const char *at, const char *end)
{
	const char *p = at + 2;

	if (end - at < 2 || at[1] != '[')
		return end - at < 2 ? 1 : 2;
	while (p < end && !(*p >= '@' && *p <= '~'))
		p++;
	return (size_t)(p - at) + (p < end);
}

size_t text_clean(char *to, const char *text, size_t nr, bool *changed)
{
	static const char space[] = "\xc2\xa0";
	const char *end = text + nr;
	size_t n = 0;

	*changed = memchr(text, '\033', nr) || memmem(text, nr, space, 2);
	if (!*changed)
		return nr;
	while (text < end) {
		if (*text == '\033') {
			text += escape_bytes(text, end);
		} else if (end - text >= 2 && !memcmp(text, space, 2)) {
			to[n++] = ' ';
			text += 2;
		} else {
			to[n++] = *text++;
		}
	}
	return n;
}

/* "> > " */
static bool skip_quotes(struct text_view *view)
{
	const char *begin = view->at;

	while (view->at < view->end && (*view->at == '>' || text_is_blank(*view->at)))
		view->at++;
	return memchr(begin, '>', (size_t)(view->at - begin));
}

/* "[10611.834143] ", with "<4>" before it and "[  T123] " behind it where the kernel does so. */
static bool skip_stamp(struct text_view *view)
{
	struct text_view v = *view;
	size_t nr;

	if (v.end - v.at > 3 && *v.at == '<' && text_is_digit(v.at[1])) {
		v.at += 1 + text_digits((struct text_view){v.at + 1, v.end});
		if (v.at == v.end || *v.at++ != '>')
			return false;
	}
	if (v.at == v.end || *v.at++ != '[')
		return false;
	text_skip_blanks(&v);
	nr = text_digits(v);
	v.at += nr;
	if (!nr || v.at == v.end || *v.at++ != '.')
		return false;
	nr = text_digits(v);
	v.at += nr;
	if (!nr || v.at == v.end || *v.at++ != ']')
		return false;
	view->at = v.at;
	text_skip_blanks(&v);
	if (v.end - v.at > 3 && *v.at == '[') {
		v.at++;
		text_skip_blanks(&v);
		if (v.at < v.end && (*v.at == 'T' || *v.at == 'C')) {
			v.at++;
			v.at += text_digits(v);
			if (v.at < v.end && *v.at == ']')
				view->at = v.at + 1;
		}
	}
	return true;
}

/* "Nov 30 13:45:01 host kernel: " */
static bool skip_syslog(struct text_view *view)
{
	static const char mark[] = " kernel: ";
	size_t nr = (size_t)(view->end - view->at);
	const char *found = memmem(view->at, nr < 80 ? nr : 80, mark, sizeof(mark) - 1);
	struct text_view rest;

	if (!found)
		return false;
	rest = (struct text_view){found + sizeof(mark) - 1, view->end};
	/* A thread may be called so; the log's own stamp behind it makes sure. */
	if (!skip_stamp(&rest))
		return false;
	view->at = rest.at;
	return true;
}

void text_strip(struct text_view *view, uint32_t *hints)
{
	static const char bom[] = "\xef\xbb\xbf";

	if (view->end - view->at >= 3 && !memcmp(view->at, bom, 3))
		view->at += 3;
	text_trim_end(view);
	if (view->at < view->end && (*view->at == '>' || text_is_blank(*view->at)) &&
	    skip_quotes(view))
		*hints |= TRACE_HINT_QUOTED;
	if (skip_stamp(view) || skip_syslog(view))
		*hints |= TRACE_HINT_DMESG;
}

/* Case does not matter. */
static const char *find_word(struct text_view view, const char *word)
{
	size_t nr = strlen(word);

	for (const char *at = view.at; at + nr <= view.end; at++)
		if ((*at | 0x20) == (*word | 0x20) && !strncasecmp(at, word, nr))
			return at;
	return NULL;
}

/* The number at the end of @view, or at its beginning behind blanks. */
static bool number_beside(struct text_view before, struct text_view behind, uint64_t *value)
{
	struct text_view v = before;

	text_skip_blanks(&behind);
	if (text_digits(behind))
		return text_number(behind.at, text_digits(behind), value);
	text_trim_end(&v);
	while (v.end > v.at && text_is_digit(v.end[-1]))
		v.end--;
	v.at = v.end;
	v.end = before.end;
	return text_number(v.at, text_digits(v), value);
}

/*
 * Lines that tell of a loss, all with a number beside the word that says what was lost, or none:
 *
 *	CPU:1 [LOST 702 EVENTS]			ftrace
 *	CPU:1 [702 EVENTS DROPPED]		trace-cmd report; also without the number
 *	PERF_RECORD_LOST lost 702		perf script --show-lost-events
 *	Processed 90001 events and lost 3 chunks!	perf
 *	** 12 printk messages dropped **	the kernel log a dump was taken from
 */
static bool is_loss(struct text_line *line, struct text_view view)
{
	static const char *const things[] = {"printk", "events", "chunks", "samples"};
	const char *lost = find_word(view, "lost"), *thing = NULL;
	uint64_t number = 0;
	bool counted;

	if (!lost)
		lost = find_word(view, "dropped");
	if (!lost || view.end - view.at > 200)
		return false;
	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]) && !thing; i++)
		thing = find_word(view, things[i]);
	if (find_word(view, "PERF_RECORD_LOST")) {
		lost = find_word(view, " lost ");
		thing = lost ? lost : view.at;
	}
	if (!thing)
		return false;
	counted = lost && (number_beside((struct text_view){view.at, view.at},
					 (struct text_view){lost + 4 + (*lost == ' '), view.end},
					 &number) ||
			   number_beside((struct text_view){view.at, thing},
					 (struct text_view){view.end, view.end}, &number));
	if (counted && !number)
		return false;
	line->event.kind = TRACE_EVENT_LOST;
	line->event.ns = counted ? number : 0;
	if (view.end - view.at > 4 && !memcmp(view.at, "CPU", 3)) {
		struct text_view v = {view.at + 4, view.end};
		uint64_t cpu;

		if (text_number(v.at, text_digits(v), &cpu) && cpu <= 65535)
			line->event.cpu = (uint32_t)cpu;
	}
	return true;
}

/* "# entries-in-buffer/entries-written: 205/1024   #P:4" */
static void read_header(struct text_line *line, struct text_view view)
{
	static const char mark[] = "entries-written:";
	const char *at = memmem(view.at, (size_t)(view.end - view.at), mark, sizeof(mark) - 1);
	uint64_t kept, written;
	size_t nr;

	if (!at)
		return;
	view.at = at + sizeof(mark) - 1;
	text_skip_blanks(&view);
	nr = text_digits(view);
	if (!text_number(view.at, nr, &kept) || view.at + nr == view.end || view.at[nr] != '/')
		return;
	view.at += nr + 1;
	if (text_number(view.at, text_digits(view), &written) && written > kept)
		line->overwritten = written - kept;
}

static bool begins(struct text_view view, const char *text)
{
	size_t nr = strlen(text);

	return (size_t)(view.end - view.at) >= nr && !memcmp(view.at, text, nr);
}

/* "ffffffff81000000 func+0x10 ([kernel])", "=> func": where an event came from. */
static bool is_call_chain(struct text_view view)
{
	size_t nr = 0;

	if (begins(view, "=> "))
		return true;
	while (view.at + nr < view.end && memchr("0123456789abcdef", view.at[nr], 16))
		nr++;
	return nr >= 8 && view.at + nr < view.end && view.at[nr] == ' ' &&
	       (nr > 10 || memchr(view.at, '(', (size_t)(view.end - view.at)));
}

/* "[...]", "<snip>": whoever pasted the trace left lines out here, and nobody knows how many. */
static bool is_left_out(struct text_view view)
{
	static const char *const marks[] = {"...",    "....",	  ".....",     "[...]",	 "[..]",
					    "(...)",  "<...>",	  "[snip]",    "<snip>", "(snip)",
					    "--snip--", "[cut]", "<cut>", "[\xe2\x80\xa6]",
					    "\xe2\x80\xa6"};
	size_t nr = (size_t)(view.end - view.at);

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (nr == strlen(marks[i]) && !strncasecmp(view.at, marks[i], nr))
			return true;
	return false;
}

static bool is_ruler(struct text_view view)
{
	for (const char *at = view.at; at < view.end; at++)
		if (!memchr("-=*.`~_|", *at, 8))
			return false;
	return true;
}

enum text_kind text_note(struct text_line *line, struct text_view view)
{
	/* What ftrace, trace-cmd and the kernel's dump print around events. */
	static const char *const known[] = {"cpus=",
					    "version = ",
					    "Dumping ftrace buffer",
					    "(ftrace buffer empty)",
					    "trace-cmd: ",
					    "<stack trace>"};

	text_skip_blanks(&view);
	if (view.at == view.end)
		return TEXT_EMPTY;
	if (*view.at == '#') {
		read_header(line, view);
		return TEXT_NOTE;
	}
	if (is_left_out(view)) {
		line->event.kind = TRACE_EVENT_LOST;
		return TEXT_LOST;
	}
	if (is_loss(line, view))
		return TEXT_LOST;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (begins(view, known[i]))
			return TEXT_NOTE;
	if (begins(view, "CPU ") && find_word(view, "is empty"))
		return TEXT_NOTE;
	return is_ruler(view) || is_call_chain(view) ? TEXT_NOTE : TEXT_UNKNOWN;
}

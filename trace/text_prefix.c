// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What stands before an event in a text trace: thread, process, CPU, flags and time.
#include <string.h>

#include "trace/text_line.h"

/* --- time --------------------------------------------------------------------------------------
 *
 *	840.863656		seconds and a fraction of any length
 *	10607789211us :		whole microseconds; marks of the latency tracers behind "us"
 *	87162647182125		a whole number of some clock's unit: taken as ns
 *	87162647182125[ns]	said to be so
 */

static const struct unit {
	const char *name;
	uint64_t ns;
	uint32_t hint;
} units[] = {
	{"", 1, TRACE_HINT_CLOCK_NS},
	{"ns", 1, TRACE_HINT_CLOCK_NS},
	{"[ns]", 1, TRACE_HINT_CLOCK_NS},
	{"us", 1000, TRACE_HINT_CLOCK_US},
	{"[us]", 1000, TRACE_HINT_CLOCK_US},
	{"s", 1000000000, TRACE_HINT_CLOCK_S},
	{"[s]", 1000000000, TRACE_HINT_CLOCK_S},
};

/* The unit @view ends with, taken off; a mark of the latency tracers behind it too. */
static const struct unit *take_unit(struct text_view *view)
{
	const char *end = view->end;
	const struct unit *unit = &units[0];

	if (end > view->at && memchr("+!#*@$", end[-1], 6))
		end--;
	for (size_t i = 1; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t nr = strlen(units[i].name);

		if ((size_t)(end - view->at) > nr && !memcmp(end - nr, units[i].name, nr) &&
		    (units[i].name[0] == '[' || text_is_digit(end[-(long)nr - 1]) ||
		     text_is_blank(end[-(long)nr - 1])))
			unit = &units[i];
	}
	if (unit != &units[0]) {
		view->end = end - strlen(unit->name);
		text_trim_end(view);
	}
	return unit;
}

/* The digits of a fraction of a second, as ns; what is finer is cut. */
static uint64_t fraction_ns(const char *at, size_t nr)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < 9; i++)
		ns = ns * 10 + (i < nr ? (uint64_t)(at[i] - '0') : 0);
	return ns;
}

bool text_prefix_time(struct text_line *line, struct text_view *view)
{
	struct text_view v = {view->at, view->end - 1};
	const struct unit *unit;
	const char *begin, *dot;
	uint64_t value, ns = 0;

	text_trim_end(&v);
	unit = take_unit(&v);
	for (begin = v.end, dot = NULL; begin > v.at; begin--) {
		if (begin[-1] == '.' && !dot)
			dot = begin - 1;
		else if (!text_is_digit(begin[-1]))
			break;
	}
	if (begin > v.at && !text_is_blank(begin[-1]))
		return false;
	if (begin == v.end || dot == begin || dot == v.end - 1)
		return false;
	if (!text_number(begin, (size_t)((dot ? dot : v.end) - begin), &value))
		return false;
	if (dot) {
		if (unit != &units[0] && unit->ns != 1000000000)
			return false;
		unit = &units[5];
		ns = fraction_ns(dot + 1, (size_t)(v.end - dot - 1));
	}
	if (__builtin_mul_overflow(value, unit->ns, &value) ||
	    __builtin_add_overflow(value, ns, &value) || value > INT64_MAX)
		return false;
	line->event.time_ns = value;
	line->hints |= unit->hint;
	view->end = begin;
	text_trim_end(view);
	return true;
}

/* --- who ---------------------------------------------------------------------------------------
 *
 *	comm-tid (tgid) [cpu] flags		ftrace, trace-cmd report; old ones: [cpu] (tgid)
 *	comm-tid cpuflags			latency tracers and dumps: "1dNh3."
 *	comm pid/tid [cpu], comm tid [cpu]	perf script
 */

/* The last word of @view. */
static struct text_view last_word(struct text_view view)
{
	struct text_view word = view;

	while (word.at < word.end && text_is_blank(word.end[-1]))
		word.end--;
	for (word.at = word.end; word.at > view.at && !text_is_blank(word.at[-1]); word.at--)
		;
	return word;
}

static bool all_digits(struct text_view view)
{
	return view.at < view.end && text_digits(view) == (size_t)(view.end - view.at);
}

/* Four flags since Linux 2.6.33, then five, in some builds more; '.' or a letter or digit each. */
static bool are_flags(struct text_view word)
{
	size_t nr = (size_t)(word.end - word.at);
	bool others = false;

	if (nr < 3 || nr > 8)
		return false;
	for (size_t i = 0; i < nr; i++) {
		char c = word.at[i];

		if (!(c == '.' || c == '#' || c == '?' || c == '+' || text_is_digit(c) ||
		      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
			return false;
		others |= !text_is_digit(c);
	}
	return others || nr == 4;
}

/* "[077]" */
static bool is_cpu(struct text_view word, uint32_t *cpu)
{
	uint64_t value;

	if (word.end - word.at < 3 || *word.at != '[' || word.end[-1] != ']')
		return false;
	word.at++;
	word.end--;
	if (!all_digits(word) || !text_number(word.at, (size_t)(word.end - word.at), &value) ||
	    value > 65535)
		return false;
	*cpu = (uint32_t)value;
	return true;
}

static uint32_t to_id(const char *at, size_t nr)
{
	uint64_t value;

	return text_number(at, nr, &value) && value && value <= INT32_MAX ? (uint32_t)value
									  : TRACE_UNKNOWN_U32;
}

/* "( 1234)" or "(-------)" at the end of @view: taken off. */
static bool take_tgid(struct text_line *line, struct text_view *view)
{
	struct text_view v = *view, inside;
	const char *open;

	text_trim_end(&v);
	if (v.at == v.end || v.end[-1] != ')')
		return false;
	open = memrchr(v.at, '(', (size_t)(v.end - v.at));
	if (!open)
		return false;
	inside = (struct text_view){open + 1, v.end - 1};
	text_skip_blanks(&inside);
	text_trim_end(&inside);
	if (all_digits(inside)) {
		line->event.pid = to_id(inside.at, (size_t)(inside.end - inside.at));
		line->hints |= TRACE_HINT_TGID;
	} else {
		for (const char *at = inside.at; at < inside.end; at++)
			if (*at != '-')
				return false;
	}
	view->end = open;
	return true;
}

/* "12: " or "12)" before a thread name: a number somebody gave the line. */
static void skip_number(struct text_line *line, struct text_view *view)
{
	size_t nr;

	text_skip_blanks(view);
	nr = text_digits(*view);
	if (!nr || view->at + nr + 1 >= view->end || !memchr(":)\t", view->at[nr], 3) ||
	    !text_is_blank(view->at[nr + (view->at[nr] != '\t')]))
		return;
	view->at += nr + 1;
	text_skip_blanks(view);
	line->hints |= TRACE_HINT_NUMBERED;
}

static void take_name(struct text_line *line, struct text_view view)
{
	skip_number(line, &view);
	text_trim_end(&view);
	if (view.end - view.at == 5 && !memcmp(view.at, "<...>", 5))
		return;
	text_copy(line->event.name, sizeof(line->event.name), view);
}

/* "83801" or "83800/83801" with a name before it or not, as perf prints threads. */
static bool take_perf_ids(struct text_line *line, struct text_view view, struct text_view word)
{
	const char *slash = memchr(word.at, '/', (size_t)(word.end - word.at));
	struct text_view first = {word.at, slash ? slash : word.end};
	struct text_view second = {slash ? slash + 1 : word.at, word.end};

	if (!all_digits(first) || !all_digits(second))
		return false;
	line->event.tid = to_id(second.at, (size_t)(second.end - second.at));
	if (slash) {
		line->event.pid = to_id(first.at, (size_t)(first.end - first.at));
		line->hints |= TRACE_HINT_TGID;
	}
	take_name(line, (struct text_view){view.at, word.at});
	return true;
}

/* "..." stands for what somebody left out. */
static bool is_elision(struct text_view word)
{
	for (const char *at = word.at; at < word.end; at++)
		if (*at != '.')
			return false;
	return word.end - word.at >= 2;
}

/* All of @view is the thread. A name may hold blanks, dashes, slashes and digits. */
static bool take_thread(struct text_line *line, struct text_view view)
{
	struct text_view word = last_word(view);
	const char *dash;

	if (word.at == word.end)
		return true;
	text_skip_blanks(&view);
	view.end = word.end;
	if (is_elision(word) && word.at == view.at)
		return true;
	if (take_perf_ids(line, view, word))
		return true;
	dash = memrchr(view.at, '-', (size_t)(view.end - view.at));
	if (!dash || !all_digits((struct text_view){dash + 1, view.end}))
		return false;
	line->event.tid = to_id(dash + 1, (size_t)(view.end - dash - 1));
	take_name(line, (struct text_view){view.at, dash});
	return true;
}

/* "1dNh3.": CPU and flags without a blank between them; before it stands "comm-tid". */
static bool take_glued(struct text_line *line, struct text_view *view, struct text_view word)
{
	size_t nr = text_digits(word);
	struct text_view flags = {word.at + nr, word.end};
	uint64_t cpu;

	if (nr < 1 || nr > 4 || !are_flags(flags) || !text_number(word.at, nr, &cpu))
		return false;
	line->event.cpu = (uint32_t)cpu;
	line->hints |= TRACE_HINT_CPU | TRACE_HINT_FLAGS;
	line->flags_width = (uint32_t)(flags.end - flags.at);
	view->end = word.at;
	return true;
}

static bool take_cpu(struct text_line *line, struct text_view *view)
{
	struct text_view word = last_word(*view);

	if (!is_cpu(word, &line->event.cpu))
		return false;
	line->hints |= TRACE_HINT_CPU;
	view->end = word.at;
	return true;
}

bool text_prefix_who(struct text_line *line, struct text_view view)
{
	struct text_view word = last_word(view), rest = {view.at, word.at};
	uint32_t cpu;
	bool tgid;

	text_trim_end(&rest);
	if (are_flags(word) && rest.end > rest.at &&
	    (is_cpu(last_word(rest), &cpu) || rest.end[-1] == ')')) {
		line->flags_width = (uint32_t)(word.end - word.at);
		line->hints |= TRACE_HINT_FLAGS;
		view = rest;
	}
	tgid = take_tgid(line, &view);
	if (!take_cpu(line, &view) && !tgid)
		take_glued(line, &view, word);
	if (!tgid)
		take_tgid(line, &view);
	/* Flags may be left when the CPU column is not there. */
	if (!take_thread(line, view) && !(are_flags(word) && take_thread(line, rest)))
		return false;
	line->hints |= line->event.tid == TRACE_UNKNOWN_U32 ? TRACE_HINT_NO_TID : TRACE_HINT_TID;
	return true;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Text as bug reports have it: which reader a line belongs to, and what is reported of it.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stats/internal.h"

__attribute__((format(printf, 3, 0))) static void report(struct stats_text *text, uint64_t line,
							 const char *format, va_list args)
{
	char why[400];

	if (text->reports > STATS_REPORTS_MAX)
		return;
	if (text->reports++ == STATS_REPORTS_MAX) {
		trace_diag_file(text->diag, text->name,
				"more than %d findings; further ones are not shown",
				STATS_REPORTS_MAX);
		return;
	}
	vsnprintf(why, sizeof(why), format, args);
	stats_printable(why);
	trace_diag_line(text->diag, text->name, line, "%s", why);
}

void stats_damaged(struct stats_text *text, const char *format, ...)
{
	va_list args;

	text->stats->damaged++;
	va_start(args, format);
	report(text, text->line, format, args);
	va_end(args);
}

void stats_note(struct stats_text *text, uint64_t line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	report(text, line, format, args);
	va_end(args);
}

/*
 * "... 1820822.383974: kvm_entry: vcpu 0", "kvm:kvm_halt_poll_ns: vcpu 0": a trace event. A counter
 * called "kvm_exit: 12" is none: an event's name comes behind something that ends in a colon.
 */
static bool is_event(const char *line, size_t nr)
{
	const char *end = line + nr;

	for (const char *at = line; (at = memchr(at, ':', (size_t)(end - at))) != NULL; at++) {
		const char *name = at + 1;

		while (name < end && *name == ' ')
			name++;
		if (end - name < 5 || memcmp(name, "kvm_", 4) != 0)
			continue;
		while (name < end && *name != ':' && *name != ' ')
			name++;
		if (name < end && *name == ':' && at > line)
			return true;
	}
	return false;
}

/* "# uname -r", "Linux host 6.1.0-18-amd64 #1 SMP": a release that the report names itself. */
static void note_kernel(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_word *words = text->words;
	bool more;
	size_t n;

	if (nr < 6 || memcmp(line, "Linux ", 6) != 0)
		return;
	n = stats_split(line, nr, ' ', words, &more);
	for (size_t i = 1; i < 3 && i < n; i++) {
		bool version = words[i].nr && strchr("23456789", words[i].text[0]) &&
			       memchr(words[i].text, '.', words[i].nr);

		if (version && words[i].nr < sizeof(text->stats->kernel)) {
			memcpy(text->stats->kernel, words[i].text, words[i].nr);
			text->stats->kernel[words[i].nr] = '\0';
			stats_printable(text->stats->kernel);
			return;
		}
	}
}

/* A line of dashes or the like keeps a table together. */
static bool is_rule(const char *line, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strchr("-=+_*~. ", line[i]))
			return false;
	return true;
}

static void end_section(struct stats_text *text)
{
	text->section = 0;
	text->scope = UINT32_MAX;
	text->edge = 0;
}

void stats_text_line(struct stats_text *text, const char *line, size_t nr, bool cut)
{
	if (!nr || is_rule(line, nr)) {
		text->blank |= !nr;
		if (nr)
			text->stats->ignored++;
		return;
	}
	if (is_event(line, nr)) {
		text->stats->events++;
		end_section(text);
		return;
	}
	if (stats_perf_line(text, line, nr, cut) || stats_kvm_stat_line(text, line, nr, cut) ||
	    stats_log_line(text, line, nr, cut) || stats_json_line(text, line, nr) ||
	    stats_domstats_line(text, line, nr) || stats_format_line(text, line, nr) ||
	    stats_listing_line(text, line, nr))
		return;
	note_kernel(text, line, nr);
	text->stats->ignored++;
	stats_sets_break(text, line, nr);
	end_section(text);
}

void stats_add_numbers(struct stats_text *text, const char *name, size_t name_nr,
		       const uint64_t *numbers, size_t n)
{
	bool hist = n > 1 || memmem(name, name_nr, "_hist", 5);
	struct stats_value *v = stats_add_value(text->stats, text->scope, name, name_nr);
	struct stats_hist *h;

	if (!v)
		return;
	v->place = text->line;
	text->stats->kinds |= STATS_COUNTERS;
	if (!hist) {
		v->total = numbers[0];
		return;
	}
	h = stats_add_hist(text->stats, &v->hist);
	if (!h)
		return;
	/* KVM's own are log2 in ns; a list in text does not say of others. */
	h->log2 = memmem(name, name_nr, "_hist", 5) != NULL;
	h->nr = (uint32_t)n;
	memcpy(h->bucket, numbers, n * sizeof(numbers[0]));
}

void stats_text_end(struct stats_text *text)
{
	if (text->partial[0]) {
		text->line = text->partial_line;
		stats_damaged(text, "row of a perf report is cut: \"%.60s\"", text->partial);
	}
	if (text->path[0] && !text->path_answered && strstr(text->path, "/sys/"))
		stats_damaged(text, "no value follows %.80s", text->path);
	stats_sets_end(text);
}

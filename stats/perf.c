// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Reports of perf kvm stat: Intel's upper-case exits, AMD's, arm64's WFx; with and without a head.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stats/internal.h"

static bool has(const char *line, size_t nr, const char *what)
{
	return memmem(line, nr, what, strlen(what)) != NULL;
}

static void begin(struct stats_text *text, const char *label, size_t nr)
{
	if (label)
		text->scope = stats_add_scope(
			text->stats, STATS_PERF, text->line, "%.*s",
			(int)(nr < STATS_LABEL_BYTES ? nr : STATS_LABEL_BYTES), label);
	else
		text->scope = stats_add_scope(text->stats, STATS_PERF, text->line,
					      "report at line %llu",
					      (unsigned long long)text->line);
	text->section = STATS_PERF;
	text->in_ns = false;
	text->stats->kinds |= STATS_PERF;
}

/* "Analyze events for pid(s) 6641, all VCPUs:", and the line that names the columns. */
static bool header(struct stats_text *text, const char *line, size_t nr)
{
	static const char analyze[] = "Analyze events for ";
	const char *at = memmem(line, nr, analyze, sizeof(analyze) - 1);
	struct stats *s = text->stats;

	if (at) {
		at += sizeof(analyze) - 1;
		nr -= (size_t)(at - line);
		while (nr && (at[nr - 1] == ':' || at[nr - 1] == ' '))
			nr--;
		begin(text, at, nr);
		return true;
	}
	if (!has(line, nr, "Samples") || !has(line, nr, "Time%") || has(line, nr, "Total Samples"))
		return false;
	if (text->section != STATS_PERF || text->scope >= s->nr_scopes ||
	    s->scopes[text->scope].header)
		begin(text, NULL, 0);
	if (text->scope < s->nr_scopes)
		s->scopes[text->scope].header = true;
	text->in_ns = has(line, nr, "Time (ns)");
	return true;
}

/* "29.19us" as ns. */
static int time_ns(struct stats_word word, uint64_t *ns)
{
	static const struct {
		const char *suffix;
		uint64_t scale;
	} units[] = {{"us", 1000}, {"ns", 1}, {"ms", 1000000}, {"s", 1000000000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t nr = strlen(units[i].suffix);

		if (word.nr <= nr || memcmp(word.text + word.nr - nr, units[i].suffix, nr) != 0)
			continue;
		word.nr -= nr;
		return stats_fixed(&word, units[i].scale, ns);
	}
	return -EINVAL;
}

/* "99.69%" in millionths. */
static int share_ppm(struct stats_word word, uint64_t *ppm)
{
	if (!word.nr || word.text[word.nr - 1] != '%')
		return -EINVAL;
	word.nr--;
	return stats_fixed(&word, 10000, ppm);
}

/* "Total Samples:40960, Total events handled time:1213240.92us." */
static bool total(struct stats_text *text, const char *line, size_t nr)
{
	const char *samples = memmem(line, nr, "Total Samples:", 14), *end = line + nr;
	const char *handled = memmem(line, nr, "handled time:", 13);
	struct stats_word word;
	struct stats_scope *scope;

	if (!samples)
		return false;
	if (text->section != STATS_PERF)
		begin(text, NULL, 0);
	if (text->scope >= text->stats->nr_scopes)
		return true;
	scope = &text->stats->scopes[text->scope];
	word.text = samples + 14;
	for (word.nr = 0; word.text + word.nr < end && word.text[word.nr] != ','; word.nr++)
		;
	if (stats_u64(&word, &scope->total))
		stats_damaged(text, "the total of samples is no number");
	if (!handled)
		return true;
	word.text = handled + 13;
	word.nr = (size_t)(end - word.text);
	while (word.nr && word.text[word.nr - 1] == '.')
		word.nr--;
	if (time_ns(word, &scope->total_time_ns))
		stats_damaged(text, "the total time is none");
	return true;
}

/* "Lost events: 12", below a report. */
static bool lost(struct stats_text *text, const struct stats_word *w, size_t n)
{
	if (n != 3 || text->section != STATS_PERF || !stats_word_is(&w[0], "Lost") ||
	    !stats_word_is(&w[1], "events:"))
		return false;
	if (text->scope < text->stats->nr_scopes)
		stats_u64(&w[2], &text->stats->scopes[text->scope].lost);
	return true;
}

static void add_lost(uint64_t *sum, uint64_t nr)
{
	*sum = nr > STATS_UNKNOWN - 1 - *sum ? STATS_UNKNOWN - 1 : *sum + nr;
}

/*
 * perf's own words, to its standard error, so above or below a report: "Processed 123 events and
 * lost 7 chunks!", "Processed 123 samples and lost 4.56%!"; "LOST 17 events!" of perf report.
 */
static bool lost_warning(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_word *w = text->words, number;
	struct stats *s = text->stats;
	uint64_t value;
	size_t n, i = 0;
	bool more;

	if (!has(line, nr, "lost") && !has(line, nr, "LOST"))
		return false;
	n = stats_split(line, nr, ' ', w, &more);
	if (!n || !(stats_word_is(&w[0], "Processed") || stats_word_is(&w[0], "LOST") ||
		    has(line, nr, "PERF_RECORD_LOST")))
		return false;
	while (i < n && !stats_word_is(&w[i], "lost") && !stats_word_is(&w[i], "LOST"))
		i++;
	if (i + 1 >= n)
		return false;
	number = w[i + 1];
	while (number.nr && strchr("!.,", number.text[number.nr - 1]))
		number.nr--;
	if (!share_ppm(number, &value))
		s->lost_samples_ppm = value > s->lost_samples_ppm ? value : s->lost_samples_ppm;
	else if (!stats_u64(&number, &value))
		add_lost(i + 2 < n && stats_word_begins(&w[i + 2], "chunk") ? &s->lost_chunks
									    : &s->lost_events,
			 value);
	else
		return false;
	stats_note(text, text->line, "perf lost what it should have recorded: \"%.*s\"",
		   (int)(nr < 100 ? nr : 100), line);
	return true;
}

/* Where the numbers of a row begin: a count, then two percentages. 0: this is no row. */
static size_t numbers_at(const struct stats_word *w, size_t n)
{
	uint64_t ignored;

	for (size_t i = 1; i + 1 < n; i++)
		if (stats_u64(&w[i], &ignored) != -EINVAL && !share_ppm(w[i + 1], &ignored))
			return i;
	return 0;
}

/* The times of a row: the average alone in the first reports, else minimum, maximum, average. */
static const char *times(const struct stats_word *w, size_t n, struct stats_value *v)
{
	uint64_t t[3];
	size_t nr = 0;

	while (nr < n && nr < 3 && w[nr].nr && w[nr].text[0] != '(') {
		if (time_ns(w[nr], &t[nr]))
			return "a time is none";
		nr++;
	}
	/* An average alone is followed by its deviation: without it the row ends too early. */
	if (nr == n && nr != 3)
		return "the row is cut";
	if (nr != 1 && nr != 3)
		return "a time is missing";
	v->mean_ns = t[nr - 1];
	if (nr == 3) {
		v->min_ns = t[0];
		v->max_ns = t[1];
	}
	return NULL;
}

/* "100 50.00% 10000000 99.00% 200000 500 100000": samples, their share, time, its share, times. */
static const char *parse_ns(const struct stats_word *w, size_t n, struct stats_value *v)
{
	uint64_t time_of_all;

	if (n != 7)
		return n < 7 ? "the row ends too early" : "more numbers than columns";
	if (stats_u64(&w[0], &v->total) || stats_u64(&w[2], &time_of_all) ||
	    stats_u64(&w[4], &v->max_ns) || stats_u64(&w[5], &v->min_ns) ||
	    stats_u64(&w[6], &v->mean_ns))
		return "a number is none below 2^64-1";
	if (share_ppm(w[1], &v->share_ppm) || share_ppm(w[3], &v->time_ppm))
		return "a percentage is none";
	return NULL;
}

/* Return: NULL, or what is wrong; "the row is cut" may go on in the next line. */
static const char *parse(const struct stats_word *w, size_t n, size_t at, struct stats_value *v)
{
	if (stats_u64(&w[at], &v->total))
		return "the count is no number below 2^64-1";
	if (share_ppm(w[at + 1], &v->share_ppm))
		return "a percentage is none";
	if (at + 2 >= n)
		return "the row is cut";
	if (share_ppm(w[at + 2], &v->time_ppm))
		return "a percentage is none";
	return times(w + at + 3, n - at - 3, v);
}

static bool row(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_word *w = text->words;
	struct stats_value parsed = {.min_ns = STATS_UNKNOWN, .max_ns = STATS_UNKNOWN}, *v;
	size_t at, n, name_nr;
	const char *wrong;
	bool more;

	n = stats_split(line, nr, ' ', w, &more);
	at = numbers_at(w, n);
	if (!at)
		return false;
	name_nr = (size_t)(w[at - 1].text + w[at - 1].nr - w[0].text);
	wrong = text->in_ns ? parse_ns(w + at, n - at, &parsed) : parse(w, n, at, &parsed);
	if (wrong && strstr(wrong, "cut") && nr < sizeof(text->partial)) {
		memcpy(text->partial, line, nr);
		text->partial[nr] = '\0';
		text->partial_line = text->line;
		return true;
	}
	if (text->section != STATS_PERF)
		begin(text, NULL, 0);
	if (wrong) {
		stats_damaged(text, "row \"%.*s\" left out: %s", (int)(name_nr < 60 ? name_nr : 60),
			      w[0].text, wrong);
		return true;
	}
	v = stats_add_value(text->stats, text->scope, w[0].text, name_nr);
	if (!v)
		return true;
	v->total = parsed.total;
	v->share_ppm = parsed.share_ppm;
	v->time_ppm = parsed.time_ppm;
	v->min_ns = parsed.min_ns;
	v->max_ns = parsed.max_ns;
	v->mean_ns = parsed.mean_ns;
	v->place = text->line;
	return true;
}

/* A row that mail wrapped: both halves together, or the first was cut for good. */
static bool joined(struct stats_text *text, const char *line, size_t nr)
{
	char both[sizeof(text->partial) + 256];
	size_t had = strlen(text->partial);
	uint64_t line_nr = text->line;

	memcpy(both, text->partial, had);
	text->partial[0] = '\0';
	if (nr < 255) {
		both[had] = ' ';
		memcpy(both + had + 1, line, nr);
		text->line = text->partial_line;
		if (row(text, both, had + 1 + nr) && !text->partial[0]) {
			text->line = line_nr;
			return true;
		}
		text->partial[0] = '\0';
	}
	text->line = text->partial_line;
	stats_damaged(text, "row of a perf report is cut: \"%.*s\"", (int)(had < 60 ? had : 60),
		      both);
	text->line = line_nr;
	return false;
}

bool stats_perf_line(struct stats_text *text, const char *line, size_t nr, bool cut)
{
	struct stats_word *w = text->words;
	bool more;
	size_t n;

	if (text->partial[0] && joined(text, line, nr))
		return true;
	if (lost_warning(text, line, nr) || header(text, line, nr) || total(text, line, nr) ||
	    row(text, line, nr))
		return true;
	if (text->section != STATS_PERF)
		return false;
	/* perf says so in the middle of a table; its row follows as "UNKNOWN". */
	if (memmem(line, nr, "unknown kvm exit code", 21))
		return true;
	n = stats_split(line, nr, ' ', w, &more);
	if (lost(text, w, n))
		return true;
	if (cut && n) {
		stats_damaged(text, "the file ends within this row, which is left out");
		return true;
	}
	/* What is left of a wrapped row: "5.93% )". */
	return n && n < 4 && w[n - 1].text[w[n - 1].nr - 1] == ')';
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Screens of kvm_stat: "Event Total Current" of 2016 up to "Event Total %Total CurAvg/s".
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "stats/internal.h"

static const char *find(const char *line, size_t nr, const char *what)
{
	return memmem(line, nr, what, strlen(what));
}

/* A table begins unless one has just begun and has no rows yet. */
static void begin(struct stats_text *text)
{
	struct stats *s = text->stats;
	bool empty = text->section == STATS_KVM_STAT && text->scope < s->nr_scopes &&
		     !s->scopes[text->scope].nr_values;

	if (!empty)
		text->scope = stats_add_scope(s, STATS_KVM_STAT, text->line, "table at line %llu",
					      (unsigned long long)text->line);
	text->section = STATS_KVM_STAT;
	text->edge = 0;
	s->kinds |= STATS_KVM_STAT;
}

/* "kvm statistics - pid 1234 (guest)": whose statistics these are. */
static bool banner(struct stats_text *text, const char *line, size_t nr)
{
	const char *at = find(line, nr, "kvm statistics"), *pid;
	struct stats_scope *scope;

	if (!at)
		return false;
	text->scope = UINT32_MAX;
	text->percent = false;
	begin(text);
	if (text->scope == UINT32_MAX)
		return true;
	scope = &text->stats->scopes[text->scope];
	pid = find(at, nr - (size_t)(at - line), "pid ");
	if (pid) {
		size_t length = nr - (size_t)(pid - line);

		length = length < sizeof(scope->label) ? length : sizeof(scope->label) - 1;
		for (size_t i = 0; i < length; i++)
			scope->label[i] = isprint((unsigned char)pid[i]) ? pid[i] : '?';
		scope->label[length] = '\0';
	}
	return true;
}

static bool header(struct stats_text *text, const struct stats_word *words, size_t n)
{
	bool total = false, percent = false, guest = n > 1 && stats_word_is(&words[0], "Guest");

	if (n < 2 || !(stats_word_is(&words[0], "Event") || guest))
		return false;
	for (size_t i = 1; i < n; i++) {
		total |= stats_word_is(&words[i], "Total");
		percent |= stats_word_is(&words[i], "%Total");
	}
	if (!total)
		return false;
	begin(text);
	text->percent = percent;
	if (text->scope != UINT32_MAX) {
		text->stats->scopes[text->scope].by_guest = guest;
		text->stats->scopes[text->scope].header = true;
	}
	return true;
}

/* "12", "-12", "16.4" */
static bool is_number(const struct stats_word *word)
{
	bool negative = word->nr > 1 && word->text[0] == '-';
	const struct stats_word digits = {word->text + negative, word->nr - negative};
	uint64_t ignored;

	return stats_fixed(&digits, 1000, &ignored) != -EINVAL;
}

/* The numbers of a row; that of the @sum has no percentage. Return: NULL, or what is wrong. */
static const char *numbers(const struct stats_text *text, const struct stats_word *w, size_t n,
			   bool sum, struct stats_value *v)
{
	bool fraction = n > 1 &&
			(memchr(w[1].text, '.', w[1].nr) || memchr(w[1].text, ',', w[1].nr));
	size_t current = n == 3 ? 2 : n == 2 && !fraction ? 1 : 0;
	uint64_t value;

	if (n > 3)
		return "more numbers than columns";
	if (stats_u64(&w[0], &v->total))
		return "the total is no number below 2^64-1";
	if (n == 3 && !fraction)
		return "the second number is no percentage";
	if (n == 2 && text->percent && !fraction && !sum)
		return "a column is missing";
	if (fraction) {
		if (stats_fixed(&w[1], 10000, &value) || value > 1000000)
			return "the percentage is none";
		v->share_ppm = value;
	}
	if (!current) {
		/* A blank last column is kvm_stat's zero. */
		v->rate_milli = fraction ? 0 : STATS_UNKNOWN;
		return NULL;
	}
	/* The counters of a VM that ended are gone from the sum: the rate may be below 0. */
	if (w[current].text[0] == '-') {
		v->rate_milli = STATS_UNKNOWN;
		return NULL;
	}
	if (stats_u64(&w[current], &value) || value > UINT64_MAX / 2000)
		return "the current rate is no number";
	v->rate_milli = value * 1000;
	return NULL;
}

/* Which words are the numbers at the end of the row? A guest's name may end in some as well. */
static size_t first_number(const struct stats_word *words, size_t n, bool by_guest)
{
	size_t first = n;

	while (first > 1 && is_number(&words[first - 1])) {
		first--;
		if (by_guest && first + 1 < n &&
		    memchr(words[first + 1].text, '.', words[first + 1].nr))
			break;
	}
	return first;
}

/* Two screens pasted one after the other: the first row's name again. */
static void maybe_next_table(struct stats_text *text, const struct stats_word *name)
{
	const struct stats_scope *scope = &text->stats->scopes[text->scope];
	const char *first;

	if (!scope->nr_values)
		return;
	first = text->stats->values[scope->first_value].name;
	if (strlen(first) == name->nr && !memcmp(first, name->text, name->nr)) {
		text->section = 0;
		begin(text);
	}
}

static void total_row(struct stats_text *text, const struct stats_value *row)
{
	struct stats_scope *scope = &text->stats->scopes[text->scope];

	scope->total = row->total;
	scope->total_rate_milli = row->rate_milli;
	/* More in a second than in all: the table covers only a part of a second. */
	if (row->rate_milli != STATS_UNKNOWN && row->rate_milli / 1000 > row->total && row->total)
		scope->window_ms = row->total > UINT64_MAX / 1000000
					   ? STATS_UNKNOWN
					   : row->total * 1000000 / row->rate_milli;
}

static void take_row(struct stats_text *text, const struct stats_word *words, size_t first,
		     size_t n)
{
	struct stats_value row = {.rate_milli = STATS_UNKNOWN, .share_ppm = STATS_UNKNOWN}, *v;
	bool sum = stats_word_is(&words[0], "Total") && first == 1;
	const char *wrong = numbers(text, words + first, n - first, sum, &row);
	size_t name_nr = (size_t)(words[first - 1].text + words[first - 1].nr - words[0].text);

	if (wrong) {
		stats_damaged(text, "row \"%.*s\" left out: %s", (int)(name_nr < 60 ? name_nr : 60),
			      words[0].text, wrong);
		return;
	}
	if (sum) {
		total_row(text, &row);
		return;
	}
	maybe_next_table(text, &words[0]);
	v = stats_add_value(text->stats, text->scope, words[0].text, name_nr);
	if (!v)
		return;
	v->total = row.total;
	v->rate_milli = row.rate_milli;
	v->share_ppm = row.share_ppm;
	v->place = text->line;
}

/* A row cut off at the end of the file ends left of where the rows above end. */
static size_t without_cut(struct stats_text *text, const struct stats_word *words, size_t n,
			  size_t nr)
{
	if (!text->edge || nr >= text->edge || n < 2)
		return n;
	stats_damaged(text, "the file ends within this row: \"%.*s\" may be cut and is left out",
		      (int)(words[n - 1].nr < 30 ? words[n - 1].nr : 30), words[n - 1].text);
	return n - 1;
}

/* A line that begins like a row and is none: damage where its name is KVM's, else prose. */
static bool no_row(struct stats_text *text, const char *line, size_t nr, const char *why)
{
	const struct stats_word *name = &text->words[0];

	if (!stats_known_counter(name->text, name->nr))
		return false;
	stats_damaged(text, "row \"%.*s\" %s", (int)(nr < 60 ? nr : 60), line, why);
	return true;
}

bool stats_kvm_stat_line(struct stats_text *text, const char *line, size_t nr, bool cut)
{
	struct stats_word *words = text->words;
	bool more, mine = text->section == STATS_KVM_STAT, by_guest;
	size_t n, first;

	if (banner(text, line, nr))
		return true;
	if (find(line, nr, "regex filter:") || find(line, nr, "No matching events reported"))
		return mine;
	n = stats_split(line, nr, ' ', words, &more);
	if (header(text, words, n))
		return true;
	by_guest = mine && text->scope < text->stats->nr_scopes &&
		   text->stats->scopes[text->scope].by_guest;
	if (!n || more || (!stats_identifier(&words[0]) && !by_guest))
		return false;
	first = first_number(words, n, by_guest);
	if (!mine) {
		/* Without a head: two numbers at least, and a name that is KVM's. */
		if (n - first < 2 || n - first > 3 || first != 1 ||
		    !stats_known_counter(words[0].text, words[0].nr))
			return false;
		text->percent = false;
		begin(text);
	}
	if (text->scope == UINT32_MAX)
		return true;
	if (first == n)
		return no_row(text, line, nr, "has no numbers");
	if (first > 1 && !by_guest)
		return no_row(text, line, nr, "left out: not a name and numbers");
	if (cut)
		n = without_cut(text, words, n, nr);
	else
		text->edge = text->edge > nr ? text->edge : nr;
	if (first < n)
		take_row(text, words, first, n);
	return true;
}

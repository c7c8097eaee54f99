// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Logs of kvm_stat: names in one line, then counts per interval; in columns or as CSV.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/internal.h"

/* Names of the oldest logs are cut to nine characters. */
enum { CUT_NAME = 9 };

static bool is_banner(const struct stats_word *words, size_t n, bool csv)
{
	size_t known = 0;

	if (n < (csv ? 2 : 3))
		return false;
	for (size_t i = csv ? 1 : 0; i < n; i++) {
		if (!stats_identifier(&words[i]))
			return false;
		known += stats_known_counter(words[i].text, words[i].nr) ||
			 stats_expand_name(words[i].text, words[i].nr);
	}
	return 2 * known >= n - (csv ? 1 : 0) && known;
}

static bool same_banner(const struct stats_text *text, const struct stats_word *words, size_t n)
{
	const struct stats_log *log = &text->log;

	if (text->section != STATS_KVM_STAT_LOG || n != log->nr)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *name = text->stats->values[log->values[i]].name;
		size_t nr = words[i].nr;

		if (strncmp(name, words[i].text, nr) != 0)
			return false;
	}
	return true;
}

static bool begin(struct stats_text *text, const struct stats_word *words, size_t n, bool csv)
{
	struct stats *s = text->stats;
	struct stats_log *log = &text->log;

	free(log->values);
	*log = (struct stats_log){.csv = csv};
	log->values = calloc(n, sizeof(*log->values));
	if (!log->values) {
		text->no_memory = true;
		return true;
	}
	text->section = STATS_KVM_STAT_LOG;
	text->scope = stats_add_scope(s, STATS_KVM_STAT_LOG, text->line, "log at line %llu",
				      (unsigned long long)text->line);
	for (size_t i = 0; i < n; i++) {
		const char *whole = words[i].nr == CUT_NAME
					    ? stats_expand_name(words[i].text, words[i].nr)
					    : NULL;
		struct stats_value *v = stats_add_value(s, text->scope,
							whole ? whole : words[i].text,
							whole ? strlen(whole) : words[i].nr);

		if (!v)
			return true;
		v->place = text->line;
		v->total = 0;
		log->values[log->nr++] = s->nr_values - 1;
	}
	s->kinds |= STATS_KVM_STAT_LOG;
	return true;
}

/* "2021-03-04 12:34:56" as seconds, for differences only; 0: no time. */
static uint64_t clock_of(const struct stats_word *day, const struct stats_word *time)
{
	unsigned y, m, d, h, min, sec;
	char text[40];

	if (day->nr != 10 || time->nr < 8 || time->nr > 20)
		return 0;
	snprintf(text, sizeof(text), "%.10s %.8s", day->text, time->text);
	if (sscanf(text, "%4u-%2u-%2u %2u:%2u:%2u", &y, &m, &d, &h, &min, &sec) != 6)
		return 0;
	if (y < 1970 || y > 9999 || m < 1 || m > 12 || d < 1 || d > 31)
		return 0;
	/* Days of a month do not matter within a day, and a log over midnight is 31 days at worst.
	 */
	return ((((uint64_t)y * 12 + m) * 31 + d) * 24 + h) * 3600 + (uint64_t)min * 60 + sec;
}

static void note_clock(struct stats_text *text, uint64_t now_s)
{
	struct stats_scope *scope = &text->stats->scopes[text->scope];
	struct stats_log *log = &text->log;

	if (!now_s)
		return;
	if (!log->first_s)
		log->first_s = now_s;
	log->last_s = now_s;
	/* The first line's interval is as long as the others'. */
	if (scope->samples > 1 && log->last_s > log->first_s)
		scope->window_ms = (log->last_s - log->first_s) * 1000 / (scope->samples - 1) *
				   scope->samples;
}

static bool values(struct stats_text *text, const struct stats_word *words, size_t n, bool cut)
{
	struct stats_log *log = &text->log;
	uint64_t now_s = n > log->nr + 1 ? clock_of(&words[0], &words[1]) : 0, delta;
	size_t skip = now_s ? 2 : 0;

	if (!n || !(words[0].text[0] >= '0' && words[0].text[0] <= '9'))
		return false;
	if (n < 2 && log->nr > 1)
		return false;
	if (text->scope == UINT32_MAX)
		return true;
	if (cut || n - skip != log->nr) {
		stats_damaged(text, "line of a log left out: %s",
			      cut ? "the file ends in it"
				  : "it has not as many numbers as there are names");
		return true;
	}
	for (size_t i = 0; i < log->nr; i++)
		if (stats_u64(&words[skip + i], &delta)) {
			stats_damaged(text, "line of a log left out: \"%.*s\" is no number",
				      (int)(words[skip + i].nr < 30 ? words[skip + i].nr : 30),
				      words[skip + i].text);
			return true;
		}
	for (size_t i = 0; i < log->nr; i++) {
		struct stats_value *v = &text->stats->values[log->values[i]];

		stats_u64(&words[skip + i], &delta);
		v->total = delta > STATS_UNKNOWN - 1 - v->total ? STATS_UNKNOWN - 1
								: v->total + delta;
	}
	text->stats->scopes[text->scope].samples++;
	note_clock(text, now_s);
	return true;
}

bool stats_log_line(struct stats_text *text, const char *line, size_t nr, bool cut)
{
	struct stats_word *words = text->words;
	bool csv = memmem(line, nr, "timestamp,", 10) == line, more, mine;
	size_t n;

	mine = text->section == STATS_KVM_STAT_LOG;
	if (!mine && nr < 20)
		return false;
	n = stats_split(line, nr, csv || (mine && text->log.csv) ? ',' : ' ', words, &more);
	if (is_banner(words, n, csv)) {
		const struct stats_word *names = csv ? words + 1 : words;

		n -= csv;
		if (more)
			stats_damaged(text, "more than %d names in a line", STATS_WORDS);
		return (mine && same_banner(text, names, n)) || begin(text, names, n, csv);
	}
	return mine && values(text, words, n, cut);
}

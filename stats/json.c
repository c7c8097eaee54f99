// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Answers of a VMM's query-stats: "name" and "value" wherever they stand in a line of JSON.
#include <string.h>

#include "stats/internal.h"

/* The text behind "key": in @from, or NULL. */
static const char *behind_key(const char *from, const char *end, const char *key)
{
	const char *at = memmem(from, (size_t)(end - from), key, strlen(key));

	if (!at)
		return NULL;
	for (at += strlen(key); at < end && (*at == ' ' || *at == ':'); at++)
		;
	return at;
}

static void add(struct stats_text *text, const char *name, size_t name_nr, const char *value,
		const char *end)
{
	struct stats_word *words = text->words;
	uint64_t numbers[STATS_BUCKETS];
	bool more, list = value < end && *value == '[';
	const char *stop = value;
	size_t n;

	while (stop < end && !strchr(list ? "]" : ",}] ", *stop))
		stop++;
	if (list && stop == end) {
		stats_damaged(text, "%.*s: its list of values is cut",
			      (int)(name_nr < 60 ? name_nr : 60), name);
		return;
	}
	n = stats_split(value + list, (size_t)(stop - value - list), ',', words, &more);
	for (size_t i = 0; i < n && n <= STATS_BUCKETS; i++)
		if (stats_u64(&words[i], &numbers[i])) {
			/* true, false: a level that is no number. */
			return;
		}
	if (!n || n > STATS_BUCKETS || more)
		return;
	stats_add_numbers(text, name, name_nr, numbers, n);
}

/* Pretty-printed, a name has a line of its own; its value is in a later one. */
static bool pretty(struct stats_text *text, const char *line, const char *end)
{
	const char *name = behind_key(line, end, "\"name\""), *value, *quote;

	if (name && name < end && *name == '"') {
		quote = memchr(name + 1, '"', (size_t)(end - name - 1));
		if (!quote || quote - name > STATS_NAME_BYTES)
			return false;
		memcpy(text->event, name + 1, (size_t)(quote - name - 1));
		text->event[quote - name - 1] = '\0';
		return true;
	}
	value = behind_key(line, end, "\"value\"");
	if (!value || !text->event[0])
		return false;
	if (text->section != STATS_COUNTERS || text->scope >= text->stats->nr_scopes)
		text->scope = stats_add_scope(text->stats, STATS_COUNTERS, text->line,
					      "statistics at line %llu",
					      (unsigned long long)text->line);
	text->section = STATS_COUNTERS;
	add(text, text->event, strlen(text->event), value, end);
	text->event[0] = '\0';
	return true;
}

/* Brackets and keys of JSON between the counters. */
static bool between(struct stats_text *text, const char *line, size_t nr)
{
	size_t i = 0;

	if (text->section != STATS_COUNTERS)
		return false;
	while (i < nr && strchr(" {}[],", line[i]))
		i++;
	if (memmem(line, nr, "\"qom-path\"", 10))
		text->scope = UINT32_MAX;
	return i == nr || line[i] == '"';
}

bool stats_json_line(struct stats_text *text, const char *line, size_t nr)
{
	const char *end = line + nr, *at = line;
	bool any = false;

	while (at < end) {
		const char *name = behind_key(at, end, "\"name\""), *value, *next, *quote, *path;

		if (!name || name == end || *name != '"')
			break;
		name++;
		quote = memchr(name, '"', (size_t)(end - name));
		if (!quote)
			break;
		value = behind_key(quote, end, "\"value\"");
		next = memmem(quote, (size_t)(end - quote), "\"name\"", 6);
		if (!value || (next && next < value))
			break;
		path = memmem(at, (size_t)(name - at), "\"qom-path\"", 10);
		if (text->section != STATS_COUNTERS || text->scope >= text->stats->nr_scopes ||
		    path)
			text->scope = stats_add_scope(text->stats, STATS_COUNTERS, text->line,
						      "statistics at line %llu",
						      (unsigned long long)text->line);
		text->section = STATS_COUNTERS;
		add(text, name, (size_t)(quote - name), value, end);
		any = true;
		at = value;
	}
	return any || pretty(text, line, end) || between(text, line, nr);
}

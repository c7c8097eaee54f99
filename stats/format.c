// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Format files of tracepoints (events/kvm/.../format): which fields an event has, and where.
#include <stdio.h>
#include <string.h>

#include "stats/internal.h"

/* The last setting is the event whose fields follow. */
static struct stats_setting *event(struct stats_text *text)
{
	struct stats *s = text->stats;

	return text->section == STATS_FORMAT && s->nr_settings ? &s->settings[s->nr_settings - 1]
							       : NULL;
}

/* "field:unsigned int vcpu_id; offset:12; size:4; signed:0;" */
static void field(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_setting *e = event(text);
	const char *end = memchr(line, ';', nr), *name;
	size_t used = e ? strlen(e->value) : 0, room = sizeof(e->value);
	unsigned offset, size;
	char rest[96];

	if (!e || !end)
		return;
	for (name = end; name > line && name[-1] != ' ' && name[-1] != ':'; name--)
		;
	if (end - name > 40 || (end - name > 7 && !memcmp(name, "common_", 7)))
		return;
	snprintf(rest, sizeof(rest), "%.*s", (int)(nr - (size_t)(end - line)), end);
	if (sscanf(rest, "; offset:%9u; size:%9u", &offset, &size) != 2) {
		stats_damaged(text, "field \"%.*s\" without offset and size", (int)(end - name),
			      name);
		return;
	}
	snprintf(e->value + used, room - used, "%s%.*s@%u+%u", used ? " " : "", (int)(end - name),
		 name, offset, size);
	stats_printable(e->value);
}

bool stats_format_line(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_word *words = text->words;
	bool more;
	size_t n = stats_split(line, nr, ' ', words, &more);

	if (n == 2 && stats_word_is(&words[0], "name:") && stats_identifier(&words[1])) {
		memcpy(text->event, words[1].text,
		       words[1].nr < sizeof(text->event) ? words[1].nr : sizeof(text->event) - 1);
		text->event[words[1].nr < sizeof(text->event) ? words[1].nr
							      : sizeof(text->event) - 1] = '\0';
		return true;
	}
	if (n == 2 && stats_word_is(&words[0], "ID:") && text->event[0]) {
		text->stats->kinds |= STATS_FORMAT;
		stats_add_setting(text->stats, "event", text->event, strlen(text->event), "",
				  text->line, false);
		text->section = STATS_FORMAT;
		text->event[0] = '\0';
		return true;
	}
	if (text->section != STATS_FORMAT || !n)
		return false;
	if (stats_word_begins(&words[0], "field:"))
		field(text, words[0].text, nr - (size_t)(words[0].text - line));
	return stats_word_begins(&words[0], "field:") || stats_word_is(&words[0], "format:") ||
	       stats_word_is(&words[0], "print");
}

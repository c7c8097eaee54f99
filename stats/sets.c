// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Which list a setting belongs to: a file may hold those of several hosts, or of one host twice.
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stats/internal.h"

/*
 * A list names no parameter twice, so a name that comes again begins another list: where the lines
 * in between broke off the last time, or else with that name. A prompt that names another host
 * begins one too. What turns out to say nothing else than an earlier list becomes part of that.
 */

/* What people put around a heading. */
static const char marks[] = "-=+_*~.:#[]<>(){}\"'";

static bool same_name(const struct stats_setting *a, const struct stats_setting *b)
{
	return !a->configured && !b->configured && !strcmp(a->name, b->name) &&
	       !strcmp(a->module, b->module);
}

/* The last setting of a list that has the name of @like. */
static const struct stats_setting *find(const struct stats *s, uint32_t set,
					const struct stats_setting *like)
{
	for (uint32_t i = s->nr_settings; i-- > 0;)
		if (s->settings[i].set == set && same_name(&s->settings[i], like))
			return &s->settings[i];
	return NULL;
}

bool stats_sets_differ(const struct stats *s, uint32_t a, uint32_t b,
		       const struct stats_setting **of_a, const struct stats_setting **of_b)
{
	for (uint32_t i = 0; i < s->nr_settings; i++) {
		const struct stats_setting *one = &s->settings[i], *last, *other;

		if (one->set != b || one->configured)
			continue;
		other = find(s, a, one);
		last = other ? find(s, b, one) : NULL;
		if (!last || !strcmp(last->value, other->value))
			continue;
		*of_a = other;
		*of_b = last;
		return true;
	}
	return false;
}

bool stats_sets_named_apart(const struct stats *s, uint32_t a, uint32_t b)
{
	return s->sets[a].host && s->sets[b].host &&
	       strcmp(s->sets[a].label, s->sets[b].label) != 0;
}

/*
 * Where text->last has the index of the latest setting of this name, plus 1; 0 there: none. Only
 * what is kept gets in, so half of the slots stay empty.
 */
static uint32_t *slot_of(struct stats_text *text, const struct stats_setting *like)
{
	const struct stats *s = text->stats;
	uint32_t hash = 2166136261U;

	for (const char *c = like->module; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619U;
	for (const char *c = like->name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619U;
	for (hash %= STATS_SLOTS; text->last[hash]; hash = (hash + 1) % STATS_SLOTS)
		if (same_name(&s->settings[text->last[hash] - 1], like))
			break;
	return &text->last[hash];
}

static bool share_module(const struct stats *s, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < s->nr_settings; i++)
		for (uint32_t j = 0; s->settings[i].set == b && j < s->nr_settings; j++)
			if (s->settings[j].set == a &&
			    !strcmp(s->settings[i].module, s->settings[j].module))
				return true;
	return false;
}

/* Hosts that are named apart stay apart, unless one list is of a host and one of its guest. */
static bool compatible(const struct stats *s, uint32_t a, uint32_t b)
{
	const struct stats_setting *one, *other;

	return !stats_sets_differ(s, a, b, &one, &other) &&
	       !(stats_sets_named_apart(s, a, b) && share_module(s, a, b));
}

/* A list that is whole becomes part of an earlier one if nothing in it speaks against that. */
static void merge(struct stats *s, uint32_t set)
{
	uint32_t into = 0;

	while (into < set && !compatible(s, into, set))
		into++;
	if (into == set)
		return;
	for (uint32_t i = 0; i < s->nr_settings; i++) {
		if (s->settings[i].set == set)
			s->settings[i].set = into;
		else if (s->settings[i].set > set)
			s->settings[i].set--;
	}
	s->nr_sets--;
	memmove(&s->sets[set], &s->sets[set + 1], (s->nr_sets - set) * sizeof(s->sets[0]));
}

/* The settings from @from on are another list. Return: false, the last one is not kept. */
static bool begin(struct stats_text *text, uint32_t from)
{
	struct stats *s = text->stats;
	struct stats_set *set;

	if (s->nr_sets == STATS_SETS_MAX) {
		stats_damaged(text, "more than %d lists of parameters: this value is left out",
			      STATS_SETS_MAX);
		s->nr_settings--;
		return false;
	}
	set = &s->sets[s->nr_sets];
	*set = (struct stats_set){.host = text->host[0], .place = s->settings[from].place};
	if (set->host || (text->heading[0] && from == text->block))
		stats_copy(set->label, sizeof(set->label), set->host ? text->host : text->heading,
			   strlen(set->host ? text->host : text->heading));
	else
		snprintf(set->label, sizeof(set->label), "list at line %" PRIu64, set->place);
	for (uint32_t i = from; i < s->nr_settings; i++)
		s->settings[i].set = s->nr_sets;
	s->nr_sets++;
	if (s->nr_sets > 2)
		merge(s, s->nr_sets - 2);
	return true;
}

static bool other_host(const struct stats_text *text)
{
	const struct stats_set *set = &text->stats->sets[text->stats->nr_sets - 1];

	return text->host[0] && set->host && strcmp(text->host, set->label) != 0;
}

/* Set by hand in between: the same host, later. */
static bool was_written(struct stats_text *text, const struct stats_setting *earlier,
			const struct stats_setting *now)
{
	if (strcmp(text->written, now->name) != 0)
		return false;
	if (strcmp(earlier->value, now->value) != 0)
		stats_note(text, text->line,
			   "%.40s.%.60s is \"%.20s\" here and \"%.20s\" in line %" PRIu64
			   "; it was written in between, in line %" PRIu64 ": the last is taken",
			   now->module, now->name, now->value, earlier->value, earlier->place,
			   text->written_line);
	text->written[0] = '\0';
	return true;
}

/* Which list is the last setting of? Return: false, of one list too many: it is not kept. */
static bool find_list(struct stats_text *text, const uint32_t *slot)
{
	struct stats *s = text->stats;
	uint32_t at = s->nr_settings - 1;
	const struct stats_setting *earlier = *slot ? &s->settings[*slot - 1] : NULL;

	if (!s->nr_sets || other_host(text))
		return begin(text, at);
	s->settings[at].set = s->nr_sets - 1;
	if (!earlier || earlier->set != s->nr_sets - 1 ||
	    was_written(text, earlier, &s->settings[at]))
		return true;
	return begin(text, text->block >= *slot ? text->block : at);
}

void stats_keep_setting(struct stats_text *text, const char *module, const char *name,
			size_t name_nr, const char *value, enum stats_source source)
{
	struct stats *s = text->stats;
	uint32_t at = s->nr_settings, none = 0, *slot = &none;

	if (text->blank && text->block != at) {
		text->block = at;
		text->heading[0] = '\0';
	}
	text->blank = false;
	stats_add_setting(s, module, name, name_nr, value, text->line, source != STATS_IN_FORCE);
	text->section = STATS_SETTINGS;
	if (s->nr_settings == at)
		return;
	s->settings[at].modprobe = source == STATS_MODPROBE;
	if (source == STATS_IN_FORCE)
		slot = slot_of(text, &s->settings[at]);
	if (find_list(text, slot))
		*slot = at + 1;
}

/* "hostB:", "=== hostB ===": one word between marks is the heading of what follows. */
void stats_sets_break(struct stats_text *text, const char *line, size_t nr)
{
	text->block = text->stats->nr_settings;
	text->heading[0] = '\0';
	while (nr && (*line == ' ' || strchr(marks, *line))) {
		line++;
		nr--;
	}
	while (nr && (line[nr - 1] == ' ' || strchr(marks, line[nr - 1])))
		nr--;
	if (memchr(line, ' ', nr))
		return;
	stats_copy(text->heading, sizeof(text->heading), line, nr);
	stats_printable(text->heading);
}

/* "root@host:~# cat", "[root@host ~]# cat", "host$ cat": the prompt's host, if it names one. */
static void note_host(struct stats_text *text, const char *line, size_t nr)
{
	const char *end = line + nr, *mark = line, *at, *name;
	size_t length = 0, blanks = 0;

	for (; mark < end && !(strchr("#$", *mark) && (mark + 1 == end || mark[1] == ' ')); mark++)
		blanks += *mark == ' ';
	if (mark == end)
		return;
	at = memchr(line, '@', (size_t)(mark - line));
	name = at ? at + 1 : line;
	/* One word that ends in the mark; behind a user's name the folder may stand apart. */
	if (blanks > (at != NULL) || (at && memchr(line, ' ', (size_t)(at - line))) ||
	    !isalpha((unsigned char)*name))
		return;
	while (name + length < mark && (stats_word_char(name[length]) || name[length] == '.'))
		length++;
	if (at || name + length == mark || name[length] == ':')
		stats_copy(text->host, sizeof(text->host), name, length);
}

/* The word behind "ssh" and its options, or @n: where ssh goes. */
static size_t ssh_host(const struct stats_word *words, size_t n, size_t ssh)
{
	size_t i = ssh + 1;

	while (i < n && words[i].text[0] == '-')
		i += words[i].nr == 2 && strchr("BbcDEeFIiJLlmOopQRSWw", words[i].text[1]) ? 2 : 1;
	return i < n ? i : n;
}

bool stats_sets_remote(struct stats_text *text, const char *line, size_t nr)
{
	bool more;

	return stats_split(line, nr, ' ', text->words, &more) > 2 &&
	       stats_word_is(&text->words[1], "|") && memmem(line, nr, " rc=", 4);
}

/* "$ ssh root@hostb cat ...", "hostb | CHANGED | rc=0 >>": where what follows comes from. */
static void note_remote(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_word *words = text->words, host = {NULL, 0};
	bool more;
	size_t n = stats_split(line, nr, ' ', words, &more);
	const char *at;

	if (stats_sets_remote(text, line, nr))
		host = words[0];
	for (size_t i = 0; i + 2 < n && i < 4; i++) {
		size_t to = stats_word_is(&words[i], "ssh") ? ssh_host(words, n, i) : n;

		if (to + 1 < n && isalnum((unsigned char)*words[to].text))
			host = words[to];
	}
	at = host.nr ? memchr(host.text, '@', host.nr) : NULL;
	if (at) {
		host.nr -= (size_t)(at + 1 - host.text);
		host.text = at + 1;
	}
	if (host.nr)
		stats_copy(text->host, sizeof(text->host), host.text, host.nr);
	stats_printable(text->host);
}

/* "cat: /sys/...: Permission denied": a program's complaint about a file. */
static bool is_complaint(const char *line, size_t host, size_t nr)
{
	static const char *const programs[] = {"cat", "grep", "egrep", "head", "tail",
					       "ls",  "tee",  "bash",  "sh",   "dash",
					       "zsh", "ksh",  "sudo"};
	const struct stats_word name = {line, host};
	const char *message = memmem(line + host + 2, nr - host - 2, ": ", 2);

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (stats_word_is(&name, programs[i]))
			return true;
	return message && message + 2 < line + nr && isupper((unsigned char)message[2]) &&
	       memchr(message + 2, ' ', (size_t)(line + nr - message - 2));
}

size_t stats_sets_prefix(struct stats_text *text, const char *line, size_t nr)
{
	static const char sys[] = "/sys/";
	const char *at = memmem(line, nr, sys, sizeof(sys) - 1);
	size_t host = 0;

	while (host < nr && (stats_word_char(line[host]) || line[host] == '.'))
		host++;
	if (!at || !host || !isalpha((unsigned char)*line) || line[host] != ':' ||
	    (at != line + host + 1 && !(at == line + host + 2 && at[-1] == ' ')) ||
	    is_complaint(line, host, nr))
		return 0;
	stats_copy(text->host, sizeof(text->host), line, host);
	return (size_t)(at - line);
}

size_t stats_sets_answer(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_place place = {.module = ""};
	char name[STATS_NAME_BYTES];
	size_t host = 0;

	while (host < nr && (stats_word_char(line[host]) || line[host] == '.'))
		host++;
	if (!host || !isalpha((unsigned char)*line) || host + 2 >= nr || line[host] != ':' ||
	    line[host + 1] != ' ' || memchr(line + host + 2, ' ', nr - host - 2) ||
	    memchr(line + host + 2, ':', nr - host - 2))
		return 0;
	/* "halt_exits: 12" is a list that begins. */
	stats_copy(name, sizeof(name), line, host);
	if (stats_place_name(name, &place))
		return 0;
	stats_copy(text->host, sizeof(text->host), line, host);
	return host + 2;
}

/* "echo 0 > PATH", "tee PATH", but not "==> PATH <==": is the path that holds @at written to? */
static bool writes(const char *line, const char *at)
{
	const char *path = at;

	while (path > line && !strchr(" >'\"", path[-1]))
		path--;
	while (path > line && strchr(" '\"", path[-1]))
		path--;
	if (path > line && path[-1] == '>')
		return path - line < 2 || !strchr("=-", path[-2]);
	return memmem(line, (size_t)(path - line), "tee", 3) != NULL;
}

void stats_sets_command(struct stats_text *text, const char *line, size_t nr)
{
	static const char parameters[] = "/parameters/";
	const char *at = memmem(line, nr, parameters, sizeof(parameters) - 1), *end = line + nr;
	size_t length = 0;

	note_host(text, line, nr);
	note_remote(text, line, nr);
	if (!at || !writes(line, at))
		return;
	at += sizeof(parameters) - 1;
	while (at + length < end && stats_word_char(at[length]))
		length++;
	stats_copy(text->written, sizeof(text->written), at, length);
	text->written_line = text->line;
}

void stats_sets_end(struct stats_text *text)
{
	struct stats *s = text->stats;

	if (s->nr_sets > 1)
		merge(s, s->nr_sets - 1);
	for (uint32_t set = 1; set < s->nr_sets; set++) {
		const struct stats_setting *here = NULL, *there = NULL;
		uint32_t other = 0;

		while (other < set && !stats_sets_differ(s, other, set, &there, &here))
			other++;
		if (other == set)
			stats_note(text, s->sets[set].place,
				   "parameters of another host begin here (%.60s), judged apart",
				   s->sets[set].label);
		else
			stats_note(text, s->sets[set].place,
				   "another list of parameters begins here (%.60s): %.40s.%.60s is "
				   "\"%.20s\" in line %" PRIu64 " and \"%.20s\" in line %" PRIu64
				   ". Of another host, or of another time: judged apart",
				   s->sets[set].label, here->module, here->name, there->value,
				   there->place, here->value, here->place);
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Lists of "name value" in all the ways shells print them: grep, head, tail, cat, modprobe.d.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stats/internal.h"

/* Does the scope at hand have this counter already? Then its list is of another time, or host. */
static bool counted_already(const struct stats_text *text, const char *name)
{
	const struct stats *s = text->stats;

	for (uint32_t i = s->nr_values; i-- > 0 && s->nr_values - i <= 512;)
		if (s->values[i].scope == text->scope && !strcmp(s->values[i].name, name))
			return true;
	return false;
}

/* The earlier list goes by its line from now on, this one by what it is of. */
static void next_scope(struct stats_text *text, const char *label)
{
	struct stats_scope *scope;

	if (text->scope >= text->stats->nr_scopes)
		return;
	scope = &text->stats->scopes[text->scope];
	snprintf(scope->label, sizeof(scope->label), "%.60s, line %llu", label,
		 (unsigned long long)scope->place);
	text->scope = stats_scope_named(text->stats, STATS_COUNTERS, text->line, label);
}

/* A counter's value, or the buckets of its histogram. */
static void add_counter(struct stats_text *text, const struct stats_place *place, const char *value)
{
	struct stats_word *words = text->words;
	uint64_t numbers[STATS_BUCKETS];
	bool more;
	size_t n = stats_split(value, strlen(value), ',', words, &more);

	text->section = STATS_COUNTERS;
	text->scope = stats_scope_named(text->stats, STATS_COUNTERS, text->line, place->scope);
	if (counted_already(text, place->name))
		next_scope(text, place->scope);
	if (!n || n > STATS_BUCKETS || more) {
		stats_damaged(text, "%.60s: %s", place->name, n ? "too many numbers" : "no value");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		int err = stats_u64(&words[i], &numbers[i]);

		if (!err)
			continue;
		/* "(error)" and the like: the kernel had nothing to say. */
		stats_damaged(text, "%.60s: \"%.*s\" is %s", place->name,
			      (int)(words[i].nr < 40 ? words[i].nr : 40), words[i].text,
			      err == -ERANGE ? "beyond 2^64-2" : "no number");
		return;
	}
	stats_add_numbers(text, place->name, strlen(place->name), numbers, n);
}

static void add(struct stats_text *text, const struct stats_place *place, const char *value)
{
	if (place->scope[0]) {
		add_counter(text, place, value);
		return;
	}
	if (!*value && strcmp(place->module, "cpuidle") != 0) {
		stats_damaged(text, "%.60s: no value", place->name);
		return;
	}
	stats_keep_setting(text, place->module, place->name, strlen(place->name), value,
			   STATS_IN_FORCE);
}

/* Without blanks, quotes and brackets around it. */
static const char *trim(char *value)
{
	size_t nr;

	while (*value && strchr(" \"'[", *value))
		value++;
	nr = strlen(value);
	while (nr && strchr(" \"'];\\", value[nr - 1]))
		value[--nr] = '\0';
	return value;
}

/* Also "ansible all -a 'cat". */
static bool is_cat(const struct stats_word *word)
{
	return stats_word_is(word, "cat") || stats_word_is(word, "'cat") ||
	       stats_word_is(word, "\"cat");
}

/* "==> path <==", or a lone path, or a prompt with cat and one path: the value is the next line. */
static bool next_line_is_value(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_word *words = text->words;
	const struct stats_word *path = NULL;
	bool more;
	size_t n = stats_split(line, nr, ' ', words, &more);

	if (n == 3 && stats_word_is(&words[0], "==>") && stats_word_is(&words[2], "<=="))
		path = &words[1];
	else if (n >= 2 && is_cat(&words[n - 2]) && words[n - 1].text[0] == '/')
		path = &words[n - 1];
	else if (n == 1 && words[0].text[0] == '/' && !memchr(words[0].text, ':', words[0].nr) &&
		 !memchr(words[0].text, '=', words[0].nr))
		path = &words[0];
	/* What a shell made of a pattern is not known: several files, in some order. */
	for (const char *c = "*?{"; path && *c; c++)
		if (memchr(path->text, *c, path->nr))
			path = NULL;
	if (!path)
		return false;
	/* Such lists have a blank line before each value. */
	text->blank = false;
	if (text->path[0] && !text->path_answered && strstr(text->path, "/sys/"))
		stats_damaged(text, "no value follows %.80s", text->path);
	stats_copy(text->path, sizeof(text->path), path->text, path->nr);
	for (nr = strlen(text->path); nr && strchr("'\"", text->path[nr - 1]); nr--)
		text->path[nr - 1] = '\0';
	text->path_answered = text->path_remote = false;
	return true;
}

/*
 * A value behind the path that was named; of each host that answers, "node1: 200000", or
 * "node1 | CHANGED | rc=0 >>" above it.
 */
static bool pending_value(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_place place;
	char *value = text->value;
	size_t host;

	if (!text->path[0])
		return false;
	if (stats_sets_remote(text, line, nr)) {
		text->path_remote = true;
		text->path_answered = false;
		return true;
	}
	host = stats_sets_answer(text, line, nr);
	if (memmem(line, nr, "No such file", 12) || memmem(line, nr, "ermission denied", 16)) {
		stats_damaged(text, "no value of %.80s: it could not be read", text->path);
		/* "node1: cat: /sys/...": the next host may have one. */
		text->path_answered |= text->path_remote || memmem(line, nr, ": cat: ", 7);
		if (!text->path_answered)
			text->path[0] = '\0';
		return true;
	}
	if (text->path_answered && !host) {
		text->path[0] = '\0';
		return false;
	}
	text->path_answered = host > 0 || text->path_remote;
	line += host;
	nr -= host;
	stats_copy(value, STATS_LINE_BYTES, line, nr);
	if (stats_place_of(text, text->path, &place))
		add(text, &place, trim(value));
	else
		text->stats->ignored++;
	if (!text->path_answered)
		text->path[0] = '\0';
	return true;
}

/*
 * The module of a line "options MODULE ...", or of one that such a line goes on in behind its
 * backslash. Return: the word where its parameters begin.
 */
static size_t options_of(struct stats_text *text, const struct stats_word *words, size_t n,
			 char module[STATS_NAME_BYTES])
{
	const struct stats_word *last = &words[n - 1];
	size_t first = 0;

	if (n > 2 && stats_word_is(&words[0], "options")) {
		stats_copy(module, STATS_NAME_BYTES, words[1].text, words[1].nr);
		first = 2;
	} else if (text->options_line && text->options_line + 1 == text->line) {
		stats_copy(module, STATS_NAME_BYTES, text->options, strlen(text->options));
	}
	text->options_line = 0;
	if (module[0] && last->text[last->nr - 1] == '\\') {
		stats_copy(text->options, sizeof(text->options), module, strlen(module));
		text->options_line = text->line;
	}
	return first;
}

/* "options kvm halt_poll_ns=400000", "... kvm.halt_poll_ns=0 ..." of a command line. */
static bool configured(struct stats_text *text, const struct stats_word *words, size_t n)
{
	char module[STATS_NAME_BYTES] = "", parameter[STATS_NAME_BYTES], value[STATS_TEXT_BYTES];
	size_t i = options_of(text, words, n, module);
	bool found = false, options = module[0];

	for (; i < n; i++) {
		const char *end = words[i].text + words[i].nr, *name = words[i].text;
		const char *equal = memchr(name, '=', words[i].nr);
		const char *dot = equal ? memchr(name, '.', (size_t)(equal - name)) : NULL;

		if (!equal || equal == name || (!options && !dot))
			continue;
		if (!options) {
			stats_copy(module, sizeof(module), name, (size_t)(dot - name));
			name = dot + 1;
			if (strncmp(module, "kvm", 3) && strcmp(module, "haltpoll") &&
			    strcmp(module, "cpuidle_haltpoll") && strcmp(module, "cpuidle"))
				continue;
		}
		stats_copy(value, sizeof(value), equal + 1, (size_t)(end - equal - 1));
		stats_copy(parameter, sizeof(parameter), name, (size_t)(equal - name));
		/* The kernel takes them for the same. */
		for (char *c = parameter; *c; c++)
			*c = *c == '-' ? '_' : *c;
		stats_keep_setting(text, module, parameter, strlen(parameter), trim(value),
				   options ? STATS_MODPROBE : STATS_COMMAND_LINE);
		found = true;
	}
	return found;
}

/* "parm: halt_poll_ns:uint", "vermagic: 6.1.0 SMP": what a module could be told. */
static bool modinfo(struct stats_text *text, const struct stats_word *words, size_t n)
{
	static const char modules[] = "/lib/modules/";
	struct stats *s = text->stats;

	if (n >= 2 && stats_word_is(&words[0], "parm:") &&
	    memchr(words[1].text, ':', words[1].nr)) {
		s->kinds |= STATS_MODINFO;
		text->section = STATS_MODINFO;
		return true;
	}
	if (n == 2 && stats_word_is(&words[0], "filename:") &&
	    stats_word_begins(&words[1], modules)) {
		const char *release = words[1].text + sizeof(modules) - 1;
		size_t nr = words[1].nr - (sizeof(modules) - 1);
		const char *slash = memchr(release, '/', nr);

		stats_copy(s->kernel, sizeof(s->kernel), release,
			   slash ? (size_t)(slash - release) : nr);
		stats_printable(s->kernel);
		return true;
	}
	if (n >= 2 && stats_word_is(&words[0], "vermagic:")) {
		stats_copy(s->kernel, sizeof(s->kernel), words[1].text, words[1].nr);
		stats_printable(s->kernel);
		return true;
	}
	return text->section == STATS_MODINFO && n && words[0].text[words[0].nr - 1] == ':';
}

/* "CONFIG_HZ=1000" and the choices about idling of a kernel's configuration. */
static bool config(struct stats_text *text, const char *line, size_t nr)
{
	const char *equal = memchr(line, '=', nr);
	char value[STATS_TEXT_BYTES];

	if (nr < 8 || memcmp(line, "CONFIG_", 7) != 0 || !equal)
		return false;
	stats_copy(value, sizeof(value), equal + 1, nr - (size_t)(equal - line) - 1);
	stats_keep_setting(text, "config", line, (size_t)(equal - line), value, STATS_IN_FORCE);
	return true;
}

/* "vcpu (qom path: ...)" of a monitor: what follows belongs to it. */
static bool monitor_scope(struct stats_text *text, const char *line, size_t nr)
{
	bool vcpu = nr > 5 && !memcmp(line, "vcpu ", 5), vm = nr == 2 && !memcmp(line, "vm", 2);

	if (memmem(line, nr, "provider: kvm", 13))
		return true;
	if (!vm && !(vcpu && memmem(line, nr, "path:", 5)))
		return false;
	text->section = STATS_COUNTERS;
	text->scope = stats_add_scope(text->stats, STATS_COUNTERS, text->line, "%.*s",
				      (int)(nr < STATS_LABEL_BYTES ? nr : STATS_LABEL_BYTES - 1),
				      line);
	return true;
}

/* Where the name ends and the value begins, with whatever a monitor puts in brackets between. */
static bool cut_pair(const char *line, size_t nr, char name[STATS_TEXT_BYTES],
		     char value[STATS_LINE_BYTES], bool *marked)
{
	size_t begin = 0, end, at;

	while (begin < nr && line[begin] == ' ')
		begin++;
	for (end = begin; end < nr && !strchr(" :=", line[end]); end++)
		;
	if (end == begin || end - begin >= STATS_TEXT_BYTES)
		return false;
	stats_copy(name, STATS_TEXT_BYTES, line + begin, end - begin);
	for (at = end; at < nr && line[at] == ' '; at++)
		;
	if (at < nr && line[at] == '(') {
		const char *close = memchr(line + at, ')', nr - at);

		at = close ? (size_t)(close - line) + 1 : at;
	}
	*marked = at < nr && strchr(":=", line[at]);
	while (at < nr && (line[at] == ' ' || line[at] == ':' || line[at] == '='))
		at++;
	stats_copy(value, STATS_LINE_BYTES, line + at, nr - at);
	return true;
}

/* "uint", "(bool)": modinfo -p names a parameter's type where others have its value. */
static bool is_type(const char *value)
{
	static const char *const types[] = {"bool",   "invbool", "bint",   "charp", "byte",
					    "hexint", "short",	 "ushort", "int",   "uint",
					    "long",   "ulong",	 "ullong"};
	size_t nr = strlen(value);

	if (nr > 2 && value[0] == '(' && value[nr - 1] == ')') {
		value++;
		nr -= 2;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (nr == strlen(types[i]) && !memcmp(value, types[i], nr))
			return true;
	return false;
}

/* Prose has words where a list has a value. */
static bool plain_value(const char *value, bool path)
{
	return path || !strchr(value, ' ') || strspn(value, "0123456789 ,") == strlen(value) ||
	       *value == '"';
}

static bool pair(struct stats_text *text, const char *line, size_t nr)
{
	char name[STATS_TEXT_BYTES], *value = text->value;
	const char *trimmed;
	struct stats_place place = {.module = ""};
	bool path, marked;

	if (!cut_pair(line, nr, name, value, &marked))
		return false;
	path = strchr(name, '/') != NULL;
	trimmed = trim(value);
	/* Behind a mere blank only what is known by its own name has a value: the rest is prose. */
	if (!path && !marked && !stats_place_name(name, &place))
		return false;
	if (stats_place_of(text, name, &place) && !place.scope[0] && is_type(trimmed)) {
		text->stats->kinds |= STATS_MODINFO;
		return true;
	}
	if (!stats_place_of(text, name, &place) || (!*trimmed && !path) ||
	    !plain_value(trimmed, path))
		return false;
	add(text, &place, trimmed);
	return true;
}

bool stats_listing_line(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_word *words = text->words;
	bool more;
	size_t n = stats_sets_prefix(text, line, nr);

	line += n;
	nr -= n;
	text->prefixed = n > 0;
	stats_sets_command(text, line, nr);
	if (next_line_is_value(text, line, nr) || pending_value(text, line, nr))
		return true;
	n = stats_split(line, nr, ' ', words, &more);
	return n &&
	       (modinfo(text, words, n) || configured(text, words, n) || config(text, line, nr) ||
		monitor_scope(text, line, nr) || pair(text, line, nr));
}

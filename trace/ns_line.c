// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One line of a plain list of halts: "T_ns [run_ns [deadline_ns|-]]".
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "trace/ns.h"

enum { MAX_WORDS = 3 };

struct word {
	const char *text;
	size_t nr;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word; none (nr 0) at the end of the line or before a comment. */
static struct word next_word(const char **text, const char *end)
{
	const char *begin = *text;

	while (begin < end && is_blank(*begin))
		begin++;
	*text = begin;
	if (begin < end && *begin == '#')
		return (struct word){begin, 0};
	while (*text < end && !is_blank(**text))
		(*text)++;
	return (struct word){begin, (size_t)(*text - begin)};
}

static enum ns_line_kind bad(struct ns_line *line, const struct word *word, const char *why)
{
	size_t nr = word->nr < sizeof(line->value) - 1 ? word->nr : sizeof(line->value) - 1;

	for (size_t i = 0; i < nr; i++)
		line->value[i] = isprint((unsigned char)word->text[i]) ? word->text[i] : '?';
	line->value[nr] = '\0';
	line->why = why;
	return NS_LINE_BAD;
}

/* A whole number up to 2^63-1; otherwise what is wrong with it. */
static const char *read_ns(const struct word *word, uint64_t *ns)
{
	uint64_t value = 0;

	for (size_t i = 0; i < word->nr; i++) {
		if (!isdigit((unsigned char)word->text[i]))
			return word->text[0] == '-' ? "negative, or not a number"
						    : "not a whole number of nanoseconds";
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(word->text[i] - '0'), &value) ||
		    value > INT64_MAX)
			return "more than 2^63-1 ns";
	}
	*ns = value;
	return NULL;
}

enum ns_line_kind ns_line_parse(struct ns_line *line, const char *text, size_t nr)
{
	const char *end = text + nr, *why = NULL;
	uint64_t *const fields[MAX_WORDS] = {&line->t_ns, &line->run_ns, &line->deadline_ns};
	struct word word;

	line->run_ns = VHALT_UNKNOWN_NS;
	line->deadline_ns = VHALT_NO_DEADLINE_NS;
	for (int i = 0; i < MAX_WORDS; i++) {
		word = next_word(&text, end);
		if (!word.nr)
			return i ? NS_LINE_HALT : NS_LINE_EMPTY;
		if (i == 2 && word.nr == 1 && *word.text == '-')
			continue;
		why = read_ns(&word, fields[i]);
		if (why)
			return bad(line, &word, why);
	}
	word = next_word(&text, end);
	return word.nr ? bad(line, &word, "a fourth value; a line holds T, run and deadline")
		       : NS_LINE_HALT;
}

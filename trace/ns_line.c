// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One line of a plain list of halts: "T_ns [run_ns [deadline_ns|-]]".
#include "trace/ns.h"

#include <string.h>

#include "trace/text_view.h"

enum { MAX_WORDS = 3 };

/* The next word, taken off @rest; an empty one at the end of the line or before a comment. */
static struct text_view next_word(struct text_view *rest)
{
	struct text_view word;

	text_skip_blanks(rest);
	word = (struct text_view){rest->at, rest->at};
	if (rest->at < rest->end && *rest->at == '#')
		return word;
	while (rest->at < rest->end && !text_is_blank(*rest->at))
		rest->at++;
	word.end = rest->at;
	return word;
}

static enum ns_line_kind bad(struct ns_line *line, struct text_view word, const char *why)
{
	text_copy(line->value, sizeof(line->value), word);
	line->why = why;
	return NS_LINE_BAD;
}

/* A whole number up to 2^63-1; otherwise what is wrong with it. */
static const char *read_ns(struct text_view word, uint64_t *ns)
{
	uint64_t value;

	if (word.at + text_digits(word) < word.end)
		return *word.at == '-' ? "negative, or not a number"
				       : "not a whole number of nanoseconds";
	if (!text_number(word.at, (size_t)(word.end - word.at), &value) || value > INT64_MAX)
		return "more than 2^63-1 ns";
	*ns = value;
	return NULL;
}

enum ns_line_kind ns_line_parse(struct ns_line *line, const char *text, size_t nr)
{
	struct text_view rest = {text, text + nr}, word;
	uint64_t *const fields[MAX_WORDS] = {&line->t_ns, &line->run_ns, &line->deadline_ns};
	const char *why;

	/* What some editors put before the first line: UTF-8's byte order mark. */
	if (nr >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		rest.at += 3;
	line->run_ns = VHALT_UNKNOWN_NS;
	line->deadline_ns = VHALT_NO_DEADLINE_NS;
	for (int i = 0; i < MAX_WORDS; i++) {
		word = next_word(&rest);
		if (word.at == word.end)
			return i ? NS_LINE_HALT : NS_LINE_EMPTY;
		if (i == 2 && word.end - word.at == 1 && *word.at == '-')
			continue;
		why = read_ns(word, fields[i]);
		if (why)
			return bad(line, word, why);
	}
	word = next_word(&rest);
	return word.at < word.end
		       ? bad(line, word, "a fourth value; a line holds T, run and deadline")
		       : NS_LINE_HALT;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Lines as people paste them made clean, and cut into words and numbers.
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "stats/internal.h"

/* Bytes of the escape sequence at @text: "ESC [ 31 m", "ESC ] ... BEL", or the escape alone. */
static size_t escape_bytes(const char *text, size_t nr)
{
	size_t i = 2;

	if (nr < 2)
		return 1;
	if (text[1] == '[') {
		while (i < nr && !(text[i] >= '@' && text[i] <= '~'))
			i++;
		return i < nr ? i + 1 : nr;
	}
	if (text[1] == ']') {
		while (i < nr && text[i] != '\a' && text[i] != '\033')
			i++;
		return i < nr ? i + 1 : nr;
	}
	if (text[1] == '(' || text[1] == ')')
		return nr < 3 ? nr : 3;
	return 2;
}

/* Bytes of a blank that is no space or tab: no-break spaces and the thin ones of some locales. */
static size_t blank_bytes(const unsigned char *text, size_t nr)
{
	if (nr >= 2 && text[0] == 0xc2 && text[1] == 0xa0)
		return 2;
	if (nr >= 3 && text[0] == 0xe2 && text[1] == 0x80 &&
	    ((text[2] >= 0x80 && text[2] <= 0x8a) || text[2] == 0xaf))
		return 3;
	return 0;
}

/* "> > | text": how much of the beginning is mail quoting. A single '|' is not. */
static size_t quote_bytes(const char *line, size_t nr)
{
	size_t i = 0, end = 0;

	while (i < nr && (line[i] == ' ' || line[i] == '>')) {
		if (line[i] == '>')
			end = i + 1;
		i++;
	}
	return end;
}

size_t stats_line_clean(char *line, size_t nr)
{
	size_t from = 0, to = 0, skip;

	if (nr >= 3 && !memcmp(line, "\xef\xbb\xbf", 3))
		from = 3;
	while (from < nr) {
		unsigned char c = (unsigned char)line[from];

		if (c == '\033') {
			from += escape_bytes(line + from, nr - from);
			continue;
		}
		skip = blank_bytes((unsigned char *)line + from, nr - from);
		if (skip || c == '\t') {
			line[to++] = ' ';
			from += skip ? skip : 1;
			continue;
		}
		from++;
		if (c == '\r' || c == '\n')
			continue;
		line[to++] = c < ' ' || c == 0x7f ? '?' : (char)c;
	}
	skip = quote_bytes(line, to);
	memmove(line, line + skip, to - skip);
	to -= skip;
	while (to && line[to - 1] == ' ')
		to--;
	return to;
}

void stats_copy(char *to, size_t room, const char *from, size_t nr)
{
	nr = nr < room ? nr : room - 1;
	memcpy(to, from, nr);
	to[nr] = '\0';
}

size_t stats_split(const char *line, size_t nr, char separator, struct stats_word *words,
		   bool *more)
{
	size_t n = 0, i = 0;

	*more = false;
	while (i < nr) {
		size_t begin;

		while (i < nr && (line[i] == ' ' || line[i] == separator))
			i++;
		begin = i;
		while (i < nr && line[i] != ' ' && line[i] != separator)
			i++;
		if (i == begin)
			break;
		if (n == STATS_WORDS) {
			*more = true;
			break;
		}
		words[n++] = (struct stats_word){line + begin, i - begin};
	}
	return n;
}

bool stats_word_is(const struct stats_word *word, const char *text)
{
	return word->nr == strlen(text) && !memcmp(word->text, text, word->nr);
}

bool stats_word_begins(const struct stats_word *word, const char *text)
{
	return word->nr >= strlen(text) && !memcmp(word->text, text, strlen(text));
}

bool stats_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

bool stats_identifier(const struct stats_word *word)
{
	size_t i = 0;

	if (!word->nr || !(isalpha((unsigned char)word->text[0]) || word->text[0] == '_'))
		return false;
	while (i < word->nr && word->text[i] != '(') {
		char c = word->text[i++];

		if (!stats_word_char(c) && c != '.')
			return false;
	}
	return i == word->nr || word->text[word->nr - 1] == ')';
}

int stats_u64(const struct stats_word *word, uint64_t *value)
{
	uint64_t v = 0;

	if (!word->nr)
		return -EINVAL;
	for (size_t i = 0; i < word->nr; i++)
		if (!isdigit((unsigned char)word->text[i]))
			return -EINVAL;
	for (size_t i = 0; i < word->nr; i++) {
		unsigned digit = (unsigned)(word->text[i] - '0');

		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v) || v == STATS_UNKNOWN)
			return -ERANGE;
	}
	*value = v;
	return 0;
}

int stats_fixed(const struct stats_word *word, uint64_t scale, uint64_t *value)
{
	struct stats_word whole = *word;
	size_t dot = 0;
	uint64_t v;
	int err;

	while (dot < word->nr && word->text[dot] != '.' && word->text[dot] != ',')
		dot++;
	whole.nr = dot;
	err = stats_u64(&whole, &v);
	if (err)
		return err;
	if (__builtin_mul_overflow(v, scale, &v))
		return -ERANGE;
	if (dot + 1 == word->nr)
		return -EINVAL;
	for (size_t i = dot + 1; i < word->nr; i++) {
		if (!isdigit((unsigned char)word->text[i]))
			return -EINVAL;
		scale /= 10;
		if (__builtin_add_overflow(v, scale * (uint64_t)(word->text[i] - '0'), &v))
			return -ERANGE;
	}
	*value = v;
	return v == STATS_UNKNOWN ? -ERANGE : 0;
}

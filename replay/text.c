// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Text for people: paragraphs of a bounded width, and names from elsewhere made safe to print.
#include "replay/text.h"

#include <stdarg.h>
#include <string.h>

enum { PARAGRAPH_BYTES = 2048 };

/* Length of the next word; a percent sign belongs to the number before it. */
static size_t word_length(const char *text)
{
	size_t n = strcspn(text, " ");

	return !strncmp(text + n, " %", 2) ? n + 1 + strcspn(text + n + 1, " ") : n;
}

void replay_text_wrap(FILE *out, const char *first, const char *format, ...)
{
	size_t indent = strlen(first), column = indent;
	char text[PARAGRAPH_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fputs(first, out);
	for (const char *word = text; *word; word += strspn(word, " ")) {
		size_t length = word_length(word);

		if (column > indent && column + 1 + length > REPLAY_TEXT_COLUMNS) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		}
		if (column > indent)
			column += (size_t)fprintf(out, " ");
		fwrite(word, 1, length, out);
		column += length;
		word += length;
	}
	fputc('\n', out);
}

char *replay_text_clean(char *text)
{
	for (char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return text;
}

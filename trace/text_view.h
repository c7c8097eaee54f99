/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A stretch of text, read from either end; characters are those of the C locale. */
#ifndef VHALT_TRACE_TEXT_VIEW_H
#define VHALT_TRACE_TEXT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Text from @at up to @end; not terminated. */
struct text_view {
	const char *at, *end;
};

static inline bool text_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/** text_copy - at most @room - 1 bytes of @view into @to, what is not printable as '?'. */
static inline void text_copy(char *to, size_t room, struct text_view view)
{
	size_t nr = (size_t)(view.end - view.at);

	if (nr > room - 1)
		nr = room - 1;
	for (size_t i = 0; i < nr; i++)
		to[i] = view.at[i] >= ' ' && view.at[i] <= '~' ? view.at[i] : '?';
	to[nr] = '\0';
}

static inline void text_skip_blanks(struct text_view *view)
{
	while (view->at < view->end && text_is_blank(*view->at))
		view->at++;
}

static inline void text_trim_end(struct text_view *view)
{
	while (view->end > view->at && text_is_blank(view->end[-1]))
		view->end--;
}

/** text_digits - the number of digits @view begins with. */
static inline size_t text_digits(struct text_view view)
{
	size_t nr = 0;

	while (view.at + nr < view.end && text_is_digit(view.at[nr]))
		nr++;
	return nr;
}

/** text_number - the number made of @nr digits at @at; false if it exceeds 2^64-1 or @nr is 0. */
static inline bool text_number(const char *at, size_t nr, uint64_t *value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(at[i] - '0'), &sum))
			return false;
	*value = sum;
	return nr > 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Text whose lines end in a carriage return alone, as no tool that vhalt reads ends them. */
#ifndef VHALT_UTIL_RETURNS_H
#define VHALT_UTIL_RETURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** returns_end_lines - does @text, the begin of a file, have returns between its lines only? */
static inline bool returns_end_lines(const void *text, size_t nr)
{
	const char *from = text, *at = memchr(from, '\r', nr);

	/* One at the very end may have its newline behind it. */
	return at && at + 1 < from + nr && !memchr(from, '\n', nr);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Text for people: paragraphs of a bounded width, and names from elsewhere made safe to print. */
#ifndef VHALT_REPLAY_TEXT_H
#define VHALT_REPLAY_TEXT_H

#include <stdio.h>

/** Lines are at most this wide. */
#define REPLAY_TEXT_COLUMNS 100

/**
 * replay_text_wrap - print a paragraph, wrapped.
 * @first:  what its first line begins with, e.g. "  - "; the others are indented as far
 */
__attribute__((format(printf, 3, 4))) void replay_text_wrap(FILE *out, const char *first,
							    const char *format, ...);

/**
 * replay_text_clean - replace what is not printable ASCII by '?', in place.
 *
 * Names of VMs and hosts come from recordings: they may hold escape sequences or broken UTF-8.
 * Return: @text.
 */
char *replay_text_clean(char *text);

#endif

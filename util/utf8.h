/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Telling text from what could drive a terminal or break JSON. */
#ifndef VHALT_UTIL_UTF8_H
#define VHALT_UTIL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/**
 * utf8_printable - length of the printable character that begins at @p.
 * @left: bytes there are at @p, at least 1
 *
 * Return: 1 to 4; 0 for a control character (C0, DEL, C1) and for what is no UTF-8.
 */
size_t utf8_printable(const uint8_t *p, size_t left);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One line of a plain list of halts: "T_ns [run_ns [deadline_ns|-]]". */
#ifndef VHALT_TRACE_NS_H
#define VHALT_TRACE_NS_H

#include <stddef.h>

#include "trace/halt.h"

enum ns_line_kind {
	NS_LINE_HALT,  /* a halt */
	NS_LINE_EMPTY, /* blank, or a comment: '#' and what follows */
	NS_LINE_BAD,
};

/** What a line says. Text that a message quotes is printable and cut to its room. */
struct ns_line {
	uint64_t t_ns;	      /* 0..2^63-1 */
	uint64_t run_ns;      /* likewise, or VHALT_UNKNOWN_NS */
	uint64_t deadline_ns; /* likewise, or VHALT_NO_DEADLINE_NS */
	char value[40];	      /* NS_LINE_BAD: the word that is wrong ... */
	const char *why;      /* ... and what is wrong with it */
};

/** ns_line_parse - read one line of @nr bytes, without its newline. Cannot fail. */
enum ns_line_kind ns_line_parse(struct ns_line *line, const char *text, size_t nr);

#endif

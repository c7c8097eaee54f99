/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How a reader says what is wrong with its input: every message names file, place and value. */
#ifndef VHALT_TRACE_DIAG_H
#define VHALT_TRACE_DIAG_H

#include <stdint.h>

/**
 * A sink for findings. @report is called once per finding with a complete sentence such as
 * "demo.vht: offset 8192: frame checksum mismatch, 512 halts left out"; the text is valid during
 * the call only. Readers never print. A NULL sink or a NULL @report swallows the text, not the
 * return codes.
 */
struct trace_diag {
	void (*report)(void *context, const char *text);
	void *context;
};

/** trace_diag_offset - report "<file>: offset <offset>: <message>". */
__attribute__((format(printf, 4, 5))) void trace_diag_offset(const struct trace_diag *diag,
							      const char *file, uint64_t offset,
							      const char *format, ...);

/** trace_diag_line - report "<file>: line <line>: <message>". */
__attribute__((format(printf, 4, 5))) void trace_diag_line(const struct trace_diag *diag,
							    const char *file, uint64_t line,
							    const char *format, ...);

/** trace_diag_file - report "<file>: <message>". */
__attribute__((format(printf, 3, 4))) void trace_diag_file(const struct trace_diag *diag,
							    const char *file, const char *format, ...);

#endif

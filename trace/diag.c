// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How a reader says what is wrong with its input: every message names file, place and value.
#include "trace/diag.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { TEXT_BYTES = 512 };

/* Appends the formatted message behind the prefix of @used bytes and hands it over. */
static void report(const struct trace_diag *diag, char text[TEXT_BYTES], int used,
		   const char *format, va_list args)
{
	if (used > 0 && used < TEXT_BYTES)
		vsnprintf(text + used, (size_t)(TEXT_BYTES - used), format, args);
	diag->report(diag->context, text);
}

void trace_diag_offset(const struct trace_diag *diag, const char *file, uint64_t offset,
		       const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list args;

	if (!diag || !diag->report)
		return;
	va_start(args, format);
	report(diag, text, snprintf(text, sizeof(text), "%s: offset %" PRIu64 ": ", file, offset),
	       format, args);
	va_end(args);
}

void trace_diag_line(const struct trace_diag *diag, const char *file, uint64_t line,
		     const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list args;

	if (!diag || !diag->report)
		return;
	va_start(args, format);
	report(diag, text, snprintf(text, sizeof(text), "%s: line %" PRIu64 ": ", file, line), format,
	       args);
	va_end(args);
}

void trace_diag_file(const struct trace_diag *diag, const char *file, const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list args;

	if (!diag || !diag->report)
		return;
	va_start(args, format);
	report(diag, text, snprintf(text, sizeof(text), "%s: ", file), format, args);
	va_end(args);
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What vhalt record says: progress, notes and the summary as text or JSON. */
#ifndef VHALT_TOOL_RECORD_PRINT_H
#define VHALT_TOOL_RECORD_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/recorder.h"

struct record_summary {
	const char *path;
	uint64_t duration_ns;
	bool has_cost; /* counts.probe_* are known */
	struct recorder_counts counts;
};

/**
 * record_print_progress - on a terminal's stderr, from two seconds on, one line that is renewed
 * each second; else nothing. May be called as often as one likes.
 */
void record_print_progress(const struct record_summary *summary);

/** record_end_progress - wipe that line. */
void record_end_progress(void);

/** record_print_notes - on stderr: loss, an empty recording, and with @verbose what else there is.
 */
void record_print_notes(const struct record_summary *summary, bool verbose);

/** record_print_summary - one line, or a JSON object. Return: 0, -EIO (said). */
int record_print_summary(FILE *out, const struct record_summary *summary, bool json);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Findings and statistics as text and as JSON: what inspect, lint and advise share. */
#ifndef VHALT_TOOL_DIAGNOSE_PRINT_H
#define VHALT_TOOL_DIAGNOSE_PRINT_H

#include <jansson.h>
#include <stdbool.h>

#include "diagnose/stats.h"
#include "trace/diag.h"

/** print_findings - one paragraph each: what, with whom, the evidence, what to do. */
void print_findings(const struct findings *findings);

/** json_findings - [{"rule", "title", "problem", "subject", "evidence", "todo"}]. New, or NULL. */
json_t *json_findings(const struct findings *findings);

/** print_stats - what a statistics file holds, what it can support and what not. */
void print_stats(const struct stats *stats, const struct diagnose_model *model);

/** json_stats - the same with all counters and settings. New, or NULL. */
json_t *json_stats(const struct stats *stats, const struct diagnose_model *model);

/** What readers reported of one file, kept to be shown in its place. Zeroed it is empty. */
struct kept_reports {
	char **text;
	uint32_t nr;
};

/** kept_reports_diag - a sink that keeps; the reports live until kept_reports_fini(). */
struct trace_diag kept_reports_diag(struct kept_reports *kept);
void kept_reports_fini(struct kept_reports *kept);

/** input_is_stats - are these the first bytes of statistics? 1, 0, or -errno of reading. */
int input_is_stats(const char *path);

#endif

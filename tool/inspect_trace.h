/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a recording holds: halts, window changes, other events, losses. */
#ifndef VHALT_TOOL_INSPECT_TRACE_H
#define VHALT_TOOL_INSPECT_TRACE_H

#include <jansson.h>

#include "diagnose/stats.h"
#include "trace/diag.h"

/**
 * inspect_trace - read a recording and tell what is in it.
 * @path:      as trace_reader_open() takes it
 * @name:      for people
 * @object:    receives the result as JSON; NULL: it is printed
 * @findings:  receives what its halts show
 *
 * Return: 0, also when it is recognised but holds no halts; else -errno, reported to @diag.
 */
int inspect_trace(const char *path, const char *name, json_t **object, struct findings *findings,
		  const struct trace_diag *diag);

/**
 * lint_trace - what a recording says of settings.
 * @stats:    receives its parameters as settings; freed by stats_destroy()
 * @context:  receives ceilings of VMs and the ticks of guests
 */
int lint_trace(const char *path, struct stats **stats, struct diagnose_context *context,
	       const struct trace_diag *diag);

#endif

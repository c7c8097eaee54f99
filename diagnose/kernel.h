/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which kernels the layout of a recording fits. */
#ifndef VHALT_DIAGNOSE_KERNEL_H
#define VHALT_DIAGNOSE_KERNEL_H

#include "stats/summary.h"
#include "trace/event.h"
#include "trace/halt.h"

/**
 * diagnose_guess_kernel - from what a recording says itself, else from the layout of its events.
 * @events:  NULL for formats that are no event traces
 */
void diagnose_guess_kernel(struct stats_kernel *guess, const struct trace_info *info,
			   const struct trace_events *events);

#endif

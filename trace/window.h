/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Windows between the kernel's decisions: what holds, and what its capping shows of the ceiling. */
#ifndef VHALT_TRACE_WINDOW_H
#define VHALT_TRACE_WINDOW_H

#include "trace/halt.h"

/*
 * A decision tells from which window it started: that one was in force. The kernel caps a window
 * when a halt begins and says nothing of it, so between decisions the window is what the last one
 * left, capped by the ceiling as far as that is known. Any of these may be TRACE_UNKNOWN_U32.
 */

/** trace_window_capped - @window_ns under a ceiling; unknown stays so. */
static inline uint32_t trace_window_capped(uint32_t window_ns, uint32_t ceiling_ns)
{
	return window_ns == TRACE_UNKNOWN_U32 || window_ns < ceiling_ns ? window_ns : ceiling_ns;
}

/**
 * trace_window_ceiling - the ceiling, as far as known, once a window is seen in force.
 * @ceiling_ns:  as known before
 * @window_ns:   as the last decision left it
 * @in_force_ns: what became of it; known
 *
 * Less than the decision left was capped, and that is the ceiling. More than the ceiling: it was
 * raised meanwhile, nobody knows how far.
 */
static inline uint32_t trace_window_ceiling(uint32_t ceiling_ns, uint32_t window_ns,
					    uint32_t in_force_ns)
{
	if (window_ns != TRACE_UNKNOWN_U32 && in_force_ns < window_ns)
		return in_force_ns;
	return in_force_ns > ceiling_ns ? TRACE_UNKNOWN_U32 : ceiling_ns;
}

#endif

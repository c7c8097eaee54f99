/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the rules of all kinds write their evidence with. */
#ifndef VHALT_DIAGNOSE_RULES_H
#define VHALT_DIAGNOSE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/stats.h"
#include "util/units.h"

/** A time in ns as text; it lives as long as the block it stands in. */
#define DURATION(ns) units_format_duration((uint64_t)(ns), (char[UNITS_DURATION_BYTES]){0})

/** diagnose_known - do the statistics have this value? */
static inline bool diagnose_known(uint64_t value)
{
	return value != STATS_UNKNOWN;
}

#endif

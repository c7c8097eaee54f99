/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The rules that say why statistics are not to be believed as they stand. */
#ifndef VHALT_DIAGNOSE_CONTRADICTIONS_H
#define VHALT_DIAGNOSE_CONTRADICTIONS_H

#include "diagnose/stats.h"

/* Each as diagnose_stats_rule.holds: @e receives the evidence if it returns true. */

/** diagnose_contradicting - counters that cannot all be of the same time. */
bool diagnose_contradicting(const struct stats_summary *s, const struct diagnose_coarse *c,
			    char e[FINDING_EVIDENCE_BYTES]);

/** diagnose_off_but_polled - polls were counted, and the same file has halt_poll_ns 0. */
bool diagnose_off_but_polled(const struct stats_summary *s, const struct diagnose_coarse *c,
			     char e[FINDING_EVIDENCE_BYTES]);

/** diagnose_events_lost - perf says that it did not record everything. */
bool diagnose_events_lost(const struct stats_summary *s, const struct diagnose_coarse *c,
			  char e[FINDING_EVIDENCE_BYTES]);

#endif

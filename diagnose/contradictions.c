// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Why statistics are not to be believed as they stand: they contradict each other, or lack events.
#include "diagnose/contradictions.h"

#include <inttypes.h>

#include "diagnose/rules.h"

static bool counted(uint64_t value)
{
	return diagnose_known(value) && value;
}

/* The sum of a histogram, give or take what was counted while it was read. */
static bool hist_differs(const struct stats_hist *h, uint64_t count, uint64_t *sum)
{
	uint64_t apart;

	*sum = 0;
	if (!h || !diagnose_known(count))
		return false;
	for (uint32_t i = 0; i < h->nr; i++)
		*sum += h->bucket[i];
	apart = *sum > count ? *sum - count : count - *sum;
	return apart > 16 && apart > count / 100;
}

/* More than @count, by more than what changes while counters are read. */
static bool exceeds(uint64_t value, uint64_t count)
{
	return value > count && value - count > count / 50 + 16;
}

static bool polls_contradict(const struct stats_summary *s, char *e)
{
	bool both = diagnose_known(s->attempted) && diagnose_known(s->successful);
	uint64_t sum, failed;

	if (both && s->successful > s->attempted)
		return finding_evidence(e, "%" PRIu64 " polls met a wake-up, of %" PRIu64 " polls.",
					s->successful, s->attempted);
	failed = both ? s->attempted - s->successful : STATS_UNKNOWN;
	if (hist_differs(s->success_hist, s->successful, &sum))
		return finding_evidence(e,
					"The histogram of polls that met a wake-up counts %" PRIu64
					", the counter %" PRIu64 ".",
					sum, s->successful);
	if (hist_differs(s->fail_hist, failed, &sum))
		return finding_evidence(e,
					"The histogram of polls in vain counts %" PRIu64
					", the counters %" PRIu64 ".",
					sum, failed);
	if (diagnose_known(s->success_ns) && s->success_ns && diagnose_known(s->successful) &&
	    !s->successful)
		return finding_evidence(e, "%s were polled with success, by 0 successful polls.",
					DURATION(s->success_ns));
	return diagnose_known(s->fail_ns) && s->fail_ns && failed == 0 &&
	       finding_evidence(e, "%s were polled in vain, but every poll met a wake-up.",
				DURATION(s->fail_ns));
}

static bool rows_contradict(const struct stats_summary *s, char *e)
{
	uint64_t sum = s->scope->kind == STATS_PERF ? s->samples : s->rows_sum;

	if (s->broken)
		return finding_evidence(e,
					"Row %s: its average, minimum, maximum or percentages do "
					"not fit each other.",
					s->broken->name);
	if (diagnose_known(s->scope->total) && !s->scope->by_guest && exceeds(sum, s->scope->total))
		return finding_evidence(
			e, "The rows add up to %" PRIu64 ", the total says %" PRIu64 ".", sum,
			s->scope->total);
	return diagnose_known(s->ev_halt) && diagnose_known(s->ev_exit) &&
	       exceeds(s->ev_halt, s->ev_exit) &&
	       finding_evidence(e, "%" PRIu64 " exits by halting of %" PRIu64 " exits.", s->ev_halt,
				s->ev_exit);
}

bool diagnose_contradicting(const struct stats_summary *s, const struct diagnose_coarse *c,
			    char e[FINDING_EVIDENCE_BYTES])
{
	(void)c;
	return polls_contradict(s, e) || rows_contradict(s, e);
}

/*
 * Counters are sums since the VM began; the parameter is of now, and not of every VM. Guests that
 * poll themselves are no explanation: their polling is not in the host's counters.
 */
bool diagnose_off_but_polled(const struct stats_summary *s, const struct diagnose_coarse *c,
			     char e[FINDING_EVIDENCE_BYTES])
{
	bool now = counted(s->attempted_rate_milli) || s->scope->kind == STATS_KVM_STAT_LOG;

	(void)c;
	if (s->halt_poll_ns || !(counted(s->attempted) || counted(s->successful) ||
				 counted(s->success_ns) || counted(s->fail_ns)))
		return false;
	return finding_evidence(
		e,
		"halt_poll_ns is 0, yet %" PRIu64
		" %s were counted%s. Possible causes, which this file "
		"does not tell apart: %sthe VM has a ceiling of its own (KVM_CAP_HALT_POLL), or "
		"the "
		"parameter and the counters are of different hosts or times. A guest's own polling "
		"(guest_halt_poll_ns) is not counted here.",
		counted(s->attempted)	 ? s->attempted
		: counted(s->successful) ? s->successful
		: counted(s->success_ns) ? s->success_ns
					 : s->fail_ns,
		counted(s->attempted)	 ? "polls"
		: counted(s->successful) ? "successful polls"
					 : "ns of polling",
		now ? ", and polling goes on" : "",
		now ? "" : "polling was switched off after they were counted, ");
}

bool diagnose_events_lost(const struct stats_summary *s, const struct diagnose_coarse *c,
			  char e[FINDING_EVIDENCE_BYTES])
{
	(void)c;
	if (!s->lost_events && !s->lost_chunks && !s->lost_samples_ppm)
		return false;
	if (s->lost_chunks)
		return finding_evidence(
			e,
			"perf says that it lost %" PRIu64
			" chunks, each an unknown number of events: exits are missing, and "
			"the times of those whose end was lost.",
			s->lost_chunks);
	if (s->lost_events)
		return finding_evidence(e,
					"perf says that it lost %" PRIu64
					" events: exits are missing, and "
					"the times of those whose end was lost.",
					s->lost_events);
	return finding_evidence(e,
				"perf says that it lost %.2f %% of all samples: exits are missing.",
				(double)s->lost_samples_ppm / 1e4);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The rules about statistics. docs/diagnosis.md explains each by its name.
#include <inttypes.h>
#include <string.h>

#include "diagnose/contradictions.h"
#include "diagnose/rules.h"
#include "diagnose/stats.h"

/* Fewer polls or halts than this show nothing. */
enum { FEW = 100 };

#define GROW_START_NS 10000U /* the smallest window KVM begins with, unless told otherwise */

static double pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The smallest window KVM polls with under these settings, or its default. */
static uint64_t smallest_window_ns(const struct stats_summary *s)
{
	uint64_t start = diagnose_known(s->grow_start_ns) && s->grow_start_ns ? s->grow_start_ns
									      : GROW_START_NS;

	return diagnose_known(s->halt_poll_ns) && s->halt_poll_ns < start ? s->halt_poll_ns : start;
}

/* Failed polls that a histogram shows to be shorter than half the smallest window. */
static uint64_t too_short(const struct stats_summary *s)
{
	uint64_t half_ns = smallest_window_ns(s) / 2, nr = 0;

	for (uint32_t i = 0; i < s->fail_hist->nr && i < 63 && (1ULL << i) <= half_ns; i++)
		nr += s->fail_hist->bucket[i];
	return nr;
}

static bool is_cut_short(const struct stats_summary *s, const struct diagnose_coarse *c)
{
	if (!c->known || c->fails < FEW || !smallest_window_ns(s))
		return false;
	if (s->fail_hist)
		return too_short(s) * 2 >= c->fails;
	return c->wasted_ns / c->fails < smallest_window_ns(s) / 2;
}

static bool cut_short(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	if (!is_cut_short(s, c))
		return false;
	return finding_evidence(
		e,
		"%" PRIu64 " polls, %" PRIu64
		" met a wake-up; the others lasted %s on average%s, while "
		"KVM's smallest window is %s%s: something ended them before their window was over.",
		s->attempted, c->hits, DURATION(c->wasted_ns / c->fails),
		s->fail_hist ? ", most of them less than half that window" : "",
		DURATION(smallest_window_ns(s)),
		diagnose_known(s->grow_start_ns) ? "" : " (by default)");
}

static bool in_vain(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	uint64_t all = c->useful_ns + c->wasted_ns;

	if (!c->known || s->attempted < FEW || c->wasted_ns < all / 2 || !c->wasted_ns ||
	    is_cut_short(s, c))
		return false;
	return finding_evidence(e,
				"%" PRIu64 " of %" PRIu64
				" polls (%.1f %%) met a wake-up; %s of %s of polling (%.0f %%) "
				"was in vain.",
				c->hits, s->attempted, pct(c->hits, s->attempted),
				DURATION(c->wasted_ns), DURATION(all), pct(c->wasted_ns, all));
}

/* Without the time that was polled: hits alone. */
static bool few_hits(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	if (c->known || !diagnose_known(s->attempted) || !diagnose_known(s->successful) ||
	    s->attempted < FEW || s->successful > s->attempted / 2)
		return false;
	return finding_evidence(
		e,
		"%" PRIu64 " of %" PRIu64 " polls (%.1f %%) met a wake-up. How long "
		"they lasted these statistics do not say: too long, too short a window, "
		"or cut short all look like this.",
		s->successful, s->attempted, pct(s->successful, s->attempted));
}

static bool ceiling_high(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	(void)s;
	if (!c->has_best || c->hits + c->fails < 10 * FEW || is_cut_short(s, c) ||
	    c->best_cost_ns > 0.9 * c->paid_ns || 2 * c->best_ns >= c->longest_ns)
		return false;
	return finding_evidence(e,
				"Polls lasted up to %s. A ceiling of %s would have cost %.0f %% "
				"less, if blocking costs "
				"%s; from histograms with steps of a power of two, so roughly.",
				DURATION(c->longest_ns), c->best_ns ? DURATION(c->best_ns) : "0",
				100 * (1 - c->best_cost_ns / c->paid_ns), DURATION(c->block_ns));
}

static bool sticky(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	uint64_t polled = c->useful_ns + c->wasted_ns;

	if (!c->known || s->attempted < 10 * FEW || c->hits * 100 < s->attempted * 95 ||
	    c->useful_ns / c->hits < 20000 || !diagnose_known(s->wait_ns) || polled < s->wait_ns)
		return false;
	return finding_evidence(
		e,
		"%" PRIu64 " of %" PRIu64 " polls (%.1f %%) met a wake-up, after %s on "
		"average; %.0f %% of the halted time was polled. KVM never shrinks such a "
		"window.",
		c->hits, s->attempted, pct(c->hits, s->attempted), DURATION(c->useful_ns / c->hits),
		pct(polled, polled + s->wait_ns));
}

static bool polling_off(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	(void)c;
	if (!diagnose_known(s->attempted) || s->attempted || !diagnose_known(s->wakeups) ||
	    s->wakeups < FEW || (diagnose_known(s->successful) && s->successful))
		return false;
	return finding_evidence(e, "%" PRIu64 " wake-ups and not one poll%s.", s->wakeups,
				!diagnose_known(s->halt_poll_ns) ? "; halt_poll_ns is not known"
				: s->halt_poll_ns		 ? ", though halt_poll_ns is not 0"
								 : ": halt_poll_ns is 0");
}

static bool invalid(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	uint64_t all;

	(void)c;
	if (!diagnose_known(s->invalid) || !diagnose_known(s->wakeups) || s->invalid < 20)
		return false;
	all = s->wakeups + (diagnose_known(s->successful) ? s->successful : 0);
	if (s->invalid > all || s->invalid < all / 20)
		return false;
	return finding_evidence(e, "%" PRIu64 " of %" PRIu64 " wake-ups (%.0f %%) were invalid.",
				s->invalid, all, pct(s->invalid, all));
}

static bool user_halts(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	uint64_t kernel;

	(void)c;
	if (diagnose_known(s->ev_user_halt) && s->ev_user_halt >= 20)
		return finding_evidence(e,
					"%" PRIu64 " exits to user space because of HLT, %" PRIu64
					" wake-ups by KVM.",
					s->ev_user_halt,
					diagnose_known(s->ev_wakeup) ? s->ev_wakeup : 0);
	if (!diagnose_known(s->halt_exits) || !diagnose_known(s->wakeups) ||
	    !diagnose_known(s->successful) ||
	    __builtin_add_overflow(s->wakeups, s->successful, &kernel) || s->halt_exits < FEW ||
	    s->halt_exits / 2 <= kernel)
		return false;
	return finding_evidence(e,
				"%" PRIu64 " HLT exits, but KVM saw only %" PRIu64
				" halts end (%" PRIu64 " woken, %" PRIu64 " met by polling).",
				s->halt_exits, kernel, s->wakeups, s->successful);
}

static bool timer_driven(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	(void)c;
	if (!diagnose_known(s->ev_wakeup) || s->ev_wakeup < FEW ||
	    !diagnose_known(s->ev_apic_timer) || s->ev_apic_timer < s->ev_wakeup / 10 * 8)
		return false;
	return finding_evidence(e,
				"%" PRIu64 " wake-ups and %" PRIu64
				" expiries of a guest's APIC timer%s"
				". The period these sums do not show, nor how many vCPUs they are.",
				s->ev_wakeup, s->ev_apic_timer,
				diagnose_known(s->ev_timer) && s->ev_timer >= s->ev_wakeup / 10 * 16
					? ", set and stopped for each"
					: "");
}

static bool window_still(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	(void)c;
	if (!diagnose_known(s->ev_window) || !diagnose_known(s->ev_wakeup) ||
	    s->ev_wakeup < 10 * FEW || s->ev_window > s->ev_wakeup / 100)
		return false;
	return finding_evidence(
		e,
		"%" PRIu64 " window changes in %" PRIu64 " wake-ups: every wake-up falls "
		"into its window, or all are too late for any, or the host does not poll. "
		"Which, this table cannot tell.",
		s->ev_window, s->ev_wakeup);
}

static bool window_restless(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	(void)c;
	if (!diagnose_known(s->ev_window) || !diagnose_known(s->ev_wakeup) ||
	    s->ev_wakeup < 10 * FEW || s->ev_window > s->ev_wakeup ||
	    s->ev_window < s->ev_wakeup / 10)
		return false;
	return finding_evidence(e,
				"%" PRIu64 " window changes in %" PRIu64
				" wake-ups (%.0f %%): short and "
				"long halts follow each other.",
				s->ev_window, s->ev_wakeup, pct(s->ev_window, s->ev_wakeup));
}

static bool short_halts(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	if (!s->halt_name || s->halt_samples < FEW || s->halt_mean_ns > c->block_ns / 2)
		return false;
	return finding_evidence(
		e,
		"%" PRIu64 " exits by %s took %s on average (%s to %s); blocking once is "
		"taken to cost %s. How many were polled a report of exits does not say.",
		s->halt_samples, s->halt_name, DURATION(s->halt_mean_ns),
		diagnose_known(s->halt_min_ns) ? DURATION(s->halt_min_ns) : "?",
		diagnose_known(s->halt_max_ns) ? DURATION(s->halt_max_ns) : "?",
		DURATION(c->block_ns));
}

static bool halts_minor(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	(void)c;
	if (!s->halt_name || !diagnose_known(s->halt_time_ppm) || s->halt_time_ppm > 50000 ||
	    !s->longest || s->longest->time_ppm > 1000000 ||
	    !strcmp(s->longest->name, s->halt_name))
		return false;
	return finding_evidence(e, "%s takes %.2f %% of the time of all exits, %s %.2f %%.",
				s->halt_name, (double)s->halt_time_ppm / 1e4, s->longest->name,
				(double)s->longest->time_ppm / 1e4);
}

static bool halts_past(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	(void)c;
	if (!diagnose_known(s->halt_exits) || s->halt_exits < FEW || s->halt_rate_milli != 0 ||
	    !diagnose_known(s->exit_rate_milli) || !s->exit_rate_milli)
		return false;
	return finding_evidence(e,
				"%" PRIu64
				" HLT exits in all, none in the last interval, while there "
				"were %.0f exits a second.",
				s->halt_exits, (double)s->exit_rate_milli / 1000);
}

static bool part_of_second(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	(void)c;
	if (!s->rate_above_total || s->scope->kind != STATS_KVM_STAT)
		return false;
	if (!diagnose_known(s->scope->window_ms))
		return finding_evidence(e,
					"Rates per second are above the totals: the totals cover "
					"less than a second.");
	return finding_evidence(
		e,
		"Rates per second are above the totals, which cover only about %.2f s: "
		"%" PRIu64 " events.",
		(double)s->scope->window_ms / 1000, s->scope->total);
}

static bool rows_missing(const struct stats_summary *s, const struct diagnose_coarse *c, char *e)
{
	uint64_t sum = s->scope->kind == STATS_PERF ? s->samples : s->rows_sum;

	(void)c;
	if (!diagnose_known(s->scope->total) || !s->scope->total || s->scope->by_guest ||
	    sum >= s->scope->total - s->scope->total / 50)
		return false;
	return finding_evidence(
		e, "The rows add up to %" PRIu64 " of a total of %" PRIu64 ": rows are missing.",
		sum, s->scope->total);
}

/* clang-format off */
const struct diagnose_stats_rule diagnose_stats_rules[] = {
	{{"contradiction", "statistics that contradict each other",
	  "Trust none of them: counters of different times, of different VMs, or a damaged file.",
	  FINDING_PROBLEM}, diagnose_contradicting},
	{{"off-but-polled", "polls and a halt_poll_ns of 0 contradict each other",
	  "Read both again at the same time, and look for a VMM that sets KVM_CAP_HALT_POLL; until "
	  "then judge polling by the counters, not by the parameter.", FINDING_PROBLEM},
	 diagnose_off_but_polled},
	{{"events-lost", "perf lost events",
	  "Take its counts for too low and do not trust shares and averages; record again for a "
	  "shorter time or with larger buffers (perf record -m).", FINDING_PROBLEM},
	 diagnose_events_lost},
	{{"cut-short", "polls cut short by another task",
	  "Give the vCPU a CPU of its own, or stop polling for it: KVM stops polling as soon as "
	  "another task wants the CPU. A larger window changes "
	  "nothing.", FINDING_PROBLEM}, cut_short},
	{{"polls-in-vain", "most polling is in vain",
	  "Record with vhalt record and ask vhalt advise for a ceiling; lowering halt_poll_ns "
	  "saves that CPU time.", FINDING_PROBLEM}, in_vain},
	{{"few-hits", "few polls meet a wake-up",
	  "Look at halt_poll_fail_ns (5.8 and later) or record with vhalt record: the count alone "
	  "does not say what to change.", FINDING_NOTE}, few_hits},
	{{"ceiling-high", "ceiling above what pays",
	  "Lower halt_poll_ns, or the VM's own ceiling (KVM_CAP_HALT_POLL) where it has one.",
	  FINDING_PROBLEM}, ceiling_high},
	{{"sticky-window", "sticky window",
	  "A lower halt_poll_ns gives the CPU back, at the price of a wake-up latency for each "
	  "halt.",
	  FINDING_PROBLEM}, sticky},
	{{"polling-off", "the host does not poll",
	  "halt_poll_ns 0, a ceiling of 0 (KVM_CAP_HALT_POLL), or a guest that polls itself and "
	  "turned it off (MSR_KVM_POLL_CONTROL): look in the guest at the cpuidle "
	  "driver.", FINDING_NOTE},
	 polling_off},
	{{"invalid-wakeups", "invalid wake-ups",
	  "Something wakes vCPUs without work for them; each one shrinks the window.",
	  FINDING_PROBLEM}, invalid},
	{{"user-halts", "halts that exit to user space",
	  "Those never reach KVM's halt polling: halt_poll_ns has no effect on them, polling "
	  "would be the VMM's to do.", FINDING_PROBLEM}, user_halts},
	{{"ticks", "wake-ups by timers",
	  "If the guest is idle, stop its tick there; no host setting removes a wake-up. Record "
	  "with vhalt record to see the period.", FINDING_NOTE}, timer_driven},
	{{"window-still", "the window hardly ever changes",
	  "Record with vhalt record, or read halt_poll_success_ns, to tell which.", FINDING_NOTE},
	 window_still},
	{{"window-restless", "the window changes all the time",
	  "Neither a larger nor a smaller ceiling is right for both; vhalt replay shows what "
	  "other parameters or policies would do.", FINDING_NOTE}, window_restless},
	{{"short-halts", "halts are short on average",
	  "Polling may pay; record with vhalt record to see for which window.", FINDING_NOTE},
	 short_halts},
	{{"halts-minor", "halting is not where the time goes",
	  "Look at the other exits first; halt polling changes little here.", FINDING_NOTE},
	 halts_minor},
	{{"halts-past", "no vCPU halts at present",
	  "The totals are of earlier: take the table again while the guests do what they are "
	  "judged by.",
	  FINDING_NOTE}, halts_past},
	{{"part-of-a-second", "rates of a fraction of a second",
	  "Let kvm_stat run for some seconds before its figures are taken.", FINDING_NOTE},
	 part_of_second},
	{{"rows-missing", "rows are missing",
	  "Keep the whole table; shares are of its total.", FINDING_NOTE}, rows_missing},
};
/* clang-format on */

const uint32_t diagnose_nr_stats_rules = sizeof(diagnose_stats_rules) /
					 sizeof(diagnose_stats_rules[0]);

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The rules about one vCPU's recorded halts. docs/diagnosis.md explains each by its name.
#include <inttypes.h>
#include <stdio.h>

#include "diagnose/halts.h"
#include "diagnose/rules.h"

/* Fewer halts than this show no pattern; fewer than MANY no figure worth acting on. */
enum { FEW = 50, MANY = 1000 };

static double pct(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* Time polled as a share of one CPU. */
static double cpu_pct(const struct diagnose_view *w, double ns)
{
	return w->seconds > 0 ? 100 * ns / (w->seconds * 1e9) : 0;
}

static bool own_timers(const struct diagnose_vcpu *v)
{
	return v->deadlines * 2 >= v->halts && v->own_timer * 10 >= v->deadlines * 6;
}

/* A tick is no message: slower than any usual round trip, or shown to be the vCPU's own timer. */
static bool is_ticking(const struct diagnose_view *w)
{
	return w->rhythm.period_ns >= 900000 || (w->rhythm.period_ns && own_timers(w->v));
}

static bool ticks(const struct diagnose_view *w, char *e)
{
	const struct diagnose_rhythm *r = &w->rhythm;

	if (!is_ticking(w) || r->period_ns > 200000000)
		return false;
	return finding_evidence(e,
				"%" PRIu64 " of %" PRIu64
				" wake-ups (%.0f %%) come %s after an earlier one: %.1f Hz. "
				"Whose timer: %s.",
				r->wakes, w->v->halts, 100 * r->share, DURATION(r->period_ns),
				1e9 / (double)r->period_ns,
				own_timers(w->v) ? "the vCPU's own, its deadlines say so"
				: w->v->deadlines
					? "mostly not the vCPU's own, whose deadlines are known"
					: "the recording does not say, it has no timer deadlines");
}

static bool ticks_polled(const struct diagnose_view *w, char *e)
{
	const struct diagnose_rhythm *r = &w->rhythm;
	double all_ns = (double)(w->v->useful_ns + w->v->wasted_ns);
	double ticks_ns = r->poll_useful_ns + r->poll_wasted_ns;

	if (!is_ticking(w) || !r->sums || cpu_pct(w, ticks_ns) < 0.1 || ticks_ns < 0.5 * all_ns)
		return false;
	return finding_evidence(
		e,
		"Polling for wake-ups that come every %s burns %.2f %% of a CPU, %.0f "
		"%% of all the polling here; it met %" PRIu64 " of %" PRIu64 " of them.",
		DURATION(r->period_ns), cpu_pct(w, ticks_ns), pct(ticks_ns, all_ns), r->polled,
		r->wakes);
}

static bool messages(const struct diagnose_view *w, char *e)
{
	uint64_t t_ns = diagnose_bin_quantile(w->v->t, 500);
	uint64_t run_ns = diagnose_bin_quantile(w->v->run, 500);
	char with[96] = "";

	if (w->v->halts < 10 * FEW || w->rate < 1000 || is_ticking(w) || t_ns > 500000 ||
	    (w->v->runs && run_ns > 500000))
		return false;
	if (w->twins)
		snprintf(with, sizeof(with),
			 "; %" PRIu32 " other vCPU%s of this VM halted as often", w->twins,
			 w->twins == 1 ? "" : "s");
	return finding_evidence(
		e,
		"%.0f halts a second, half of them over within %s%s%s%s. Who wakes it "
		"the recording does not say.",
		w->rate, DURATION(t_ns), w->v->runs ? ", with runs between of " : "",
		w->v->runs ? DURATION(run_ns) : "", with);
}

/* Do half of all wake-ups come within a twentieth of the time, more than 5000 a second? */
static bool storm(const struct diagnose_view *w, char *e)
{
	const struct diagnose_vcpu *v = w->v;
	uint64_t windows = 0, wakes = 0;
	double all = w->seconds * 1e9 / (double)DIAGNOSE_BURST_NS;
	uint32_t log = DIAGNOSE_BURSTS;

	if (v->halts < 10 * FEW || all < 20)
		return false;
	while (log-- > 0 && 2 * wakes < v->halts) {
		windows += v->burst_windows[log];
		wakes += v->burst_wakes[log];
	}
	if (log + 1 < 5 || !windows || (double)windows > all / 20 ||
	    (double)wakes / (double)windows < 50)
		return false;
	return finding_evidence(
		e,
		"%" PRIu64 " of %" PRIu64 " wake-ups (%.0f %%) crowd into %.1f %% of "
		"the time: %.0f a second there, %.0f on average.",
		wakes, v->halts, pct((double)wakes, (double)v->halts), pct((double)windows, all),
		(double)wakes / (double)windows * 1e9 / (double)DIAGNOSE_BURST_NS, w->rate);
}

static bool idle(const struct diagnose_view *w, char *e)
{
	double halted = w->seconds > 0 ? (double)w->v->halted_ns / (w->seconds * 1e9) : 0;

	if (w->seconds < 0.5 || w->v->halts < 5 || halted < 0.98 || w->rate > 100 || is_ticking(w))
		return false;
	return finding_evidence(e, "Halted %.1f %% of the time, %.1f wake-ups a second.",
				100 * halted > 100 ? 100 : 100 * halted, w->rate);
}

static bool cut_short(const struct diagnose_view *w, char *e)
{
	const struct diagnose_vcpu *v = w->v;

	if (v->cut < 20 || v->cut * 20 < v->could_cut)
		return false;
	return finding_evidence(e,
				"%" PRIu64 " of %" PRIu64
				" polls that met nothing (%.0f %%) ended before their window "
				"was over: after %s on average, of windows of %s.",
				v->cut, v->could_cut, pct((double)v->cut, (double)v->could_cut),
				DURATION(v->cut_ns / v->cut), DURATION(v->cut_window_ns / v->cut));
}

static bool sticky(const struct diagnose_view *w, char *e)
{
	const struct diagnose_vcpu *v = w->v;
	double burnt = cpu_pct(w, (double)v->useful_ns);

	if (v->halts < 10 * FEW || v->polled * 100 < v->halts * 95 || !v->windows ||
	    v->changes * 100 > v->windows || v->shrank || burnt < 10)
		return false;
	return finding_evidence(
		e,
		"%" PRIu64 " of %" PRIu64 " halts (%.1f %%) were over within the window "
		"of %s, which never shrank; polling burns %.0f %% of a CPU, %s a halt.",
		v->polled, v->halts, pct((double)v->polled, (double)v->halts),
		DURATION(v->window_max_ns), burnt, DURATION(v->useful_ns / v->polled));
}

/* Cost of a window that is always @c_ns, from the histogram of T. */
static double cost_at(const struct diagnose_view *w, uint64_t c_ns)
{
	double cost = 0;

	for (uint32_t i = 0; i < DIAGNOSE_BINS; i++) {
		bool met = diagnose_bin_ns(i + 1) <= c_ns;

		if (w->v->t[i])
			cost += met ? (double)w->v->t_sum_ns[i]
				    : (double)w->v->t[i] * (double)(c_ns + w->cost_ns);
	}
	return cost;
}

/*
 * The cheapest fixed window, up to what blocking costs, or rather the smallest that costs hardly
 * more: the last halts of a long tail are worth no window. And what was paid as recorded.
 */
static uint64_t best_window(const struct diagnose_view *w, double *cost, double *paid)
{
	double least = cost_at(w, 0);
	uint64_t best = 0;

	for (uint32_t i = 1; i < DIAGNOSE_BINS && diagnose_bin_ns(i) <= w->cost_ns; i++) {
		double c = cost_at(w, diagnose_bin_ns(i));

		least = c < least ? c : least;
	}
	*cost = cost_at(w, 0);
	for (uint32_t i = 1; *cost > 1.03 * least && i < DIAGNOSE_BINS; i++) {
		best = diagnose_bin_ns(i);
		*cost = cost_at(w, best);
	}
	*paid = (double)(w->v->useful_ns + w->v->wasted_ns) +
		(double)w->v->blocked * (double)w->cost_ns;
	return best;
}

static bool ceiling(const struct diagnose_view *w, bool high, char *e)
{
	const struct diagnose_vcpu *v = w->v;
	double cost, paid;
	uint64_t best;

	if (v->halts < MANY || v->ceiling_ns == UINT64_MAX || v->windows * 10 < v->halts * 9 ||
	    v->cut * 10 > v->halts || w->seconds <= 0)
		return false;
	best = best_window(w, &cost, &paid);
	if (paid - cost < 0.1 * paid || (paid - cost) / (w->seconds * 1e9) < 0.005)
		return false;
	if (high ? 2 * best >= v->ceiling_ns : 2 * best <= 3 * v->ceiling_ns)
		return false;
	return finding_evidence(
		e,
		"The ceiling is %s%s; a window of %s would cost %.0f %% less than what "
		"was paid, if blocking costs %s. Half of the halts last %s, nine in ten "
		"%s.",
		v->ceiling_ns ? DURATION(v->ceiling_ns) : "0",
		v->own_ceiling ? " (the VM's own)" : "", best ? DURATION(best) : "0",
		pct(paid - cost, paid), DURATION(w->cost_ns),
		DURATION(diagnose_bin_quantile(v->t, 500)),
		DURATION(diagnose_bin_quantile(v->t, 900)));
}

static bool ceiling_high(const struct diagnose_view *w, char *e)
{
	return ceiling(w, true, e);
}

/* Nobody waits for a tick, whatever latency is worth. */
static bool ceiling_low(const struct diagnose_view *w, char *e)
{
	return !is_ticking(w) && ceiling(w, false, e);
}

/* A short halt makes KVM grow its window; if none did, KVM was told not to poll. */
static bool polling_off(const struct diagnose_view *w, char *e)
{
	const struct diagnose_vcpu *v = w->v;

	/* Where window changes were not traced, their absence shows nothing. */
	if (!w->has_windows || v->ceiling_ns == UINT64_MAX || !v->ceiling_ns || v->polled ||
	    v->grew || v->shrank || v->short_blocked < 2 * FEW || v->window_max_ns ||
	    !w->params.grow || w->params.grow == TRACE_UNKNOWN_U32)
		return false;
	return finding_evidence(
		e,
		"%" PRIu64 " halts were shorter than the ceiling of %s, yet none of the "
		"%" PRIu64 " halts was polled and the window never grew: the host does "
		"not poll for this vCPU.",
		v->short_blocked, DURATION(v->ceiling_ns), v->halts);
}

static bool shrink_zero(const struct diagnose_view *w, char *e)
{
	const struct diagnose_vcpu *v = w->v;
	bool shown = w->params.shrink == TRACE_UNKNOWN_U32 && v->shrank_far >= 10 &&
		     v->shrank_far * 2 >= v->shrank;

	if (v->shrank < 10 || v->shrank_to_zero * 100 < v->shrank * 95 ||
	    !(w->params.shrink == 0 || shown) || v->window_zero * 4 < v->windows ||
	    v->short_at_zero < FEW || v->short_at_zero * 10 < v->short_halts)
		return false;
	return finding_evidence(
		e,
		"%" PRIu64 " of %" PRIu64 " shrinks went straight to 0; %" PRIu64 " of %" PRIu64
		" halts began with a window of 0, %" PRIu64 " of them short "
		"enough to be worth a poll.",
		v->shrank_to_zero, v->shrank, v->window_zero, v->windows, v->short_at_zero);
}

static bool invalid(const struct diagnose_view *w, char *e)
{
	const struct diagnose_vcpu *v = w->v;

	if (v->invalid < 20 || v->invalid * 20 < v->halts)
		return false;
	return finding_evidence(e,
				"%" PRIu64 " of %" PRIu64 " wake-ups (%.0f %%) were invalid by the "
				"kernel's word: the vCPU found nothing to do and halted again.",
				v->invalid, v->halts, pct((double)v->invalid, (double)v->halts));
}

/* clang-format off */
const struct diagnose_halts_rule diagnose_halts_rules[] = {
	{{"ticks", "periodic ticks",
	  "If it is an idle guest's tick, stop it there (NO_HZ, nohz=on, fewer timers): no host "
	  "setting removes a wake-up.", FINDING_NOTE}, ticks},
	{{"ticks-polled", "polling wasted on ticks",
	  "Nobody waits for a tick: keep halt_poll_ns below the period, or stop the tick in the "
	  "guest.",
	  FINDING_PROBLEM}, ticks_polled},
	{{"messages", "short waits in quick succession, as in message passing",
	  "This is what polling is for, if the host has CPUs to spare: the advice says up to "
	  "which window it pays.", FINDING_NOTE}, messages},
	{{"storm", "wake storms",
	  "Find what wakes it in bursts (broadcast IPIs, interrupts without moderation, many "
	  "threads on one lock); polling only hides the cost.", FINDING_PROBLEM}, storm},
	{{"idle", "idle", "Nothing: it costs next to nothing.", FINDING_NOTE}, idle},
	{{"cut-short", "polls cut short by another task",
	  "Give the vCPU a CPU of its own, or stop polling for it: KVM stops polling as soon as "
	  "another task wants the CPU. A larger window changes "
	  "nothing.", FINDING_PROBLEM}, cut_short},
	{{"sticky-window", "sticky window",
	  "KVM never shrinks a window that every wake-up falls into: a lower halt_poll_ns gives "
	  "the CPU back, at the price of a wake-up latency for each "
	  "halt.", FINDING_PROBLEM}, sticky},
	{{"ceiling-high", "ceiling above what pays",
	  "Lower halt_poll_ns, or the VM's own ceiling (KVM_CAP_HALT_POLL) where it has one.",
	  FINDING_PROBLEM}, ceiling_high},
	{{"ceiling-low", "ceiling below what would pay",
	  "Raise halt_poll_ns, or the VM's own ceiling (KVM_CAP_HALT_POLL) where it has one; "
	  "vhalt advise --max judges settings up to that window.", FINDING_PROBLEM}, ceiling_low},
	{{"polling-off", "host polling is off for this vCPU",
	  "A guest that polls itself (cpuidle haltpoll) turns it off by MSR_KVM_POLL_CONTROL, and "
	  "a VMM can by KVM_CAP_HALT_POLL=0: see in the guest; halt_poll_ns has no effect on this "
	  "vCPU.",
	  FINDING_NOTE}, polling_off},
	{{"shrink-zero", "window stuck at 0 because of shrink 0",
	  "Set halt_poll_ns_shrink to 2: one long halt then halves the window instead of dropping "
	  "it.",
	  FINDING_PROBLEM}, shrink_zero},
	{{"invalid-wakeups", "invalid wake-ups",
	  "Something wakes the vCPU without work for it; on s390 that is usual for interrupts any "
	  "vCPU may take. Each one shrinks the window: judge polling by the valid ones.",
	  FINDING_PROBLEM}, invalid},
};
/* clang-format on */

const uint32_t diagnose_nr_halts_rules = sizeof(diagnose_halts_rules) /
					 sizeof(diagnose_halts_rules[0]);

const struct finding_rule diagnose_user_halts_rule = {
	"user-halts", "halts that exit to user space",
	"The VMM handles HLT itself (no in-kernel interrupt controller, or the capability that "
	"disables it): halt_poll_ns does not reach these halts; polling would be the VMM's to do.",
	FINDING_PROBLEM};

bool diagnose_user_halts(const struct trace_events *events, char e[FINDING_EVIDENCE_BYTES])
{
	uint64_t user = events->count[TRACE_EVENT_USER_HLT];

	if (!user)
		return false;
	return finding_evidence(
		e,
		"%" PRIu64 " exits to user space because of HLT, %" PRIu64
		" HLT exits of vCPUs in all, %" PRIu64 " wake-ups by KVM: those halts "
		"never reach the kernel's halt polling.",
		user, events->count[TRACE_EVENT_HLT], events->count[TRACE_EVENT_WAKEUP]);
}

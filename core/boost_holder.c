// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Boost mode `holder`: preempted lock holders first, longest waiting first.
/*
 * Observation: by turns, a directed yield hits the holder about as often as chance has it, and what
 * it hits instead spins in turn. With a shared preempt_count the candidates differ: one that was
 * preempted at a count above zero, and did not spin then, holds a lock or serves an interrupt. One
 * that did spin has a count above zero as well, since Linux raises it before it waits; it is a
 * waiter. But the lock may have been handed to it while it had no CPU (queued locks do that), or it
 * holds another one: worth it, if no holder is known.
 *
 * Metric: rank, then how long the vCPU waits.
 *
 * Decision:
 *	1. Only who waits for a CPU is looked at, never the spinner.
 *	2. Never back: not the one whose time the spinner got, if that still has not returned from
 *	   its own spin. It has nothing to do but spin on, and would give the time back in turn.
 *	3. By turns of fairness: before every 16th boost the one that waits longest of all, whatever
 *	   it does, if it waits for more than 10 ms. So whoever stays a candidate is chosen within
 *	   16 boosts for each candidate there is.
 *	4. Else the lowest rank there is:
 *		HOLDER	 preempted inside a critical section
 *		IPI	 the spinner sent it an interrupt it has not taken: likely it waits for that
 *		SERVING	 woken inside a critical section, or an interrupt waits for it
 *		UNKNOWN	 shares nothing, and fits the mode the spinner waits in, as in `kernel`
 *		WAITER	 spins itself
 *	   One that is known to be preemptible and has no interrupt pending is not chosen: it cannot
 *	   be who the spinner waits for.
 *	5. Within a rank the one that waits longest, counted from its last boost if that came later:
 *	   a boost the scheduler ignored does not keep the others from theirs. Ties: by number.
 *	6. After a refusal the next in this order.
 */

#include "core/boost_internal.h"

enum rank { RANK_HOLDER, RANK_IPI, RANK_SERVING, RANK_UNKNOWN, RANK_WAITER, RANK_NEVER };

static uint32_t rank_of(const struct vhalt_boost_request *request,
			const struct vhalt_boost_vcpu *vcpu, uint32_t flags)
{
	bool shared = flags & VHALT_BOOST_SHARED;
	bool critical = flags & VHALT_BOOST_IRQS_OFF || (shared && vcpu->preempt_count);
	bool spinning = flags & VHALT_BOOST_SPINNING;

	if (critical && !spinning && flags & VHALT_BOOST_PREEMPTED)
		return RANK_HOLDER;
	if (vcpu->ipi_from >= 0 && vcpu->ipi_from == request->self)
		return RANK_IPI;
	if ((critical && !spinning) || flags & VHALT_BOOST_IRQ_PENDING)
		return RANK_SERVING;
	if (!critical && (shared || !boost_mode_fits(request, flags)))
		return RANK_NEVER;
	return spinning ? RANK_WAITER : RANK_UNKNOWN;
}

/* Rule 2. */
static bool would_bounce(const struct vhalt_boost_request *request, uint32_t i, uint32_t flags)
{
	return request->self >= 0 && (uint32_t)request->self < request->nr &&
	       flags & VHALT_BOOST_SPINNING &&
	       request->vcpus[request->self].boosted_by == (int32_t)i;
}

static uint64_t waits_since_ns(const struct vhalt_boost_vcpu *vcpu)
{
	return core_max64(vcpu->since_ns, vcpu->boosted_ns);
}

/* Rule 3: who waits longest of all, if for too long. */
static int32_t longest_waiting(const struct vhalt_boost_request *request)
{
	uint64_t oldest_ns = core_sub_sat64(request->now_ns, VHALT_BOOST_FAIR_NS);
	int32_t found = VHALT_BOOST_NONE;

	for (uint32_t i = boost_candidate(request, 0, request->nr); i < request->nr;
	     i = boost_candidate(request, i + 1, request->nr)) {
		const struct vhalt_boost_vcpu *vcpu = &request->vcpus[i];
		uint32_t flags = boost_flags(vcpu);

		if (!boost_ready(request, i, flags) || would_bounce(request, i, flags) ||
		    waits_since_ns(vcpu) >= oldest_ns)
			continue;
		oldest_ns = waits_since_ns(vcpu);
		found = (int32_t)i;
	}
	return found;
}

/* Does (rank, since, index) come after what the scan named last? */
static bool is_later(const struct vhalt_boost_scan *scan, uint32_t rank, uint64_t since_ns,
		     uint32_t i)
{
	if (scan->index < 0 || rank != scan->rank)
		return scan->index < 0 || rank > scan->rank;
	return since_ns != scan->key_ns ? since_ns > scan->key_ns : (int32_t)i > scan->index;
}

int32_t boost_holder_next(struct vhalt_boost_scan *scan, const struct vhalt_boost_request *request)
{
	uint32_t best_rank = RANK_NEVER;
	int32_t best = VHALT_BOOST_NONE;
	uint64_t best_ns = 0;

	for (uint32_t i = boost_candidate(request, 0, request->nr); i < request->nr;
	     i = boost_candidate(request, i + 1, request->nr)) {
		const struct vhalt_boost_vcpu *vcpu = &request->vcpus[i];
		uint32_t flags = boost_flags(vcpu), rank;
		uint64_t since_ns;

		if (!boost_ready(request, i, flags) || (int32_t)i == scan->fair)
			continue;
		rank = rank_of(request, vcpu, flags);
		since_ns = waits_since_ns(vcpu);
		if (rank > best_rank || rank == RANK_NEVER ||
		    (rank == best_rank && since_ns >= best_ns) ||
		    !is_later(scan, rank, since_ns, i) || would_bounce(request, i, flags))
			continue;
		best_rank = rank;
		best_ns = since_ns;
		best = (int32_t)i;
	}
	if (best < 0)
		return VHALT_BOOST_NONE;
	scan->rank = best_rank;
	scan->key_ns = best_ns;
	scan->index = best;
	return best;
}

int32_t boost_holder_first(struct vhalt_boost_scan *scan, const struct vhalt_boost *boost,
			   const struct vhalt_boost_request *request)
{
	if (boost->boosts % VHALT_BOOST_FAIR_EVERY == VHALT_BOOST_FAIR_EVERY - 1)
		scan->fair = longest_waiting(request);
	return scan->fair >= 0 ? scan->fair : boost_holder_next(scan, request);
}

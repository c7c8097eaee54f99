// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Boost mode `holder`: learns who inside a critical section is worth a boost.
/*
 * Observation: a guest that shares its preempt_count tells who is inside a critical section, not
 * who holds the lock: Linux raises the count before it waits, so waiters count as well. Two kinds
 * can be told apart, and which of them is worth a boost depends on the guest's locks:
 *	PREEMPTS  preempted there, not in a yield. With test-and-set locks that is the holder. With
 *		  queued locks it may be a waiter that lost its CPU inside its PAUSE window.
 *	YIELDS	  gave its time away. With test-and-set locks that is a waiter, for certain. With
 *		  queued locks the lock may have been handed to it while it had no CPU.
 * So it is learnt, per VM, from what boosts lead to.
 *
 * Tried first, and why it failed: PREEMPTS always first, YIELDS always last, the 16th boost to
 * whoever waits longest. Right for test-and-set locks; with queued ones time went round among early
 * waiters and the true owner came last (up to 20 times slower in the simulator). Both as one rank,
 * longest waiting first, cures that and spoils the other. Octaves instead of a plain mean, and
 * fairness after 100 ms instead of 10, did better in the simulator, but within its noise.
 *
 * Metric: worth of a kind, a mean over about its last 32 boosts of log2 of how long the target ran
 * before it spun or lost its CPU. A holder runs on, a waiter spins at once.
 *
 * Decision:
 *	1. Never back: not the one whose time the spinner got, if that still has not returned from
 *	   its own spin. It has nothing to do but spin on, and would give the time back in turn.
 *	2. Fairness: if the last such boost is 100 ms ago, the one that waits longest of all,
 *	   whatever it does, if that is for more than 100 ms. So of n vCPUs that stay candidates
 *	   each is chosen within n + 1 such times, as far as somebody spins and the host does not
 *	   refuse.
 *	3. While neither kind is worth more than eight times the other (three octaves), and once in
 *	   64 boosts to find out: by turns among critical ones, as mode `critical` does, eligibility
 *	   included. (IPI targets are not preferred then: a guest sends many only to wake another
 *	   vCPU, and does not wait for those.)
 *	4. Else the lowest rank there is:
 *		WORTHY	 of the better kind
 *		IPI	 the spinner sent it an interrupt it has not taken
 *		SERVING	 woken inside a critical section, or shares nothing and has one pending
 *		UNKNOWN	 shares nothing, and fits the mode the spinner waits in, as in `kernel`
 *		OTHER	 of the other kind, or spins and shares nothing
 *	   One that is known to be preemptible is not chosen but by IPI and by rule 2: it cannot be
 *	   who the spinner waits for.
 *	5. Within a rank the one that waits longest, counted from its last boost if that came later:
 *	   a boost the scheduler ignored does not keep the others from theirs. Ties: by number.
 *	6. After a refusal the next in this order.
 */

#include "core/boost_internal.h"

/* Classes whose boosts differ by less are one: the order of waiting counts for more. */
#define CLEARLY_MORE (3 * VHALT_BOOST_WORTH_OCTAVE)

enum rank { RANK_WORTHY, RANK_IPI, RANK_SERVING, RANK_UNKNOWN, RANK_OTHER, RANK_NEVER };

/* Kind of a vCPU inside a critical section; VHALT_NR_BOOST_CLASSES: neither. */
static uint32_t class_of(const struct vhalt_boost_vcpu *vcpu, uint32_t flags)
{
	if (!(flags & VHALT_BOOST_IRQS_OFF) && !(flags & VHALT_BOOST_SHARED && vcpu->preempt_count))
		return VHALT_NR_BOOST_CLASSES;
	if (flags & VHALT_BOOST_SPINNING)
		return VHALT_BOOST_YIELDS;
	return flags & VHALT_BOOST_PREEMPTED ? VHALT_BOOST_PREEMPTS : VHALT_NR_BOOST_CLASSES;
}

static uint32_t rank_of(const struct vhalt_boost_request *request,
			const struct vhalt_boost_vcpu *vcpu, uint32_t flags, uint32_t preferred)
{
	uint32_t class = class_of(vcpu, flags);
	bool shared = flags & VHALT_BOOST_SHARED;
	bool critical = flags & VHALT_BOOST_IRQS_OFF || (shared && vcpu->preempt_count);

	if (class == preferred)
		return RANK_WORTHY;
	if (vcpu->ipi_from >= 0 && vcpu->ipi_from == request->self)
		return RANK_IPI;
	if (critical && class == VHALT_NR_BOOST_CLASSES)
		return RANK_SERVING;
	if (!shared && flags & VHALT_BOOST_IRQ_PENDING)
		return RANK_SERVING;
	if (!critical && (shared || !boost_mode_fits(request, flags)))
		return RANK_NEVER;
	return critical || flags & VHALT_BOOST_SPINNING ? RANK_OTHER : RANK_UNKNOWN;
}

static uint64_t waits_since_ns(const struct vhalt_boost_vcpu *vcpu)
{
	return core_max64(vcpu->since_ns, vcpu->boosted_ns);
}

/* Rule 2: who waits longest of all, if for too long. */
static int32_t longest_waiting(const struct vhalt_boost_request *request)
{
	uint64_t oldest_ns = core_sub_sat64(request->now_ns, VHALT_BOOST_FAIR_NS);
	int32_t found = VHALT_BOOST_NONE;

	for (uint32_t i = boost_candidate(request, 0, request->nr); i < request->nr;
	     i = boost_candidate(request, i + 1, request->nr)) {
		const struct vhalt_boost_vcpu *vcpu = &request->vcpus[i];
		uint32_t flags = boost_flags(vcpu);

		if (!boost_ready(request, i, flags) || boost_would_bounce(request, i, flags) ||
		    waits_since_ns(vcpu) >= oldest_ns)
			continue;
		oldest_ns = waits_since_ns(vcpu);
		found = (int32_t)i;
	}
	return found;
}

void boost_holder_name(const struct vhalt_boost_request *request, uint32_t i)
{
	struct vhalt_boost_vcpu *vcpu = &request->vcpus[i];
	uint32_t class = class_of(vcpu, boost_flags(vcpu));

	__atomic_store_n(&vcpu->named_as, class == VHALT_NR_BOOST_CLASSES ? 0 : class + 1,
			 __ATOMIC_RELAXED);
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

		if (!boost_ready(request, i, flags) || (int32_t)i == scan->ahead)
			continue;
		rank = rank_of(request, vcpu, flags, scan->preferred);
		since_ns = waits_since_ns(vcpu);
		if (rank > best_rank || rank == RANK_NEVER ||
		    (rank == best_rank && since_ns >= best_ns) ||
		    !is_later(scan, rank, since_ns, i) || boost_would_bounce(request, i, flags))
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
	boost_holder_name(request, (uint32_t)best);
	return best;
}

int32_t boost_holder_ahead(struct vhalt_boost *boost, const struct vhalt_boost_request *request)
{
	int32_t found = VHALT_BOOST_NONE;

	if (core_sub_sat64(request->now_ns, boost->fair_ns) >= VHALT_BOOST_FAIR_NS)
		found = longest_waiting(request);
	boost->fair = found;
	if (found >= 0)
		boost_holder_name(request, (uint32_t)found);
	return found;
}

uint32_t vhalt_boost_preferred(const struct vhalt_boost *boost)
{
	uint32_t preempts = __atomic_load_n(&boost->worth[VHALT_BOOST_PREEMPTS], __ATOMIC_RELAXED);
	uint32_t yields = __atomic_load_n(&boost->worth[VHALT_BOOST_YIELDS], __ATOMIC_RELAXED);

	if (boost->boosts % VHALT_BOOST_EXPLORE == 0)
		return VHALT_NR_BOOST_CLASSES;
	if (preempts > yields + CLEARLY_MORE)
		return VHALT_BOOST_PREEMPTS;
	return yields > preempts + CLEARLY_MORE ? VHALT_BOOST_YIELDS : VHALT_NR_BOOST_CLASSES;
}

void vhalt_boost_ran(struct vhalt_boost *boost, struct vhalt_boost_vcpu *vcpu, uint64_t ran_ns)
{
	uint32_t as = __atomic_load_n(&vcpu->boosted_as, __ATOMIC_RELAXED);
	uint32_t octaves, worth;

	if (!as || as > VHALT_NR_BOOST_CLASSES)
		return;
	__atomic_store_n(&vcpu->boosted_as, 0, __ATOMIC_RELAXED);
	octaves = core_fls64(ran_ns | 1) * VHALT_BOOST_WORTH_OCTAVE;
	worth = __atomic_load_n(&boost->worth[as - 1], __ATOMIC_RELAXED);
	/* Both begin equal, so that one long run says nothing yet. */
	if (!worth) {
		for (uint32_t i = 0; i < VHALT_NR_BOOST_CLASSES; i++)
			__atomic_store_n(&boost->worth[i], octaves, __ATOMIC_RELAXED);
		return;
	}
	worth = worth - (worth >> VHALT_BOOST_WORTH_SHIFT) + (octaves >> VHALT_BOOST_WORTH_SHIFT);
	__atomic_store_n(&boost->worth[as - 1], worth, __ATOMIC_RELAXED);
}

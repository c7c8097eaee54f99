// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Boost candidates: the modes, KVM's own scan, and the 2022 filter upon it.
/*
 * Observation: a vCPU that spins waits for another vCPU of its VM. If that one has no CPU, every
 * cycle spun is lost, and the spinner's time is best given to it. The hypervisor does not know who
 * it is. KVM guesses by turns; a guest that shares its preempt_count makes it an informed guess.
 *
 * Metric: none is computed here. What counts is the share of yields that hit the lock's holder, and
 * how long a preempted holder waits for a CPU.
 *
 * Mode `kernel`: virt/kvm/kvm_main.c, kvm_vcpu_on_spin() and its helpers.
 *	1. Start behind last_boosted_vcpu, go once around, that one last (two passes over the array
 *	   up to 6.12, one loop since: the same order).
 *	2. Skip the spinner; who is not ready (kvm_vcpu.ready: it waits for a CPU); who is blocked
 *	   with nothing pending.
 *	3. Skip who was preempted in user mode when the spinner spins in kernel mode, unless an
 *	   interrupt waits for it (kvm_arch_dy_has_pending_interrupt).
 *	4. Skip who spins itself, every other time: one that is found not eligible becomes eligible
 *	   for the next scan, and one found eligible loses it
 *	   (kvm_vcpu_eligible_for_directed_yield). Whoever leaves its spin starts as not eligible.
 *	5. The first one left gets the time. If the scheduler refuses, go on, until three refused.
 *	6. last_boosted_vcpu is the one that took it.
 * Up to 6.12 a refusal as the very last thing of the first pass ends the scan as well; here the
 * loop of later kernels is followed.
 *
 * Mode `critical`: "Boost vCPU which is in critical section", v2 of April 2022 (Wanpeng Li, kvm
 * list), between 3 and 4: skip who is preemptible, that is had interrupts enabled and shares a
 * preempt_count that is zero. Who shares nothing passes, so a VM that does not share is treated as
 * by `kernel`. (v1 had it the other way round.)
 *
 * Mode `holder` is in core/boost_holder.c.
 */

#include "core/boost_internal.h"

static const struct {
	const char *name, *summary;
} modes[VHALT_NR_BOOST_MODES] = {
	[VHALT_BOOST_KERNEL] = {"kernel", "what mainline Linux KVM does: by turns"},
	[VHALT_BOOST_CRITICAL] = {"critical", "by turns, but only inside critical sections"},
	[VHALT_BOOST_HOLDER] = {"holder", "by what boosts of such vCPUs led to before"},
};

uint32_t vhalt_boost_mode_find(const char *name)
{
	uint32_t mode = 0;

	while (mode < VHALT_NR_BOOST_MODES && !core_streq(modes[mode].name, name))
		mode++;
	return mode;
}

const char *vhalt_boost_mode_name(uint32_t mode)
{
	return mode < VHALT_NR_BOOST_MODES ? modes[mode].name : NULL;
}

const char *vhalt_boost_mode_summary(uint32_t mode)
{
	return mode < VHALT_NR_BOOST_MODES ? modes[mode].summary : NULL;
}

void vhalt_boost_init(struct vhalt_boost *boost, uint32_t mode)
{
	boost->mode = mode;
	boost->last_boosted = 0;
	boost->boosts = 0;
	boost->fair = VHALT_BOOST_NONE;
	boost->fair_ns = 0;
	for (uint32_t i = 0; i < VHALT_NR_BOOST_CLASSES; i++)
		boost->worth[i] = 0;
}

uint32_t boost_candidate(const struct vhalt_boost_request *request, uint32_t from, uint32_t end)
{
	uint64_t word;

	if (!request->candidates || from >= end)
		return core_min32(from, end);
	word = request->candidates[from / 64] >> from % 64 << from % 64;
	while (!word) {
		from = (from / 64 + 1) * 64;
		if (from >= end)
			return end;
		word = request->candidates[from / 64];
	}
	/* The lowest bit alone, so that its number is that of the highest. */
	from = from / 64 * 64 + core_fls64(word & (~word + 1)) - 1;
	return core_min32(from, end);
}

/* Rule 4, with its side effect. */
static bool eligible(struct vhalt_boost_vcpu *vcpu, uint32_t flags)
{
	if (!(flags & VHALT_BOOST_SPINNING))
		return true;
	__atomic_store_n(&vcpu->flags, flags ^ VHALT_BOOST_DY_ELIGIBLE, __ATOMIC_RELAXED);
	return flags & VHALT_BOOST_DY_ELIGIBLE;
}

static bool preemptible(uint32_t flags, uint32_t preempt_count)
{
	return !(flags & VHALT_BOOST_IRQS_OFF) && flags & VHALT_BOOST_SHARED && !preempt_count;
}

static bool passes(const struct vhalt_boost *boost, const struct vhalt_boost_request *request,
		   uint32_t i)
{
	struct vhalt_boost_vcpu *vcpu = &request->vcpus[i];
	uint32_t flags = boost_flags(vcpu);

	if (!boost_ready(request, i, flags) || !boost_mode_fits(request, flags))
		return false;
	if ((boost->mode == VHALT_BOOST_CRITICAL || boost->mode == VHALT_BOOST_HOLDER) &&
	    preemptible(flags, vcpu->preempt_count))
		return false;
	if (boost->mode == VHALT_BOOST_HOLDER && boost_would_bounce(request, i, flags))
		return false;
	return eligible(vcpu, flags);
}

/* Rules 1 to 5: on from where the scan stands. */
static int32_t next_by_turns(struct vhalt_boost_scan *scan, const struct vhalt_boost *boost,
			     const struct vhalt_boost_request *request)
{
	for (;;) {
		uint32_t end = scan->wrapped ? scan->start : request->nr;
		uint32_t i = boost_candidate(request, scan->next, end);

		if (i < end) {
			scan->next = i + 1;
			if ((int32_t)i == scan->ahead || !passes(boost, request, i))
				continue;
			if (boost->mode == VHALT_BOOST_HOLDER)
				boost_holder_name(request, i);
			return (int32_t)i;
		} else if (!scan->wrapped) {
			scan->wrapped = true;
			scan->next = 0;
		} else {
			return VHALT_BOOST_NONE;
		}
	}
}

int32_t vhalt_boost_first(struct vhalt_boost_scan *scan, struct vhalt_boost *boost,
			  const struct vhalt_boost_request *request)
{
	/* A VM that lost vCPUs since: as if the last one there is had been boosted. */
	scan->start = boost->last_boosted < request->nr ? boost->last_boosted + 1 : request->nr;
	scan->next = scan->start;
	scan->wrapped = false;
	scan->tries = 0;
	scan->index = VHALT_BOOST_NONE;
	scan->ahead = VHALT_BOOST_NONE;
	scan->preferred = VHALT_NR_BOOST_CLASSES;
	scan->rank = 0;
	scan->key_ns = 0;
	if (boost->mode == VHALT_BOOST_HOLDER) {
		scan->preferred = vhalt_boost_preferred(boost);
		scan->ahead = boost_holder_ahead(boost, request);
		if (scan->ahead >= 0)
			return scan->ahead;
	}
	return vhalt_boost_next(scan, boost, request);
}

int32_t vhalt_boost_next(struct vhalt_boost_scan *scan, const struct vhalt_boost *boost,
			 const struct vhalt_boost_request *request)
{
	if (scan->preferred != VHALT_NR_BOOST_CLASSES)
		return boost_holder_next(scan, request);
	return next_by_turns(scan, boost, request);
}

void vhalt_boost_done(struct vhalt_boost *boost, const struct vhalt_boost_request *request,
		      int32_t index)
{
	if (index < 0 || (uint32_t)index >= request->nr)
		return;
	boost->last_boosted = (uint32_t)index;
	boost->boosts++;
	if (index == boost->fair) {
		boost->fair = VHALT_BOOST_NONE;
		boost->fair_ns = request->now_ns;
	}
	request->vcpus[index].boosted_ns = request->now_ns;
	request->vcpus[index].boosted_by = request->self;
	if (boost->mode == VHALT_BOOST_HOLDER)
		__atomic_store_n(&request->vcpus[index].boosted_as, request->vcpus[index].named_as,
				 __ATOMIC_RELAXED);
}

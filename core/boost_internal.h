/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the boost modes share among themselves. */
#ifndef VHALT_CORE_BOOST_INTERNAL_H
#define VHALT_CORE_BOOST_INTERNAL_H

#include <vhalt/boost.h>

#include "core/deps.h"

/** boost_candidate - the first vCPU from @from on that is not left out, or @end. @end <= nr. */
uint32_t boost_candidate(const struct vhalt_boost_request *request, uint32_t from, uint32_t end);

/** boost_flags - the flags as they are at this moment; others may write them meanwhile. */
static inline uint32_t boost_flags(const struct vhalt_boost_vcpu *vcpu)
{
	return __atomic_load_n(&vcpu->flags, __ATOMIC_RELAXED);
}

/** boost_ready - does vCPU @i wait for a CPU, and is it another one? */
static inline bool boost_ready(const struct vhalt_boost_request *request, uint32_t i,
			       uint32_t flags)
{
	return (flags & (VHALT_BOOST_RUNNABLE | VHALT_BOOST_RUNNING)) == VHALT_BOOST_RUNNABLE &&
	       (int32_t)i != request->self;
}

/** boost_mode_fits - not preempted in user mode while the spinner waits for the kernel. */
static inline bool boost_mode_fits(const struct vhalt_boost_request *request, uint32_t flags)
{
	return !request->want_kernel || !(flags & VHALT_BOOST_PREEMPTED) ||
	       flags & (VHALT_BOOST_IRQ_PENDING | VHALT_BOOST_IN_KERNEL);
}

/** boost_would_bounce - is @i who gave the spinner its time, and still where it did so? */
static inline bool boost_would_bounce(const struct vhalt_boost_request *request, uint32_t i,
				      uint32_t flags)
{
	return request->self >= 0 && (uint32_t)request->self < request->nr &&
	       flags & VHALT_BOOST_SPINNING &&
	       request->vcpus[request->self].boosted_by == (int32_t)i;
}

/** boost_holder_name - note what kind @i is: once it has taken the boost, it may be running. */
void boost_holder_name(const struct vhalt_boost_request *request, uint32_t i);

/** boost_holder_ahead - whom mode `holder` names before all others, or VHALT_BOOST_NONE. */
int32_t boost_holder_ahead(struct vhalt_boost *boost, const struct vhalt_boost_request *request);

/** boost_holder_next - the next one of mode `holder` by rank. */
int32_t boost_holder_next(struct vhalt_boost_scan *scan, const struct vhalt_boost_request *request);

#endif

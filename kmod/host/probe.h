/* SPDX-License-Identifier: GPL-2.0-only */
/* What happens at the end of a halt: account for it, decide the window of the next one. */
#ifndef VHALT_KMOD_PROBE_H
#define VHALT_KMOD_PROBE_H

#include <linux/kvm_host.h>

#include <vhalt/policy.h>

#include "host/registry.h"

/** One decision with all that went into it; the tracepoint shows it. */
struct host_decision {
	struct vhalt_outcome outcome; /* of the halt that ended */
	struct vhalt_hint hint;	      /* for the one to come */
	u32 factor;		      /* price factor in force */
	u32 old_ns;		      /* window written before the halt */
	u32 kernel_ns;		      /* window KVM's own adaption just chose */
	u32 new_ns;		      /* window decided */
	u32 ceiling_ns;		      /* KVM's, VHALT_UNKNOWN_U32 where it cannot be seen */
	bool waited, valid;	      /* as KVM reports them */
};

/**
 * host_wakeup - the end of a halt: probe of kvm_vcpu_wakeup.
 * @vcpu:     the vCPU of the running thread, inside KVM_RUN
 * @param_ns: KVM's module parameter halt_poll_ns, or VHALT_UNKNOWN_U32
 * @halt_ns:  length of the halt, the wake-up latency included when it blocked
 * @waited:   it blocked
 * @valid:    KVM calls the wake-up valid
 *
 * Inputs of a decision as the policies see them:
 *  - outcome.halt_ns, flags POLLED and INVALID: KVM's own. wake_ns: unknown. window_ns: the window
 *    written at the last wake-up, cut to the ceiling; 0 when the guest forbids polling. CUT: it
 *    blocked and KVM's counters say it polled for less than that. FORCED: hint.must_block was set
 *    for it, or the guest forbids polling by now.
 *  - hint.run_ns: the run that led to the halt just ended, from this vCPU's last wake-up probe to
 *    (this probe's time - halt_ns), at least 0; unknown at its first halt. The run to come is not
 *    known yet: the window must be in place before it. deadline_ns: none, KVM's timers are private.
 *    must_block: the guest forbids polling, or the budget is spent.
 *
 * Preemption off, under rcu_read_lock().
 */
void host_wakeup(struct kvm_vcpu *vcpu, u32 param_ns, u64 halt_ns, bool waited, bool valid);

/** struct host_probe_counts - halts that came to nothing. */
struct host_probe_counts {
	u64 refused; /* no room for the vCPU's record */
	u64 gated;   /* decisions while the budget was spent */
};
void host_probe_counts(struct host_probe_counts *counts);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a vCPU's preempt_count out of guest memory, trusting nothing that is found there. */
#ifndef VHALT_KMOD_BOOST_SHARE_H
#define VHALT_KMOD_BOOST_SHARE_H

#include <linux/kvm_host.h>

#include <uapi/vhalt_guest.h>

/** What became of a read. */
enum host_share_result {
	HOST_SHARE_READ,  /* the count is there */
	HOST_SHARE_NONE,  /* the guest publishes nothing, as far as can be seen */
	HOST_SHARE_BAD,	  /* it publishes what this host does not understand */
	HOST_SHARE_FAULT, /* at an address without memory, or whose page is not present */
};

/**
 * host_share_read - the preempt_count of @vcpu, whose thread is running on this CPU.
 * @vcpu:       inside KVM_RUN, so that its VM cannot go
 * @registered: what it told by hypercall, or magic 0; used if its steal-time page holds nothing
 * @count:      receives the count, need_resched bits cleared, at most U32_MAX; 0 unless READ
 *
 * Nothing found is remembered: address, magic, version, width, bounds of the memory slot are checked
 * again at each call. Never sleeps, never faults a page in; needs preemption off only, and may be
 * called under the run queue's lock. The memory is that of `current`: any other mm is a FAULT.
 */
enum host_share_result host_share_read(struct kvm_vcpu *vcpu,
				       const struct vhalt_guest_share *registered, u32 *count);

#endif

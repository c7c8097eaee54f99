/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of the vCPUs of a boosted VM: who waits for a CPU, who does so inside a critical
 * section.
 */
#ifndef VHALT_KMOD_BOOST_VM_H
#define VHALT_KMOD_BOOST_VM_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/kvm_host.h>
#include <linux/rcupdate.h>

#include <uapi/vhalt_guest.h>
#include <vhalt/boost.h>

#include "host/boost_counts.h"
#include "host/registry.h"

/**
 * vCPUs of a VM that are looked at; those after that are left to KVM. Bounds a record to about
 * 32 KiB.
 */
#define HOST_BOOST_MAX_VCPUS 128

/**
 * struct host_boost_slot - one vCPU, by its index in KVM's array.
 *
 * Written by its own thread only: at its exits, and where it is switched out and in, which the
 * scheduler orders.
 */
struct host_boost_slot {
	const struct kvm_vcpu *key; /* who the rest is about; a name, never followed */
	u64 exits;		    /* KVM's count when last looked: it never shrinks */
	u64 exit_ns;		    /* its last exit */
	u64 in_ns;		    /* it got a CPU last then */
	u64 gap_ns;		    /* from a PAUSE exit to the next exit, usually */
	bool spins;		    /* the exit before this one was a PAUSE, not longer ago than that */
	u64 left_ns;		    /* it lost its CPU then, inside a critical section; 0: never */
	u64 returned_ns;	    /* and got one again then; before left_ns: it still waits */
	u64 yielded_ns;		    /* it gave its time away then; 0: that is settled */
	u32 seq;		    /* of the VM when it came back from that */
	int hint;		    /* vCPU KVM was steered to at its last exit, or -1 */
	struct vhalt_guest_share registered; /* by hypercall */
	struct host_boost_tally tally;
};

/**
 * struct host_boost - one VM while it is boosted.
 *
 * Made at the first exit of a vCPU, freed a grace period after the switch went off, or the process
 * ended. A process with several VMs at a time has its first one boosted.
 */
struct host_boost {
	const struct kvm *kvm; /* a name */
	unsigned long seen;    /* jiffies of the last exit of one of its vCPUs */
	atomic_t seq;	       /* events that (may) write KVM's last_boosted_vcpu */
	unsigned long waiting[BITS_TO_LONGS(HOST_BOOST_MAX_VCPUS)]; /* have no CPU against their will */
	unsigned long critical[BITS_TO_LONGS(HOST_BOOST_MAX_VCPUS)]; /* of these, count above zero */
	unsigned long holders[BITS_TO_LONGS(HOST_BOOST_MAX_VCPUS)];  /* of those, did not spin */
	struct vhalt_boost core;
	struct vhalt_boost_vcpu vcpus[HOST_BOOST_MAX_VCPUS];
	struct host_boost_slot slots[HOST_BOOST_MAX_VCPUS];
	atomic64_t wait_log2[VHALT_BOOST_WAIT_BUCKETS];
	struct rcu_head rcu;
};

/**
 * host_boost_init, host_boost_fini - the stock of records. Process context; init under the control
 * lock, and again for nothing. Return: 0 or -ENOMEM. fini: no record is left.
 */
int host_boost_init(void);
void host_boost_fini(void);

/**
 * host_boost_find - the record of the VM of @vcpu, or NULL. Under rcu_read_lock().
 * @pid: process of the vCPU's thread
 */
struct host_boost *host_boost_find(const struct kvm_vcpu *vcpu, pid_t pid);

/**
 * host_boost_make - make the record of the VM of @vcpu, if it is to be boosted and has none.
 *
 * Exit probe in the vCPU's thread, under rcu_read_lock(). Return: it, or NULL: not to be boosted,
 * or no room; try again.
 */
struct host_boost *host_boost_make(const struct kvm_vcpu *vcpu);

/**
 * host_boost_slot_of - the slot of @vcpu, cleared if it was another one's, or NULL: beyond the last.
 *
 * In the vCPU's own thread, or where that is switched in.
 */
struct host_boost_slot *host_boost_slot_of(struct host_boost *b, const struct kvm_vcpu *vcpu);

/** host_boost_forget - end the record of @vm, if it has one; its counts stay. Control lock. */
void host_boost_forget(struct host_vm *vm);

/** host_boost_counts - what was counted of @vm since it is known. Under rcu_read_lock(). */
void host_boost_counts(const struct host_vm *vm, struct host_boost_counts *counts);

/** host_boost_refused - times a VM to be boosted found no room. */
u64 host_boost_refused(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Boost: what happens when a vCPU loses its CPU, gets one, exits, and makes a hypercall. */
#ifndef VHALT_KMOD_BOOST_H
#define VHALT_KMOD_BOOST_H

#include <linux/kvm_host.h>
#include <linux/sched.h>

/*
 * All of these run in probes, with preemption off and under rcu_read_lock(), for any vCPU: they
 * find out themselves whether its VM is boosted. @vcpu is inside KVM_RUN.
 */

/**
 * host_boost_leave - the thread of @vcpu, current, is switched out. Under the run queue's lock.
 * @willing: it blocks, or dies; else it was preempted or gave its time away
 * @preempt: in the middle of the kernel's code, so not by a call of schedule()
 * @heir:    vCPU of the thread that runs next on this CPU, or NULL
 */
void host_boost_leave(struct kvm_vcpu *vcpu, bool willing, bool preempt,
		      const struct kvm_vcpu *heir);

/** host_boost_return - @task, thread of @vcpu, is switched in. Under the run queue's lock. */
void host_boost_return(struct kvm_vcpu *vcpu, struct task_struct *task);

/**
 * host_boost_exit - @vcpu, of current, has left guest mode; its exit is about to be handled.
 * @may_spin: the exit may be a PAUSE, as far as this kernel tells
 */
void host_boost_exit(struct kvm_vcpu *vcpu, bool may_spin);

/** host_boost_hypercall - @vcpu, of current, makes VHALT_GUEST_HC. */
void host_boost_hypercall(struct kvm_vcpu *vcpu, u64 a0, u64 a1, u64 a2, u64 a3);

#endif

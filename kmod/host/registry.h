/* SPDX-License-Identifier: GPL-2.0-only */
/* The VMs and vCPUs the module knows: bounded tables that probes read and fill. */
#ifndef VHALT_KMOD_REGISTRY_H
#define VHALT_KMOD_REGISTRY_H

#include <linux/kvm_host.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include <vhalt/policy.h>

#include "compat.h"
#include "host/boost_counts.h"
#include "host/settings.h"

/*
 * A VM is a process. Its record lives from its first halt, or from the first setting made for it,
 * to the end of the process. A vCPU's record lives from its first halt to the end of the process,
 * to the unloading of KVM, or, when the table is full, until it has not halted for a while.
 *
 * Records are found under rcu_read_lock() and freed a grace period after they were taken out of the
 * tables. One raw lock orders insertion and removal; it is held for a few instructions, or for the
 * vCPUs of one VM.
 */

/** Bounds of the module parameters. */
#define HOST_MAX_VMS_MOST   65536
#define HOST_MAX_VCPUS_MOST 262144

struct host_vm {
	struct hlist_node node; /* in the table, by pid */
	struct hlist_head vcpus;
	pid_t pid; /* thread group id in the initial PID namespace */
	u32 nr_vcpus;
	bool gone; /* the process has ended: not to be found any more */
	char name[TASK_COMM_LEN];
	struct host_settings __rcu *settings; /* its own, or NULL: the default */
	u32 boost_choice;		      /* enum vhalt_boost_mode, HOST_BOOST_... */
	struct host_boost __rcu *boost;	      /* while it is boosted */
	struct host_boost_counts boosted;     /* counted while it was, earlier */
	struct rcu_head rcu;
};

/** What a vCPU's thread counts; others only read. */
struct host_counts {
	u64 halts, polled, blocked, invalid, cut;
	u64 useful_ns, wasted_ns, halted_ns;
	u64 decisions, grown, shrunk, clipped;
};

struct host_vcpu {
	struct hlist_node node; /* in the table, by key */
	struct hlist_node of_vm;
	/*
	 * Who it is. The pointers are names: never followed, since KVM may have freed what they
	 * point to.
	 */
	const struct kvm_vcpu *key;
	const struct kvm *kvm;
	struct host_vm *vm;
	int id;
	pid_t tid;
	bool linked; /* in the tables; under their lock */

	/* All below is written by the vCPU's own thread only, in its wake-up probe. */
	u64 generation;		 /* of the settings it follows; 0: none yet */
	u64 seq;		 /* decisions since its state began, this one not counted */
	u64 woken_ns;		 /* end of its last halt */
	struct compat_sums sums; /* KVM's own at that moment */
	u32 policy;		 /* enum vhalt_policy_id, or HOST_POLICY_KERNEL */
	u32 window_ns;		 /* left in the vCPU for its next halt */
	u32 ceiling_ns;
	u32 kernel_window_ns; /* what KVM had there when a policy of ours took over */
	bool must_block;      /* the last decision was made under this hint */
	struct host_counts counts;
	struct vhalt_state state;
	struct rcu_head rcu;
};

/**
 * host_registry_init - make the tables.
 * @max_vms: 1 to HOST_MAX_VMS_MOST
 * @max_vcpus: 1 to HOST_MAX_VCPUS_MOST
 *
 * Process context. Return: 0 or -ENOMEM.
 */
int host_registry_init(unsigned int max_vms, unsigned int max_vcpus);

/** host_registry_fini - drop everything. No probe may run any more. Process context. */
void host_registry_fini(void);

/** host_vcpu_find - the record of @vcpu, or NULL. Probe, under rcu_read_lock(). */
struct host_vcpu *host_vcpu_find(const struct kvm_vcpu *vcpu);

/**
 * host_vcpu_add - make a record of @vcpu, and of its VM if that is new.
 *
 * Probe in the vCPU's own thread, inside KVM_RUN, under rcu_read_lock(). The caller knows that
 * there is none. Return: the record, or NULL: a table is full or no spare is at hand; try at the
 * next halt.
 */
struct host_vcpu *host_vcpu_add(struct kvm_vcpu *vcpu);

/** host_vcpu_drop - take a record out of the table. Any context but NMI, under rcu_read_lock(). */
void host_vcpu_drop(struct host_vcpu *vcpu);

/** host_vcpus_drop_all - KVM is gone, and all vCPUs with it. Process context. */
void host_vcpus_drop_all(void);

/**
 * host_vm_get - the record of process @pid, made if there is none.
 *
 * Process context, under the control lock. Return: the record, valid while the lock is held, or an
 * error pointer: -ESRCH (no such process), -ENOSPC (table full), -ENOMEM.
 */
struct host_vm *host_vm_get(pid_t pid);

/** host_vm_find - the record of process @pid, or NULL. Under rcu_read_lock() or the control lock.
 */
struct host_vm *host_vm_find(pid_t pid);

/**
 * host_vm_add_current - make a record of the current process.
 *
 * Probe of a vCPU's thread, under rcu_read_lock(). Return: the record, the one there is by now, or
 * NULL: the table is full or no spare is at hand.
 */
struct host_vm *host_vm_add_current(void);

/**
 * host_registry_exit - a task ends: probe of sched_process_exit.
 *
 * If it is the last of its process, the VM's records are marked, and dropped soon by a worker.
 */
void host_registry_exit(struct task_struct *task);

/** struct host_cursor - where a walk over a table is. Zero: at the beginning. */
struct host_cursor {
	u32 bucket, skip;
};

/**
 * host_vms_walk, host_vcpus_walk - call @visit for each record from @at on.
 * @visit: not 0 ends the walk; it goes on with the same record next time
 *
 * Under rcu_read_lock(), or the control lock for VMs. Records that come and go between two parts of
 * a walk may be missed or seen twice. Return: what @visit returned, or 0 at the end.
 */
int host_vms_walk(struct host_cursor *at, int (*visit)(struct host_vm *vm, void *arg), void *arg);
int host_vcpus_walk(struct host_cursor *at, int (*visit)(struct host_vcpu *vcpu, void *arg),
		    void *arg);

/** What there is, and how much of it there may be. Any context. */
struct host_registry_counts {
	u32 nr_vms, nr_vcpus, max_vms, max_vcpus;
};
void host_registry_counts(struct host_registry_counts *counts);

/**
 * host_control_lock - serializes all changes made by user space, the budget and the removal of VMs.
 *
 * Process context, may sleep. Never taken by a probe.
 */
void host_control_lock(void);
void host_control_unlock(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's only contact with KVM: two tracepoints, found by name, no symbol of kvm.ko. */
#ifndef VHALT_KMOD_HOOK_H
#define VHALT_KMOD_HOOK_H

#include <linux/types.h>

struct kvm_vcpu;
struct task_struct;

/**
 * host_vcpu_of - the vCPU @task runs, or NULL: it is not inside KVM_RUN.
 * @task: current, or where tasks are switched the next one: nobody changes its notifiers meanwhile
 *
 * Probe, preemption off. The vCPU and its VM stay while @task does not run on.
 */
struct kvm_vcpu *host_vcpu_of(const struct task_struct *task);

/**
 * host_hook_init - begin to watch process exits and, now or as soon as KVM is loaded, its halts.
 *
 * Process context. Return: 0, -ENOENT (this kernel lacks a tracepoint), -ENOMEM, or what
 * registering a probe returned.
 */
int host_hook_init(void);

/** host_hook_fini - stop; no probe runs any more when it returns. Process context. */
void host_hook_fini(void);

/** struct host_hook_view - what user space is told about the hook. */
struct host_hook_view {
	bool attached;	/* KVM is loaded and its halts are seen */
	u32 ceiling_ns; /* KVM's module parameter, VHALT_UNKNOWN_U32 where it cannot be seen */
	u64 unknown;	/* halts in threads in which no vCPU could be found */
};
void host_hook_view(struct host_hook_view *view);

#endif

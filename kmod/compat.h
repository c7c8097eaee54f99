/* SPDX-License-Identifier: GPL-2.0-only */
/* All the module knows about differences between kernel versions; no other file tests a version. */
#ifndef VHALT_KMOD_COMPAT_H
#define VHALT_KMOD_COMPAT_H

#include <linux/kvm_host.h>
#include <linux/version.h>
#include <net/genetlink.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "vhalt_kvm needs Linux 5.10 or later"
#endif
#if !IS_ENABLED(CONFIG_KVM)
#error "vhalt_kvm needs a kernel with KVM (CONFIG_KVM)"
#endif
#ifndef CONFIG_PREEMPT_NOTIFIERS
#error "vhalt_kvm finds vCPUs by their preempt notifiers (CONFIG_PREEMPT_NOTIFIERS)"
#endif
#ifndef CONFIG_64BIT
#error "vhalt_kvm reads 64-bit counters of other CPUs; 32-bit kernels would tear them"
#endif

/* sched_process_exit carries "last thread of its group" since 6.16. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define COMPAT_PROCESS_EXIT_ARGS void *data, struct task_struct *task, bool group_dead
#else
#define COMPAT_PROCESS_EXIT_ARGS void *data, struct task_struct *task
#endif

/* The source of a trace event's string is named once, in its __string(), since 6.10. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define COMPAT_ASSIGN_STR(field, source) __assign_str(field)
#else
#define COMPAT_ASSIGN_STR(field, source) __assign_str(field, source)
#endif

/* Families tell since 6.1 from which command on headers and attributes are checked strictly. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
#define COMPAT_GENL_STRICT_FROM(first_cmd) .resv_start_op = (first_cmd),
#else
#define COMPAT_GENL_STRICT_FROM(first_cmd)
#endif

/* The operation is described by a split copy since 6.2. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define COMPAT_GENL_PRE_DOIT_ARGS                                                                  \
	const struct genl_split_ops *op, struct sk_buff *skb, struct genl_info *info
#else
#define COMPAT_GENL_PRE_DOIT_ARGS                                                                  \
	const struct genl_ops *op, struct sk_buff *skb, struct genl_info *info
#endif

/** compat_rcu_start - begin to wait for the readers of now. Process context. */
static inline unsigned long compat_rcu_start(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 13, 0)
	return start_poll_synchronize_rcu();
#else
	return get_state_synchronize_rcu();
#endif
}

/**
 * compat_rcu_over - are the readers of compat_rcu_start() gone?
 *
 * Process context. Before 5.13 one cannot ask, only wait: it then sleeps and says true.
 */
static inline bool compat_rcu_over(unsigned long state)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 13, 0)
	return poll_state_synchronize_rcu(state);
#else
	cond_synchronize_rcu(state);
	return true;
#endif
}

/** What KVM has summed up about the halts of a vCPU since it was created. */
struct compat_sums {
	u64 useful_ns;	/* polled by halts that ended while polling */
	u64 wasted_ns;	/* polled by halts that blocked in the end */
	u64 blocked_ns; /* before 5.14: 0 */
};

/** compat_sums - read them, in the vCPU's own thread. */
static inline struct compat_sums compat_sums(const struct kvm_vcpu *vcpu)
{
	struct compat_sums sums = {};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 14, 0)
	sums.useful_ns = vcpu->stat.generic.halt_poll_success_ns;
	sums.wasted_ns = vcpu->stat.generic.halt_poll_fail_ns;
	sums.blocked_ns = vcpu->stat.generic.halt_wait_ns;
#else
	sums.useful_ns = vcpu->stat.halt_poll_success_ns;
	sums.wasted_ns = vcpu->stat.halt_poll_fail_ns;
#endif
	return sums;
}

/**
 * compat_ceiling_ns - the longest window KVM grants @vcpu.
 * @param_ns: KVM's module parameter halt_poll_ns
 *
 * Until 6.1 a VM took a copy of the parameter when it was created; since then a VM has a ceiling of
 * its own only once its owner asked for one (9eb8ca049c23).
 */
static inline u32 compat_ceiling_ns(const struct kvm_vcpu *vcpu, u32 param_ns)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
	if (!READ_ONCE(vcpu->kvm->override_halt_poll_ns))
		return param_ns;
#endif
	return READ_ONCE(vcpu->kvm->max_halt_poll_ns);
}

/**
 * compat_window_ns - what to write so that a vCPU polls @window_ns, but no longer than allowed.
 *
 * KVM cuts a window to the ceiling at the start of each halt since 6.1 (97b6847ac10b), not before.
 */
static inline u32 compat_window_ns(u32 window_ns, u32 ceiling_ns)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
	return window_ns;
#else
	return min(window_ns, ceiling_ns);
#endif
}

/** compat_no_poll - has the guest of @vcpu asked KVM not to poll for it? In the vCPU's thread. */
static inline bool compat_no_poll(const struct kvm_vcpu *vcpu)
{
#ifdef CONFIG_X86
	return !(vcpu->arch.msr_kvm_poll_control & 1);
#else
	return false;
#endif
}

#endif

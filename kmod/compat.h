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

/* sched_switch passes the leaving task's state since 5.18; before, it is still in the task. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
#define COMPAT_SCHED_SWITCH_ARGS                                                                   \
	void *data, bool preempt, struct task_struct *prev, struct task_struct *next,              \
		unsigned int prev_state
#define COMPAT_PREV_STATE prev_state
#else
#define COMPAT_SCHED_SWITCH_ARGS                                                                   \
	void *data, bool preempt, struct task_struct *prev, struct task_struct *next
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 14, 0)
#define COMPAT_PREV_STATE READ_ONCE(prev->__state)
#else
#define COMPAT_PREV_STATE READ_ONCE(prev->state)
#endif
#endif

/*
 * kvm_exit gave the reason until 5.15 (0a62a0319abb took it out). A PAUSE is 40 in VMX's numbers
 * and 0x77 in SVM's; neither means something else, that is frequent, in the other's.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 16, 0)
#define COMPAT_KVM_EXIT_ARGS void *data, struct kvm_vcpu *exiting, u32 isa
#define COMPAT_EXIT_MAY_SPIN true
#else
#define COMPAT_KVM_EXIT_ARGS                                                                       \
	void *data, unsigned int exit_reason, struct kvm_vcpu *exiting, u32 isa
#define COMPAT_EXIT_MAY_SPIN (exit_reason == 40 || exit_reason == 0x77)
#endif

/*
 * What KVM keeps of a vCPU that spins: host/boost.c tells what it means. Architectures without
 * PAUSE exits have none of it.
 */
#ifdef CONFIG_HAVE_KVM_CPU_RELAX_INTERCEPT
#define COMPAT_HAS_DIRECTED_YIELD 1

/** compat_in_spin_loop - is @vcpu's thread, which is running here, inside kvm_vcpu_on_spin()? */
static inline bool compat_in_spin_loop(const struct kvm_vcpu *vcpu)
{
	return READ_ONCE(vcpu->spin_loop.in_spin_loop);
}

/** compat_spin_arm - at an exit: prepare that compat_spun() can tell. */
static inline void compat_spin_arm(struct kvm_vcpu *vcpu)
{
	if (!READ_ONCE(vcpu->spin_loop.dy_eligible))
		WRITE_ONCE(vcpu->spin_loop.dy_eligible, true);
}

/** compat_spun - since the last compat_spin_arm(), was there a kvm_vcpu_on_spin()? */
static inline bool compat_spun(const struct kvm_vcpu *vcpu)
{
	return compat_in_spin_loop(vcpu) || !READ_ONCE(vcpu->spin_loop.dy_eligible);
}

/** compat_spin_settle - when @vcpu begins to wait for a CPU: dy_eligible as KVM itself has it. */
static inline void compat_spin_settle(struct kvm_vcpu *vcpu)
{
	if (compat_in_spin_loop(vcpu))
		WRITE_ONCE(vcpu->spin_loop.dy_eligible, false);
}

/** compat_make_eligible - KVM's next scan may pick @vcpu though it spins. A racy hint, as in KVM. */
static inline void compat_make_eligible(struct kvm_vcpu *vcpu)
{
	if (compat_in_spin_loop(vcpu))
		WRITE_ONCE(vcpu->spin_loop.dy_eligible, true);
}
#else
#define COMPAT_HAS_DIRECTED_YIELD 0
static inline bool compat_in_spin_loop(const struct kvm_vcpu *vcpu)
{
	return false;
}

static inline void compat_spin_arm(struct kvm_vcpu *vcpu)
{
}

static inline bool compat_spun(const struct kvm_vcpu *vcpu)
{
	return false;
}

static inline void compat_spin_settle(struct kvm_vcpu *vcpu)
{
}

static inline void compat_make_eligible(struct kvm_vcpu *vcpu)
{
}
#endif

/** compat_exits - exits of @vcpu since it was created; 0 where KVM does not count them. */
static inline u64 compat_exits(const struct kvm_vcpu *vcpu)
{
#ifdef CONFIG_X86
	return READ_ONCE(vcpu->stat.exits);
#else
	return 0;
#endif
}

/** compat_steal_gpa - where the guest has its steal-time page, or false: nowhere. Own thread. */
static inline bool compat_steal_gpa(const struct kvm_vcpu *vcpu, u64 *gpa)
{
#ifdef CONFIG_X86
	*gpa = vcpu->arch.st.msr_val & KVM_STEAL_VALID_BITS;
	return vcpu->arch.st.msr_val & KVM_MSR_ENABLED;
#else
	return false;
#endif
}

/** compat_real_mode - has the guest of @vcpu not left real mode? Own thread, outside the guest. */
static inline bool compat_real_mode(const struct kvm_vcpu *vcpu)
{
#ifdef CONFIG_X86
	return !(vcpu->arch.cr0 & X86_CR0_PE);
#else
	return false;
#endif
}

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

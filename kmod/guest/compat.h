/* SPDX-License-Identifier: GPL-2.0-only */
/* All the guest module knows about differences between kernel versions. */
#ifndef VHALT_GUEST_COMPAT_H
#define VHALT_GUEST_COMPAT_H

/* Not ../compat.h: that one is the host module's and wants a kernel with KVM. */

#include <linux/context_tracking.h>
#include <linux/cpuidle.h>
#include <linux/rcupdate.h>
#include <linux/version.h>
#include <asm/current.h>
#include <asm/msr.h>
#include <asm/preempt.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 16, 0)
#include <linux/cc_platform.h>
#else
#include <linux/mem_encrypt.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "vhalt_guest needs Linux 5.10 or later"
#endif
#if !defined(CONFIG_X86_64) || !defined(CONFIG_KVM_GUEST)
#error "vhalt_guest is for x86-64 kernels that can be guests of KVM (CONFIG_KVM_GUEST)"
#endif
#if !defined(CONFIG_CPU_IDLE) || !defined(CONFIG_ARCH_CPUIDLE_HALTPOLL)
#error "vhalt_guest needs CONFIG_CPU_IDLE and CONFIG_HALTPOLL_CPUIDLE"
#endif

/**
 * compat_idle_begin - RCU stops watching this CPU: the last thing before it polls or halts.
 *
 * Interrupts off. From here to compat_idle_end() only noinstr code may run.
 */
static __always_inline void compat_idle_begin(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	ct_cpuidle_enter();
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	ct_idle_enter();
#else
	rcu_idle_enter();
#endif
}

/** compat_idle_end - RCU watches again. Interrupts off. */
static __always_inline void compat_idle_end(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	ct_cpuidle_exit();
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	ct_idle_exit();
#else
	rcu_idle_exit();
#endif
}

/* The per-CPU variable with the preempt_count; exported in all versions. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define COMPAT_PREEMPT_COUNT pcpu_hot.preempt_count
#else
#define COMPAT_PREEMPT_COUNT __preempt_count
#endif

/** compat_memory_is_encrypted - is this a guest whose memory the host cannot read (SEV, TDX)? */
static inline bool compat_memory_is_encrypted(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 16, 0)
	return cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT);
#else
	return mem_encrypt_active();
#endif
}

/** compat_rdmsr_safe - read an MSR of this CPU; 0 or -EIO. */
static inline int compat_rdmsr_safe(u32 msr, u64 *value)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	return rdmsrq_safe(msr, value);
#else
	return rdmsrl_safe(msr, value);
#endif
}

#endif

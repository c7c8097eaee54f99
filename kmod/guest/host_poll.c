// SPDX-License-Identifier: GPL-2.0-only
// Stops the host's halt polling per CPU, through the kernel's own helper.

#include "guest/host_poll.h"

#include <linux/cpuidle_haltpoll.h>
#include <linux/cpu.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/reboot.h>
#include <linux/string.h>
#include <asm/kvm_para.h>
#include <asm/processor.h>

#include "guest/compat.h"
#include "guest/cpu.h"
#include "guest/settings.h"

/*
 * The kernel's list of KVM's features is not exported, and its helper complains in the log where
 * the host cannot be asked. So look first. The leaves may start at any of these, after another
 * hypervisor's.
 */
static bool host_can_be_asked(void)
{
	u32 base, eax, signature[3];

	for (base = 0x40000000; base < 0x40010000; base += 0x100) {
		cpuid(base, &eax, &signature[0], &signature[1], &signature[2]);
		if (!memcmp("KVMKVMKVM\0\0\0", signature, sizeof(signature)))
			return cpuid_eax(base | KVM_CPUID_FEATURES) & BIT(KVM_FEATURE_POLL_CONTROL);
	}
	return false;
}

static bool host_polls(void)
{
	u64 control;

	return !compat_rdmsr_safe(MSR_KVM_POLL_CONTROL, &control) && control & 1;
}

void guest_host_poll_take(unsigned int nr)
{
	struct guest_cpu *cpu = per_cpu_ptr(guest_cpus, nr);

	if (!guest_settings.polls || !host_can_be_asked() || !host_polls())
		return;
	arch_haltpoll_enable(nr);
	WRITE_ONCE(cpu->host_poll_taken, true);
}

void guest_host_poll_give_back(unsigned int nr)
{
	struct guest_cpu *cpu = per_cpu_ptr(guest_cpus, nr);

	if (!cpu->host_poll_taken)
		return;
	arch_haltpoll_disable(nr);
	WRITE_ONCE(cpu->host_poll_taken, false);
}

/* The next kernel (kexec) finds the MSR as we leave it, and has no idea of it. */
static int rebooting(struct notifier_block *nb, unsigned long action, void *command)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		guest_host_poll_give_back(cpu);
	cpus_read_unlock();
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = {
	.notifier_call = rebooting,
};

int guest_host_poll_init(void)
{
	return register_reboot_notifier(&reboot_notifier);
}

void guest_host_poll_fini(void)
{
	unregister_reboot_notifier(&reboot_notifier);
}

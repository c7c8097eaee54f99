// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What an exit from KVM_RUN means: done, an exception in the guest, or something nobody expects.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "vmm/internal.h"

static const char *const reason_names[] = {
	[KVM_EXIT_UNKNOWN] = "UNKNOWN",
	[KVM_EXIT_EXCEPTION] = "EXCEPTION",
	[KVM_EXIT_IO] = "IO",
	[KVM_EXIT_HYPERCALL] = "HYPERCALL",
	[KVM_EXIT_DEBUG] = "DEBUG",
	[KVM_EXIT_HLT] = "HLT",
	[KVM_EXIT_MMIO] = "MMIO",
	[KVM_EXIT_IRQ_WINDOW_OPEN] = "IRQ_WINDOW_OPEN",
	[KVM_EXIT_SHUTDOWN] = "SHUTDOWN",
	[KVM_EXIT_FAIL_ENTRY] = "FAIL_ENTRY",
	[KVM_EXIT_INTR] = "INTR",
	[KVM_EXIT_SET_TPR] = "SET_TPR",
	[KVM_EXIT_TPR_ACCESS] = "TPR_ACCESS",
	[KVM_EXIT_NMI] = "NMI",
	[KVM_EXIT_INTERNAL_ERROR] = "INTERNAL_ERROR",
	[KVM_EXIT_SYSTEM_EVENT] = "SYSTEM_EVENT",
	[KVM_EXIT_IOAPIC_EOI] = "IOAPIC_EOI",
	[KVM_EXIT_HYPERV] = "HYPERV",
	[KVM_EXIT_X86_RDMSR] = "X86_RDMSR",
	[KVM_EXIT_X86_WRMSR] = "X86_WRMSR",
	[KVM_EXIT_DIRTY_RING_FULL] = "DIRTY_RING_FULL",
	[KVM_EXIT_X86_BUS_LOCK] = "X86_BUS_LOCK",
	[KVM_EXIT_NOTIFY] = "NOTIFY",
};

static const char *reason_name(uint32_t reason)
{
	if (reason < sizeof(reason_names) / sizeof(reason_names[0]) && reason_names[reason])
		return reason_names[reason];
	return "not known to this build";
}

/* What this kind of exit tells beyond its number. */
static void describe(const struct kvm_run *run, char *text, size_t bytes)
{
	switch (run->exit_reason) {
	case KVM_EXIT_IO:
		snprintf(text, bytes, ", %s port 0x%x, %u byte(s)",
			 run->io.direction == KVM_EXIT_IO_OUT ? "OUT to" : "IN from", run->io.port,
			 run->io.size);
		break;
	case KVM_EXIT_MMIO:
		snprintf(text, bytes, ", %s of %u byte(s) at guest-physical 0x%llx",
			 run->mmio.is_write ? "write" : "read", run->mmio.len, run->mmio.phys_addr);
		break;
	case KVM_EXIT_SHUTDOWN: snprintf(text, bytes, ", triple fault"); break;
	case KVM_EXIT_FAIL_ENTRY:
		snprintf(text, bytes, ", hardware reason 0x%llx",
			 run->fail_entry.hardware_entry_failure_reason);
		break;
	case KVM_EXIT_INTERNAL_ERROR:
		snprintf(text, bytes, ", suberror %u", run->internal.suberror);
		break;
	case KVM_EXIT_SYSTEM_EVENT:
		snprintf(text, bytes, ", event %u", run->system_event.type);
		break;
	default: text[0] = '\0';
	}
}

static enum vmm_end fail(struct vmm_vcpu *vcpu, const char *what, uint64_t rip)
{
	vcpu->error = vmm_error_set(&vcpu->error_text, -EIO,
				    "guest %s, vCPU %u: %s at RIP 0x%" PRIx64,
				    vcpu->vm->guest->name, vcpu->n, what, rip);
	return VMM_END_FAILED;
}

static enum vmm_end fail_exit(struct vmm_vcpu *vcpu, uint64_t rip)
{
	const struct kvm_run *run = vcpu->run;
	char detail[96], what[192];

	describe(run, detail, sizeof(detail));
	snprintf(what, sizeof(what), "unexpected exit %u (%s)%s", run->exit_reason,
		 reason_name(run->exit_reason), detail);
	return fail(vcpu, what, rip);
}

/* The fault stub left a struct vmm_abi_fault where RSP points; RSP is the guest's: anything. */
static enum vmm_end fail_exception(struct vmm_vcpu *vcpu, const struct kvm_regs *regs)
{
	struct vmm_abi_fault fault;
	const void *stack = vmm_ram_at(vcpu->vm, regs->rsp, sizeof(fault));
	char what[160];

	if (!stack)
		return fail(vcpu, "exception with its stack outside guest memory", regs->rip);
	memcpy(&fault, stack, sizeof(fault));
	snprintf(what, sizeof(what),
		 "exception %" PRIu64 ", error code 0x%" PRIx64 ", CS 0x%" PRIx64 ", RSP 0x%" PRIx64
		 ", RFLAGS 0x%" PRIx64,
		 fault.vector, fault.error_code, fault.cs, fault.rsp, fault.rflags);
	return fail(vcpu, what, fault.rip);
}

enum vmm_end vmm_exit_judge(struct vmm_vcpu *vcpu)
{
	const struct kvm_run *run = vcpu->run;
	bool out = run->exit_reason == KVM_EXIT_IO && run->io.direction == KVM_EXIT_IO_OUT;
	struct kvm_regs regs;

	if (run->exit_reason == KVM_EXIT_INTR)
		return VMM_END_NONE;
	if (vcpu->vm->config.irqchip == VMM_IRQCHIP_USER) {
		if (run->exit_reason == KVM_EXIT_HLT)
			return vmm_irqchip_halt(vcpu);
		if (run->exit_reason == KVM_EXIT_IRQ_WINDOW_OPEN)
			return vmm_irqchip_window(vcpu);
		if (run->exit_reason == KVM_EXIT_MMIO && !vmm_irqchip_access(vcpu))
			return VMM_END_NONE;
	}
	if (out && run->io.port == VMM_ABI_PORT_DONE)
		return VMM_END_DONE;
	if (ioctl(vcpu->fd, KVM_GET_REGS, &regs)) {
		vcpu->error = -errno;
		vmm_error_set(&vcpu->error_text, 0,
			      "guest %s, vCPU %u: exit %u (%s), RIP unknown: %s",
			      vcpu->vm->guest->name, vcpu->n, run->exit_reason,
			      reason_name(run->exit_reason), strerror(-vcpu->error));
		return VMM_END_FAILED;
	}
	if (out && run->io.port == VMM_ABI_PORT_FAULT)
		return fail_exception(vcpu, &regs);
	return fail_exit(vcpu, regs.rip);
}

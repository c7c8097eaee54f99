// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The interrupt controller in user space: halts wait in libvhalt's engine, not in KVM.
/*
 * Guests run with interrupts off but for their HLT (abi.h), so there is one place to inject at: the
 * exit of that HLT, or if KVM does not take the interrupt there, the next moment it does, which it
 * is asked to tell. What arrives earlier waits in the LAPIC or the mailbox, and is found before the
 * vCPU waits. No wake-up is lost: a sender fills the mailbox first and kicks then; the vCPU takes
 * the kick first and empties the mailbox then. So a kick taken belongs to what is in the mailbox,
 * or to what has been served already, and one that comes later ends the wait.
 */
#include "vmm/irqchip.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "util/clock.h"
#include "vmm/internal.h"

void vmm_irqchip_init(struct vmm_vcpu *vcpu, struct vhalt_engine *engine)
{
	vhalt_waiter_init(&vcpu->irqchip.waiter, engine);
	vmm_irqchip_reset(vcpu);
}

void vmm_irqchip_reset(struct vmm_vcpu *vcpu)
{
	vmm_lapic_init(&vcpu->irqchip.lapic, vcpu->n);
	for (int i = 0; i < 4; i++)
		atomic_store(&vcpu->irqchip.posted[i], 0);
}

static void post(struct vmm_vcpu *to, uint8_t vector)
{
	atomic_fetch_or(&to->irqchip.posted[vector / 64], 1ULL << vector % 64);
	vhalt_waiter_kick(&to->irqchip.waiter);
}

static void empty_mailbox(struct vmm_irqchip_vcpu *chip)
{
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t bits = atomic_load(&chip->posted[i]);

		if (bits)
			bits = atomic_exchange(&chip->posted[i], 0);
		for (; bits; bits &= bits - 1)
			vmm_lapic_accept(&chip->lapic,
					 (uint8_t)(64 * i + (unsigned int)__builtin_ctzll(bits)));
	}
}

static enum vmm_end fail(struct vmm_vcpu *vcpu, int err, const char *what)
{
	vcpu->error = vmm_error_set(&vcpu->error_text, err, "guest %s, vCPU %u: %s",
				    vcpu->vm->guest->name, vcpu->n, what);
	return VMM_END_FAILED;
}

static enum vmm_end inject(struct vmm_vcpu *vcpu, uint8_t vector)
{
	struct kvm_interrupt interrupt = {.irq = vector};

	vcpu->run->request_interrupt_window = !vcpu->run->ready_for_interrupt_injection;
	if (vcpu->run->request_interrupt_window)
		return VMM_END_NONE;
	if (ioctl(vcpu->fd, KVM_INTERRUPT, &interrupt))
		return fail(vcpu, -errno, "KVM_INTERRUPT is refused");
	vmm_lapic_deliver(&vcpu->irqchip.lapic, vector);
	return VMM_END_NONE;
}

enum vmm_end vmm_irqchip_halt(struct vmm_vcpu *vcpu)
{
	struct vmm_irqchip_vcpu *chip = &vcpu->irqchip;

	if (!vcpu->run->if_flag)
		return fail(vcpu, -EIO, "HLT with interrupts disabled");
	if (vhalt_waiter_kicked(&chip->waiter))
		vhalt_waiter_wait(&chip->waiter, 0);
	for (;;) {
		int vector;

		empty_mailbox(chip);
		vmm_lapic_advance(&chip->lapic, clock_now_ns());
		vector = vmm_lapic_pending(&chip->lapic);
		if (vector >= 0)
			return inject(vcpu, (uint8_t)vector);
		if (atomic_load(&vcpu->vm->leaving) || atomic_load(&vcpu->vm->parking))
			return VMM_END_NONE;
		vhalt_waiter_wait(&chip->waiter, vmm_lapic_deadline_ns(&chip->lapic));
	}
}

enum vmm_end vmm_irqchip_window(struct vmm_vcpu *vcpu)
{
	int vector;

	empty_mailbox(&vcpu->irqchip);
	vector = vmm_lapic_pending(&vcpu->irqchip.lapic);
	if (vector >= 0)
		return inject(vcpu, (uint8_t)vector);
	vcpu->run->request_interrupt_window = 0;
	return VMM_END_NONE;
}

static void send(struct vmm_vcpu *from, const struct vmm_lapic_ipi *ipi)
{
	struct vmm *vm = from->vm;

	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++) {
		bool own = n == from->n, named = ipi->to == n || ipi->to == 0xff;

		if (ipi->self || ipi->others ? (own ? ipi->self : ipi->others) : named)
			post(&vm->vcpus[n], ipi->vector);
	}
}

int vmm_irqchip_access(struct vmm_vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	struct vmm_lapic *lapic = &vcpu->irqchip.lapic;
	uint32_t offset, value;
	struct vmm_lapic_ipi ipi;
	int err;

	if (run->mmio.phys_addr < VMM_ABI_LAPIC_GPA ||
	    run->mmio.phys_addr - VMM_ABI_LAPIC_GPA >= 0x1000 || run->mmio.len != sizeof(value))
		return -EINVAL;
	offset = (uint32_t)(run->mmio.phys_addr - VMM_ABI_LAPIC_GPA);
	if (!run->mmio.is_write) {
		err = vmm_lapic_read(lapic, offset, clock_now_ns(), &value);
		if (!err)
			memcpy(run->mmio.data, &value, sizeof(value));
		return err;
	}
	memcpy(&value, run->mmio.data, sizeof(value));
	err = vmm_lapic_write(lapic, offset, value, clock_now_ns(), &ipi);
	if (err <= 0)
		return err;
	send(vcpu, &ipi);
	return 0;
}

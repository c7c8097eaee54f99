/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The interrupt controller in user space: HLT and LAPIC accesses of a vCPU come to us. */
#ifndef VHALT_VMM_IRQCHIP_H
#define VHALT_VMM_IRQCHIP_H

#include <stdatomic.h>

#include <vhalt/wait.h>

#include "vmm/lapic.h"
#include "vmm/vmm.h"

struct vmm_vcpu;

/**
 * One vCPU's part. All but @waiter and @posted is its thread's; @posted is a mailbox that any vCPU
 * fills before it kicks @waiter.
 */
struct vmm_irqchip_vcpu {
	struct vhalt_waiter waiter;
	struct vmm_lapic lapic;
	_Atomic uint64_t posted[4]; /* vectors sent to this vCPU that its LAPIC has not seen yet */
};

/** vmm_irqchip_init - ready for a first halt under @engine. */
void vmm_irqchip_init(struct vmm_vcpu *vcpu, struct vhalt_engine *engine);

/** vmm_irqchip_reset - the LAPIC as after a reset; nobody else uses it meanwhile. */
void vmm_irqchip_reset(struct vmm_vcpu *vcpu);

/**
 * vmm_irqchip_halt - the vCPU has executed HLT: wait as the policy decides, then have its interrupt
 * injected. Returns early, without one, when the vCPU is to leave or to park. In its thread.
 * Return: VMM_END_NONE, or VMM_END_FAILED with vcpu->error and error_text set.
 */
enum vmm_end vmm_irqchip_halt(struct vmm_vcpu *vcpu);

/**
 * vmm_irqchip_window - KVM tells that it takes an interrupt now, as it was asked to.
 * Return: as vmm_irqchip_halt().
 */
enum vmm_end vmm_irqchip_window(struct vmm_vcpu *vcpu);

/**
 * vmm_irqchip_access - the vCPU has accessed device memory: serve it if it is its LAPIC's.
 * Return: 0; -EINVAL: it is not, or not like that; -EOPNOTSUPP: a mode that is not here.
 */
int vmm_irqchip_access(struct vmm_vcpu *vcpu);

#endif

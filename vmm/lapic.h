/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A local APIC in user space, the subset our guests need: timer, IPI, EOI, priorities.
 *
 * A pure state machine: it knows neither clock nor threads nor KVM. The caller owns the structure
 * and serializes the calls on it. Times are nanoseconds of any one clock. The bus runs at 1 GHz, as
 * KVM's own does: with divide-by-one the timer counts nanoseconds.
 *
 * Not here: INIT, start-up and NMI, lowest priority and logical destinations, level-triggered
 * interrupts, TSC-deadline mode, the error status. What a guest asks for and is not here is
 * refused, not ignored.
 */
#ifndef VHALT_VMM_LAPIC_H
#define VHALT_VMM_LAPIC_H

#include <stdbool.h>
#include <stdint.h>

/** No timer runs; the same value as VHALT_NO_DEADLINE_NS. */
#define VMM_LAPIC_NO_TIMER (~0ULL)

/** Offsets in the LAPIC's page. */
enum vmm_lapic_register {
	VMM_LAPIC_ID = 0x020,
	VMM_LAPIC_VERSION = 0x030,
	VMM_LAPIC_TPR = 0x080,
	VMM_LAPIC_PPR = 0x0a0,
	VMM_LAPIC_EOI = 0x0b0,
	VMM_LAPIC_SVR = 0x0f0,
	VMM_LAPIC_ISR = 0x100, /* eight of them, 16 bytes apart */
	VMM_LAPIC_IRR = 0x200, /* ditto */
	VMM_LAPIC_ICR_LOW = 0x300,
	VMM_LAPIC_ICR_HIGH = 0x310,
	VMM_LAPIC_LVT_TIMER = 0x320,
	VMM_LAPIC_LVT_LINT0 = 0x350,
	VMM_LAPIC_LVT_LINT1 = 0x360,
	VMM_LAPIC_TIMER_COUNT = 0x380,
	VMM_LAPIC_TIMER_CURRENT = 0x390,
	VMM_LAPIC_TIMER_DIVIDE = 0x3e0,
};

struct vmm_lapic {
	uint32_t id;
	uint32_t tpr;
	uint32_t svr;
	uint32_t icr_low, icr_high;
	uint32_t lvt_timer, lvt_lint[2];
	uint32_t timer_count; /* initial count */
	uint32_t timer_divide;
	uint64_t timer_due_ns; /* or VMM_LAPIC_NO_TIMER */
	uint32_t irr[8], isr[8];
};

/** An interrupt for other LAPICs, or this one. */
struct vmm_lapic_ipi {
	uint8_t vector;
	bool self, others; /* by shorthand; else neither is set ... */
	uint32_t to;	   /* ... and this is the LAPIC's id, 0xff: all */
};

/** vmm_lapic_init - as after a reset: switched off, everything masked. */
void vmm_lapic_init(struct vmm_lapic *lapic, uint32_t id);

/**
 * vmm_lapic_write - the guest stores @value at @offset of the page.
 * @ipi:  receives the interrupt to send
 *
 * Return: 0; 1: @ipi is to be sent; -EINVAL: no such register, or not one to write; -EOPNOTSUPP: a
 * mode that is not here.
 */
int vmm_lapic_write(struct vmm_lapic *lapic, uint32_t offset, uint32_t value, uint64_t now_ns,
		    struct vmm_lapic_ipi *ipi);

/** vmm_lapic_read - the guest loads from @offset. Return: 0, -EINVAL: no such register. */
int vmm_lapic_read(const struct vmm_lapic *lapic, uint32_t offset, uint64_t now_ns,
		   uint32_t *value);

/** vmm_lapic_accept - an interrupt arrives. Lost if the LAPIC is off or @vector is below 16. */
void vmm_lapic_accept(struct vmm_lapic *lapic, uint8_t vector);

/** vmm_lapic_advance - it is @now_ns: the timer expires if it is due. */
void vmm_lapic_advance(struct vmm_lapic *lapic, uint64_t now_ns);

/** vmm_lapic_pending - the vector to deliver now, by priority, or -1. */
int vmm_lapic_pending(const struct vmm_lapic *lapic);

/** vmm_lapic_deliver - the processor took @vector, as vmm_lapic_pending() named it. */
void vmm_lapic_deliver(struct vmm_lapic *lapic, uint8_t vector);

/**
 * vmm_lapic_deadline_ns - when the timer is due next, or VMM_LAPIC_NO_TIMER: it does not run, or
 * nobody would notice because it is masked.
 */
uint64_t vmm_lapic_deadline_ns(const struct vmm_lapic *lapic);

#endif

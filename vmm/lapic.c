// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The local APIC's state machine. What the registers do: Intel SDM volume 3, chapter "APIC".
#include "vmm/lapic.h"

#include <errno.h>

enum {
	LVT_MASKED = 1 << 16,
	LVT_MODE = 3 << 17,
	LVT_PERIODIC = 1 << 17,
	LVT_WRITABLE = 0x710ff, /* mode, mask, vector; the delivery status is read-only */
	SVR_ENABLED = 1 << 8,
	ICR_DELIVERY_MODE = 7 << 8,
	ICR_LOGICAL = 1 << 11,
	ICR_LEVEL_TRIGGERED = 1 << 15,
	VERSION = 0x14 | 4 << 16, /* integrated; its LVT ends with entry 4 */
	FIRST_VECTOR = 16,
};

void vmm_lapic_init(struct vmm_lapic *lapic, uint32_t id)
{
	*lapic = (struct vmm_lapic){
		.id = id,
		.svr = 0xff,
		.lvt_timer = LVT_MASKED,
		.lvt_lint = {LVT_MASKED, LVT_MASKED},
		.timer_due_ns = VMM_LAPIC_NO_TIMER,
	};
}

static bool enabled(const struct vmm_lapic *lapic)
{
	return lapic->svr & SVR_ENABLED;
}

static int highest(const uint32_t bits[8])
{
	for (int i = 7; i >= 0; i--)
		if (bits[i])
			return 32 * i + 31 - __builtin_clz(bits[i]);
	return -1;
}

static void set_bit(uint32_t bits[8], unsigned int vector)
{
	bits[vector / 32] |= 1U << vector % 32;
}

static void clear_bit(uint32_t bits[8], unsigned int vector)
{
	bits[vector / 32] &= ~(1U << vector % 32);
}

/* Processor priority: what an interrupt must beat, by its upper four bits. */
static uint32_t ppr(const struct vmm_lapic *lapic)
{
	int served = highest(lapic->isr);

	if (served >= 0 && (uint32_t)served >> 4 > lapic->tpr >> 4)
		return (uint32_t)served & 0xf0;
	return lapic->tpr;
}

/* Nanoseconds from a start to expiry; the count is 32 bits, the divisor at most 128. */
static uint64_t period_ns(const struct vmm_lapic *lapic)
{
	uint32_t code = (lapic->timer_divide & 3) | (lapic->timer_divide & 8) >> 1;

	return (uint64_t)lapic->timer_count << ((code + 1) & 7);
}

static void start_timer(struct vmm_lapic *lapic, uint64_t now_ns)
{
	lapic->timer_due_ns = lapic->timer_count ? now_ns + period_ns(lapic) : VMM_LAPIC_NO_TIMER;
}

static int write_icr(struct vmm_lapic *lapic, uint32_t value, struct vmm_lapic_ipi *ipi)
{
	uint32_t shorthand = value >> 18 & 3;

	if (value & (ICR_DELIVERY_MODE | ICR_LEVEL_TRIGGERED) ||
	    (value & ICR_LOGICAL && !shorthand))
		return -EOPNOTSUPP;
	lapic->icr_low = value;
	*ipi = (struct vmm_lapic_ipi){
		.vector = (uint8_t)value,
		.self = shorthand == 1 || shorthand == 2,
		.others = shorthand >= 2,
		.to = lapic->icr_high >> 24,
	};
	return 1;
}

static int write_lvt_timer(struct vmm_lapic *lapic, uint32_t value)
{
	if ((value & LVT_MODE) > LVT_PERIODIC)
		return -EOPNOTSUPP;
	lapic->lvt_timer = value & LVT_WRITABLE;
	return 0;
}

static void end_of_interrupt(struct vmm_lapic *lapic)
{
	int served = highest(lapic->isr);

	if (served >= 0)
		clear_bit(lapic->isr, (unsigned int)served);
}

int vmm_lapic_write(struct vmm_lapic *lapic, uint32_t offset, uint32_t value, uint64_t now_ns,
		    struct vmm_lapic_ipi *ipi)
{
	switch (offset) {
	case VMM_LAPIC_TPR: lapic->tpr = value & 0xff; return 0;
	case VMM_LAPIC_EOI: end_of_interrupt(lapic); return 0;
	case VMM_LAPIC_SVR: lapic->svr = value & 0x1ff; return 0;
	case VMM_LAPIC_ICR_LOW: return write_icr(lapic, value, ipi);
	case VMM_LAPIC_ICR_HIGH: lapic->icr_high = value & 0xff000000; return 0;
	case VMM_LAPIC_LVT_TIMER: return write_lvt_timer(lapic, value);
	case VMM_LAPIC_LVT_LINT0: lapic->lvt_lint[0] = value; return 0;
	case VMM_LAPIC_LVT_LINT1: lapic->lvt_lint[1] = value; return 0;
	case VMM_LAPIC_TIMER_COUNT:
		lapic->timer_count = value;
		start_timer(lapic, now_ns);
		return 0;
	case VMM_LAPIC_TIMER_DIVIDE: lapic->timer_divide = value & 0xb; return 0;
	default: return -EINVAL;
	}
}

static uint32_t current_count(const struct vmm_lapic *lapic, uint64_t now_ns)
{
	uint64_t period = period_ns(lapic), left;

	if (lapic->timer_due_ns == VMM_LAPIC_NO_TIMER || lapic->timer_due_ns <= now_ns)
		return 0;
	left = lapic->timer_due_ns - now_ns;
	/* The divisor, from what it made of the count. */
	return (uint32_t)(left < period ? left / (period / lapic->timer_count)
					: lapic->timer_count);
}

int vmm_lapic_read(const struct vmm_lapic *lapic, uint32_t offset, uint64_t now_ns, uint32_t *value)
{
	if (offset % 16)
		return -EINVAL;
	if (offset >= VMM_LAPIC_ISR && offset < VMM_LAPIC_ISR + 0x80) {
		*value = lapic->isr[(offset - VMM_LAPIC_ISR) / 16];
		return 0;
	}
	if (offset >= VMM_LAPIC_IRR && offset < VMM_LAPIC_IRR + 0x80) {
		*value = lapic->irr[(offset - VMM_LAPIC_IRR) / 16];
		return 0;
	}
	switch (offset) {
	case VMM_LAPIC_ID: *value = lapic->id << 24; return 0;
	case VMM_LAPIC_VERSION: *value = VERSION; return 0;
	case VMM_LAPIC_TPR: *value = lapic->tpr; return 0;
	case VMM_LAPIC_PPR: *value = ppr(lapic); return 0;
	case VMM_LAPIC_SVR: *value = lapic->svr; return 0;
	case VMM_LAPIC_ICR_LOW: *value = lapic->icr_low; return 0;
	case VMM_LAPIC_ICR_HIGH: *value = lapic->icr_high; return 0;
	case VMM_LAPIC_LVT_TIMER: *value = lapic->lvt_timer; return 0;
	case VMM_LAPIC_LVT_LINT0: *value = lapic->lvt_lint[0]; return 0;
	case VMM_LAPIC_LVT_LINT1: *value = lapic->lvt_lint[1]; return 0;
	case VMM_LAPIC_TIMER_COUNT: *value = lapic->timer_count; return 0;
	case VMM_LAPIC_TIMER_CURRENT: *value = current_count(lapic, now_ns); return 0;
	case VMM_LAPIC_TIMER_DIVIDE: *value = lapic->timer_divide; return 0;
	default: return -EINVAL;
	}
}

void vmm_lapic_accept(struct vmm_lapic *lapic, uint8_t vector)
{
	if (enabled(lapic) && vector >= FIRST_VECTOR)
		set_bit(lapic->irr, vector);
}

void vmm_lapic_advance(struct vmm_lapic *lapic, uint64_t now_ns)
{
	uint64_t period = period_ns(lapic);

	if (lapic->timer_due_ns == VMM_LAPIC_NO_TIMER || now_ns < lapic->timer_due_ns)
		return;
	if (!(lapic->lvt_timer & LVT_MASKED))
		vmm_lapic_accept(lapic, (uint8_t)lapic->lvt_timer);
	if (!(lapic->lvt_timer & LVT_PERIODIC) || !period)
		lapic->timer_due_ns = VMM_LAPIC_NO_TIMER;
	else /* On its grid; periods that were missed altogether are one interrupt. */
		lapic->timer_due_ns += ((now_ns - lapic->timer_due_ns) / period + 1) * period;
}

int vmm_lapic_pending(const struct vmm_lapic *lapic)
{
	int vector = highest(lapic->irr);

	if (!enabled(lapic) || vector < 0 || (uint32_t)vector >> 4 <= ppr(lapic) >> 4)
		return -1;
	return vector;
}

void vmm_lapic_deliver(struct vmm_lapic *lapic, uint8_t vector)
{
	clear_bit(lapic->irr, vector);
	set_bit(lapic->isr, vector);
}

uint64_t vmm_lapic_deadline_ns(const struct vmm_lapic *lapic)
{
	if (lapic->lvt_timer & LVT_MASKED || !enabled(lapic))
		return VMM_LAPIC_NO_TIMER;
	return lapic->timer_due_ns;
}

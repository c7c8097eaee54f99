/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What every guest is made of: its pages, halting, the LAPIC, the TSC.
 *
 * Guests are freestanding, run at CPL3 with interrupts off and follow the rules in abi.h. Each is
 * one C file with a guest_main(), linked with start.S.
 */
#ifndef VHALT_VMM_GUESTS_GUEST_H
#define VHALT_VMM_GUESTS_GUEST_H

#include <stdint.h>

#include "vmm/guests/abi.h"

#define GUEST_VECTOR_TIMER    0x40
#define GUEST_VECTOR_IPI      0x41
#define GUEST_VECTOR_SPURIOUS 0xff

enum guest_lapic {
	GUEST_LAPIC_TPR = 0x080,
	GUEST_LAPIC_EOI = 0x0b0,
	GUEST_LAPIC_SVR = 0x0f0,
	GUEST_LAPIC_ICR_LOW = 0x300,
	GUEST_LAPIC_ICR_HIGH = 0x310,
	GUEST_LAPIC_LVT_TIMER = 0x320,
	GUEST_LAPIC_LVT_LINT0 = 0x350,
	GUEST_LAPIC_LVT_LINT1 = 0x360,
	GUEST_LAPIC_TIMER_COUNT = 0x380,
	GUEST_LAPIC_TIMER_DIVIDE = 0x3e0,
};

#define GUEST_LVT_MASKED      0x10000
#define GUEST_SVR_ENABLE      0x100
#define GUEST_DIVIDE_BY_ONE   0xb
#define GUEST_TIMER_MAX_COUNT 0xffffffffU

/** guest_main - a guest's program. @n: this vCPU's number, also its APIC id. */
_Noreturn void guest_main(unsigned int n);

/** guest_params - what the VMM wants from this guest. */
static inline const struct vmm_abi_params *guest_params(void)
{
	return (const struct vmm_abi_params *)VMM_ABI_PARAMS_GPA;
}

/** guest_result - where vCPU @n counts. Volatile: the VMM may stop the vCPU at any instruction. */
static inline volatile struct vmm_abi_result *guest_result(unsigned int n)
{
	return (volatile struct vmm_abi_result *)(VMM_ABI_RESULTS_GPA +
						  (uintptr_t)n * VMM_ABI_RESULT_STRIDE);
}

static inline void guest_out(uint16_t port)
{
	__asm__ volatile("outb %%al, %0" : : "Nd"(port) : "memory");
}

/* A plain 32-bit MOV from a register: KVM decodes and emulates this instruction. */
static inline void guest_lapic_write(enum guest_lapic reg, uint32_t value)
{
	__asm__ volatile("movl %0, (%1)"
			 :
			 : "r"(value), "r"((uintptr_t)VMM_ABI_LAPIC_GPA + reg)
			 : "memory");
}

/** guest_tsc - cycles; ordered after all earlier loads and before all later instructions. */
static inline uint64_t guest_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/** guest_cycles - @ns in cycles; @ns below 2^40 (18 minutes), the TSC below 8 GHz. */
static inline uint64_t guest_cycles(uint64_t ns)
{
	return ns * guest_params()->tsc_khz / 1000000;
}

/** guest_init - announce vCPU @n in its result page and switch its LAPIC on. */
static inline volatile struct vmm_abi_result *guest_init(unsigned int n)
{
	volatile struct vmm_abi_result *r = guest_result(n);

	r->magic = VMM_ABI_MAGIC;
	r->version = VMM_ABI_VERSION;
	guest_lapic_write(GUEST_LAPIC_TPR, 0);
	guest_lapic_write(GUEST_LAPIC_LVT_LINT0, GUEST_LVT_MASKED);
	guest_lapic_write(GUEST_LAPIC_LVT_LINT1, GUEST_LVT_MASKED);
	guest_lapic_write(GUEST_LAPIC_SVR, GUEST_SVR_ENABLE | GUEST_VECTOR_SPURIOUS);
	return r;
}

/** guest_halt - sleep until an interrupt, or return at once if one is pending; acknowledges it. */
static inline void guest_halt(volatile struct vmm_abi_result *r)
{
	r->halts++;
	__asm__ volatile("int3" : : : "memory");
	r->wakeups++;
	guest_lapic_write(GUEST_LAPIC_EOI, 0);
}

/** guest_done - all rounds are complete; the VMM ends the VM. */
static inline _Noreturn void guest_done(void)
{
	for (;;)
		guest_out(VMM_ABI_PORT_DONE);
}

/** guest_record - count one latency. */
static inline void guest_record(volatile struct vmm_abi_latency *l, uint64_t cycles)
{
	if (!l->count || cycles < l->min_cycles)
		l->min_cycles = cycles;
	if (cycles > l->max_cycles)
		l->max_cycles = cycles;
	l->sum_cycles += cycles;
	l->buckets[vmm_abi_bucket(cycles)]++;
	l->count++;
}

/** guest_timer_init - LAPIC timer as one-shot in nanoseconds (periodic is clamped to 200 us). */
static inline void guest_timer_init(void)
{
	guest_lapic_write(GUEST_LAPIC_TIMER_DIVIDE, GUEST_DIVIDE_BY_ONE);
	guest_lapic_write(GUEST_LAPIC_LVT_TIMER, GUEST_VECTOR_TIMER);
}

/** guest_timer_start - have the timer expire in @ns (1 to 2^32 - 1, else bent there). Return: when.
 */
static inline uint64_t guest_timer_start(uint64_t ns)
{
	uint64_t due;

	if (!ns)
		ns = 1; /* a count of 0 would stop the timer */
	if (ns > GUEST_TIMER_MAX_COUNT)
		ns = GUEST_TIMER_MAX_COUNT;
	due = guest_tsc() + guest_cycles(ns);
	guest_lapic_write(GUEST_LAPIC_TIMER_COUNT, (uint32_t)ns);
	return due;
}

/** guest_timer_sleep - halt for @ns; records how late it was. */
static inline void guest_timer_sleep(volatile struct vmm_abi_result *r, uint64_t ns)
{
	uint64_t due = guest_timer_start(ns), now;

	guest_halt(r);
	now = guest_tsc();
	guest_record(&r->latency, now > due ? now - due : 0);
	r->rounds++;
}

/** guest_rounds_complete - did @r reach the number of rounds asked for? */
static inline int guest_rounds_complete(const volatile struct vmm_abi_result *r)
{
	return guest_params()->rounds && r->rounds >= guest_params()->rounds;
}

#endif

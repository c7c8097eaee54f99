/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Guest "lock": publishing its preempt_count to the host, as include/uapi/vhalt_guest.h says. */
#ifndef VHALT_VMM_GUESTS_SHARE_H
#define VHALT_VMM_GUESTS_SHARE_H

#include <uapi/vhalt_guest.h>

#include "vmm/guests/draw.h"
#include "vmm/guests/guest.h"

/** share_count_gpa - where vCPU @n keeps its preempt_count. */
static inline uint64_t share_count_gpa(unsigned int n)
{
	return VMM_ABI_COUNTS_GPA + (uint64_t)n * VMM_ABI_COUNT_STRIDE;
}

/** share_of - the share of vCPU @n: the last bytes of its struct kvm_steal_time. */
static inline volatile struct vhalt_guest_share *share_of(unsigned int n)
{
	return (volatile struct vhalt_guest_share *)(VMM_ABI_STEAL_GPA +
						     (uintptr_t)n * VMM_ABI_STEAL_STRIDE +
						     VHALT_GUEST_SHARE_OFFSET);
}

/** share_hypercall - number and four arguments; what comes back is of no use here. */
static inline void share_hypercall(uint64_t nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	if (guest_params()->hypercall == VMM_ABI_VMMCALL)
		__asm__ volatile("vmmcall"
				 : "+a"(nr)
				 : "b"(a0), "c"(a1), "d"(a2), "S"(a3)
				 : "memory");
	else
		__asm__ volatile("vmcall"
				 : "+a"(nr)
				 : "b"(a0), "c"(a1), "d"(a2), "S"(a3)
				 : "memory");
}

/** share_publish - tell the host where vCPU @n's count is; with @magic 0: withdraw it. */
static inline void share_publish(unsigned int n, uint32_t magic)
{
	const uint16_t width = sizeof(uint32_t);
	volatile struct vhalt_guest_share *share = share_of(n);

	switch (guest_params()->share) {
	case VMM_ABI_SHARE_HOSTILE:
	case VMM_ABI_SHARE_STEAL:
		if (magic) {
			share->gpa = share_count_gpa(n);
			share->need_resched_mask = VMM_ABI_NO_RESCHED;
			share->version = VHALT_GUEST_VERSION;
			share->width = width;
		}
		/* x86 keeps stores in order; the compiler must, too. */
		__asm__ volatile("" : : : "memory");
		share->magic = magic;
		break;
	case VMM_ABI_SHARE_HYPERCALL:
		share_hypercall(VHALT_GUEST_HC, share_count_gpa(n), VMM_ABI_NO_RESCHED,
				VHALT_GUEST_VERSION | (uint32_t)width << 16, magic);
		break;
	default: break;
	}
}

/** share_wild_gpa - an address for a hostile share, each kind as likely as the others. */
static inline uint64_t share_wild_gpa(uint64_t *state)
{
	uint64_t draw = draw_u64(state);

	switch (draw_u64(state) >> 61) {
	case 0: return draw;				  /* anywhere */
	case 1: return draw % VMM_ABI_RAM_BYTES;	  /* in memory, aligned or not */
	case 2: return VMM_ABI_RAM_BYTES - draw % 16;	  /* around its end */
	case 3: return VMM_ABI_LAPIC_GPA + draw % 0x1000; /* a device */
	case 4: return 0xffc + draw % 8;		  /* around the end of a page */
	case 5: return ~draw % 16;			  /* 0, and just above */
	case 6: return ~(draw % 16);			  /* wraps around */
	default: return share_count_gpa((unsigned int)(draw % VMM_ABI_MAX_VCPUS));
	}
}

/** share_go_wild - garbage into the share of any vCPU and into vCPU @n's count; never halts. */
static inline void share_go_wild(unsigned int n, uint64_t *state)
{
	static const uint16_t widths[] = {4, 8, 4, 8, 0, 1, 16, 0xffff};
	volatile uint32_t *count = (volatile uint32_t *)share_count_gpa(n);
	volatile struct vhalt_guest_share *share;
	uint64_t draw = draw_u64(state);

	share = share_of((unsigned int)(draw % guest_params()->nr_vcpus));
	share->gpa = share_wild_gpa(state);
	share->need_resched_mask = draw >> 8 & 1 ? VMM_ABI_NO_RESCHED : draw_u64(state);
	share->version = draw >> 9 & 7 ? VHALT_GUEST_VERSION : (uint16_t)(draw >> 16);
	share->width = widths[draw >> 12 & 7];
	share->magic = draw >> 15 & 7 ? VHALT_GUEST_MAGIC : (uint32_t)(draw >> 32);
	*count = (uint32_t)draw_u64(state);
	/* An exit each: now and then. */
	if (!(draw >> 18 & 0x3f))
		share_hypercall(draw >> 24 & 7 ? VHALT_GUEST_HC : draw >> 32, share_wild_gpa(state),
				draw_u64(state),
				draw >> 27 & 7 ? VHALT_GUEST_VERSION | 4U << 16 : draw_u64(state),
				draw >> 30 & 7 ? VHALT_GUEST_MAGIC : draw_u64(state));
}

#endif

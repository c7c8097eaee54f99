/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The contract between the micro-VMM and its guests: memory map, parameter and result pages, ports.
 *
 * Both sides are built from the same tree, so nothing here is kept compatible: any change of layout
 * or meaning raises VMM_ABI_VERSION, and an image or a guest with another version is refused.
 *
 * How a guest runs. Its payload is at CPL3 with interrupts off for its whole life. To halt it
 * executes INT3; the gate leads to a stub at CPL0, `sti; hlt` in a loop. The interrupt that ends
 * the HLT leads to a second stub, which drops the HLT's own frame and returns to the payload behind
 * its INT3. An interrupt that was pending already ends the HLT at once, so testing a flag and
 * halting is free of races. The payload then writes EOI itself: the LAPIC page is mapped for it.
 * Any exception ends in a third stub that reports it by an OUT (VMM_ABI_PORT_FAULT).
 *
 * Why like this: some KVM backends run only CPL3 code natively and emulate each CPL0 instruction.
 * From that follow the rules for guest code: no INT n but INT3 (#UD there), no SYSCALL, no CPUID,
 * no SSE or x87, no PML4 slot 256; OUT only to the ports below (IOPL 3 and the TSS bitmap both
 * allow them).
 */
#ifndef VHALT_VMM_GUESTS_ABI_H
#define VHALT_VMM_GUESTS_ABI_H

#define VMM_ABI_MAGIC	0x746c6876 /* "vhlt" */
#define VMM_ABI_VERSION 2

/* Guest-physical memory map; linear addresses are the same. Per-vCPU areas follow one another. */
#define VMM_ABI_RAM_BYTES	   0x200000
#define VMM_ABI_GDT_GPA		   0x001000
#define VMM_ABI_IDT_GPA		   0x002000
#define VMM_ABI_TSS_GPA		   0x003000
#define VMM_ABI_TSS_STRIDE	   0x80
#define VMM_ABI_PML4_GPA	   0x004000
#define VMM_ABI_PDPT_GPA	   0x005000
#define VMM_ABI_PD_RAM_GPA	   0x006000
#define VMM_ABI_PD_LAPIC_GPA	   0x007000
#define VMM_ABI_PARAMS_GPA	   0x008000
#define VMM_ABI_KERNEL_STACKS_GPA  0x010000
#define VMM_ABI_KERNEL_STACK_BYTES 0x1000 /* a power of two, aligned: start.S relies on it */
#define VMM_ABI_USER_STACKS_GPA	   0x020000
#define VMM_ABI_USER_STACK_BYTES   0x4000
#define VMM_ABI_RESULTS_GPA	   0x040000
#define VMM_ABI_RESULT_STRIDE	   0x4000
#define VMM_ABI_STEAL_GPA	   0x060000 /* struct kvm_steal_time at the start of each */
#define VMM_ABI_STEAL_STRIDE	   0x1000
#define VMM_ABI_LOCK_GPA	   0x070000 /* struct vmm_abi_lock */
#define VMM_ABI_COUNTS_GPA	   0x071000 /* lock: a 32-bit preempt_count for each vCPU */
#define VMM_ABI_COUNT_STRIDE	   0x40
#define VMM_ABI_IMAGE_GPA	   0x100000
#define VMM_ABI_IMAGE_MAX_BYTES	   0x080000
#define VMM_ABI_LAPIC_GPA	   0xfee00000

#define VMM_ABI_MAX_VCPUS 8

/* Ports, written from CPL3 (the fault port at CPL0). Below 0xb8, where the TSS bitmap ends. */
#define VMM_ABI_PORT_DONE    0x50 /* the guest has finished; the value has no meaning */
#define VMM_ABI_PORT_FAULT   0x51 /* an exception; RSP points at struct vmm_abi_fault */
#define VMM_ABI_PORT_UNKNOWN 0x52 /* served by nobody, on purpose: guest "crash" */
#define VMM_ABI_PORT_FIRST   0x50
#define VMM_ABI_PORT_LAST    0x57

/* KVM's LAPIC timer counts nanoseconds (1 GHz bus clock, divide-by-one). */

/*
 * Guest "lock": what each vCPU publishes to the host (include/uapi/vhalt_guest.h). Hostile:
 * garbage, ever changing, in every vCPU's share, and by hypercall.
 */
#define VMM_ABI_SHARE_NONE	0
#define VMM_ABI_SHARE_STEAL	1
#define VMM_ABI_SHARE_HYPERCALL 2
#define VMM_ABI_SHARE_HOSTILE	3

/* Which instruction is this processor's hypercall. */
#define VMM_ABI_VMCALL	1
#define VMM_ABI_VMMCALL 2

/* As on x86 Linux the count's top bit is "no reschedule is needed": set at rest. */
#define VMM_ABI_NO_RESCHED 0x80000000U

/* What the guest "crash" is to do. */
#define VMM_ABI_FAULT_PORT	0
#define VMM_ABI_FAULT_EXCEPTION 1
#define VMM_ABI_FAULT_TRIPLE	2
#define VMM_ABI_FAULT_SPIN	3

/* Exception stubs lie one after the other, vector 0 first. */
#define VMM_ABI_NR_FAULTS    32
#define VMM_ABI_FAULT_STRIDE 16

/*
 * Histogram of TSC cycles: values below 64 have a bucket each, above that every power of two is cut
 * into 32. Values from 2^41 cycles (about ten minutes) count in the last bucket.
 */
#define VMM_ABI_HIST_SUB     32
#define VMM_ABI_HIST_BUCKETS 1184

#ifndef __ASSEMBLER__
#include <stdint.h>

#include <vhalt/policy.h>

/* First bytes of an image. Addresses are guest-physical and inside the image. */
struct vmm_abi_image {
	uint32_t magic;
	uint32_t version;
	uint32_t entry;	      /* CPL3; RDI = vCPU number, RSP = top of its user stack */
	uint32_t halt_stub;   /* gate of vector 3 */
	uint32_t irq_stub;    /* gate of vectors 32..255 */
	uint32_t fault_stubs; /* gates of the other vectors below 32 */
};

/* Written by the VMM before the first instruction, only read by the guest. */
struct vmm_abi_params {
	uint32_t magic;
	uint32_t version;
	uint32_t nr_vcpus;
	uint32_t fault; /* VMM_ABI_FAULT_... */
	uint64_t tsc_khz;
	uint64_t rounds;    /* done after so many, 0: never */
	uint64_t period_ns; /* tick, idle */
	uint64_t think_ns;  /* rr */
	uint64_t seed;	    /* burst, this and the following */
	uint64_t short_ns;
	uint64_t long_ns;
	uint64_t short_percent;
	uint64_t hold_ns; /* lock, this and the following: work inside and outside of the lock */
	uint64_t gap_ns;
	uint32_t share;	      /* VMM_ABI_SHARE_... */
	uint32_t hypercall;   /* VMM_ABI_VMCALL or VMM_ABI_VMMCALL */
	uint64_t guest_polls; /* 1: the idle loop polls before each HLT, by guest_policy */
	struct vhalt_config guest_policy;
};

/*
 * Guest "lock": the lock, and who has it. The host may look at any moment: @holder is set right
 * after the lock was taken, cleared right before it is released.
 */
struct vmm_abi_lock {
	uint32_t word __attribute__((aligned(64))); /* 1: taken */
	uint32_t holder
		__attribute__((aligned(64))); /* number of the vCPU that holds it plus one */
	uint32_t nr_finished;		      /* vCPUs that made all their rounds */
	uint64_t acquisitions; /* counted by the holder, without atomics: exact if the lock
				* excludes */
};

/* Times in TSC cycles. */
struct vmm_abi_latency {
	uint64_t count;
	uint64_t sum_cycles;
	uint64_t min_cycles; /* meaningless while count is 0 */
	uint64_t max_cycles;
	uint64_t buckets[VMM_ABI_HIST_BUCKETS];
};

/* What the guest's own polling did. */
struct vmm_abi_poll {
	uint64_t attempted;
	uint64_t successful;
	uint64_t success_cycles;
	uint64_t fail_cycles;
};

/* One per vCPU, zero at the start, written by that vCPU only; read when it no longer runs. */
struct vmm_abi_result {
	uint32_t magic; /* set by the guest's first code: it did start */
	uint32_t version;
	uint64_t halts;
	uint64_t wakeups;
	uint64_t rounds;
	uint64_t missed;
	uint64_t digest; /* burst: FNV-1a over the lengths of expired timers */
	struct vmm_abi_poll poll;
	struct vmm_abi_latency latency;
};

/* What the stack of a fault stub holds, from RSP upwards. */
struct vmm_abi_fault {
	uint64_t vector;
	uint64_t error_code; /* 0 for exceptions that have none */
	uint64_t rip;
	uint64_t cs;
	uint64_t rflags;
	uint64_t rsp;
	uint64_t ss;
};

_Static_assert(sizeof(struct vmm_abi_params) <= 4096, "parameters fit their page");
_Static_assert(sizeof(struct vmm_abi_lock) <= 4096, "the lock fits its page");
_Static_assert(sizeof(struct vmm_abi_result) <= VMM_ABI_RESULT_STRIDE, "results fit their area");

/** vmm_abi_bucket - the histogram bucket of @cycles. Cannot fail. */
static inline unsigned int vmm_abi_bucket(uint64_t cycles)
{
	unsigned int shift;

	if (cycles < 2 * VMM_ABI_HIST_SUB)
		return (unsigned int)cycles;
	/* 58 = 63 - log2(32): leaves the leading one and five bits behind it. */
	shift = 58 - (unsigned int)__builtin_clzll(cycles);
	if (shift > 35)
		return VMM_ABI_HIST_BUCKETS - 1;
	return shift * VMM_ABI_HIST_SUB + (unsigned int)(cycles >> shift);
}

/** vmm_abi_bucket_middle - the value, in cycles, that stands for @bucket (below HIST_BUCKETS). */
static inline uint64_t vmm_abi_bucket_middle(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * VMM_ABI_HIST_SUB)
		return bucket;
	shift = bucket / VMM_ABI_HIST_SUB - 1;
	return ((uint64_t)(bucket - shift * VMM_ABI_HIST_SUB) << shift) + (1ULL << shift) / 2;
}
#endif /* __ASSEMBLER__ */

#endif

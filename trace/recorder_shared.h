/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The memory the recorder's BPF programs and its user side share: one ring of halts per CPU. */
#ifndef VHALT_TRACE_RECORDER_SHARED_H
#define VHALT_TRACE_RECORDER_SHARED_H

/*
 * The BPF target has no C library, and the kernel's and libc's names of these types do not mix.
 */
typedef __UINT64_TYPE__ recorder_u64;
typedef __UINT32_TYPE__ recorder_u32;

/*
 * One halt: one cache line. The program fills everything else first and @seq last: the slot counts
 * once @seq equals its position + 1, cut to 32 bits.
 *
 * A CPU fills one slot at a time. Kernels up to 6.x run a tracepoint's programs with preemption
 * disabled, and kvm_vcpu_wakeup never fires in an interrupt. Newer kernels may preempt the program,
 * but refuse to run it again on that CPU meanwhile, and count it: see recorder_cost.missed.
 */
struct recorder_slot {
	recorder_u64 time_ns; /* CLOCK_MONOTONIC, just after the halt ended */
	recorder_u64 halt_ns; /* its length, as the kernel reports it */
	recorder_u32 tid;
	recorder_u32 pid;	 /* of the process */
	recorder_u32 old_ns;	 /* with RECORDER_DECIDED: window before the decision ... */
	recorder_u32 new_ns;	 /* ... and after it */
	recorder_u32 number;	 /* with RECORDER_DECIDED: KVM's vCPU id */
	recorder_u32 latency_ns; /* measured wake-up latency, or RECORDER_NO_LATENCY */
	recorder_u32 flags;
	recorder_u32 seq;
	recorder_u64 pad[2];
};

#define RECORDER_WAITED	    (1U << 0) /* the vCPU blocked */
#define RECORDER_VALID	    (1U << 1) /* the kernel called the wake-up valid */
#define RECORDER_DECIDED    (1U << 2) /* the kernel grew or shrank the window after this halt */
#define RECORDER_GROW	    (1U << 3) /* with RECORDER_DECIDED: it grew it */
#define RECORDER_AFTER_LOSS (1U << 4) /* halts of this CPU were lost just before this one */

/* Thread ids are below this: the kernel's PID_MAX_LIMIT on 64-bit machines. */
#define RECORDER_TID_LIMIT (1U << 22)

#define RECORDER_NO_LATENCY 0xffffffffU

/*
 * One CPU's region: this header, then a power of two of slots. Positions only ever grow; a slot's
 * index is its position modulo the number of slots. The programs write the first cache lines, user
 * space the one at 128, so that neither takes the other's line with every halt.
 */
struct recorder_region {
	recorder_u64 head;	  /* next position to be reserved */
	recorder_u64 lost;	  /* events that could not be kept */
	recorder_u64 lost_marked; /* as far as a slot with RECORDER_AFTER_LOSS has told */
	recorder_u64 pad0[13];
	recorder_u64 tail; /* positions below it may be overwritten */
	recorder_u64 pad1[15];
	struct recorder_slot slots[];
};

/*
 * A window decision on its way to the halt it belongs to: kvm_halt_poll_ns fires just before the
 * kvm_vcpu_wakeup of the same halt, in the same thread, but that thread may be preempted and moved
 * to another CPU between the two. So it waits in a table indexed by thread, not by CPU.
 */
struct recorder_decision {
	recorder_u32 tid; /* whose decision it is; 0: none waits here */
	recorder_u32 old_ns, new_ns;
	recorder_u32 number; /* KVM's vCPU id, RECORDER_NUMBER_GROW added when it was a grow */
};

#define RECORDER_NUMBER_GROW (1U << 31)

/*
 * Entries of that table, a power of two: threads whose ids are equal modulo this share one. Two of
 * them inside the same microsecond cost one decision, which is then counted as lost.
 */
#define RECORDER_DECISIONS 65536U

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One event of another tool's trace, and what such a trace holds beside its halts. */
#ifndef VHALT_TRACE_EVENT_H
#define VHALT_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/halt.h"

/** Kinds of events. Those from TRACE_EVENT_OTHER on are counted, and never handed out. */
enum trace_event_kind {
	TRACE_EVENT_WAKEUP,   /* kvm_vcpu_wakeup: a halt is over */
	TRACE_EVENT_WINDOW,   /* kvm_halt_poll_ns: the kernel changed a vCPU's window */
	TRACE_EVENT_HLT,      /* kvm_exit because the guest halted: HLT, on arm64 WFx */
	TRACE_EVENT_EXIT,     /* kvm_exit for another reason */
	TRACE_EVENT_ENTRY,    /* kvm_entry */
	TRACE_EVENT_USER_HLT, /* kvm_userspace_exit with KVM_EXIT_HLT: user space handles the halt
			       */
	TRACE_EVENT_USER,     /* kvm_userspace_exit for another reason */
	TRACE_EVENT_WAKING,   /* sched_waking: @tid is the thread that is woken, not the waker */
	TRACE_EVENT_GUEST,    /* guest_halt_poll_ns: a guest's own window (cpuidle haltpoll) */
	TRACE_EVENT_LOST,     /* events are missing between the one before and the one after */
	TRACE_EVENT_OTHER,    /* any other event */
	TRACE_EVENT_KINDS,
};

enum trace_event_flags {
	TRACE_EVENT_WAITED = 1 << 0,	/* WAKEUP: the vCPU blocked */
	TRACE_EVENT_INVALID = 1 << 1,	/* WAKEUP: the kernel called it invalid */
	TRACE_EVENT_GROW = 1 << 2,	/* WINDOW, GUEST: a grow, else a shrink */
	TRACE_EVENT_SIGNED = 1 << 3,	/* WINDOW: a value was printed negative (old kernels) */
	TRACE_EVENT_NO_VALID = 1 << 4,	/* WAKEUP: old layout, does not say whether it was valid */
	TRACE_EVENT_HAS_VCPU = 1 << 5,	/* EXIT, HLT, ENTRY: carried a vCPU number */
	TRACE_EVENT_EXIT_INFO1 = 1 << 6 /* EXIT, HLT: has "info1", as kernels since 5.10 print it */
};

#define TRACE_EVENT_NAME_BYTES 32

/** An event. Text in it is printable ASCII. */
struct trace_event {
	uint64_t time_ns; /* on the trace's own clock, or VHALT_UNKNOWN_NS */
	uint64_t place;	  /* line (from 1), of a trace.dat the number of the record */
	uint64_t ns;	  /* WAKEUP: length of the halt. LOST: events lost, 0: nobody knows */
	uint32_t kind;	  /* enum trace_event_kind */
	uint32_t flags;	  /* enum trace_event_flags */
	uint32_t tid;	  /* thread id, or TRACE_UNKNOWN_U32 */
	uint32_t pid;	  /* process id (tgid), or TRACE_UNKNOWN_U32 */
	uint32_t cpu;	  /* where it happened, or TRACE_UNKNOWN_U32 */
	uint32_t vcpu;	  /* KVM's vCPU number, or TRACE_UNKNOWN_U32 */
	uint32_t old_ns, new_ns;	   /* WINDOW, GUEST */
	char name[TRACE_EVENT_NAME_BYTES]; /* thread name, "" where unknown: not an identity */
};

/** What the layout of a trace shows: facts, from which a kernel can be guessed. */
enum trace_event_hints {
	TRACE_HINT_TID = 1 << 0,	/* events name their thread */
	TRACE_HINT_NO_TID = 1 << 1,	/* some do not */
	TRACE_HINT_TGID = 1 << 2,	/* events name their process */
	TRACE_HINT_CPU = 1 << 3,	/* there is a CPU column */
	TRACE_HINT_FLAGS = 1 << 4,	/* ftrace's flag column; its width is flags_width */
	TRACE_HINT_PERF = 1 << 5,	/* "kvm:kvm_exit:", as perf prints it */
	TRACE_HINT_PADDED = 1 << 6,	/* "kvm_exit:      ...", as trace-cmd report prints it */
	TRACE_HINT_DMESG = 1 << 7,	/* lines carry the kernel log's time stamps */
	TRACE_HINT_QUOTED = 1 << 8,	/* lines are quoted as in mail */
	TRACE_HINT_WRAPPED = 1 << 9,	/* lines were wrapped and have been joined */
	TRACE_HINT_NUMBERED = 1 << 10,	/* lines carry numbers of their own */
	TRACE_HINT_CLOCK_NS = 1 << 11,	/* times are whole numbers, taken as ns */
	TRACE_HINT_CLOCK_US = 1 << 12,	/* times are whole us ("123us :") */
	TRACE_HINT_CLOCK_S = 1 << 13,	/* times are seconds and a fraction */
	TRACE_HINT_NO_TIME = 1 << 14,	/* events without a time */
	TRACE_HINT_RAW = 1 << 15,	/* fields instead of text: "ns=91252 waited=1" */
	TRACE_HINT_NO_VALID = 1 << 16,	/* kvm_vcpu_wakeup has no ", polling valid": before 4.7 */
	TRACE_HINT_SIGNED = 1 << 17,	/* windows were printed signed */
	TRACE_HINT_EXIT_VCPU = 1 << 18, /* kvm_exit carries a vCPU number */
	TRACE_HINT_EXIT_NO_VCPU = 1 << 19, /* it does not: old kernels */
	TRACE_HINT_EXIT_INFO1 = 1 << 20,   /* kvm_exit has info1: since 5.10 */
	TRACE_HINT_CUT = 1 << 21,	   /* the last line is cut off */
	TRACE_HINT_LOWER = 1 << 22,	   /* exit reasons in lower case ("hlt"): AMD's names */
	TRACE_HINT_WFX = 1 << 23,	   /* halts are called WFx: arm64 */
};

/** What an event trace holds. Grows while it is read; complete once trace_reader_next() gave 0 or
 * -ENODATA.
 */
struct trace_events {
	const char *layout;		   /* "ftrace text", "perf script", "trace.dat", ... */
	uint64_t lines;			   /* text: lines; trace.dat: records */
	uint64_t count[TRACE_EVENT_KINDS]; /* events by kind; of LOST: places */
	uint64_t first_ns, last_ns;	   /* earliest and latest time, UNKNOWN without any */
	uint64_t lost;			   /* events lost, as far as somebody counted */
	uint64_t lost_uncounted;	   /* places with a loss of unknown size */
	uint64_t lost_place;		   /* first place of a loss; 0: none */
	uint64_t overwritten; /* events overwritten before the first one: the trace began earlier */
	uint64_t unreadable;  /* events of ours that could not be read */
	uint64_t unreadable_place; /* the first of them */
	uint64_t unknown;	   /* lines that are no event and nothing else known here */
	uint64_t unknown_place;	   /* the first of them */
	uint64_t out_of_order;	   /* events that came late and were put in their place */
	uint64_t too_late;	   /* events that came too late for that, and were left out */
	uint64_t overlaps;	   /* halts that begin before the one before them ended */
	uint64_t nameless;	   /* events of ours without a thread id */
	uint64_t unknown_halts;	   /* HLT exits whose end was lost: how long they were is unknown */
	uint32_t hints;		   /* enum trace_event_hints */
	uint32_t flags_width;	   /* widest flag column seen (4: before 5.13 or so), 0: none */
};

/** A listener for the events of a trace, in the order the reader takes them. */
struct trace_event_watch {
	void (*see)(void *context, const struct trace_event *event);
	void *context;
};

#endif

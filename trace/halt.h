/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One recorded halt, and what a recording knows of the host, its VMs and their vCPUs. */
#ifndef VHALT_TRACE_HALT_H
#define VHALT_TRACE_HALT_H

#include <stdbool.h>
#include <stdint.h>

#include <vhalt/types.h>

#define TRACE_UNKNOWN_U32 0xffffffffU

enum trace_halt_flags {
	TRACE_HALT_WAITED = 1 << 0,  /* the vCPU blocked; else the wake-up was met by polling */
	TRACE_HALT_INVALID = 1 << 1, /* the kernel called the wake-up invalid */
	TRACE_HALT_WINDOW = 1 << 2,  /* the kernel reported a window decision: old_ns, new_ns, GROW */
	TRACE_HALT_GROW = 1 << 3,    /* that decision was a grow; else a shrink */
	TRACE_HALT_GAP = 1 << 4,     /* events were lost before this one: nothing carries over */
};

/** One halt of one vCPU. Times are ns; start_ns counts from the recording's own origin. */
struct trace_halt {
	uint64_t start_ns;    /* when the halt began */
	uint64_t halt_ns;     /* as the kernel reports it: includes L when it blocked */
	uint64_t run_ns;      /* since this vCPU's last halt ended, or VHALT_UNKNOWN_NS */
	uint64_t deadline_ns; /* to the vCPU's own next timer, or VHALT_NO_DEADLINE_NS */
	uint32_t latency_ns;  /* wake-up latency L, measured, or TRACE_UNKNOWN_U32 */
	uint32_t window_ns;   /* window in force during this halt, or TRACE_UNKNOWN_U32 */
	uint32_t old_ns;      /* with TRACE_HALT_WINDOW: window before the decision ... */
	uint32_t new_ns;      /* ... and after it */
	uint32_t vcpu;	      /* index into trace_info.vcpus */
	uint32_t flags;	      /* enum trace_halt_flags */
};

#define TRACE_NAME_BYTES 64

/** A virtual machine: one process with vCPU threads. */
struct trace_vm {
	uint32_t pid;
	uint32_t ceiling_ns; /* KVM_CAP_HALT_POLL where known, else TRACE_UNKNOWN_U32 */
	char name[TRACE_NAME_BYTES];
};

/** A vCPU thread. */
struct trace_vcpu {
	uint32_t vm; /* index into trace_info.vms */
	uint32_t tid;
	uint32_t number; /* KVM's vCPU id, or TRACE_UNKNOWN_U32 */
	char name[TRACE_NAME_BYTES]; /* thread name */
};

/** KVM's module parameters, each TRACE_UNKNOWN_U32 where unknown. */
struct trace_kvm_params {
	uint32_t halt_poll_ns, grow, grow_start_ns, shrink;
};

/**
 * What a recording says beside its halts. Grows while it is read: a VM or vCPU is known from the
 * batch on that first names it.
 */
struct trace_info {
	struct trace_kvm_params params;
	char host[TRACE_NAME_BYTES];	 /* machine: CPU model */
	char kernel[TRACE_NAME_BYTES];	 /* uname -r */
	uint64_t origin_unix_ns;	 /* wall clock at start_ns == 0, 0 where unknown */
	uint64_t duration_ns;		 /* length of the recording; 0 until its end was read */
	uint64_t lost;			 /* events the recorder could not keep */
	uint64_t damaged_frames;	 /* frames (lines of a list) a reader had to leave out */
	bool has_latency;		 /* blocked halts carry a measured latency */
	struct trace_vm *vms;
	uint32_t nr_vms;
	struct trace_vcpu *vcpus;
	uint32_t nr_vcpus;
};

#endif

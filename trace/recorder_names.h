/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Who a vCPU thread is: names of its VM and itself, by /proc and by the ways of known VMMs. */
#ifndef VHALT_TRACE_RECORDER_NAMES_H
#define VHALT_TRACE_RECORDER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/halt.h"

/** A vCPU thread and its process, as found when it was first seen. */
struct recorder_task {
	char vm_name[TRACE_NAME_BYTES];
	char thread_name[TRACE_NAME_BYTES];
	uint64_t vm_start;     /* when the process began, in /proc's clock ticks; 0: unknown */
	uint64_t thread_start; /* the same of the thread */
};

/**
 * recorder_task_read - look up thread @tid of process @pid in /proc.
 * @context:  ignored; there so that the tracker can be tested without a /proc
 *
 * A task that is gone already, or cannot be seen from here (another PID namespace), gets a name
 * that says so and unknown times. Cannot fail.
 */
void recorder_task_read(void *context, uint32_t pid, uint32_t tid, struct recorder_task *task);

/**
 * recorder_vm_name - a VM's name from its process.
 * @comm:	   the process's own name
 * @cmdline:	   its arguments as in /proc/PID/cmdline, each ended by a NUL; may be cut anywhere
 * @cmdline_bytes: length of it
 * @name:	   receives "GUEST (COMM)" where an argument names the guest, else COMM; printable
 *
 * Knows -name [guest=]X (QEMU), --name X (kvmtool, crosvm), --id X (Firecracker).
 */
void recorder_vm_name(const char *comm, const char *cmdline, size_t cmdline_bytes,
		      char name[TRACE_NAME_BYTES]);

/**
 * recorder_vcpu_number - the vCPU number in a thread's name, or TRACE_UNKNOWN_U32.
 *
 * Knows "CPU 3/KVM" (QEMU), "fc_vcpu 0" (Firecracker), "vcpu3" (Cloud Hypervisor), "kvm-vcpu-0"
 * (kvmtool), "crosvm_vcpu0" and "vhalt-rr/1". A number at the end of a name that is as long as the
 * kernel keeps names (15 bytes) may be cut and does not count.
 */
uint32_t recorder_vcpu_number(const char *thread_name);

/** recorder_in_host_pids - whether the PIDs seen here are those the kernel's events carry. */
bool recorder_in_host_pids(void);

#endif

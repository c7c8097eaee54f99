/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the files of the micro-VMM share among themselves; callers see vmm.h only. */
#ifndef VHALT_VMM_INTERNAL_H
#define VHALT_VMM_INTERNAL_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>

#include "vmm/guests/abi.h"
#include "vmm/irqchip.h"
#include "vmm/pin.h"
#include "vmm/stats.h"
#include "vmm/vmm.h"

_Static_assert(VMM_MAX_VCPUS == VMM_ABI_MAX_VCPUS, "one limit on both sides");

/** One vCPU. Made by vmm_create(); its thread owns the fields below @thread until @ended is set. */
struct vmm_vcpu {
	struct vmm *vm;
	unsigned int n; /* number, APIC id */
	int fd;
	struct kvm_run *run; /* shared with the kernel, vm->run_bytes long */
	struct vmm_stats stats;
	struct vmm_irqchip_vcpu irqchip; /* VMM_IRQCHIP_USER only */

	pthread_t thread;
	bool started; /* supervisor's: the thread exists and was not joined */

	atomic_uint parked_for; /* the reset this thread waits for, or waited for last */
	atomic_bool ended;	/* the thread is past its last KVM_RUN */
	enum vmm_end end;	/* DONE, FAILED, or NONE: it was told to leave */
	int error;
	struct vmm_error error_text;
	int tid;
	uint64_t cpu_ns;
	uint64_t exits; /* from KVM_RUN to us */
};

struct vmm {
	struct vmm_config config;
	const struct vmm_guest *guest;
	struct vmm_pin_plan pin;
	int kvm_fd;
	int vm_fd;
	unsigned char *ram; /* VMM_ABI_RAM_BYTES at guest-physical 0 */
	size_t run_bytes;
	uint64_t tsc_khz;
	struct vhalt_engine engine; /* VMM_IRQCHIP_USER only */
	struct vmm_vcpu vcpus[VMM_MAX_VCPUS];

	int event_fd; /* wakes the supervisor: a stop request, or a vCPU has ended */
	int end_fd;   /* readable once @ended is set */
	atomic_bool stop_requested;
	atomic_bool ended;   /* @result is complete */
	atomic_bool leaving; /* vCPU threads must not enter the guest again */

	atomic_bool parking;	  /* vCPU threads are to wait for the end of reset number ... */
	atomic_uint reset_number; /* ... this, counted from 1 */
	pthread_mutex_t park_mutex;
	pthread_cond_t park_cond;

	pthread_t supervisor;
	bool started;
	bool stuck; /* a vCPU thread did not come back: it may still use this memory */
	struct vmm_result result;
};

/**
 * vmm_error_set - write the sentence (printf style; cut when too long) and hand back @err.
 * @error: may be NULL
 */
__attribute__((format(printf, 3, 4))) int vmm_error_set(struct vmm_error *error, int err,
							const char *format, ...);

/** vmm_ram_at - @bytes of guest memory at @gpa, or NULL if any of them is outside. */
void *vmm_ram_at(const struct vmm *vm, uint64_t gpa, size_t bytes);

/** vmm_event_signal - add one to an eventfd. Async-signal-safe, keeps errno. */
void vmm_event_signal(int fd);

/* boot_x86.c */

/**
 * vmm_boot_memory - copy the guest's image and write tables and parameters into guest memory.
 * Return: 0, -EINVAL: the image is not one of this build's ABI.
 */
int vmm_boot_memory(struct vmm *vm, struct vmm_error *error);

/** vmm_boot_vcpu - set CPUID, registers and so on of a fresh vCPU. Return: 0 or -errno. */
int vmm_boot_vcpu(struct vmm_vcpu *vcpu, struct vmm_error *error);

/** vmm_boot_registers - all but the CPUID, which must not change any more once a vCPU has run. */
int vmm_boot_registers(struct vmm_vcpu *vcpu, struct vmm_error *error);

/* reset_x86.c */

/** vmm_steal_time_set - MSR_KVM_STEAL_TIME of @vcpu. Return: 0, -EOPNOTSUPP (none here), -errno. */
int vmm_steal_time_set(struct vmm_vcpu *vcpu, bool enabled);

/**
 * vmm_reset - bring all vCPUs to a halt and start the VM over: its memory, registers, steal time.
 *
 * Called by the supervisor while all vCPUs run. One that ends meanwhile ends the reset too, without
 * an error. Return: 0 or -errno with @error filled.
 */
int vmm_reset(struct vmm *vm, struct vmm_error *error);

/**
 * vmm_vcpu_park - wait for the end of the reset that is going on. In the vCPU's thread.
 * Return: 0, -EPROTO (KVM_RUN does not return at once when told to) or -errno of KVM_RUN.
 */
int vmm_vcpu_park(struct vmm_vcpu *vcpu);

/* exit_x86.c */

/**
 * vmm_exit_judge - what the exit described in vcpu->run means. Called in the vCPU's thread.
 * Return: VMM_END_NONE: go on; VMM_END_DONE; VMM_END_FAILED with vcpu->error and error_text set.
 */
enum vmm_end vmm_exit_judge(struct vmm_vcpu *vcpu);

/* vcpu.c */

/**
 * vmm_vcpu_start - start the thread, pinned to @cpu (-1: not pinned). All signals are blocked in
 * it. The caller has blocked all signals too. Return: 0 or -errno with @error filled.
 */
int vmm_vcpu_start(struct vmm_vcpu *vcpu, int cpu, struct vmm_error *error);

/**
 * vmm_vcpu_kick - take the thread out of KVM_RUN, or out of its wait: vm->leaving or ->parking is
 * set. Cannot fail.
 */
void vmm_vcpu_kick(struct vmm_vcpu *vcpu);

/** vmm_vcpu_forget_kick - KVM_RUN may run again. In the vCPU's thread. */
void vmm_vcpu_forget_kick(struct vmm_vcpu *vcpu);

/* supervisor.c */

/** vmm_supervise - thread of a started VM: runs the vCPUs, decides the end, fills the result. */
void *vmm_supervise(void *vm);

/** vmm_all_running - has no vCPU ended? */
bool vmm_all_running(const struct vmm *vm);

/** vmm_event_await - sleep until an event or @until_ns, and forget the event: its cause is told by
 * flags. */
void vmm_event_await(struct vmm *vm, uint64_t until_ns);

/* report.c */

/**
 * vmm_report_collect - fill the vCPU parts of vm->result from guest memory, KVM and the threads.
 * Every vCPU has ended, or is left out because it is stuck.
 */
void vmm_report_collect(struct vmm *vm);

/** vmm_report_latency - mean and percentiles of what a guest measured. @tsc_khz: not 0. Pure. */
void vmm_report_latency(const struct vmm_abi_latency *l, uint64_t tsc_khz,
			struct vmm_latency *latency);

#endif

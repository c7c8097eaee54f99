/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Micro-VMM: runs the tiny guests of vmm/guests/ on /dev/kvm, so that real vCPUs halt and wake up.
 *
 * A VM is one guest, one or two vCPUs with a thread each (named "vhalt-<guest>/<n>"), the in-kernel
 * interrupt controller and 2 MiB of memory. It ends when the guest says it is done, when its time
 * is up, when somebody stops it, or when it fails; it then has a result. Several VMs may live in
 * one process and none of them disturbs another. Order of calls:
 *
 *	vmm_config_init -> (change fields) -> vmm_create -> vmm_start -> vmm_wait -> vmm_destroy
 *
 * The library never prints and never exits. Functions return 0 or -errno; where a sentence says
 * more than a number they fill a struct vmm_error too. It installs no signal handler: vCPU threads
 * block all signals, and the one that takes them out of KVM_RUN never reaches a handler.
 *
 * Not here, on purpose: devices, firmware, disks, networks, operating systems as guests.
 */
#ifndef VHALT_VMM_VMM_H
#define VHALT_VMM_VMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most vCPUs a guest has: one digit in the thread's name, and the guests' memory layout. */
#define VMM_MAX_VCPUS 8

/**
 * Bytes of a guest's name with its NUL. A thread name holds 15 characters (TASK_COMM_LEN less its
 * NUL): "vhalt-" + 7 + "/" + one digit.
 */
#define VMM_GUEST_NAME_BYTES 8

/** Longest CPU number accepted in a pin list, exclusive (CPU_SETSIZE). */
#define VMM_MAX_CPUS 1024

/** A complete sentence for people, without full stop or newline; empty when nothing went wrong. */
struct vmm_error {
	char text[256];
};

/** A guest this build contains. */
struct vmm_guest {
	const char *name;	    /* "rr"; at most VMM_GUEST_NAME_BYTES - 1 characters */
	const char *summary;	    /* one line, lower case */
	unsigned int nr_vcpus;	    /* 1..VMM_MAX_VCPUS, fixed per guest */
	bool hidden;		    /* for the project's own tests: left out of lists */
	bool measures_round_trip;   /* latency is a request's round trip, else a timer's lateness */
	const unsigned char *image; /* flat image, see vmm/guests/abi.h; read-only */
	const unsigned char *image_end; /* one past its last byte */
};

/**
 * vmm_guest_at - the guest number @index (0, 1, ...), hidden ones included.
 * Return: static data, or NULL past the end. Cannot fail otherwise.
 */
const struct vmm_guest *vmm_guest_at(size_t index);

/** vmm_guest_find - the guest called @name, hidden ones included, or NULL. */
const struct vmm_guest *vmm_guest_find(const char *name);

/** Where vCPU threads may run. */
enum vmm_pin {
	/*
	 * Guests with several vCPUs: each on a CPU of its own, taken from the calling thread's
	 * affinity, different cores preferred (two vCPUs sharing a CPU make halt polling useless:
	 * the kernel stops polling when another task wants the CPU). Guests with one: not pinned.
	 */
	VMM_PIN_DEFAULT,
	VMM_PIN_NONE, /* threads inherit the affinity of the caller of vmm_start() */
	VMM_PIN_LIST, /* vCPU n on pin_cpus[n % nr_pin_cpus] */
};

/** What the hidden guest "crash" does. Test use only. */
enum vmm_fault {
	VMM_FAULT_PORT,	     /* OUT to a port nobody serves */
	VMM_FAULT_EXCEPTION, /* an invalid instruction */
	VMM_FAULT_TRIPLE,    /* the same without an interrupt table: triple fault */
	VMM_FAULT_SPIN,	     /* never halts, never exits: only a kick ends it */
};

/** halt_poll_ns value: leave KVM's own setting in force. */
#define VMM_HALT_POLL_UNSET (~0ULL)

/** Bounds of the configuration; the manual and the command line use the same numbers. */
#define VMM_MAX_HZ	     100000U
#define VMM_MAX_TIMER_NS     4000000000ULL /* the LAPIC counts 32 bits of nanoseconds */
#define VMM_MAX_THINK_NS     1000000000ULL
#define VMM_MAX_HALT_POLL_NS 1000000000ULL
#define VMM_MAX_DURATION_NS  86400000000000ULL /* one day */
#define VMM_MIN_DURATION_NS  1000000ULL

/**
 * Everything there is to choose about a VM. Plain data: may be copied, needs no fini.
 * Fill by vmm_config_init(), then change fields; vmm_config_check() says what is not acceptable.
 */
struct vmm_config {
	char guest[VMM_GUEST_NAME_BYTES];

	/* When the run ends. At least one of the first three must be non-zero. */
	uint64_t duration_ns; /* ends well after this time since vmm_start(); 0: no limit */
	uint64_t rounds;      /* guest is done after so many round trips or wake-ups; 0: no limit */
	uint64_t watchdog_ns; /* fails with -ETIMEDOUT if still running then; 0: none */

	uint64_t hz;	   /* tick, idle: wake-ups per second, 1..VMM_MAX_HZ */
	uint64_t think_ns; /* rr: requester works this long between rounds, <= VMM_MAX_THINK_NS */

	/* burst: one-shot timers, each uniform within half and one and a half times its length. */
	uint64_t seed;		/* same seed, same sequence of timers */
	uint64_t short_ns;	/* 1000..VMM_MAX_TIMER_NS / 2 */
	uint64_t long_ns;	/* short_ns..VMM_MAX_TIMER_NS / 2 */
	uint64_t short_percent; /* 0..100: share of short timers */

	/* Ceiling of this VM's halt polling through KVM_CAP_HALT_POLL; 0 switches polling off. */
	uint64_t halt_poll_ns; /* <= VMM_MAX_HALT_POLL_NS, or VMM_HALT_POLL_UNSET */

	enum vmm_pin pin;
	unsigned int nr_pin_cpus; /* VMM_PIN_LIST: 1..VMM_MAX_VCPUS */
	unsigned int pin_cpus[VMM_MAX_VCPUS];

	enum vmm_fault fault; /* guest "crash" only */
};

/**
 * vmm_config_init - the defaults for guest @name.
 *
 * 5 s; tick 250 Hz; idle 1 Hz; rr until the time is up, no think time; burst seed 1, 80 % timers
 * of 30 us, the rest of 2 ms; halt_poll unset; default pinning.
 * Return: 0, or -ENOENT when there is no such guest (@config is then zeroed).
 */
int vmm_config_init(struct vmm_config *config, const char *name);

/**
 * vmm_config_check - is @config within its bounds?
 * Return: 0; -ENOENT (unknown guest) or -EINVAL, with @error naming the field and its value.
 */
int vmm_config_check(const struct vmm_config *config, struct vmm_error *error);

/** How a run ended. */
enum vmm_end {
	VMM_END_NONE,	 /* not started or still running */
	VMM_END_DONE,	 /* the guest said so: all its rounds are complete */
	VMM_END_TIME,	 /* duration_ns is over */
	VMM_END_STOPPED, /* vmm_stop() */
	VMM_END_FAILED,	 /* see error and error_text */
};

/** vmm_end_name - "done", "time", "stopped", "failed", "none": stable, used in JSON. */
const char *vmm_end_name(enum vmm_end end);

/** KVM's own counters of one vCPU over its whole life, times in nanoseconds. */
struct vmm_kvm_stats {
	bool valid; /* false: no KVM_GET_STATS_FD (before Linux 5.14), or it could not be read */
	uint64_t halt_exits;
	uint64_t halt_successful_poll;
	uint64_t halt_attempted_poll;
	uint64_t halt_poll_invalid;
	uint64_t halt_wakeup;
	uint64_t halt_poll_success_ns;
	uint64_t halt_poll_fail_ns;
	uint64_t halt_wait_ns;
};

/**
 * Times measured by the guest with its own TSC. Percentiles come from a histogram with 32 steps
 * per power of two: at most 1.6 % off. All zero when count is 0.
 */
struct vmm_latency {
	uint64_t count;
	uint64_t mean_ns;
	uint64_t p50_ns;
	uint64_t p99_ns;
	uint64_t min_ns;
	uint64_t max_ns;
};

/** One vCPU's part of the result. */
struct vmm_vcpu_result {
	int tid;		    /* the thread's id while it ran */
	int cpu;		    /* pinned to this CPU, -1: not pinned */
	uint64_t halts;		    /* HLT executed, counted by the guest */
	uint64_t wakeups;	    /* HLT that ended: halts, or one less if stopped while halted */
	uint64_t rounds;	    /* rr: round trips made or answered; else timers that expired */
	uint64_t missed;	    /* tick, idle: periods left out because the guest was late */
	uint64_t timers_digest;	    /* burst: FNV-1a over the expired timers' lengths, in order */
	uint64_t cpu_ns;	    /* CPU time of the thread while it ran the vCPU */
	struct vmm_latency latency; /* rr vCPU 0: round trip; timers: lateness; else empty */
	struct vmm_kvm_stats kvm;
};

/** What happened. Plain data of fixed size, valid also when the run failed. */
struct vmm_result {
	char guest[VMM_GUEST_NAME_BYTES];
	enum vmm_end end;
	int error;		     /* -errno when end is VMM_END_FAILED, else 0 */
	struct vmm_error error_text; /* ditto: for a bad exit its reason and RIP */
	struct vmm_error note;	     /* a remark on the run, such as pinning that was impossible */
	uint64_t elapsed_ns;	     /* from vmm_start() until the last vCPU stopped */
	uint64_t tsc_khz;	     /* the guest's TSC frequency as KVM tells it */
	bool round_trip;	     /* latency is a round trip, else a timer's lateness */
	unsigned int nr_vcpus;
	struct vmm_vcpu_result vcpus[VMM_MAX_VCPUS];
};

/** A VM. Opaque; owned by its creator. */
struct vmm;

/**
 * vmm_create - make a VM ready to run; no thread is started and no guest instruction executed.
 * @config: checked, then copied
 * @vm:     receives the VM; give it back with vmm_destroy()
 * @error:  filled when the call fails; may be NULL
 *
 * May sleep; opens /dev/kvm, allocates 2 MiB for the guest. Any thread.
 * Return: 0; -ENOENT (no /dev/kvm), -EACCES (no permission for it), -EINVAL (configuration, or a
 * CPU of the pin list outside the caller's affinity), -EOPNOTSUPP (KVM lacks a capability), -errno.
 */
int vmm_create(const struct vmm_config *config, struct vmm **vm, struct vmm_error *error);

/**
 * vmm_start - run the VM in threads of its own; returns at once. Once per VM.
 * Return: 0 or -errno, -EALREADY on the second call. After an error only vmm_destroy() is useful.
 */
int vmm_start(struct vmm *vm, struct vmm_error *error);

/**
 * vmm_stop - ask the VM to end; its result will say VMM_END_STOPPED unless it ended before.
 *
 * Async-signal-safe, from any thread, any number of times, from vmm_create() (a VM stopped before
 * vmm_start() ends right after it) until vmm_destroy(). Keeps errno. Cannot fail.
 */
void vmm_stop(struct vmm *vm);

/**
 * vmm_end_fd - a descriptor that polls readable once the VM has ended; owned by @vm, do not read
 * or close it. For callers that wait for more than one thing.
 */
int vmm_end_fd(const struct vmm *vm);

/**
 * vmm_wait - sleep until the VM has ended, and give its result.
 * @result: filled in any case, once per VM or many times
 *
 * One thread at a time. Return: 0 (done, time up or stopped), result->error if the run failed,
 * -EINVAL if it was never started.
 */
int vmm_wait(struct vmm *vm, struct vmm_result *result);

/**
 * vmm_destroy - free the VM; stops it and waits for it when it still runs. NULL is allowed.
 *
 * If a vCPU thread cannot be brought out of the kernel (the run failed with -ETIMEDOUT and says
 * so) the memory it uses stays allocated: the thread may still write to it.
 */
void vmm_destroy(struct vmm *vm);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Micro-VMM: runs the tiny guests of vmm/guests/ on /dev/kvm, so that real vCPUs halt and wake up.
 *
 * A VM is one guest, up to eight vCPUs with a thread each (named "vhalt-<guest>/<n>"), the
 *in-kernel interrupt controller and 2 MiB of memory. It ends when the guest says it is done, when
 *its time is up, when somebody stops it, or when it fails; it then has a result. Several VMs may
 *live in one process and none of them disturbs another. Order of calls:
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

#include <vhalt/wait.h>

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

/** What a guest's latencies are. */
enum vmm_latency_kind {
	VMM_LATENCY_LATENESS,	/* of its timers: from the due time until the guest runs */
	VMM_LATENCY_ROUND_TRIP, /* of its requests */
	VMM_LATENCY_LOCK,	/* from wanting the lock to having it */
};

/** vmm_latency_kind_name - "lateness", "round_trip", "lock_wait": stable, used in JSON. */
const char *vmm_latency_kind_name(enum vmm_latency_kind kind);

/** A guest this build contains. */
struct vmm_guest {
	const char *name;	/* "rr"; at most VMM_GUEST_NAME_BYTES - 1 characters */
	const char *summary;	/* one line, lower case */
	unsigned int nr_vcpus;	/* 1..VMM_MAX_VCPUS, unless told otherwise */
	unsigned int max_vcpus; /* other numbers are possible, up to this; 0: none is */
	bool apart;		/* its vCPUs are useless on one CPU: see VMM_PIN_DEFAULT */
	bool hidden;		/* for the project's own tests: left out of lists */
	enum vmm_latency_kind latency_kind;
	const unsigned char *image;	/* flat image, see vmm/guests/abi.h; read-only */
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
	 * rr: each vCPU on a CPU of its own, taken from the calling thread's affinity, different
	 * cores preferred (two vCPUs sharing a CPU make halt polling useless: the kernel stops
	 * polling when another task wants the CPU). Other guests: not pinned.
	 */
	VMM_PIN_DEFAULT,
	VMM_PIN_NONE, /* threads inherit the affinity of the caller of vmm_start() */
	VMM_PIN_LIST, /* vCPU n on pin_cpus[n % nr_pin_cpus] */
};

/** What the vCPUs of guest "lock" tell the host of their preempt_count (uapi/vhalt_guest.h). */
enum vmm_share {
	VMM_SHARE_NONE,
	VMM_SHARE_STEAL,     /* in the steal-time page */
	VMM_SHARE_HYPERCALL, /* by hypercall */
	VMM_SHARE_HOSTILE, /* garbage by both ways, ever changing, drawn from the seed: for tests */
	VMM_NR_SHARES,
};

/** vmm_share_name - "none", "steal", "hypercall", "hostile"; NULL for others. */
const char *vmm_share_name(enum vmm_share share);

/** Who has the interrupt controllers, and so the halts. */
enum vmm_irqchip {
	VMM_IRQCHIP_KERNEL, /* KVM: it polls and blocks by its own policy */
	VMM_IRQCHIP_USER,   /* this process: HLT exits come to libvhalt's engine (vhalt/wait.h) */
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
#define VMM_MAX_HOLD_NS	     1000000000ULL /* of gap_ns too */
#define VMM_MIN_RESET_NS     10000000ULL
#define VMM_MAX_HALT_POLL_NS 1000000000ULL
#define VMM_MAX_DURATION_NS  86400000000000ULL /* one day */
#define VMM_MIN_DURATION_NS  1000000ULL

/**
 * Everything there is to choose about a VM. Plain data: may be copied, needs no fini.
 * Fill by vmm_config_init(), then change fields; vmm_config_check() says what is not acceptable.
 */
struct vmm_config {
	char guest[VMM_GUEST_NAME_BYTES];

	unsigned int nr_vcpus; /* lock: 1..VMM_MAX_VCPUS; the others: what they have */

	/* When the run ends. At least one of the first three must be non-zero. */
	uint64_t duration_ns; /* ends well after this time since vmm_start(); 0: no limit */
	uint64_t rounds; /* done after so many round trips, timers, or acquisitions by each vCPU
			  * of lock; 0: no limit */
	uint64_t watchdog_ns; /* fails with -ETIMEDOUT if still running then; 0: none */

	uint64_t hz;	   /* tick, idle: wake-ups per second, 1..VMM_MAX_HZ */
	uint64_t think_ns; /* rr: requester works this long between rounds, <= VMM_MAX_THINK_NS */

	/* burst: one-shot timers, each uniform within half and one and a half times its length. */
	uint64_t seed;		/* same seed, same sequence of timers; of garbage, too */
	uint64_t short_ns;	/* 1000..VMM_MAX_TIMER_NS / 2 */
	uint64_t long_ns;	/* short_ns..VMM_MAX_TIMER_NS / 2 */
	uint64_t short_percent; /* 0..100: share of short timers */

	/* lock: CPU time a vCPU works with the lock and without it, <= VMM_MAX_HOLD_NS. */
	uint64_t hold_ns;
	uint64_t gap_ns;
	enum vmm_share share;
	uint64_t reset_ns; /* lock: reset the VM again and again after so long; 0: never */

	/* Ceiling of this VM's halt polling through KVM_CAP_HALT_POLL; 0 switches polling off. */
	uint64_t halt_poll_ns; /* <= VMM_MAX_HALT_POLL_NS, or VMM_HALT_POLL_UNSET */

	/*
	 * VMM_IRQCHIP_USER: @policy decides how halts wait, @budget_ppm of the host's CPU time may
	 * be polled away by all vCPUs of the VM (0: no limit). halt_poll_ns then has no effect.
	 */
	enum vmm_irqchip irqchip;
	struct vhalt_config policy;
	uint32_t budget_ppm;

	/*
	 * The guest's own idle loop polls before each HLT, by a policy that runs inside the guest;
	 * one that plans to sleep first (auto:sleep) blocks instead. Not for guest lock.
	 */
	bool guest_polls;
	struct vhalt_config guest_policy;

	enum vmm_pin pin;
	unsigned int nr_pin_cpus; /* VMM_PIN_LIST: 1..VMM_MAX_VCPUS */
	unsigned int pin_cpus[VMM_MAX_VCPUS];

	enum vmm_fault fault; /* guest "crash" only */
};

/**
 * vmm_config_init - the defaults for guest @name.
 *
 * 5 s; tick 250 Hz; idle 1 Hz; rr until the time is up, no think time; burst seed 1, 80 % timers
 * of 30 us, the rest of 2 ms; lock 4 vCPUs that hold for 50 us of 100 and share by the steal-time
 * page, no reset; halt_poll unset; KVM's interrupt controllers, both policies `auto` with its
 * defaults, guests do not poll; default pinning.
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

/** What the guest's own polling did. Times are the guest's. */
struct vmm_guest_stats {
	uint64_t attempted;  /* idle periods that polled */
	uint64_t successful; /* ... and were met by it: no HLT, or only to take the interrupt */
	uint64_t success_ns; /* CPU time of these polls */
	uint64_t fail_ns;    /* of the others */
};

/** One vCPU's part of the result. */
struct vmm_vcpu_result {
	int tid;		    /* the thread's id while it ran */
	int cpu;		    /* pinned to this CPU, -1: not pinned */
	uint64_t halts;		    /* HLT executed, counted by the guest */
	uint64_t wakeups;	    /* HLT that ended: halts, or one less if stopped while halted */
	uint64_t rounds;	    /* rr: round trips made or answered; lock: acquisitions; else
				     * timers that expired */
	uint64_t missed;	    /* tick, idle: periods left out because the guest was late */
	uint64_t timers_digest;	    /* burst: FNV-1a over the expired timers' lengths, in order */
	uint64_t cpu_ns;	    /* CPU time of the thread while it ran the vCPU */
	struct vmm_latency latency; /* see latency_kind; rr: vCPU 0 only */
	uint64_t exits;		    /* from KVM to this process */
	struct vmm_kvm_stats kvm;
	struct vhalt_waiter_stats engine; /* VMM_IRQCHIP_USER; else zero */
	struct vmm_guest_stats guest;	  /* guest_polls; else zero */
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
	enum vmm_latency_kind latency_kind;
	uint64_t acquisitions; /* lock: counted by the holders without atomics; equals the vCPUs'
				* rounds if the lock excludes, or is one more if it was held at the
				* end. Of the time since the last reset */
	uint64_t resets;
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
 * CPU of the pin list outside the caller's affinity), -EOPNOTSUPP (KVM lacks a capability, or steal
 * time for VMM_SHARE_STEAL), -errno.
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

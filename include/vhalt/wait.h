/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* libvhalt: wait for a kick or a deadline by polling first, then blocking, as a policy decides. */
#ifndef VHALT_WAIT_H
#define VHALT_WAIT_H

/*
 * For programs whose threads wait for each other, VMMs above all: one waiter per vCPU takes the
 * place of the condition variable, eventfd or signal its halted thread sleeps on.
 *
 *	vhalt_config_parse("auto", &config, error, sizeof(error))	once
 *	vhalt_engine_init(&engine, &config)				once per VM or process
 *	vhalt_waiter_init(&vcpu->waiter, &engine)			once per vCPU
 *	the vCPU's thread: vhalt_thread_prepare()			once
 *	... on HLT or WFI {
 *		while (!interrupt_pending(vcpu))
 *			vhalt_waiter_wait(&vcpu->waiter, its next timer)
 *	}
 *	any thread, after it made an interrupt pending: vhalt_waiter_kick(&vcpu->waiter)
 *
 * A kick is never lost: one that comes while nobody waits ends the next wait at once. Several kicks
 * before a wait are one. What the kicker wrote before its kick is visible to the waiter after the
 * wait that the kick ended, whichever of several kicks it was.
 *
 * No function here allocates, takes a lock or needs a thread of its own. All memory is the
 * caller's: zeroed or not before init, at an aligned address, not moved or freed while in use.
 *There is nothing to undo, so there is no fini. Times are CLOCK_MONOTONIC nanoseconds. Linux only.
 */

#include <vhalt/budget.h>
#include <vhalt/policy.h>

/** One policy, and if wanted one budget, shared by any number of waiters. Opaque, caller's. */
struct vhalt_engine {
	uint64_t opaque[56];
} __attribute__((aligned(64)));

/** One thread that waits. Opaque, caller's: 1 KiB, statistics and all a policy learns included. */
struct vhalt_waiter {
	uint64_t opaque[128];
} __attribute__((aligned(64)));

/** What ended a wait. */
enum vhalt_wake {
	VHALT_WAKE_KICK,     /* a kick, perhaps one from before the wait */
	VHALT_WAKE_DEADLINE, /* the deadline has passed and no kick was there */
	VHALT_WAKE_READY,    /* vhalt_waiter_wait_on(): the source is ready */
};

/**
 * vhalt_config_parse - prepare a config from a policy's text, "auto" or "kvm:halt_poll_ns=50us".
 * @text:         name[:key=value,...] as `vhalt policies` lists them; NULL stands for "auto"
 * @config:       receives the prepared config; unchanged on error
 * @error:        receives one sentence on what is wrong and what is allowed; NULL is allowed
 * @error_bytes:  size of @error; the sentence is cut to fit
 *
 * Slow path. Return: 0, -EINVAL (unknown policy or key, syntax), -ERANGE (value out of bounds).
 */
int vhalt_config_parse(const char *text, struct vhalt_config *config, char *error,
		       size_t error_bytes);

/**
 * vhalt_engine_init - an engine for @config (copied), without a budget.
 *
 * A config nobody prepared never polls. Cannot fail.
 */
void vhalt_engine_init(struct vhalt_engine *engine, const struct vhalt_config *config);

/**
 * vhalt_engine_set_budget - bound what all waiters of @engine may burn polling, together.
 * @cap_ppm:  parts per million of @cpus CPUs' time, 1 to 1000000; 0 takes the budget away
 * @cpus:     CPUs the cap is a share of, 1 and up; 0: as many as are online
 *
 * Policy `auto` keeps to it by price (vhalt/budget.h); with any other a plain gate at 1.2 times the
 * cap remains, until the end of each 10 ms. The waiters themselves keep the books, as they come
 * by. Call before any waiter waits. Return: 0, -ERANGE (@cap_ppm is too large).
 */
int vhalt_engine_set_budget(struct vhalt_engine *engine, uint32_t cap_ppm, uint32_t cpus);

/** What an engine's budget does now. */
struct vhalt_engine_stats {
	uint64_t burnt_ns; /* polled by all waiters since init; counted only with a budget */
	uint64_t gated;	   /* waits that had to block because the budget was spent */
	uint32_t factor;   /* price factor, VHALT_FACTOR_ONE and up */
	uint32_t ticks;	   /* times the budget was settled */
};

/** vhalt_engine_stats - read them from any thread; each field by itself is right. */
void vhalt_engine_stats(const struct vhalt_engine *engine, struct vhalt_engine_stats *stats);

/**
 * vhalt_waiter_init - a waiter that has never waited and was not kicked.
 * @engine:  must outlive the waiter
 *
 * No other thread may use the waiter meanwhile. Cannot fail.
 */
void vhalt_waiter_init(struct vhalt_waiter *waiter, struct vhalt_engine *engine);

/**
 * vhalt_thread_prepare - make this thread fit to wait: its timers are not to be late on purpose.
 *
 * Sets the thread's timer slack to 1 ns (Linux gives threads 50 us, which each deadline and each
 * planned sleep would be late by). Once per waiting thread; waits work without. Changes nothing for
 * real-time threads, which have no slack. Return: 0 or -errno of prctl(PR_SET_TIMERSLACK).
 */
int vhalt_thread_prepare(void);

/**
 * vhalt_waiter_wait - return at the next kick, or at @deadline_ns.
 * @deadline_ns:  CLOCK_MONOTONIC time of the waiter's own next timer; one that has passed only
 *		  takes a pending kick; VHALT_NO_DEADLINE_NS: none
 *
 * Polls and blocks as the policy decides; while polling it stops, and blocks, as soon as it finds
 * that another task had to be given this CPU. Calls on one waiter must not overlap, but any thread
 * may make the next one. Signals with handlers are handled and do not end the wait: let the handler
 * kick. Keeps errno. Cannot fail.
 *
 * Return: VHALT_WAKE_KICK (the kick is consumed; the deadline may have passed too) or
 * VHALT_WAKE_DEADLINE (never before @deadline_ns).
 */
enum vhalt_wake vhalt_waiter_wait(struct vhalt_waiter *waiter, uint64_t deadline_ns);

/**
 * vhalt_waiter_kick - end the waiter's wait, or its next one.
 *
 * From any thread, any number at once, and from signal handlers; keeps errno. Only when the waiter
 * is blocked is there a system call. The kick is time-stamped, so that the policy knows to the
 * nanosecond when the wake event came, and learns what waking costs on this machine. Cannot fail.
 */
void vhalt_waiter_kick(struct vhalt_waiter *waiter);

/** vhalt_waiter_kicked - is a kick pending? Any thread; does not consume it. */
bool vhalt_waiter_kicked(const struct vhalt_waiter *waiter);

/**
 * Something else to wait for than a kick: a socket, a ring, a memory word of the caller's.
 * Both functions run in the waiting thread.
 */
struct vhalt_source {
	/* Is it ready? Called once per turn of the poll; must not sleep. */
	bool (*ready)(void *arg);
	/* Sleep until it is ready or until_ns (CLOCK_MONOTONIC; VHALT_NO_DEADLINE_NS: no end).
	 * True: it is ready. False: nobody knows, and unless the time is up it is called again; it
	 * must not sleep when it is ready already. */
	bool (*block)(void *arg, uint64_t until_ns);
	void *arg;
};

/**
 * vhalt_waiter_wait_on - as vhalt_waiter_wait(), for @source in place of kicks.
 *
 * Kicks do not end it and stay pending. Nobody stamps the event's time, so `auto` works with the
 * wake-up latency it is given (latency_ns).
 * Return: VHALT_WAKE_READY or VHALT_WAKE_DEADLINE.
 */
enum vhalt_wake vhalt_waiter_wait_on(struct vhalt_waiter *waiter, const struct vhalt_source *source,
				     uint64_t deadline_ns);

/** Buckets of a histogram: bucket i counts times of 2^(i-1) to 2^i - 1 ns, the last all longer. */
#define VHALT_HIST_BUCKETS 32

/**
 * A waiter's counters since init, named as KVM names those of a vCPU (`halt_...`); times in ns.
 * A wait that found a kick pending is no halt: it counts in `immediate` alone.
 */
struct vhalt_waiter_stats {
	uint64_t halts;		       /* waits that found nothing and polled or blocked */
	uint64_t immediate;	       /* waits that were over at once */
	uint64_t halt_attempted_poll;  /* halts that polled */
	uint64_t halt_successful_poll; /* ... and were met by it */
	uint64_t halt_wakeup;	       /* halts that blocked to their end */
	uint64_t deadlines;	       /* halts ended by their deadline */
	uint64_t sleeps;	       /* halts that slept first, then polled (stage 2 of `auto`) */
	uint64_t cuts;		       /* polls cut short: another task was given this CPU */
	uint64_t forced;	       /* halts that had to block: budget spent, or CPU wanted */
	uint64_t halt_poll_success_ns; /* polled, and met */
	uint64_t halt_poll_fail_ns;    /* polled in vain */
	uint64_t halt_wait_ns;	       /* blocked, planned sleeps included */
	uint64_t latency_ns;	       /* wake event to running again, sum over halt_wakeup */
	uint64_t window_ns;	       /* decided for the last halt */
	uint32_t poll_success_hist[VHALT_HIST_BUCKETS]; /* counters stop at 2^32 - 1 */
	uint32_t poll_fail_hist[VHALT_HIST_BUCKETS];
	uint32_t wait_hist[VHALT_HIST_BUCKETS];
};

/** vhalt_waiter_stats - read them from any thread; each field by itself is right. */
void vhalt_waiter_stats(const struct vhalt_waiter *waiter, struct vhalt_waiter_stats *stats);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Two threads on two CPUs that wake each other: what a switch from one to the other costs. */
#ifndef VHALT_MEASURE_PAIR_H
#define VHALT_MEASURE_PAIR_H

#include <stdint.h>

#include <vhalt/wait.h>

/** How a thread waits for the other. */
enum measure_channel {
	MEASURE_FUTEX,	/* a bare futex: one system call to wait, one to wake */
	MEASURE_PIPE,	/* a pipe, one byte each way */
	MEASURE_WAITER, /* libvhalt */
};

/** What a pair does. */
enum measure_load {
	MEASURE_NEAR, /* each wakes the other and waits for it, with nothing between: ping-pong */
	MEASURE_FAR, /* the first wakes the second every gap_ns; windows shorter than that never hit
		      */
};

/**
 * One way to wait. The waiters keep what they learnt from run to run, as a VMM's would. Initialised
 * by measure_pair_init(), caller's memory, must not move.
 */
struct measure_pair {
	enum measure_channel channel;
	unsigned int cpus[2];
	struct vhalt_engine engine;
	struct vhalt_waiter waiters[2];
};

/** What a run of a pair gave. */
struct measure_pair_result {
	uint64_t switches;   /* wake-ups of one thread by the other */
	uint64_t elapsed_ns; /* of those */
	uint64_t cpu_ns[2];  /* CPU time of each thread meanwhile; FAR: the second one waits */
	uint64_t halts;	     /* MEASURE_WAITER: of both, in and before the measured time, ... */
	uint64_t successful; /* ... and those met by polling */
};

/**
 * measure_pair_init - prepare a way to wait.
 * @config:  the waiters' policy, MEASURE_WAITER only; may be NULL otherwise
 * @cpus:    CPUs of the two threads; different ones
 */
void measure_pair_init(struct measure_pair *pair, enum measure_channel channel,
		       const struct vhalt_config *config, const unsigned int cpus[2]);

/**
 * measure_pair_run - start the two threads, let them run, stop them.
 * @for_ns:  measured time; a tenth of it passes before, unmeasured
 * @gap_ns:  MEASURE_FAR only, above 0
 *
 * Blocks for that long. A machine too busy to run both threads in it gives no switches. Return: 0,
 * -EINVAL (a CPU outside this thread's affinity), -errno.
 */
int measure_pair_run(struct measure_pair *pair, enum measure_load load, uint64_t for_ns,
		     uint64_t gap_ns, struct measure_pair_result *result);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Request and response over loopback TCP, both sides waiting in epoll, a waiter in front of it. */
#ifndef VHALT_MEASURE_RR_H
#define VHALT_MEASURE_RR_H

#include <stdint.h>

#include <vhalt/wait.h>

#include "replay/hist.h"

/** One way to wait; keeps what its waiters learnt from run to run. Caller's memory. */
struct measure_rr {
	bool bare; /* plain epoll_wait(), no waiter */
	unsigned int cpus[2];
	struct vhalt_engine engine;
	struct vhalt_waiter waiters[2]; /* client, server */
};

/** What a run gave. */
struct measure_rr_result {
	uint64_t rounds; /* requests answered */
	uint64_t elapsed_ns;
	uint64_t cpu_ns; /* of both threads */
	uint64_t sum_ns; /* of the round trips */
	struct replay_hist trips;
};

/**
 * measure_rr_init - prepare a way to wait.
 * @config:  the waiters' policy; NULL: plain epoll_wait()
 * @cpus:    of client and server; different ones
 */
void measure_rr_init(struct measure_rr *rr, const struct vhalt_config *config,
		     const unsigned int cpus[2]);

/**
 * measure_rr_run - connect, exchange 64 bytes each way until the time is up, disconnect.
 * @for_ns:  measured time; a tenth of it passes before, unmeasured
 *
 * Blocks for that long. Return: 0 or -errno.
 */
int measure_rr_run(struct measure_rr *rr, uint64_t for_ns, struct measure_rr_result *result);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Drives one policy over drawn halts and adds up what they cost. */
#ifndef VHALT_SUITE_DRIVE_H
#define VHALT_SUITE_DRIVE_H

#include <vhalt/policy.h>

#include "suite/workload.h"

/** The host the halts happen on, and what its driver can tell the policy. */
struct suite_host {
	uint32_t b_ns;	    /* break-even cost of a blocked halt */
	uint32_t max_ns;    /* largest window the oracle may use */
	uint32_t switch_ns; /* C, part of b_ns; counts only when a plan sleeps first */
	bool stamped;	    /* wake-ups are time-stamped: outcome.wake_ns is known */
	bool timers_hidden; /* deadlines are not given as hints */
};

/** Mean wake-up latency of the drawn halts, as policies are given it. */
#define SUITE_LATENCY_NS 13000U

/** Sums over the halts of one run. Add them up freely. */
struct suite_sum {
	uint64_t halts;
	uint64_t polled;     /* met by polling */
	uint64_t cost_ns;    /* vhalt_cost_ns(); a halt after a sleep: see suite_drive() */
	uint64_t oracle_ns;  /* vhalt_oracle_cost_ns() */
	uint64_t poll_ns;    /* CPU time polled away */
	uint64_t latency_ns; /* wake-up latency added */
	uint64_t saved_ns;   /* wake-up latency that blocking would have added beside it */
	uint64_t wall_ns;    /* run and halted */
};

/**
 * suite_drive - run the policy of @config over @halts, from a new vCPU on.
 *
 * The policy sees what a driver sees: T when it polled, T + L when it blocked. A blocked halt costs
 * @host's B, whatever its own L, as in vhalt/cost.h.
 *
 * A plan that sleeps first: the timer goes off after sleep_ns and the vCPU runs L later, for C of
 * CPU. A halt that ends before the timer costs B. One that ends while it is waking costs C and the
 * price of what is left of L; then C and the time polled; and once the window is over, that and B.
 *
 * Return: the sums.
 */
struct suite_sum suite_drive(const struct vhalt_config *config, const struct suite_host *host,
			     const struct suite_halt *halts, uint32_t nr);

/** One vCPU under a policy, to be driven halt by halt. */
struct suite_vcpu {
	struct vhalt_state state;
	struct suite_sum sum;
};

/** suite_vcpu_halt - one halt of @vcpu; @must_block: the driver's gate is shut. */
void suite_vcpu_halt(struct suite_vcpu *vcpu, const struct vhalt_config *config,
		     const struct suite_host *host, const struct suite_halt *halt, bool must_block);

#endif

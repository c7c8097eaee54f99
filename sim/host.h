/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The host: which vCPU has which pCPU. A fair scheduler with virtual time, as Linux had up to 6.5.
 */
#ifndef VHALT_SIM_HOST_H
#define VHALT_SIM_HOST_H

#include "sim/model.h"

/*
 * What is modelled, and no more:
 * - per pCPU a queue by virtual time; all vCPUs weigh the same; a waiter is placed at most half of
 *   `latency` before the queue's virtual time.
 * - the running vCPU keeps its pCPU for max(slice, latency / vCPUs there), then the least virtual
 *   time runs. A waking vCPU preempts one that is more than `granularity` ahead of it.
 * - a waking vCPU goes to its last pCPU if that is idle, else to the first idle one of the next
 *   `scan` of the same cache, else it queues on its last pCPU.
 * - a pCPU that goes idle pulls a waiting vCPU, first of its cache, then of the others, unless its
 *   idle periods have been shorter than `newidle` on average.
 * - every `balance` the idle pCPUs pull, and every 16th time queues are levelled.
 * - a directed yield names the target as its pCPU's next (the hint is followed if that is at most
 *   `granularity` unfair, or not at all with yield_hint=0) and makes the yielder step back, under
 * the same bound.
 */

/** sim_host_wake - a blocked vCPU wants to run: give it a pCPU or a place in a queue. */
void sim_host_wake(struct sim_world *w, uint32_t vcpu);

/** sim_host_block - the running vCPU leaves its pCPU and waits for nothing. */
void sim_host_block(struct sim_world *w, uint32_t vcpu);

/** sim_host_yield_to - running @self gives way to waiting @target. Return: false if it does not
 * wait. */
bool sim_host_yield_to(struct sim_world *w, uint32_t self, uint32_t target);

/** sim_host_settle - reschedule what this event has marked; ends every event. */
void sim_host_settle(struct sim_world *w);

/** sim_host_slice, sim_host_balance - the events of those names. */
void sim_host_slice(struct sim_world *w, uint32_t pcpu);
void sim_host_balance(struct sim_world *w);

/** sim_host_account - bring pCPU and vCPU times up to now. */
void sim_host_account(struct sim_world *w, uint32_t pcpu);

/** sim_host_crowded - does another vCPU wait for this pCPU? */
static inline bool sim_host_crowded(const struct sim_world *w, uint32_t pcpu)
{
	return w->pcpu[pcpu].rq.nr;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the files of the host scheduler share with each other, and with nobody else. */
#ifndef VHALT_SIM_HOST_INTERNAL_H
#define VHALT_SIM_HOST_INTERNAL_H

#include "sim/model.h"
#include "sim/random.h"

/** sim_host_mark - reschedule this pCPU when the present event is done. */
void sim_host_mark(struct sim_world *w, uint32_t pcpu);

/** sim_host_enqueue, sim_host_dequeue - put a runnable vCPU into a pCPU's queue, take it out. */
void sim_host_enqueue(struct sim_world *w, uint32_t pcpu, uint32_t vcpu);
void sim_host_dequeue(struct sim_world *w, uint32_t vcpu);

/** sim_host_place - the pCPU for a vCPU that wakes up and ran on @last. */
uint32_t sim_host_place(struct sim_world *w, uint32_t last);

/**
 * sim_host_pull - move a waiting vCPU of another pCPU to the queue of idle @pcpu.
 * @allowed:  false: do nothing
 *
 * Return: the vCPU, or SIM_NONE.
 */
uint32_t sim_host_pull(struct sim_world *w, uint32_t pcpu, bool allowed);

/** sim_host_kick - let idle @pcpu run what its queue holds. */
void sim_host_kick(struct sim_world *w, uint32_t pcpu);

#endif

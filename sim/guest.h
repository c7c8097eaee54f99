/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The guest kernel: threads on vCPUs, interrupts, idle. */
#ifndef VHALT_SIM_GUEST_H
#define VHALT_SIM_GUEST_H

#include "sim/model.h"

/*
 * What is modelled, and no more: one queue of threads per vCPU by virtual time with the host's
 * scheduler's rules; wake-ups go to the last vCPU if idle, else to any idle one the host has not
 * preempted, else to the last; an idle vCPU pulls a waiting thread. Waking a thread takes the run
 * queue lock of its vCPU, and so does every switch: both are spin locks with interrupts off.
 * Threads are preempted when they hold no spin lock. Ticks come at `hz`, staggered, also while idle
 * unless nohz.
 */

/** sim_guest_continue - the current thread's segment is over, or a lock was handed to it. */
void sim_guest_continue(struct sim_world *w, struct sim_vcpu *v);

/** sim_guest_awake - the vCPU is back from a halt or from polling. */
void sim_guest_awake(struct sim_world *w, struct sim_vcpu *v);

/** sim_guest_poll_over - the guest's own poll met nothing: halt. */
void sim_guest_poll_over(struct sim_world *w, struct sim_vcpu *v);

/** sim_guest_interrupt - raise @pending (enum sim_pending): now, or when the vCPU can take it. */
void sim_guest_interrupt(struct sim_world *w, struct sim_vcpu *v, uint8_t pending, bool own_timer);

/** sim_guest_idle - nothing to run: poll by the guest's policy, or halt. */
void sim_guest_idle(struct sim_world *w, struct sim_vcpu *v);

/** sim_guest_take - take what is pending, if the vCPU can. */
void sim_guest_take(struct sim_world *w, struct sim_vcpu *v);

/** sim_guest_timer - the vCPU's timer is due. */
void sim_guest_timer(struct sim_world *w, uint32_t vcpu);

/** sim_guest_arm_timer - arm the vCPU's timer for its next tick or sleeper. */
void sim_guest_arm_timer(struct sim_world *w, struct sim_vcpu *v);

/** sim_guest_ready - put @thread, asleep until now, into the queue of @place and see that it runs.
 *  @from: the vCPU that wakes it, which pays for the interrupt; NULL: an interrupt handler there */
void sim_guest_ready(struct sim_world *w, uint32_t thread, uint32_t place, struct sim_vcpu *from);

/** sim_guest_place - the vCPU for a thread that wakes up. */
uint32_t sim_guest_place(struct sim_world *w, const struct sim_thread *t);

/** sim_guest_next - nothing is current: make the next thread current, or go idle. Return: false:
 * idle. */
bool sim_guest_next(struct sim_world *w, struct sim_vcpu *v);

/** sim_guest_account - bring the current thread's virtual time up to now. */
void sim_guest_account(struct sim_world *w, struct sim_vcpu *v);

/** sim_guest_add, sim_guest_remove - put a thread into the queue of vCPU @v, take it out. */
void sim_guest_add(struct sim_world *w, struct sim_vcpu *v, uint32_t thread);
void sim_guest_remove(struct sim_world *w, struct sim_vcpu *v, uint32_t thread);

/** sim_guest_preemptible - may another thread take over from the current one right now? */
static inline bool sim_guest_preemptible(const struct sim_thread *t)
{
	return !t->preempt && !t->irqs_off && t->phase == SIM_PHASE_STEP;
}

#endif

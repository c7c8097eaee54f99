/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The guest's locks: queued spin locks, plain and paravirtual, and mutexes that spin on their
 * owner. */
#ifndef VHALT_SIM_LOCK_H
#define VHALT_SIM_LOCK_H

#include "sim/model.h"

/*
 * Spin locks are queued. A plain one goes to the first waiter whether that has a pCPU or not (its
 * vCPU may be preempted: lock waiter preemption). A paravirtual one may be taken by whoever comes
 * by while the first waiter has no pCPU; who has spun for pv_spin halts and is kicked when the lock
 * is its to take.
 *
 * A mutex is spun for while its holder runs on a vCPU that runs, else slept for. Whoever is awake
 * when it is released may take it.
 */

/**
 * sim_lock_take - the current thread of running vCPU @v wants @lock.
 *
 * Disables preemption (and interrupts, SIM_LOCK_IRQ). Return: true: it has it. false: it spins;
 * sim_guest_continue() is called when it has it. Not for mutexes.
 */
bool sim_lock_take(struct sim_world *w, struct sim_vcpu *v, uint32_t lock);

/** sim_lock_release - the current thread of @v, which holds @lock, lets go. */
void sim_lock_release(struct sim_world *w, struct sim_vcpu *v, uint32_t lock);

enum sim_mutex_result { SIM_MUTEX_TAKEN, SIM_MUTEX_SPINS, SIM_MUTEX_SLEEPS };

/**
 * sim_mutex_take - as sim_lock_take(). SPINS: sim_guest_continue() is called when it has it.
 * SLEEPS: it is in the list of sleepers and must sleep, then try again.
 */
enum sim_mutex_result sim_mutex_take(struct sim_world *w, struct sim_vcpu *v, uint32_t lock);

/** sim_mutex_release - let go. Return: a sleeping thread to wake, or SIM_NONE. */
uint32_t sim_mutex_release(struct sim_world *w, struct sim_vcpu *v, uint32_t lock);

/** sim_lock_resume - @v got a pCPU while its thread waits. Return: true: the wait is over. */
bool sim_lock_resume(struct sim_world *w, struct sim_vcpu *v);

/**
 * sim_lock_still - the thread of @v has spun for a while. Return: false: the mutex it spins for is
 * not worth it any more, it has left the queue and is in the list of sleepers.
 */
bool sim_lock_still(struct sim_world *w, struct sim_vcpu *v);

#endif

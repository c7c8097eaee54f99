/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Spinning with PAUSE: exits by a window that grows, directed yields, flushes of other vCPUs. */
#ifndef VHALT_SIM_SPIN_H
#define VHALT_SIM_SPIN_H

#include "sim/model.h"

/** sim_spin_begin - the current thread of running @v begins to wait. */
void sim_spin_begin(struct sim_world *w, struct sim_vcpu *v);

/** sim_spin_resume - @v runs again while its thread waits: a new PAUSE window. */
void sim_spin_resume(struct sim_world *w, struct sim_vcpu *v);

/** sim_spin_account - bring its spinning time up to now. */
void sim_spin_account(struct sim_world *w, struct sim_vcpu *v);

/** sim_spin_event - the window is over: a PAUSE exit, or the guest gives up spinning. */
void sim_spin_event(struct sim_world *w, struct sim_vcpu *v);

/** sim_spin_over - what the thread of @v waits for is there: go on with @ns of handing over. */
void sim_spin_over(struct sim_world *w, struct sim_vcpu *v, uint64_t ns);

/**
 * sim_flush_begin - the current thread of @v makes all vCPUs of its VM that run user threads flush.
 * Return: true: nothing to wait for.
 */
bool sim_flush_begin(struct sim_world *w, struct sim_vcpu *v);

/** sim_flush_answer - @v takes the flushes it has pending. */
void sim_flush_answer(struct sim_world *w, struct sim_vcpu *v);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A vCPU: what it does with the pCPU it has, and what becomes of that when it loses it. */
#ifndef VHALT_SIM_VCPU_H
#define VHALT_SIM_VCPU_H

#include "sim/model.h"

/*
 * A running vCPU has one event armed, the end of what it does (enum sim_act), at end_ns. Host work
 * (a switch, an exit, the way out of an idle state) pushes busy_until_ns ahead, and what the vCPU
 * does next begins there.
 */

/* --- called by the host --- */

/** sim_vcpu_start - it got a pCPU: go on with what it does. */
void sim_vcpu_start(struct sim_world *w, uint32_t vcpu);

/** sim_vcpu_stop - it lost its pCPU and waits for another. */
void sim_vcpu_stop(struct sim_world *w, uint32_t vcpu);

/** sim_vcpu_ran - it spins, or leaves its pCPU: what was the boost worth that gave it that one? */
void sim_vcpu_ran(struct sim_world *w, struct sim_vcpu *v);

/** sim_vcpu_wait - it waits for a pCPU; @preempted: it had one and was inside the guest. */
void sim_vcpu_wait(struct sim_world *w, uint32_t vcpu, bool preempted);

/** sim_vcpu_cut_poll - another vCPU wants its pCPU: stop polling, block. */
void sim_vcpu_cut_poll(struct sim_world *w, uint32_t vcpu);

/** sim_vcpu_respeed - its pCPU goes from @old_pct to @new_pct of full speed. */
void sim_vcpu_respeed(struct sim_world *w, uint32_t vcpu, uint32_t old_pct, uint32_t new_pct);

/* --- called by the guest --- */

/** sim_vcpu_do - do @act for @ns of work from now; the vCPU runs. */
void sim_vcpu_do(struct sim_world *w, struct sim_vcpu *v, enum sim_act act, uint64_t ns);

/** sim_vcpu_charge - host or entry work of @ns that delays whatever it does from now on. */
void sim_vcpu_charge(struct sim_world *w, struct sim_vcpu *v, uint64_t ns);

/** sim_vcpu_halt - the guest halts: poll, sleep or block by the host's policy. */
void sim_vcpu_halt(struct sim_world *w, struct sim_vcpu *v);

/** sim_vcpu_wake - an event for a halted vCPU; others ignore it. @own_timer: its own timer. */
void sim_vcpu_wake(struct sim_world *w, struct sim_vcpu *v, bool own_timer);

/** sim_vcpu_halted - is it in a halt that no event has ended yet? */
static inline bool sim_vcpu_halted(const struct sim_vcpu *v)
{
	return v->act >= SIM_ACT_HOST_POLL;
}

/* --- events --- */

/** sim_vcpu_event - what it does has come to its end. */
void sim_vcpu_event(struct sim_world *w, uint32_t vcpu);

#endif

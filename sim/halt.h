/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Halts on the host's side: the core's policies decide, the model carries out. */
#ifndef VHALT_SIM_HALT_H
#define VHALT_SIM_HALT_H

#include "sim/model.h"

/** sim_halt_poll_now - a vCPU that slept first has a pCPU to poll on. */
void sim_halt_poll_now(struct sim_world *w, struct sim_vcpu *v);

/** sim_halt_poll_over - stop polling and block; @cut: another vCPU wants the pCPU. */
void sim_halt_poll_over(struct sim_world *w, struct sim_vcpu *v, bool cut);

/** sim_halt_sleep_over - the planned sleep is over: get a pCPU and poll. */
void sim_halt_sleep_over(struct sim_world *w, struct sim_vcpu *v);

/** sim_halt_over - the vCPU runs its guest again: let the policy learn. Not after a guest's poll.
 */
void sim_halt_over(struct sim_world *w, struct sim_vcpu *v);

/** sim_halt_deadline_ns - from now until its own timer ends the halt, or VHALT_NO_DEADLINE_NS. */
uint64_t sim_halt_deadline_ns(const struct sim_world *w, const struct sim_vcpu *v);

/** sim_halt_budget - the event at the end of a budget tick: move the price. */
void sim_halt_budget(struct sim_world *w);

#endif

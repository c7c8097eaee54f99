/* SPDX-License-Identifier: GPL-2.0-only */
/* The polling budget of the host: what all vCPUs burn, the gate, and the ticking controller. */
#ifndef VHALT_KMOD_BUDGET_H
#define VHALT_KMOD_BUDGET_H

#include <linux/types.h>

/** host_budget_burn - a vCPU polled @polled_ns of CPU time. Wake-up probe, preemption off. */
void host_budget_burn(u64 polled_ns);

/** host_budget_is_spent - must the next halt block, since this tick's allowance is used up? Probe.
 */
bool host_budget_is_spent(void);

/**
 * host_budget_set - set the budget.
 * @cap_ppm: parts per million of the host's CPU time, up to 1000000; 0: none
 *
 * Process context, under the control lock.
 */
void host_budget_set(u32 cap_ppm);

/** host_budget_factor - the price factor in force. Under the control lock. */
u32 host_budget_factor(void);

/** struct host_budget_view - the budget as user space sees it. */
struct host_budget_view {
	u32 cap_ppm, factor, burnt_ppm;
};
void host_budget_view(struct host_budget_view *view);

/** host_budget_fini - stop the controller. Process context, not under the control lock. */
void host_budget_fini(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What policy `auto` offers beyond vhalt/policy.h: a price factor that follows a shared budget. */
#ifndef VHALT_AUTO_H
#define VHALT_AUTO_H

#include <vhalt/budget.h>
#include <vhalt/policy.h>

/**
 * vhalt_auto_scale - divide the break-even cost B of every vCPU under @config by a price factor.
 * @config:  a prepared config of `auto`; one of another policy is left alone
 * @factor:  in units of 1 / VHALT_FACTOR_ONE, as vhalt_budget_tick() gives it; below one counts as
 *           one
 *
 * No state is touched. One 32-bit store: vCPUs may decide with the same config on other CPUs
 * meanwhile and see the old factor or the new one. Cannot fail. Calls must not overlap. Any
 * context.
 */
void vhalt_auto_scale(struct vhalt_config *config, uint32_t factor);

#endif

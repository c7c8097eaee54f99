/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The settings of halt polling of this machine, as host and as guest. */
#ifndef VHALT_TOOL_LINT_LIVE_H
#define VHALT_TOOL_LINT_LIVE_H

#include "stats/stats.h"

/**
 * The files are looked for below this folder instead of / when it is set (for tests);
 * VHALT_KVM_PARAMETERS still names the folder of kvm's parameters.
 */
#define LINT_ROOT_ENV "VHALT_HOST_ROOT"

/**
 * lint_live - read parameters of kvm and haltpoll, cpuidle's driver and governor, modprobe.d, the
 * kernel's command line and its CONFIG_HZ. What is not there is left out: a host has no haltpoll, a
 * guest no kvm.
 * @stats:  receives them, freed by stats_destroy()
 *
 * Return: 0, -ENODATA (nothing is there; reported), -ENOMEM.
 */
int lint_live(struct stats **stats, const struct trace_diag *diag);

#endif

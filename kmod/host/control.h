/* SPDX-License-Identifier: GPL-2.0-only */
/* What user space may change: the default policy, the policies of single VMs, the budget. */
#ifndef VHALT_KMOD_CONTROL_H
#define VHALT_KMOD_CONTROL_H

#include "host/registry.h"
#include "host/settings.h"

/**
 * host_control_init - begin with @policy and its defaults for all VMs.
 * @policy: enum vhalt_policy_id or HOST_POLICY_KERNEL
 *
 * Process context. Return: 0 or -ENOMEM.
 */
int host_control_init(u32 policy);

/** host_control_fini - free the default. No reader may be left; the VMs are gone. */
void host_control_fini(void);

/** host_settings_of - what @vm is to follow now. Under rcu_read_lock(). Never NULL. */
const struct host_settings *host_settings_of(const struct host_vm *vm);

/** host_settings_default, host_settings_own - under the control lock; own: NULL if it has none. */
struct host_settings *host_settings_default(void);
struct host_settings *host_settings_own(const struct host_vm *vm);

/**
 * host_control_set - choose a policy.
 * @pid:       a VM, or 0: the default
 * @policy, @values, @bad_param: as for host_settings_create()
 *
 * Process context. Return: 0, the errors of host_settings_create(), or those of host_vm_get().
 */
int host_control_set(pid_t pid, u32 policy, const u64 values[VHALT_PARAMS_MAX], u32 *bad_param);

/**
 * host_control_reset - @pid: that VM follows the default again. 0: everything as after loading
 * without parameters.
 *
 * Process context. Return: 0, -ESRCH (no VM of that pid is known), -ENOMEM (nothing changed).
 */
int host_control_reset(pid_t pid);

/** host_control_budget - set the budget: 0 to 1000000 ppm, 0: none. Process context. */
void host_control_budget(u32 cap_ppm);

#endif

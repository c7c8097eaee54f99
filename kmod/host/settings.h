/* SPDX-License-Identifier: GPL-2.0-only */
/* What a VM, or the host by default, is told to do: a policy with its parameters, ready to run. */
#ifndef VHALT_KMOD_SETTINGS_H
#define VHALT_KMOD_SETTINGS_H

#include <linux/rcupdate.h>
#include <linux/types.h>

#include <vhalt/policy.h>

/** The index that stands beside those of the core: watch, change nothing. */
#define HOST_POLICY_KERNEL VHALT_NR_POLICIES

/** A prepared config and the price factor it was scaled by. */
struct host_config {
	struct vhalt_config config;
	u32 factor; /* VHALT_FACTOR_ONE and up */
};

/**
 * struct host_settings - one choice of policy and parameters; immutable but for the price factor.
 *
 * Readers hold rcu_read_lock() and take configs[READ_ONCE(active)] once per halt. The controller
 * of the budget prepares the other config and flips, and leaves a config alone until every reader
 * that could have seen it is gone. So config and factor that a reader sees belong together, which a
 * replay needs.
 */
struct host_settings {
	u32 policy; /* enum vhalt_policy_id, or HOST_POLICY_KERNEL */
	u32 nr_params;
	u64 generation; /* unique as long as the module is loaded, never 0 */
	u64 values[VHALT_PARAMS_MAX];
	u32 active;
	unsigned long flipped; /* RCU grace period that frees the inactive config */
	struct host_config configs[2];
	struct rcu_head rcu;
};

/**
 * host_settings_create - make settings.
 * @policy:     enum vhalt_policy_id or HOST_POLICY_KERNEL
 * @values:     as for vhalt_config_init(); not read for HOST_POLICY_KERNEL
 * @factor:     price factor in force
 * @bad_param:  receives the index of the parameter at fault for -ERANGE and -EOPNOTSUPP
 *
 * Process context, may sleep. The caller owns the result and ends it by host_settings_put().
 * Return: settings or an error pointer: -ENOMEM, -EINVAL (no such policy), -ERANGE (value out of
 * bounds), -EOPNOTSUPP (asks to sleep before polling, which KVM does not do).
 */
struct host_settings *host_settings_create(u32 policy, const u64 values[VHALT_PARAMS_MAX],
					   u32 factor, u32 *bad_param);

/** host_settings_put - free @settings (NULL allowed) once no reader can hold them. Any context. */
void host_settings_put(struct host_settings *settings);

/**
 * host_settings_scale - apply a price factor.
 *
 * Does nothing when it is in force already or the last change is too recent; the next tick tries
 * again. Process context; calls on the same settings must not overlap.
 */
void host_settings_scale(struct host_settings *settings, u32 factor);

/** host_settings_name - "kernel" or the policy's name. */
const char *host_settings_name(const struct host_settings *settings);

/** host_policy_find - index of policy @name, HOST_POLICY_KERNEL, or -EINVAL. */
int host_policy_find(const char *name);

/** host_settings_fini - at unload: wait for the last settings to be freed, say if one never was. */
void host_settings_fini(void);

#endif

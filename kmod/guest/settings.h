/* SPDX-License-Identifier: GPL-2.0-only */
/* The policy all CPUs follow: chosen when the module is loaded, never changed. */
#ifndef VHALT_GUEST_SETTINGS_H
#define VHALT_GUEST_SETTINGS_H

#include <linux/types.h>

#include <vhalt/policy.h>

/** A parameter that was not given: the policy's own default. */
#define GUEST_DEFAULT (-1)

/** Longest window anybody may ask for. Longer than the time between two ticks makes no sense. */
#define GUEST_MAX_NS_MOST 10000000

struct guest_settings {
	struct vhalt_config config;
	u64 values[VHALT_PARAMS_MAX]; /* in the order of the policy's table */
	bool polls;		      /* false: no window is ever above 0 */
};

/** Read-only after guest_settings_init(). */
extern struct guest_settings guest_settings;

/**
 * guest_settings_init - check what was asked for and prepare it; says in the log what is wrong.
 * @policy:  name of a policy that makes sense in a guest
 * @price:   parameter of that name, or GUEST_DEFAULT
 * @max_ns:  parameter of that name, 0 to GUEST_MAX_NS_MOST, or GUEST_DEFAULT
 *
 * Return: 0, -EINVAL (no such policy, or it has no such parameter), -ERANGE (value out of bounds).
 */
int guest_settings_init(const char *policy, int price, int max_ns);

/** guest_settings_policy - the policy in force. */
const struct vhalt_policy *guest_settings_policy(void);

#endif

// SPDX-License-Identifier: GPL-2.0-only
// Module parameters become the one prepared config of the policy.

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "guest/settings.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

struct guest_settings guest_settings;

/* The others are the host's: they ask what a halt costs KVM, or are there for comparison. */
static const u8 offered[] = {
	VHALT_POLICY_AUTO,
	VHALT_POLICY_PV,
	VHALT_POLICY_GUEST,
	VHALT_POLICY_NONE,
};

static bool is_offered(u32 id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offered); i++)
		if (offered[i] == id)
			return true;
	return false;
}

/* Index of the parameter @name, or -1. */
static int find_param(const struct vhalt_policy *policy, const char *name)
{
	u32 i;

	for (i = 0; i < policy->nr_params; i++)
		if (!strcmp(policy->params[i].name, name))
			return i;
	return -1;
}

static int set(const struct vhalt_policy *policy, const char *name, int value, u64 most)
{
	const struct vhalt_param *param;
	int i = find_param(policy, name);

	if (value == GUEST_DEFAULT)
		return 0;
	if (i < 0) {
		pr_err("%s=%d: policy %s has no such parameter\n", name, value, policy->name);
		return -EINVAL;
	}
	param = &policy->params[i];
	most = min_t(u64, most, param->max);
	if (value < 0 || value < param->min || value > most) {
		pr_err("%s=%d is out of range: %llu to %llu\n", name, value, param->min, most);
		return -ERANGE;
	}
	guest_settings.values[i] = value;
	return 0;
}

int guest_settings_init(const char *name, int price, int max_ns)
{
	struct guest_settings *s = &guest_settings;
	u32 id = vhalt_policy_find(name);
	const struct vhalt_policy *policy = vhalt_policy_get(id);
	int i, err;

	if (!is_offered(id)) {
		pr_err("policy=%s is not offered: auto, pv, guest or none\n", name);
		return -EINVAL;
	}
	vhalt_policy_defaults(id, s->values);
	err = set(policy, "price", price, INT_MAX);
	if (!err)
		err = set(policy, "max_ns", max_ns, GUEST_MAX_NS_MOST);
	if (!err)
		err = vhalt_config_init(&s->config, id, s->values, NULL);
	if (err)
		return err;
	i = find_param(policy, "max_ns");
	s->polls = i >= 0 && s->values[i];
	return 0;
}

const struct vhalt_policy *guest_settings_policy(void)
{
	return vhalt_policy_get(guest_settings.config.policy);
}

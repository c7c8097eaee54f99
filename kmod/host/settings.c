// SPDX-License-Identifier: GPL-2.0-only
// Policy and parameters as prepared configs that readers use under RCU.

#include "host/settings.h"

#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <uapi/vhalt.h>
#include <vhalt/auto.h>
#include <vhalt/budget.h>

#include "compat.h"

static atomic_t nr_live = ATOMIC_INIT(0);
static atomic64_t last_generation = ATOMIC64_INIT(0);

/* The parameter of `auto` that adds plans which sleep first. */
static const char sleep_param[] = "sleep";

static int check_driver(const struct host_settings *s, u32 *bad_param)
{
	const struct vhalt_policy *policy = vhalt_policy_get(s->policy);
	u32 i;

	for (i = 0; i < s->nr_params; i++) {
		if (s->values[i] && !strcmp(policy->params[i].name, sleep_param)) {
			*bad_param = i;
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

static int prepare(struct host_settings *s, const u64 *values, u32 factor, u32 *bad_param)
{
	const struct vhalt_policy *policy = vhalt_policy_get(s->policy);
	int err;

	if (!policy)
		return -EINVAL;
	s->nr_params = policy->nr_params;
	memcpy(s->values, values, sizeof(values[0]) * policy->nr_params);
	err = vhalt_config_init(&s->configs[0].config, s->policy, s->values, bad_param);
	if (!err)
		err = check_driver(s, bad_param);
	if (err)
		return err;
	vhalt_auto_scale(&s->configs[0].config, factor);
	s->configs[0].factor = factor;
	s->configs[1] = s->configs[0];
	return 0;
}

struct host_settings *host_settings_create(u32 policy, const u64 values[VHALT_PARAMS_MAX],
					   u32 factor, u32 *bad_param)
{
	struct host_settings *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	int err;

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->policy = policy;
	s->flipped = compat_rcu_start();
	if (policy != HOST_POLICY_KERNEL) {
		err = prepare(s, values, factor, bad_param);
		if (err) {
			kfree(s);
			return ERR_PTR(err);
		}
	}
	s->generation = atomic64_inc_return(&last_generation);
	atomic_inc(&nr_live);
	return s;
}

static void free_settings(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct host_settings, rcu));
	atomic_dec(&nr_live);
}

void host_settings_put(struct host_settings *settings)
{
	if (settings)
		call_rcu(&settings->rcu, free_settings);
}

void host_settings_scale(struct host_settings *s, u32 factor)
{
	struct host_config *idle = &s->configs[!s->active];

	if (s->policy != VHALT_POLICY_AUTO || s->configs[s->active].factor == factor)
		return;
	if (!compat_rcu_over(s->flipped))
		return;
	vhalt_auto_scale(&idle->config, factor);
	idle->factor = factor;
	/* Pairs with the acquire of the probe: it sees the config whole. */
	smp_store_release(&s->active, !s->active);
	s->flipped = compat_rcu_start();
}

const char *host_settings_name(const struct host_settings *settings)
{
	const struct vhalt_policy *policy = vhalt_policy_get(settings->policy);

	return policy ? policy->name : VHALT_POLICY_NAME_KERNEL;
}

int host_policy_find(const char *name)
{
	u32 id = vhalt_policy_find(name);

	if (!strcmp(name, VHALT_POLICY_NAME_KERNEL))
		return HOST_POLICY_KERNEL;
	return id < VHALT_NR_POLICIES ? (int)id : -EINVAL;
}

void host_settings_fini(void)
{
	rcu_barrier();
	WARN_ON(atomic_read(&nr_live));
}

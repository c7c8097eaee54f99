// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The table of policies, and the calls that go through it.

#include "core/policy_internal.h"

static const struct vhalt_policy *const policies[VHALT_NR_POLICIES] = {
	[VHALT_POLICY_NONE] = &vhalt_policy_none,
	[VHALT_POLICY_ALWAYS] = &vhalt_policy_always,
	[VHALT_POLICY_TOGGLE] = &vhalt_policy_toggle,
	[VHALT_POLICY_DYNAMIC] = &vhalt_policy_dynamic,
	[VHALT_POLICY_KVM] = &vhalt_policy_kvm,
	[VHALT_POLICY_GUEST] = &vhalt_policy_guest,
	[VHALT_POLICY_PV] = &vhalt_policy_pv,
	[VHALT_POLICY_AUTO] = &vhalt_policy_auto,
};

/* A config nobody prepared must not send the hot path through a wild pointer: it never polls. */
static const struct vhalt_policy *policy_of(const struct vhalt_config *config)
{
	return policies[config->policy < VHALT_NR_POLICIES ? config->policy : VHALT_POLICY_NONE];
}

const struct vhalt_policy *vhalt_policy_get(uint32_t id)
{
	return id < VHALT_NR_POLICIES ? policies[id] : NULL;
}

uint32_t vhalt_policy_find(const char *name)
{
	uint32_t id = 0;

	while (id < VHALT_NR_POLICIES && !core_streq(policies[id]->name, name))
		id++;
	return id;
}

void vhalt_policy_defaults(uint32_t id, uint64_t values[VHALT_PARAMS_MAX])
{
	const struct vhalt_policy *policy = vhalt_policy_get(id);

	for (uint32_t i = 0; policy && i < policy->nr_params; i++)
		values[i] = policy->params[i].dflt;
}

int vhalt_config_init(struct vhalt_config *config, uint32_t id,
		      const uint64_t values[VHALT_PARAMS_MAX], uint32_t *bad_param)
{
	const struct vhalt_policy *policy = vhalt_policy_get(id);

	if (!policy)
		return -CORE_EINVAL;
	for (uint32_t i = 0; i < policy->nr_params; i++) {
		const struct vhalt_param *param = &policy->params[i];

		if (values[i] >= param->min && values[i] <= param->max)
			continue;
		if (bad_param)
			*bad_param = i;
		return -CORE_ERANGE;
	}
	config->policy = id;
	config->reserved = 0;
	core_zero(config->opaque, CORE_ARRAY_SIZE(config->opaque));
	policy->prepare(config, values);
	return 0;
}

void vhalt_state_init(struct vhalt_state *state, const struct vhalt_config *config)
{
	core_zero(state->opaque, CORE_ARRAY_SIZE(state->opaque));
	policy_of(config)->init(state, config);
}

struct vhalt_plan vhalt_decide(struct vhalt_state *state, const struct vhalt_config *config,
			       const struct vhalt_hint *hint)
{
	return policy_of(config)->decide(state, config, hint);
}

void vhalt_update(struct vhalt_state *state, const struct vhalt_config *config,
		  const struct vhalt_outcome *outcome)
{
	policy_of(config)->update(state, config, outcome);
}

uint32_t vhalt_window(const struct vhalt_state *state, const struct vhalt_config *config)
{
	return policy_of(config)->window(state, config);
}

void vhalt_state_set_window(struct vhalt_state *state, const struct vhalt_config *config,
			    uint32_t window_ns)
{
	const struct vhalt_policy *policy = policy_of(config);

	if (policy->set_window)
		policy->set_window(state, config, window_ns);
}

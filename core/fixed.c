// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policies `none` and `always`: the two windows that learn nothing.

/*
 * Observation: every adaptive policy lives between two extremes. Never polling costs the full
 * wake-up for each halt and no CPU; always polling costs up to max_ns of CPU for each halt and
 * saves the wake-up of those that end in time.
 *
 * Metric: none, the outcome of a halt is not looked at.
 *
 * Decision:
 *	1. `none`: block at once.
 *	2. `always`: poll max_ns, then block.
 *
 * Source: `always` is what KVM did when polling came to it, in February 2015 (f78195129963, "kvm:
 * add halt_poll_ns module parameter"): one fixed window for all vCPUs, and 0 to switch it off. On
 * an idle vCPU that ticks it burnt 4.6 to 14 % of a CPU where `none` takes 1.1 % (aca6ff29c406, 250
 * Hz guest), which is why the adaptive policies came.
 */

#include "core/policy_internal.h"

struct fixed_config {
	uint32_t max_ns;
} CORE_OVERLAY;
CORE_ASSERT_CONFIG(struct fixed_config);

static const struct vhalt_param always_params[] = {
	{"max_ns", VHALT_UNIT_NS, 200000, 0, VHALT_WINDOW_MAX_NS, "window of every halt"},
};

/* The cleared config is that of `none`: a window of 0. */
static void none_prepare(struct vhalt_config *config, const uint64_t *values)
{
	(void)config;
	(void)values;
}

static void always_prepare(struct vhalt_config *config, const uint64_t *values)
{
	((struct fixed_config *)config->opaque)->max_ns = (uint32_t)values[0];
}

static void fixed_init(struct vhalt_state *state, const struct vhalt_config *config)
{
	(void)state;
	(void)config;
}

static uint32_t fixed_window(const struct vhalt_state *state, const struct vhalt_config *config)
{
	(void)state;
	return ((const struct fixed_config *)config->opaque)->max_ns;
}

static struct vhalt_plan fixed_decide(struct vhalt_state *state, const struct vhalt_config *config,
				      const struct vhalt_hint *hint)
{
	return core_window_plan(fixed_window(state, config), hint);
}

static void fixed_update(struct vhalt_state *state, const struct vhalt_config *config,
			 const struct vhalt_outcome *outcome)
{
	(void)state;
	(void)config;
	(void)outcome;
}

const struct vhalt_policy vhalt_policy_none = {
	.name = "none",
	.summary = "never poll: block at once",
	.prepare = none_prepare,
	.init = fixed_init,
	.decide = fixed_decide,
	.update = fixed_update,
	.window = fixed_window,
};

const struct vhalt_policy vhalt_policy_always = {
	.name = "always",
	.summary = "poll the same window at every halt",
	.nr_params = CORE_ARRAY_SIZE(always_params),
	.params = always_params,
	.prepare = always_prepare,
	.init = fixed_init,
	.decide = fixed_decide,
	.update = fixed_update,
	.window = fixed_window,
};

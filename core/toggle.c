// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `toggle`: the adaptive on/off switch of 2015.

/*
 * Observation: halts come in runs. A vCPU whose last halt was long is idle, and the next halt will
 * be long as well; one that is talking to somebody halts briefly, again and again.
 *
 * Metric: the length of the last halt, from halt to running again.
 *
 * Decision, with a window that is 0 or max_ns and nothing between:
 *	1. halt <= window: the poll met it; keep.
 *	2. window on and halt > max_ns: an idle vCPU; switch off.
 *	3. window off and halt < max_ns: a poll would have met it; switch on.
 *	4. max_ns 0: off.
 *
 * It reacts within one halt either way, and so pays a whole max_ns each time a long halt follows a
 * short one. A window that is on follows max_ns when the config is replaced.
 *
 * Source: the discussion of Wanpeng Li's and David Matlack's patches on the KVM list, August and
 * September 2015. The thread of "KVM: dynamic halt_poll_ns adjustment" v2 gives the three cases:
 * met, longer than the ceiling, shorter than the ceiling. The switch ("kvm: adaptive halt-polling
 * toggle") was Matlack's alternative to growing and shrinking; it was not merged.
 */

#include "core/policy_internal.h"

struct toggle_config {
	uint32_t max_ns;
} CORE_OVERLAY;
CORE_ASSERT_CONFIG(struct toggle_config);

static const struct vhalt_param toggle_params[] = {
	{"max_ns", VHALT_UNIT_NS, 200000, 0, VHALT_WINDOW_MAX_NS, "window while polling is on"},
};

static const struct toggle_config *toggle_config(const struct vhalt_config *config)
{
	return (const struct toggle_config *)config->opaque;
}

static void toggle_prepare(struct vhalt_config *config, const uint64_t *values)
{
	((struct toggle_config *)config->opaque)->max_ns = (uint32_t)values[0];
}

static struct vhalt_plan toggle_decide(struct vhalt_state *state, const struct vhalt_config *config,
				       const struct vhalt_hint *hint)
{
	struct core_window *s = core_window(state);

	if (s->window_ns)
		s->window_ns = toggle_config(config)->max_ns;
	return core_window_plan(s->window_ns, hint);
}

static void toggle_update(struct vhalt_state *state, const struct vhalt_config *config,
			  const struct vhalt_outcome *outcome)
{
	struct core_window *s = core_window(state);
	uint32_t max_ns = toggle_config(config)->max_ns;

	if (outcome->flags & VHALT_OUTCOME_FORCED)
		return;
	if (!max_ns)
		s->window_ns = 0;
	else if (outcome->halt_ns <= s->window_ns)
		return;
	else if (s->window_ns && outcome->halt_ns > max_ns)
		s->window_ns = 0;
	else if (!s->window_ns && outcome->halt_ns < max_ns)
		s->window_ns = max_ns;
}

const struct vhalt_policy vhalt_policy_toggle = {
	.name = "toggle",
	.summary = "poll the whole window or nothing, by the length of the last halt",
	.state_bytes = sizeof(struct core_window),
	.nr_params = CORE_ARRAY_SIZE(toggle_params),
	.params = toggle_params,
	.prepare = toggle_prepare,
	.init = core_window_init,
	.decide = toggle_decide,
	.update = toggle_update,
	.window = core_window_get,
	.set_window = core_window_set,
};

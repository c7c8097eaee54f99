// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `dynamic`: the grow/shrink window as it first entered KVM in 2015.

/*
 * Observation: as `toggle`, but how long the short halts are differs between workloads by a factor
 * of twenty. Polling max_ns where 20 us would do burns CPU whenever the vCPU falls idle.
 *
 * Metric: the length of the last halt, from halt to running again, polling included.
 *
 * Decision, with a window per vCPU that begins at 0:
 *	1. max_ns 0: the window is 0.
 *	2. halt <= window: keep.
 *	3. window > 0 and halt > max_ns: shrink. shrink 0: to 0; else window / shrink.
 *	4. window < max_ns and halt < max_ns: grow. From 0 to grow_start (to 0 when grow is 0); else
 *	   window * grow, in 32-bit arithmetic.
 *	5. otherwise (halt == max_ns, or the window at or above max_ns): keep.
 *
 * Nothing else bounds the window. Growing may overshoot max_ns, and the overshoot is polled until a
 * halt is longer than the window: with max_ns 11000 a vCPU can go on polling 20000. Shrinking by a
 * divisor leaves crumbs that are too short to meet anything. Both were mended later: see `kvm`.
 *
 * Source: Wanpeng Li's series "KVM: Dynamic Halt-Polling", version 7 of September 2015, merged as
 * aca6ff29c406; the overshoot is described in 313f636d5c49 (2016), which ended it. The first step,
 * 10 us, was a constant then; grow_start makes it a parameter here. Invalid wake-ups did not exist
 * yet (3491caf2755e, 2016): they count as any other halt.
 */

#include "core/policy_internal.h"

struct dynamic_config {
	uint32_t max_ns, grow, grow_start_ns, shrink;
} CORE_OVERLAY;
CORE_ASSERT_CONFIG(struct dynamic_config);

static const struct vhalt_param dynamic_params[] = {
	{"max_ns", VHALT_UNIT_NS, 200000, 0, VHALT_WINDOW_MAX_NS,
	 "shorter halts grow the window, longer ones shrink it"},
	{"grow", VHALT_UNIT_FACTOR, 2, 0, 0xffffffff, "factor of a grow"},
	{"grow_start", VHALT_UNIT_NS, 10000, 0, VHALT_WINDOW_MAX_NS, "window of the first grow"},
	{"shrink", VHALT_UNIT_FACTOR, 0, 0, 0xffffffff,
	 "divisor of a shrink, 0 for down to nothing"},
};

static const struct dynamic_config *dynamic_config(const struct vhalt_config *config)
{
	return (const struct dynamic_config *)config->opaque;
}

static void dynamic_prepare(struct vhalt_config *config, const uint64_t *values)
{
	struct dynamic_config *c = (struct dynamic_config *)config->opaque;

	c->max_ns = (uint32_t)values[0];
	c->grow = (uint32_t)values[1];
	c->grow_start_ns = (uint32_t)values[2];
	c->shrink = (uint32_t)values[3];
}

static struct vhalt_plan dynamic_decide(struct vhalt_state *state,
					const struct vhalt_config *config,
					const struct vhalt_hint *hint)
{
	(void)config;
	return core_window_plan(core_window(state)->window_ns, hint);
}

static uint32_t grown(uint32_t window_ns, const struct dynamic_config *c)
{
	return !window_ns && c->grow ? c->grow_start_ns : window_ns * c->grow;
}

static void dynamic_update(struct vhalt_state *state, const struct vhalt_config *config,
			   const struct vhalt_outcome *outcome)
{
	const struct dynamic_config *c = dynamic_config(config);
	struct core_window *s = core_window(state);
	uint32_t window_ns = s->window_ns;

	if (outcome->flags & VHALT_OUTCOME_FORCED)
		return;
	if (!c->max_ns)
		s->window_ns = 0;
	else if (outcome->halt_ns <= window_ns)
		return;
	else if (window_ns && outcome->halt_ns > c->max_ns)
		s->window_ns = core_shrink(window_ns, c->shrink);
	else if (window_ns < c->max_ns && outcome->halt_ns < c->max_ns)
		s->window_ns = grown(window_ns, c);
}

const struct vhalt_policy vhalt_policy_dynamic = {
	.name = "dynamic",
	.summary =
		"grow the window on short halts, shrink it on long ones, as KVM first did in 2015",
	.state_bytes = sizeof(struct core_window),
	.nr_params = CORE_ARRAY_SIZE(dynamic_params),
	.params = dynamic_params,
	.prepare = dynamic_prepare,
	.init = core_window_init,
	.decide = dynamic_decide,
	.update = dynamic_update,
	.window = core_window_get,
	.set_window = core_window_set,
};

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `pv`: the paravirtual smart idle poll of 2017.

/*
 * Observation: entering and leaving idle is what a virtual machine pays most for in a
 * context-switch benchmark, and the host's polling saves the smaller part of it: the exits remain.
 * So poll in the guest, before the idle path is entered at all.
 *
 * Metric: the length of the last idle period, polling included.
 *
 * Decision, with a window per CPU that begins at 0:
 *	1. window > 0 and idle > max_ns: window / 2.
 *	2. window < max_ns and idle < max_ns: grow from 0 to 10 us, else to window * 2; at most
 *	   max_ns.
 *	3. otherwise: keep.
 *
 * Unlike the host's policies it does not ask whether the window at hand would have done: every
 * short idle period lengthens it, up to max_ns. And it has no floor: from 200 us it takes eighteen
 * long periods to stop polling altogether, though after five it polls for less than 10 us.
 *
 * The factors 2 and 2 and the first step of 10 us are constants here; the series' threshold of 200
 * us is the parameter max_ns, so that a driver can cap it like every other policy.
 *
 * Source: Yang Zhang and Quan Xu, "x86/idle: add halt poll support", RFC of August 2017 (v2,
 * lkml.org/lkml/2017/8/29/279) and November 2017 (v3); not merged. The rules follow the
 * descriptions; the text of the patches was not compared. The same idea came to Linux as the
 * haltpoll governor: see `guest`.
 */

#include "core/policy_internal.h"

enum {
	GROW_START_NS = 10000,
	GROW = 2,
	SHRINK = 2,
};

struct pv_config {
	uint32_t max_ns;
} CORE_OVERLAY;
CORE_ASSERT_CONFIG(struct pv_config);

static const struct vhalt_param pv_params[] = {
	{"max_ns", VHALT_UNIT_NS, 200000, 0, VHALT_WINDOW_MAX_NS, "ceiling of the window"},
};

static void pv_prepare(struct vhalt_config *config, const uint64_t *values)
{
	((struct pv_config *)config->opaque)->max_ns = (uint32_t)values[0];
}

static struct vhalt_plan pv_decide(struct vhalt_state *state, const struct vhalt_config *config,
				   const struct vhalt_hint *hint)
{
	(void)config;
	return core_window_plan(core_window(state)->window_ns, hint);
}

/* In 64 bits: a window of half the range and a larger max_ns must not wrap to a short one. */
static uint32_t grown(uint32_t window_ns, uint32_t max_ns)
{
	uint64_t grown_ns = window_ns ? (uint64_t)window_ns * GROW : GROW_START_NS;

	return (uint32_t)core_min64(grown_ns, max_ns);
}

static void pv_update(struct vhalt_state *state, const struct vhalt_config *config,
		      const struct vhalt_outcome *outcome)
{
	uint32_t max_ns = ((const struct pv_config *)config->opaque)->max_ns;
	struct core_window *s = core_window(state);

	if (outcome->flags & VHALT_OUTCOME_FORCED)
		return;
	if (s->window_ns && outcome->halt_ns > max_ns)
		s->window_ns /= SHRINK;
	else if (s->window_ns < max_ns && outcome->halt_ns < max_ns)
		s->window_ns = grown(s->window_ns, max_ns);
}

const struct vhalt_policy vhalt_policy_pv = {
	.name = "pv",
	.summary = "the smart idle poll proposed for Linux guests in 2017",
	.state_bytes = sizeof(struct core_window),
	.nr_params = CORE_ARRAY_SIZE(pv_params),
	.params = pv_params,
	.prepare = pv_prepare,
	.init = core_window_init,
	.decide = pv_decide,
	.update = pv_update,
	.window = core_window_get,
	.set_window = core_window_set,
};

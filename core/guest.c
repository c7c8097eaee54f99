// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `guest`: the cpuidle haltpoll governor, which polls inside the guest.

/*
 * Observation: a guest that polls before it halts saves more than the host can: no exit, no IPI
 * from the waker (a store to the polling CPU's flags is enough), no entry. It cannot see that
 * another task wants its CPU, so it must stop sooner.
 *
 * Metric: the time spent halted after the poll had failed. The governor treats polling and halting
 * as two idle states; it adjusts the limit only after the second one, by that state's residency. So
 * an event is "within reach" only if it comes within max_ns of the END of the poll, and the limit
 * grows only if a poll more than twice as long would have met it.
 *
 * Decision, with a limit per CPU that begins at 0:
 *	1. met by polling: keep.
 *	2. limit < blocked <= max_ns: grow to limit * grow in 32-bit arithmetic, at least grow_start
 *	   (so grow 0 restarts from there), at most max_ns.
 *	3. blocked > max_ns and allow_shrink: shrink. shrink 0: to 0; else limit / shrink, and 0 if
 *	   that is below grow_start.
 *	4. otherwise: keep. Nothing cuts a limit above a lowered max_ns but shrinking.
 *
 * Blocked is the halt's length less the window in force.
 *
 * Source: Marcelo Tosatti's cpuidle haltpoll series of 2019, merged as 2cffe9f6b96f, in
 * drivers/cpuidle/governors/haltpoll.c. The floor of rule 3 came with Linux 6.9 (Parshuram Sangle).
 * Before it a shrink left crumbs, which grew from grow_start again anyhow.
 */

#include "core/policy_internal.h"

struct guest_config {
	uint32_t max_ns, grow, grow_start_ns, shrink;
	uint32_t allow_shrink; /* 0 or 1 */
} CORE_OVERLAY;
CORE_ASSERT_CONFIG(struct guest_config);

static const struct vhalt_param guest_params[] = {
	{"max_ns", VHALT_UNIT_NS, 200000, 0, VHALT_WINDOW_MAX_NS, "ceiling of the window"},
	{"grow", VHALT_UNIT_FACTOR, 2, 0, 0xffffffff, "factor of a grow"},
	{"grow_start", VHALT_UNIT_NS, 50000, 0, VHALT_WINDOW_MAX_NS,
	 "least window above 0 that growing or shrinking leaves"},
	{"shrink", VHALT_UNIT_FACTOR, 2, 0, 0xffffffff,
	 "divisor of a shrink, 0 for down to nothing"},
	{"allow_shrink", VHALT_UNIT_BOOL, 1, 0, 1, "0 keeps a window once it has grown"},
};

static const struct guest_config *guest_config(const struct vhalt_config *config)
{
	return (const struct guest_config *)config->opaque;
}

static void guest_prepare(struct vhalt_config *config, const uint64_t *values)
{
	struct guest_config *c = (struct guest_config *)config->opaque;

	c->max_ns = (uint32_t)values[0];
	c->grow = (uint32_t)values[1];
	c->grow_start_ns = (uint32_t)values[2];
	c->shrink = (uint32_t)values[3];
	c->allow_shrink = (uint32_t)values[4];
}

static struct vhalt_plan guest_decide(struct vhalt_state *state, const struct vhalt_config *config,
				      const struct vhalt_hint *hint)
{
	(void)config;
	return core_window_plan(core_window(state)->window_ns, hint);
}

static uint32_t shrunk(uint32_t window_ns, const struct guest_config *c)
{
	uint32_t shrunk_ns = core_shrink(window_ns, c->shrink);

	return shrunk_ns < c->grow_start_ns ? 0 : shrunk_ns;
}

static void guest_update(struct vhalt_state *state, const struct vhalt_config *config,
			 const struct vhalt_outcome *outcome)
{
	const struct guest_config *c = guest_config(config);
	struct core_window *s = core_window(state);
	uint64_t blocked_ns = core_sub_sat64(outcome->halt_ns, outcome->window_ns);

	if (outcome->flags & (VHALT_OUTCOME_FORCED | VHALT_OUTCOME_POLLED))
		return;
	if (blocked_ns > s->window_ns && blocked_ns <= c->max_ns)
		s->window_ns = core_min32(core_max32(s->window_ns * c->grow, c->grow_start_ns),
					  c->max_ns);
	else if (blocked_ns > c->max_ns && c->allow_shrink)
		s->window_ns = shrunk(s->window_ns, c);
}

const struct vhalt_policy vhalt_policy_guest = {
	.name = "guest",
	.summary = "what the cpuidle haltpoll governor of a Linux guest decides",
	.state_bytes = sizeof(struct core_window),
	.nr_params = CORE_ARRAY_SIZE(guest_params),
	.params = guest_params,
	.prepare = guest_prepare,
	.init = core_window_init,
	.decide = guest_decide,
	.update = guest_update,
	.window = core_window_get,
	.set_window = core_window_set,
};

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `kvm`: mainline's grow/shrink window, decision for decision.

/*
 * Observation: as `dynamic`, plus what a few years in production taught: an overshooting window
 * burns CPU for nothing, crumbs left by shrinking never meet an event, and a wake-up that was none
 * must not count as a success (s390: one floating interrupt makes every vCPU runnable).
 *
 * Metric: the length of the last halt, from halt to running again. Polling counts, and so does the
 * wake-up latency when the vCPU blocked; whether it blocked is not looked at.
 *
 * Decision. At halt entry:
 *	1. window > halt_poll_ns: the window becomes halt_poll_ns. No event is traced.
 * After the wake-up (a halt during which polling was forbidden changes nothing):
 *	2. invalid wake-up: shrink.
 *	3. halt_poll_ns 0: the window becomes 0, no event.
 *	4. halt <= window: keep.
 *	5. window > 0 and halt > halt_poll_ns: shrink.
 *	6. window < halt_poll_ns and halt < halt_poll_ns: grow.
 *	7. otherwise: keep.
 * Grow: grow 0 changes nothing, else window * grow in 32-bit unsigned arithmetic that may wrap, and
 * at least grow_start. Shrink: shrink 0 gives 0, else window / shrink; a result below grow_start
 * becomes 0. Grow and shrink always trace an event, even if the window stays as it was. A grown
 * window may exceed halt_poll_ns until rule 1: the trace of a ceiling of 200000 shows a grow from
 * 160000 to 320000, and the next event starts from 200000.
 *
 * Generations. All the above holds for Linux 6.1 and later, but the default of shrink: 0 before
 * 6.11 (aeb1b22a3ac8), 2 since. Before 6.1 there was no rule 1: a grow cut the window to the
 * ceiling at once (313f636d5c49, undone by 97b6847ac10b): clamp=1. Before 5.15 and the stable
 * updates of autumn 2021 a shrink left crumbs below grow_start; with the shrink of 0 that was the
 * default then there is no difference.
 *
 * Source: virt/kvm/kvm_main.c, kvm_vcpu_halt() and its grow and shrink helpers; checked against the
 * machine code of Debian's kvm.ko 6.1.192 and 6.12.117. Invalid wake-ups: 3491caf2755e.
 */

#include <vhalt/kvm.h>

#include "core/policy_internal.h"

struct kvm_config {
	uint32_t max_ns, grow, grow_start_ns, shrink;
	uint32_t clamp; /* 0 or 1 */
} CORE_OVERLAY;
CORE_ASSERT_CONFIG(struct kvm_config);

static const struct vhalt_param kvm_params[] = {
	{"halt_poll_ns", VHALT_UNIT_NS, 200000, 0, VHALT_WINDOW_MAX_NS,
	 "ceiling of the window, the module parameter or the VM's own"},
	{"grow", VHALT_UNIT_FACTOR, 2, 0, 0xffffffff, "factor of a grow, 0 for never"},
	{"grow_start", VHALT_UNIT_NS, 10000, 0, VHALT_WINDOW_MAX_NS,
	 "least window above 0 that growing or shrinking leaves"},
	{"shrink", VHALT_UNIT_FACTOR, 2, 0, 0xffffffff,
	 "divisor of a shrink, 0 for down to nothing (the default before Linux 6.11)"},
	{"clamp", VHALT_UNIT_BOOL, 0, 0, 1,
	 "apply the ceiling when growing, not at the next halt, as before Linux 6.1"},
};

static const struct kvm_config *kvm_config(const struct vhalt_config *config)
{
	return (const struct kvm_config *)config->opaque;
}

static void kvm_prepare(struct vhalt_config *config, const uint64_t *values)
{
	struct kvm_config *c = (struct kvm_config *)config->opaque;

	c->max_ns = (uint32_t)values[0];
	c->grow = (uint32_t)values[1];
	c->grow_start_ns = (uint32_t)values[2];
	c->shrink = (uint32_t)values[3];
	c->clamp = (uint32_t)values[4];
}

static struct vhalt_plan kvm_decide(struct vhalt_state *state, const struct vhalt_config *config,
				    const struct vhalt_hint *hint)
{
	const struct kvm_config *c = kvm_config(config);
	struct core_window *s = core_window(state);

	if (!c->clamp)
		s->window_ns = core_min32(s->window_ns, c->max_ns);
	return core_window_plan(s->window_ns, hint);
}

static uint32_t grown(uint32_t window_ns, const struct kvm_config *c)
{
	uint32_t grown_ns;

	if (!c->grow)
		return window_ns;
	grown_ns = core_max32(window_ns * c->grow, c->grow_start_ns);
	return c->clamp ? core_min32(grown_ns, c->max_ns) : grown_ns;
}

static uint32_t shrunk(uint32_t window_ns, const struct kvm_config *c)
{
	uint32_t shrunk_ns = core_shrink(window_ns, c->shrink);

	return shrunk_ns < c->grow_start_ns ? 0 : shrunk_ns;
}

struct vhalt_window_change vhalt_kvm_update(struct vhalt_state *state,
					    const struct vhalt_config *config,
					    const struct vhalt_outcome *outcome)
{
	const struct kvm_config *c = kvm_config(config);
	struct core_window *s = core_window(state);
	uint32_t window_ns = s->window_ns;
	struct vhalt_window_change change = {false, false, window_ns, window_ns};
	bool invalid = outcome->flags & VHALT_OUTCOME_INVALID;

	if (outcome->flags & VHALT_OUTCOME_FORCED)
		return change;
	if (!invalid && !c->max_ns) {
		change.new_ns = 0;
	} else if (!invalid && outcome->halt_ns <= window_ns) {
		return change;
	} else if (invalid || (window_ns && outcome->halt_ns > c->max_ns)) {
		change.decided = true;
		change.new_ns = shrunk(window_ns, c);
	} else if (window_ns < c->max_ns && outcome->halt_ns < c->max_ns) {
		change.decided = true;
		change.grow = true;
		change.new_ns = grown(window_ns, c);
	}
	s->window_ns = change.new_ns;
	return change;
}

static void kvm_update(struct vhalt_state *state, const struct vhalt_config *config,
		       const struct vhalt_outcome *outcome)
{
	vhalt_kvm_update(state, config, outcome);
}

const struct vhalt_policy vhalt_policy_kvm = {
	.name = "kvm",
	.summary = "what mainline Linux KVM decides",
	.state_bytes = sizeof(struct core_window),
	.nr_params = CORE_ARRAY_SIZE(kvm_params),
	.params = kvm_params,
	.prepare = kvm_prepare,
	.init = core_window_init,
	.decide = kvm_decide,
	.update = kvm_update,
	.window = core_window_get,
	.set_window = core_window_set,
};

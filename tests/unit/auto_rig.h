/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the tests of policy `auto` share: configs by name, halts by length. */
#ifndef VHALT_TESTS_AUTO_RIG_H
#define VHALT_TESTS_AUTO_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <vhalt/auto.h>
#include <vhalt/cost.h>
#include <vhalt/policy.h>

#include "core/auto_internal.h"
#include "lib/spec.h"

#define US 1000ULL
#define MS 1000000ULL

#define RIG_LATENCY_NS 13000U

/** One vCPU under `auto`. */
struct rig {
	struct vhalt_config config;
	struct vhalt_state state;
};

static inline struct auto_state *rig_state(struct rig *rig)
{
	return (struct auto_state *)rig->state.opaque;
}

static inline const struct auto_config *rig_config(const struct rig *rig)
{
	return (const struct auto_config *)rig->config.opaque;
}

/** rig_b_ns - B as @rig sees it now. */
static inline uint32_t rig_b_ns(struct rig *rig)
{
	return auto_b_ns(rig_state(rig), rig_config(rig));
}

/** rig_configure - replace the config of @rig; its state stays. */
static inline void rig_configure(struct rig *rig, const char *text)
{
	struct vhalt_spec spec;
	char error[VHALT_SPEC_ERROR_BYTES];

	if (vhalt_spec_parse(text, &spec, error, sizeof(error)))
		fail_msg("%s: %s", text, error);
	assert_int_equal(vhalt_spec_config(&spec, &rig->config), 0);
}

static inline void rig_init(struct rig *rig, const char *text)
{
	rig_configure(rig, text);
	vhalt_state_init(&rig->state, &rig->config);
}

/** rig_plan - decide a halt with a known timer @deadline_ns away, after 5 us of run time. */
static inline struct vhalt_plan rig_plan(struct rig *rig, uint64_t deadline_ns)
{
	struct vhalt_hint hint = {5 * US, deadline_ns, false};

	return vhalt_decide(&rig->state, &rig->config, &hint);
}

/** rig_end - the halt that was planned ends after @t_ns; a blocked one takes RIG_LATENCY_NS more.
 */
static inline void rig_end(struct rig *rig, struct vhalt_plan plan, uint64_t t_ns, uint32_t flags)
{
	bool polled = t_ns <= plan.window_ns;
	struct vhalt_outcome outcome = {
		.halt_ns = t_ns + (polled ? 0 : RIG_LATENCY_NS),
		.wake_ns = VHALT_UNKNOWN_NS,
		.window_ns = plan.window_ns,
		.flags = flags | (polled ? VHALT_OUTCOME_POLLED : 0U),
	};

	vhalt_update(&rig->state, &rig->config, &outcome);
}

/** rig_halt - one halt of @t_ns ended by an unknown event; returns the window that was planned. */
static inline uint32_t rig_halt(struct rig *rig, uint64_t t_ns)
{
	struct vhalt_plan plan = rig_plan(rig, VHALT_NO_DEADLINE_NS);

	rig_end(rig, plan, t_ns, 0);
	return plan.window_ns;
}

/** rig_halts - @nr such halts; returns the last window. */
static inline uint32_t rig_halts(struct rig *rig, uint64_t t_ns, uint32_t nr)
{
	uint32_t window_ns = 0;

	while (nr--)
		window_ns = rig_halt(rig, t_ns);
	return window_ns;
}

#endif

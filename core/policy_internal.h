/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the policy files of the core share with each other, and with nobody else. */
#ifndef VHALT_CORE_POLICY_INTERNAL_H
#define VHALT_CORE_POLICY_INTERNAL_H

#include <vhalt/policy.h>
#include "core/deps.h"

extern const struct vhalt_policy vhalt_policy_none;
extern const struct vhalt_policy vhalt_policy_always;
extern const struct vhalt_policy vhalt_policy_toggle;
extern const struct vhalt_policy vhalt_policy_dynamic;
extern const struct vhalt_policy vhalt_policy_kvm;
extern const struct vhalt_policy vhalt_policy_guest;
extern const struct vhalt_policy vhalt_policy_pv;
extern const struct vhalt_policy vhalt_policy_auto;

/*
 * A policy lays a structure of its own over the opaque words of vhalt_state and vhalt_config. Mark
 * it CORE_OVERLAY, put CORE_ASSERT_STATE / CORE_ASSERT_CONFIG below it, and get at it by a cast of
 * the address of the words:
 *
 *	struct auto_state *s = (struct auto_state *)state->opaque;
 *	const struct auto_config *c = (const struct auto_config *)config->opaque;
 *
 * vhalt_state_init() has cleared all words when init() is called, vhalt_config_init() has cleared
 * those of the config and checked the values against the table when prepare() is called.
 */
#define CORE_ASSERT_STATE(type)                                                                    \
	_Static_assert(sizeof(type) <= sizeof(((struct vhalt_state *)0)->opaque),                  \
		       "state fits the words")
#define CORE_ASSERT_CONFIG(type)                                                                   \
	_Static_assert(sizeof(type) <= sizeof(((struct vhalt_config *)0)->opaque),                 \
		       "config fits the words")

/** The state of every classic policy: nothing but its window. */
struct core_window {
	uint32_t window_ns;
} CORE_OVERLAY;

static inline struct core_window *core_window(struct vhalt_state *state)
{
	return (struct core_window *)state->opaque;
}

/* The operations of a policy whose state is struct core_window (window.c). */
void core_window_init(struct vhalt_state *state, const struct vhalt_config *config);
uint32_t core_window_get(const struct vhalt_state *state, const struct vhalt_config *config);
void core_window_set(struct vhalt_state *state, const struct vhalt_config *config,
		     uint32_t window_ns);

/** core_shrink - a window divided by @factor; factor 0 means down to nothing. 32-bit division. */
static inline uint32_t core_shrink(uint32_t window_ns, uint32_t factor)
{
	return factor ? window_ns / factor : 0;
}

/** core_window_plan - poll @window_ns at once; block at once when the hint says so. */
static inline struct vhalt_plan core_window_plan(uint32_t window_ns, const struct vhalt_hint *hint)
{
	struct vhalt_plan plan = {0, hint->must_block ? 0 : window_ns};

	return plan;
}

#endif

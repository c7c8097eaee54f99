// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The state of the classic policies: one window per vCPU, and nothing else.

#include "core/policy_internal.h"

CORE_ASSERT_STATE(struct core_window);

/* Every classic policy begins without polling: the cleared state says so already. */
void core_window_init(struct vhalt_state *state, const struct vhalt_config *config)
{
	(void)config;
	core_window(state)->window_ns = 0;
}

uint32_t core_window_get(const struct vhalt_state *state, const struct vhalt_config *config)
{
	(void)config;
	return ((const struct core_window *)state->opaque)->window_ns;
}

void core_window_set(struct vhalt_state *state, const struct vhalt_config *config,
		     uint32_t window_ns)
{
	(void)config;
	core_window(state)->window_ns = window_ns;
}

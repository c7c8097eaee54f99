/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Policy `kvm` as its own witness: what the kernel's tracepoint would have said about a halt. */
#ifndef VHALT_KVM_H
#define VHALT_KVM_H

#include <vhalt/policy.h>

/** What one halt did to the window of policy `kvm`. */
struct vhalt_window_change {
	bool decided;	 /* the kernel would emit kvm_halt_poll_ns for this halt */
	bool grow;	 /* that event says grow, not shrink; false when nothing was decided */
	uint32_t old_ns; /* the window in force during the halt, after the ceiling was applied */
	uint32_t new_ns; /* the window after it; may equal old_ns although decided */
};

/**
 * vhalt_kvm_update - vhalt_update() for policy `kvm` that tells what it did.
 * @state:    of a config of policy VHALT_POLICY_KVM; the halt was begun with vhalt_decide()
 * @config:   a config of policy VHALT_POLICY_KVM
 * @outcome:  how the halt ended
 *
 * The state changes exactly as vhalt_update() changes it: both are one piece of code. With a
 * ceiling of 0 the window becomes 0 without an event, as in the kernel: decided is false, new_ns 0.
 *
 * Context: as vhalt_update(). Cannot fail.
 */
struct vhalt_window_change vhalt_kvm_update(struct vhalt_state *state,
					    const struct vhalt_config *config,
					    const struct vhalt_outcome *outcome);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The kernel a recording was made on, as policy `kvm`. */
#ifndef VHALT_REPLAY_KERNEL_H
#define VHALT_REPLAY_KERNEL_H

#include "lib/spec.h"
#include "trace/halt.h"

/**
 * replay_kernel_spec - fill in what @spec, a spec of policy kvm, does not give itself.
 * @params:   module parameters of the recording; unknown ones leave the spec's value
 * @release:  kernel release (uname -r), "" where unknown: before 6.1 a grow was clamped at once
 *
 * Values are marked as given, so later defaults leave them alone.
 */
void replay_kernel_spec(struct vhalt_spec *spec, const struct trace_kvm_params *params,
			const char *release);

#endif

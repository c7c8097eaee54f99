// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The kernel a recording was made on, as policy `kvm`.
#include "replay/kernel.h"

#include <stdio.h>

static void fill(struct vhalt_spec *spec, const char *key, uint32_t value)
{
	int i = vhalt_spec_param(spec->policy, key);

	if (i < 0 || value == TRACE_UNKNOWN_U32)
		return;
	vhalt_spec_set(spec, key, value);
	spec->given |= 1U << i;
}

void replay_kernel_spec(struct vhalt_spec *spec, const struct trace_kvm_params *params,
			const char *release)
{
	unsigned int major, minor;

	fill(spec, "halt_poll_ns", params->halt_poll_ns);
	fill(spec, "grow", params->grow);
	fill(spec, "grow_start", params->grow_start_ns);
	fill(spec, "shrink", params->shrink);
	if (sscanf(release, "%9u.%9u", &major, &minor) == 2)
		fill(spec, "clamp", major < 6 || (major == 6 && minor < 1));
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What the cost model tells the policies: their ceiling and, for `auto`, what latency is worth.
#include "replay/defaults.h"

void replay_spec_adopt(struct vhalt_spec *spec, const struct replay_model *model)
{
	/* Policies without a parameter of that name say -ENOENT: nothing to adopt. */
	vhalt_spec_set(spec, "max_ns", model->max_ns);
	vhalt_spec_set(spec, "halt_poll_ns", model->max_ns);
	vhalt_spec_set(spec, "price", model->price);
	vhalt_spec_set(spec, "latency_ns", model->latency_ns);
	vhalt_spec_set(spec, "switch_ns", model->switch_ns);
}

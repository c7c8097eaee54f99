/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the cost model tells the policies: their ceiling and, for `auto`, what latency is worth. */
#ifndef VHALT_REPLAY_DEFAULTS_H
#define VHALT_REPLAY_DEFAULTS_H

#include "lib/spec.h"
#include "replay/halt.h"

/**
 * replay_spec_adopt - set what @spec does not give itself from @model.
 *
 * The ceiling (max_ns, kvm's halt_poll_ns) becomes the model's max_ns, and a policy that knows
 * price, latency and switch cost gets the model's, clamped to the bounds of its table.
 */
void replay_spec_adopt(struct vhalt_spec *spec, const struct replay_model *model);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One policy over the halts of a set of vCPUs: the inner loop. */
#ifndef VHALT_REPLAY_RUN_H
#define VHALT_REPLAY_RUN_H

#include <stddef.h>

#include "replay/tally.h"

/**
 * replay_run - run a policy over consecutive halts of one vCPU.
 * @config:  of any policy
 * @state:   this vCPU's, begun by vhalt_state_init() under a config of the same policy
 * @halts:   @n of them, in time order
 * @tally:   the result is added
 * @hist:    receives the added latencies of blocked halts; NULL: not wanted
 *
 * Halts counted apart reach the policy, with their flags, but not the tally. Cannot fail.
 */
void replay_run(const struct vhalt_config *config, struct vhalt_state *state,
		const struct replay_halt *halts, size_t n, struct replay_tally *tally,
		struct replay_hist *hist);

/** replay_run_oracle - the same for the clairvoyant poll-only choice of vhalt/cost.h. */
void replay_run_oracle(const struct replay_model *model, const struct replay_halt *halts, size_t n,
		       struct replay_tally *tally, struct replay_hist *hist);

#endif

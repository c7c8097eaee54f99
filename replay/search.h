/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The kernel's own parameter space, searched over a sample of the halts. */
#ifndef VHALT_REPLAY_SEARCH_H
#define VHALT_REPLAY_SEARCH_H

#include "replay/pool.h"
#include "replay/sample.h"

/** A setting of policy kvm and what it cost. */
struct replay_candidate {
	struct vhalt_spec spec;
	uint64_t cost_ns;
	uint64_t half_cost_ns[2]; /* over the blocks of each half */
	uint32_t changes;	  /* parameters that differ from the present setting ... */
	uint32_t unusual;	  /* ... and from mainline's defaults */
};

struct replay_search {
	struct replay_candidate *candidates; /* [0] is the present setting */
	uint32_t nr_candidates, room;
	uint32_t best;	       /* index of the pick over all halts */
	uint32_t half_best[2]; /* index of the cheapest over one half alone */
	uint32_t nr_vms;
	uint64_t *vm_cost_ns; /* [candidate * nr_vms + vm] */
};

/**
 * Costs this close (share of the cheapest) are a tie: the present setting wins it, then the one
 * with fewest changes, then the one nearest to mainline's defaults. Finer differences are below
 * what another recording would repeat.
 */
#define REPLAY_SEARCH_TIE 0.002

/**
 * replay_search_run - try settings of the kernel's halt polling on @sample.
 * @search:   receives the result; freed by replay_search_fini()
 * @present:  the setting in force, a spec of policy kvm
 *
 * The grid: halt_poll_ns from 0 to the model's max_ns (18 steps), grow_start (5), grow (2, 4),
 * shrink (0, 2, 4), and the present value of each. VMs with a recorded ceiling keep it, but in
 * vm_cost_ns they have the candidate's halt_poll_ns: that is what their VMM could give them.
 * Return: 0, -ENOMEM.
 */
int replay_search_run(struct replay_search *search, const struct replay_sample *sample,
		      const struct vhalt_spec *present, struct replay_pool *pool);

/**
 * replay_search_vm - the pick for one VM alone, among settings that differ from candidate
 * @global in halt_poll_ns only: the one thing the kernel lets a VM have for itself.
 */
uint32_t replay_search_vm(const struct replay_search *search, uint32_t global, uint32_t vm);

/** replay_search_on_curve - does @candidate differ from @like in halt_poll_ns at most? */
bool replay_search_on_curve(const struct replay_search *search, uint32_t candidate, uint32_t like);

/**
 * replay_search_cross_gain - the gain over the present setting, in half @half, of the candidate
 * that is the cheapest in the other half: what the search finds that carries over.
 */
double replay_search_cross_gain(const struct replay_search *search, uint32_t half);

/** replay_search_fini - free what it holds. */
void replay_search_fini(struct replay_search *search);

#endif

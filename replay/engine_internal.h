/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Inside the replay engine: what its running half and its results share. */
#ifndef VHALT_REPLAY_ENGINE_INTERNAL_H
#define VHALT_REPLAY_ENGINE_INTERNAL_H

#include "replay/engine.h"
#include "replay/pool.h"
#include "replay/roster.h"

struct replay_batch; /* halts on their way through the lanes: engine.c */

/** What one policy came to in one group. */
struct replay_sums {
	struct replay_tally tally;
	struct replay_hist hist;
};

/** A row of the table: a policy with its settings, per VM where VMs differ. */
struct replay_policy {
	struct replay_row row;
	struct vhalt_config config;
	struct vhalt_config **vm_config; /* [vm]; NULL entries: config. NULL: no VM differs */
	uint32_t vms_room;
};

/** One policy over one shard of the vCPUs. */
struct replay_lane {
	struct replay *replay;
	uint32_t row, shard;
	struct vhalt_state *states; /* [vcpu / shards] */
	struct replay_sums **sums;  /* [group], NULL until one of its vCPUs comes */
	uint32_t states_room, sums_room;
};

struct replay {
	struct replay_options options;
	struct replay_pool *pool;
	struct replay_roster roster;
	struct replay_policy *rows;
	uint32_t nr_rows, rows_room;
	struct replay_lane *lanes;
	uint32_t nr_lanes, nr_shards;
	uint32_t lane_vcpus, lane_vms; /* how many the lanes are ready for */
	struct replay_batch *filling, *working;
	struct replay_sums *results; /* [row * nr_groups + group] */
};

/**
 * replay_collect - sum what the lanes have into replay.results. They are at rest, and the roster is
 * totalled. Return: 0 or -ENOMEM.
 */
int replay_collect(struct replay *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A bounded part of the recordings kept in memory, for searches that try hundreds of settings. */
#ifndef VHALT_REPLAY_SAMPLE_H
#define VHALT_REPLAY_SAMPLE_H

#include <stddef.h>

#include "lib/spec.h"
#include "replay/roster.h"
#include "replay/source.h"
#include "replay/tally.h"

/** About this many halts are kept (16 MiB); longer recordings are thinned out. */
#define REPLAY_SAMPLE_HALTS (512U * 1024)

/** Consecutive halts of one vCPU: the unit in which costs are compared. */
struct sample_block {
	uint32_t vcpu, vm; /* over all recordings */
	uint32_t first, count;
	uint32_t half; /* 0 or 1: blocks of one vCPU alternate */
};

struct replay_sample {
	struct replay_roster roster;
	struct replay_model model;
	struct replay_halt *halts;
	struct sample_block *blocks;
	uint32_t nr_halts, halts_room, nr_blocks, blocks_room;
	uint32_t block_halts; /* at most so many in a block */
	uint32_t one_of;      /* one of so many stretches is kept; 1: all */
	uint64_t counted;     /* halts kept that are in the cost */
	struct sample_vcpu *vcpus;
	uint32_t vcpus_room;
};

/**
 * replay_sample_init - begin a sample of recordings that hold @total halts.
 *
 * Which halts are kept depends on the recordings alone: of each vCPU one of every one_of stretches
 * of four blocks. Blocks are long enough that what happens in one says little about the next, and
 * enough of them to resample from.
 */
int replay_sample_init(struct replay_sample *sample, const struct replay_model *model,
		       uint64_t total);

/** replay_sample_feed, replay_sample_end_recording - as replay_feed() and replay_end_recording().
 */
int replay_sample_feed(struct replay_sample *sample, const struct trace_info *info,
		       const struct trace_halt *halts, size_t n);
void replay_sample_end_recording(struct replay_sample *sample, const struct trace_info *info,
				 const char *label);

/**
 * replay_sample_costs - the cost of each block under a policy that starts anew with each vCPU.
 * @ceilings:  policy kvm: VMs with a recorded ceiling keep it
 * @costs:     receives nr_blocks costs in ns
 *
 * Any thread; reads @sample only. Return: 0, -ENOMEM, or an error of vhalt_config_init().
 */
int replay_sample_costs(const struct replay_sample *sample, const struct vhalt_spec *spec,
			bool ceilings, uint64_t *costs);

/** replay_sample_fini - free what it holds. */
void replay_sample_fini(struct replay_sample *sample);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A bounded part of the recordings kept in memory, for searches that try hundreds of settings.
#include "replay/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/grow.h"
#include "replay/run.h"

enum {
	BLOCKS_WANTED = 256,  /* enough to resample from */
	BLOCK_HALTS_MIN = 32, /* shorter ones would hang together */
	BLOCK_HALTS_MAX = 1024,
	STRETCH_BLOCKS = 4, /* a thinned recording keeps stretches of so many blocks */
};

/* How far the halts of one vCPU have got. */
struct sample_vcpu {
	uint64_t seen;	     /* halts, kept or not */
	uint32_t blocks;     /* begun */
	uint32_t open_block; /* index + 1 of the block being filled, 0: none */
};

int replay_sample_init(struct replay_sample *sample, const struct replay_model *model,
		       uint64_t total)
{
	uint64_t kept;

	memset(sample, 0, sizeof(*sample));
	sample->model = *model;
	sample->one_of = (uint32_t)((total + REPLAY_SAMPLE_HALTS - 1) / REPLAY_SAMPLE_HALTS);
	if (!sample->one_of)
		sample->one_of = 1;
	kept = total / sample->one_of / BLOCKS_WANTED;
	sample->block_halts = kept < BLOCK_HALTS_MIN   ? BLOCK_HALTS_MIN
			      : kept > BLOCK_HALTS_MAX ? BLOCK_HALTS_MAX
						       : (uint32_t)kept;
	return replay_roster_init(&sample->roster, REPLAY_BY_TOTAL);
}

/* Opens the next block of @vcpu and reserves its halts. */
static int open_block(struct replay_sample *sample, uint32_t vcpu)
{
	struct sample_vcpu *v = &sample->vcpus[vcpu];

	if (replay_grow(&sample->blocks, &sample->blocks_room, sample->nr_blocks + 1,
			sizeof(*sample->blocks)) ||
	    replay_grow(&sample->halts, &sample->halts_room, sample->nr_halts + sample->block_halts,
			sizeof(*sample->halts)))
		return -ENOMEM;
	sample->blocks[sample->nr_blocks++] = (struct sample_block){
		.vcpu = vcpu,
		.vm = sample->roster.vcpus[vcpu].vm,
		.first = sample->nr_halts,
		.half = (vcpu + v->blocks++) & 1,
	};
	sample->nr_halts += sample->block_halts;
	v->open_block = sample->nr_blocks;
	return 0;
}

/* Is the halt number @n of a vCPU in a stretch that is kept? */
static bool wanted(const struct replay_sample *sample, uint32_t vcpu, uint64_t n)
{
	uint64_t stretch = n / (STRETCH_BLOCKS * sample->block_halts);

	return (stretch + vcpu) % sample->one_of == 0;
}

static int keep(struct replay_sample *sample, uint32_t vcpu, const struct trace_halt *halt)
{
	struct sample_vcpu *v = &sample->vcpus[vcpu];
	struct replay_counts counts = {0};
	struct sample_block *block;

	if (!wanted(sample, vcpu, v->seen++))
		return 0;
	if (!v->open_block) {
		int err = open_block(sample, vcpu);

		if (err)
			return err;
	}
	block = &sample->blocks[v->open_block - 1];
	replay_halts_from_trace(&sample->halts[block->first + block->count++], halt, 1,
				&sample->model, &counts);
	sample->counted += counts.counted;
	if (block->count == sample->block_halts)
		v->open_block = 0;
	return 0;
}

int replay_sample_feed(struct replay_sample *sample, const struct trace_info *info,
		       const struct trace_halt *halts, size_t n)
{
	int err = replay_roster_extend(&sample->roster, info);

	if (!err)
		err = replay_grow(&sample->vcpus, &sample->vcpus_room, sample->roster.nr_vcpus,
				  sizeof(*sample->vcpus));
	sample->model.stamped = info->has_latency;
	for (size_t i = 0; !err && i < n; i++)
		err = halts[i].vcpu < info->nr_vcpus
			      ? keep(sample, sample->roster.vcpu_base + halts[i].vcpu, &halts[i])
			      : -EPROTO;
	return err;
}

void replay_sample_end_recording(struct replay_sample *sample, const struct trace_info *info,
				 const char *label)
{
	replay_roster_end(&sample->roster, info, label);
}

/* The config of each VM: the spec's, or with the VM's own ceiling. */
static int vm_configs(const struct replay_sample *sample, const struct vhalt_spec *spec,
		      bool ceilings, struct vhalt_config *configs)
{
	int err = 0;

	for (uint32_t vm = 0; !err && vm < sample->roster.nr_vms; vm++) {
		uint32_t ceiling_ns = sample->roster.vms[vm].ceiling_ns;
		struct vhalt_spec own = *spec;

		if (ceilings && ceiling_ns != TRACE_UNKNOWN_U32) {
			own.given = 0;
			vhalt_spec_set(&own, "halt_poll_ns", ceiling_ns);
		}
		err = vhalt_spec_config(&own, &configs[vm]);
	}
	return err;
}

int replay_sample_costs(const struct replay_sample *sample, const struct vhalt_spec *spec,
			bool ceilings, uint64_t *costs)
{
	const struct replay_roster *roster = &sample->roster;
	struct vhalt_state *states = calloc(roster->nr_vcpus + 1, sizeof(*states));
	struct vhalt_config *configs = calloc(roster->nr_vms + 1, sizeof(*configs));
	int err = -ENOMEM;

	if (!states || !configs)
		goto out;
	err = vm_configs(sample, spec, ceilings, configs);
	if (err)
		goto out;
	for (uint32_t v = 0; v < roster->nr_vcpus; v++)
		vhalt_state_init(&states[v], &configs[roster->vcpus[v].vm]);
	for (uint32_t i = 0; i < sample->nr_blocks; i++) {
		const struct sample_block *b = &sample->blocks[i];
		struct replay_tally tally = {0};

		replay_run(&configs[b->vm], &states[b->vcpu], &sample->halts[b->first], b->count,
			   &tally, NULL);
		costs[i] = replay_tally_cost_ns(&tally, &sample->model);
	}
out:
	free(configs);
	free(states);
	return err;
}

void replay_sample_fini(struct replay_sample *sample)
{
	replay_roster_fini(&sample->roster);
	free(sample->halts);
	free(sample->blocks);
	free(sample->vcpus);
	memset(sample, 0, sizeof(*sample));
}

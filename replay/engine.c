// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The replay engine: batches of halts go through every policy, on all threads.

/*
 * A lane is one policy over one shard of the vCPUs; each lane owns its states and sums, so lanes
 * never share anything they write. While the lanes work on one batch the caller fills the other.
 * Everything lanes read and the caller may move (tables, configs) changes only between batches.
 */
#include "replay/engine_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/grow.h"
#include "replay/run.h"

enum { BATCH_HALTS = 8192 }; /* 256 KiB: two of them stay in a second-level cache */

/* Consecutive halts of one vCPU. */
struct segment {
	uint32_t vcpu, first, count;
};

struct replay_batch {
	uint32_t nr_halts, nr_segments;
	struct replay_halt halts[BATCH_HALTS];
	struct segment segments[BATCH_HALTS];
};

int replay_create(struct replay **out, const struct replay_options *options)
{
	struct replay *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->options = *options;
	r->filling = malloc(sizeof(*r->filling));
	r->working = malloc(sizeof(*r->working));
	if (!r->filling || !r->working)
		goto err_free;
	r->filling->nr_halts = r->filling->nr_segments = 0;
	r->working->nr_halts = r->working->nr_segments = 0;
	err = replay_roster_init(&r->roster, options->by);
	if (err)
		goto err_free;
	err = replay_pool_create(&r->pool, options->threads);
	if (err)
		goto err_free;
	*out = r;
	return 0;

err_free:
	replay_destroy(r);
	return err;
}

static int add_row(struct replay *r, const struct replay_policy *row)
{
	if (replay_grow(&r->rows, &r->rows_room, r->nr_rows + 1, sizeof(*r->rows)))
		return -ENOMEM;
	r->rows[r->nr_rows] = *row;
	return (int)r->nr_rows++;
}

int replay_add_policy(struct replay *r, const struct vhalt_spec *spec, uint32_t flags)
{
	struct replay_policy row = {.row = {.flags = flags, .spec = *spec}};
	int err = vhalt_spec_config(spec, &row.config);

	return err ? err : add_row(r, &row);
}

/* The first batch: the set of policies is complete, lay out the lanes. */
static int make_lanes(struct replay *r)
{
	static const struct replay_policy oracle = {.row = {.oracle = true}};
	uint32_t threads = replay_pool_threads(r->pool);

	if (add_row(r, &oracle) < 0)
		return -ENOMEM;
	r->nr_shards = r->nr_rows >= threads ? 1 : (threads + r->nr_rows - 1) / r->nr_rows;
	r->lanes = calloc((size_t)r->nr_rows * r->nr_shards, sizeof(*r->lanes));
	if (!r->lanes)
		return -ENOMEM;
	r->nr_lanes = r->nr_rows * r->nr_shards;
	for (uint32_t i = 0; i < r->nr_lanes; i++)
		r->lanes[i] = (struct replay_lane){
			.replay = r, .row = i / r->nr_shards, .shard = i % r->nr_shards};
	return 0;
}

/* Gives VMs with a recorded ceiling a config of their own. */
static int extend_row(struct replay *r, struct replay_policy *row)
{
	if (!(row->row.flags & REPLAY_ROW_CEILINGS))
		return 0;
	if (replay_grow(&row->vm_config, &row->vms_room, r->roster.nr_vms, sizeof(*row->vm_config)))
		return -ENOMEM;
	for (uint32_t vm = r->lane_vms; vm < r->roster.nr_vms; vm++) {
		struct vhalt_spec spec = row->row.spec;

		if (r->roster.vms[vm].ceiling_ns == TRACE_UNKNOWN_U32)
			continue;
		spec.given = 0;
		vhalt_spec_set(&spec, "halt_poll_ns", r->roster.vms[vm].ceiling_ns);
		row->vm_config[vm] = malloc(sizeof(**row->vm_config));
		if (!row->vm_config[vm])
			return -ENOMEM;
		vhalt_spec_config(&spec, row->vm_config[vm]);
	}
	return 0;
}

static const struct vhalt_config *lane_config(const struct replay_lane *lane, uint32_t vcpu)
{
	const struct replay_policy *row = &lane->replay->rows[lane->row];
	uint32_t vm = lane->replay->roster.vcpus[vcpu].vm;

	return row->vm_config && row->vm_config[vm] ? row->vm_config[vm] : &row->config;
}

static int extend_lane(struct replay *r, struct replay_lane *lane)
{
	const struct replay_roster *roster = &r->roster;

	if (replay_grow(&lane->states, &lane->states_room, roster->nr_vcpus / r->nr_shards + 1,
			sizeof(*lane->states)) ||
	    replay_grow(&lane->sums, &lane->sums_room, roster->nr_groups, sizeof(*lane->sums)))
		return -ENOMEM;
	for (uint32_t v = r->lane_vcpus; v < roster->nr_vcpus; v++) {
		struct replay_sums **sums = &lane->sums[roster->vcpus[v].group];

		if (v % r->nr_shards != lane->shard)
			continue;
		if (!r->rows[lane->row].row.oracle)
			vhalt_state_init(&lane->states[v / r->nr_shards], lane_config(lane, v));
		if (*sums)
			continue;
		*sums = calloc(1, sizeof(**sums));
		if (!*sums)
			return -ENOMEM;
		replay_hist_init(&(*sums)->hist);
	}
	return 0;
}

static int extend_lanes(struct replay *r)
{
	int err = r->lanes ? 0 : make_lanes(r);

	for (uint32_t i = 0; !err && r->lane_vms < r->roster.nr_vms && i < r->nr_rows; i++)
		err = extend_row(r, &r->rows[i]);
	if (err)
		return err;
	r->lane_vms = r->roster.nr_vms;
	for (uint32_t i = 0; !err && r->lane_vcpus < r->roster.nr_vcpus && i < r->nr_lanes; i++)
		err = extend_lane(r, &r->lanes[i]);
	if (!err)
		r->lane_vcpus = r->roster.nr_vcpus;
	return err;
}

static void run_lane(void *context, size_t task)
{
	struct replay *r = context;
	struct replay_lane *lane = &r->lanes[task];
	const struct replay_batch *batch = r->working;

	for (uint32_t i = 0; i < batch->nr_segments; i++) {
		const struct segment *s = &batch->segments[i];
		const struct replay_halt *halts = &batch->halts[s->first];
		struct replay_sums *sums;

		if (r->nr_shards > 1 && s->vcpu % r->nr_shards != lane->shard)
			continue;
		sums = lane->sums[r->roster.vcpus[s->vcpu].group];
		if (r->rows[lane->row].row.oracle)
			replay_run_oracle(&r->options.model, halts, s->count, &sums->tally,
					  &sums->hist);
		else
			replay_run(lane_config(lane, s->vcpu),
				   &lane->states[s->vcpu / r->nr_shards], halts, s->count,
				   &sums->tally, &sums->hist);
	}
}

/* Waits for the batch at work, then puts the filled one to work. */
static int dispatch(struct replay *r)
{
	struct replay_batch *filled = r->filling;
	int err;

	replay_pool_wait(r->pool);
	err = extend_lanes(r);
	if (err)
		return err;
	r->filling = r->working;
	r->working = filled;
	r->filling->nr_halts = r->filling->nr_segments = 0;
	replay_pool_start(r->pool, run_lane, r, r->nr_lanes);
	return 0;
}

/* Adds @n halts of one vCPU, for which there is room. */
static void append(struct replay *r, const struct trace_halt *halts, uint32_t n)
{
	struct replay_batch *batch = r->filling;
	struct segment *next = &batch->segments[batch->nr_segments];
	uint32_t vcpu = r->roster.vcpu_base + halts->vcpu;

	replay_halts_from_trace(&batch->halts[batch->nr_halts], halts, n, &r->options.model,
				&replay_roster_leaf(&r->roster, vcpu)->counts);
	if (batch->nr_segments && next[-1].vcpu == vcpu) {
		next[-1].count += n;
	} else {
		*next = (struct segment){vcpu, batch->nr_halts, n};
		batch->nr_segments++;
	}
	batch->nr_halts += n;
	/* In time order, so the first and the last tell the span. */
	replay_roster_span(&r->roster, halts[0].start_ns,
			   halts[n - 1].start_ns + halts[n - 1].halt_ns);
}

/* Lanes at work read the roster, so it only grows between batches. */
static int extend_roster(struct replay *r, const struct trace_info *info)
{
	if (r->roster.nr_vms - r->roster.vm_base >= info->nr_vms &&
	    r->roster.nr_vcpus - r->roster.vcpu_base >= info->nr_vcpus)
		return 0;
	replay_pool_wait(r->pool);
	return replay_roster_extend(&r->roster, info);
}

int replay_feed(struct replay *r, const struct trace_info *info, const struct trace_halt *halts,
		size_t n)
{
	int err = extend_roster(r, info);

	/* Halts in the batch were made with the old value already. */
	r->options.model.stamped = info->has_latency;
	while (!err && n) {
		uint32_t room, run = 1;

		if (halts->vcpu >= info->nr_vcpus)
			return -EPROTO;
		if (r->filling->nr_halts == BATCH_HALTS)
			err = dispatch(r);
		if (err)
			break;
		room = BATCH_HALTS - r->filling->nr_halts;
		while (run < room && run < n && halts[run].vcpu == halts->vcpu)
			run++;
		append(r, halts, run);
		halts += run;
		n -= run;
	}
	return err;
}

void replay_end_recording(struct replay *r, const struct trace_info *info, const char *label)
{
	replay_roster_end(&r->roster, info, label);
}

int replay_finish(struct replay *r)
{
	int err = dispatch(r);

	if (err)
		return err;
	replay_pool_wait(r->pool);
	replay_roster_total(&r->roster);
	return replay_collect(r);
}

static void free_lane(struct replay_lane *lane)
{
	for (uint32_t g = 0; g < lane->sums_room; g++)
		free(lane->sums[g]);
	free(lane->sums);
	free(lane->states);
}

void replay_destroy(struct replay *r)
{
	if (!r)
		return;
	replay_pool_destroy(r->pool);
	for (uint32_t i = 0; i < r->nr_lanes; i++)
		free_lane(&r->lanes[i]);
	for (uint32_t i = 0; i < r->nr_rows; i++) {
		for (uint32_t vm = 0; vm < r->rows[i].vms_room; vm++)
			free(r->rows[i].vm_config[vm]);
		free(r->rows[i].vm_config);
	}
	free(r->lanes);
	free(r->rows);
	free(r->results);
	replay_roster_fini(&r->roster);
	free(r->filling);
	free(r->working);
	free(r);
}

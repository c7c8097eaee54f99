// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What a replay came to: the lanes' sums put together, and the answers about them.
#include <errno.h>
#include <stdlib.h>

#include "replay/engine_internal.h"

/* Adds what the lanes of one row have for one group. */
static void collect(const struct replay *r, uint32_t row, uint32_t group, struct replay_sums *into)
{
	for (uint32_t shard = 0; shard < r->nr_shards; shard++) {
		const struct replay_lane *lane = &r->lanes[row * r->nr_shards + shard];
		const struct replay_sums *sums = group < lane->sums_room ? lane->sums[group] : NULL;

		if (!sums)
			continue;
		replay_tally_add(&into->tally, &sums->tally);
		replay_hist_merge(&into->hist, &sums->hist);
	}
}

int replay_collect(struct replay *r)
{
	r->results = calloc((size_t)r->nr_rows * r->roster.nr_groups, sizeof(*r->results));
	if (!r->results)
		return -ENOMEM;
	for (uint32_t row = 0; row < r->nr_rows; row++) {
		struct replay_sums *results = &r->results[(size_t)row * r->roster.nr_groups];

		for (uint32_t group = 0; group < r->roster.nr_groups; group++) {
			replay_hist_init(&results[group].hist);
			collect(r, row, group, &results[group]);
			if (!group)
				continue;
			replay_tally_add(&results[0].tally, &results[group].tally);
			replay_hist_merge(&results[0].hist, &results[group].hist);
		}
	}
	return 0;
}

uint32_t replay_nr_rows(const struct replay *r)
{
	return r->nr_rows;
}

uint32_t replay_nr_groups(const struct replay *r)
{
	return r->roster.nr_groups;
}

const struct replay_row *replay_row(const struct replay *r, uint32_t row)
{
	return &r->rows[row].row;
}

const struct replay_group *replay_group(const struct replay *r, uint32_t group)
{
	return &r->roster.groups[group];
}

const struct replay_tally *replay_result(const struct replay *r, uint32_t row, uint32_t group)
{
	return &r->results[(size_t)row * r->roster.nr_groups + group].tally;
}

void replay_metrics(const struct replay *r, uint32_t row, uint32_t group,
		    struct replay_metrics *metrics)
{
	const struct replay_sums *sums = &r->results[(size_t)row * r->roster.nr_groups + group];
	uint64_t oracle_ns = replay_tally_cost_ns(replay_result(r, r->nr_rows - 1, group),
						  &r->options.model);

	replay_metrics_from(metrics, &sums->tally, &sums->hist, &r->options.model, oracle_ns,
			    r->roster.groups[group].wall_ns);
}

const struct replay_model *replay_model(const struct replay *r)
{
	return &r->options.model;
}

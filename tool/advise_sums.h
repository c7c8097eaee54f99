/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What vhalt advise makes of statistics, and its diagnosis of the halts it reads. */
#ifndef VHALT_TOOL_ADVISE_SUMS_H
#define VHALT_TOOL_ADVISE_SUMS_H

#include <jansson.h>

#include "diagnose/stats.h"
#include "replay/source.h"

#define ADVISE_SUMS_MAX 64

/** Statistics among the files given, and the diagnosis. Zeroed it is empty. */
struct advise_sums {
	struct stats *stats[ADVISE_SUMS_MAX];
	const char *paths[ADVISE_SUMS_MAX];
	uint32_t nr;
	struct diagnose_model model;
	struct findings findings;

	struct replay_input input; /* the halts' input, listened to in the first reading */
	const struct replay_input *inner;
	const struct replay_visitor *visitor;
	struct diagnose_halts *halts;
	bool first, several;
	struct trace_kvm_params params; /* from a listing, for recordings that do not have them */
	bool params_differ;		/* listings contradict each other: none is used */
};

/**
 * advise_sums_take - read those of @paths that are statistics, and take them out of the list.
 *
 * Pipes with a path are left alone. Findings of the reader go to stderr. Return: number of
 * paths left, or -errno (said).
 */
int advise_sums_take(struct advise_sums *sums, char **paths, size_t nr,
		     const struct replay_model *model);

/**
 * advise_sums_listen - diagnose halts while they are read for the first time.
 * @inner: the input to read; must outlive @sums
 * Return: the input to read instead, NULL: no memory.
 */
const struct replay_input *advise_sums_listen(struct advise_sums *sums,
					      const struct replay_input *inner, bool several);

/** advise_sums_judge - when everything was read: fill in the findings. 0 or -ENOMEM. */
int advise_sums_judge(struct advise_sums *sums);

/** advise_sums_print - the statistics' part of the advice, and all findings. */
void advise_sums_print(const struct advise_sums *sums, bool alone);

/** advise_sums_json - into @object: "findings", and with statistics "statistics". 0 or -ENOMEM. */
int advise_sums_json(const struct advise_sums *sums, json_t *object);

void advise_sums_fini(struct advise_sums *sums);

#endif

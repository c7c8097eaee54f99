// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What vhalt advise makes of statistics, and its diagnosis of the halts it reads.
#include "tool/advise_sums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "replay/text.h"
#include "tool/diagnose_print.h"
#include "util/units.h"

#define DURATION(ns) units_format_duration((uint64_t)(ns), (char[UNITS_DURATION_BYTES]){0})

/* Less than this share of the cost is no difference sums can show. */
#define COARSE_GAIN 0.1

static void report(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "vhalt advise: %s\n", text);
}

static uint32_t number(const struct stats *stats, const char *name, uint32_t otherwise)
{
	uint64_t v;

	return stats_number(stats_setting(stats, "kvm", name), &v) && v < TRACE_UNKNOWN_U32
		       ? (uint32_t)v
		       : otherwise;
}

/* Listings of two hosts must not become one: a recording beside them is of one of the two. */
static void take_params(struct advise_sums *sums, const struct stats *stats, const char *path)
{
	struct trace_kvm_params *p = &sums->params;
	struct {
		const char *name;
		uint32_t *value;
	} const all[] = {
		{"halt_poll_ns", &p->halt_poll_ns},
		{"halt_poll_ns_grow", &p->grow},
		{"halt_poll_ns_grow_start", &p->grow_start_ns},
		{"halt_poll_ns_shrink", &p->shrink},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint32_t value = number(stats, all[i].name, *all[i].value);

		if (*all[i].value != TRACE_UNKNOWN_U32 && *all[i].value != value) {
			fprintf(stderr,
				"vhalt advise: %s: %s is %" PRIu32 ", but %" PRIu32
				" in a file before it: of two hosts, or times. Neither is taken "
				"for a recording's\n",
				path, all[i].name, value, *all[i].value);
			sums->params_differ = true;
		}
		*all[i].value = value;
	}
}

/* A file that can be read twice and begins like statistics. */
static bool is_sums(const char *path)
{
	struct stat about;

	if (!strcmp(path, "-"))
		return !replay_source_rewindable() && input_is_stats(path) > 0;
	return !stat(path, &about) && S_ISREG(about.st_mode) && input_is_stats(path) > 0;
}

int advise_sums_take(struct advise_sums *sums, char **paths, size_t nr,
		     const struct replay_model *model)
{
	const struct trace_diag diag = {report, NULL};
	size_t left = 0;

	memset(&sums->params, 0xff, sizeof(sums->params));
	sums->model = (struct diagnose_model){model->price, model->latency_ns, model->switch_ns};
	for (size_t i = 0; i < nr; i++) {
		int err;

		if (!is_sums(paths[i])) {
			paths[left++] = paths[i];
			continue;
		}
		if (sums->nr == ADVISE_SUMS_MAX) {
			fprintf(stderr, "vhalt advise: more than %d files of statistics\n",
				ADVISE_SUMS_MAX);
			return -E2BIG;
		}
		err = stats_read(&sums->stats[sums->nr], paths[i], &diag);
		if (err)
			return err;
		sums->paths[sums->nr] = paths[i];
		take_params(sums, sums->stats[sums->nr++], paths[i]);
	}
	return (int)left;
}

/* --- listening ---------------------------------------------------------------------------------
 */

/* A recording without parameters gets those of the listing given beside it. */
static struct trace_info with_params(const struct advise_sums *sums, const struct trace_info *info)
{
	struct trace_info copy = *info;

	if (copy.params.halt_poll_ns == TRACE_UNKNOWN_U32 && !sums->params_differ)
		copy.params = sums->params;
	return copy;
}

static int hear_halts(void *context, const struct trace_info *info, const struct trace_halt *halts,
		      size_t n)
{
	struct advise_sums *sums = context;
	const struct trace_info known = with_params(sums, info);
	int err = sums->first ? diagnose_halts_feed(sums->halts, &known, halts, n) : 0;

	return err ? err : sums->visitor->halts(sums->visitor->context, &known, halts, n);
}

static int hear_end(void *context, const struct trace_info *info, const char *path)
{
	struct advise_sums *sums = context;
	const struct trace_info known = with_params(sums, info);

	if (sums->first)
		diagnose_halts_end_recording(sums->halts, &known, sums->several ? path : NULL);
	return sums->visitor->end ? sums->visitor->end(sums->visitor->context, &known, path) : 0;
}

static int read_listening(void *context, const struct replay_visitor *visitor, bool again)
{
	struct advise_sums *sums = context;
	const struct replay_visitor ours = {hear_halts, hear_end, sums};

	sums->first = !again;
	sums->visitor = visitor;
	return sums->inner->read(sums->inner->context, &ours, again);
}

const struct replay_input *advise_sums_listen(struct advise_sums *sums,
					      const struct replay_input *inner, bool several)
{
	sums->halts = diagnose_halts_create(&sums->model);
	if (!sums->halts)
		return NULL;
	sums->inner = inner;
	sums->several = several;
	sums->input = (struct replay_input){read_listening, sums};
	return &sums->input;
}

int advise_sums_judge(struct advise_sums *sums)
{
	if (sums->halts) {
		uint64_t left = diagnose_halts_left_out(sums->halts);

		diagnose_halts_findings(sums->halts, &sums->findings);
		if (left)
			fprintf(stderr, "vhalt advise: %" PRIu64 " vCPUs were not diagnosed\n",
				left);
	}
	for (uint32_t i = 0; i < sums->nr; i++) {
		const char *label = sums->nr > 1 || sums->halts ? sums->paths[i] : NULL;

		if (diagnose_stats(sums->stats[i], &sums->model, label, &sums->findings))
			return -ENOMEM;
		diagnose_settings(sums->stats[i], NULL, &sums->findings);
	}
	return 0;
}

/* --- what is said ------------------------------------------------------------------------------
 */

static void print_coarse(const struct stats_summary *s, const struct diagnose_coarse *c)
{
	const char *who = s->scope->label;

	if (!c->known || !s->attempted)
		replay_text_wrap(
			stdout, "  ",
			"%s: these counters do not say how long was polled, so not whether it "
			"pays. KVM's counters of 5.8 and later do; a recording says which window.",
			who);
	else if (c->has_best && c->best_cost_ns < (1 - COARSE_GAIN) * c->paid_ns && c->best_ns)
		replay_text_wrap(
			stdout, "  ",
			"%s: a ceiling of about %s would cost %.0f %% less than what was polled; "
			"without any polling it would be %+.0f %%.",
			who, DURATION(c->best_ns), 100 * (1 - c->best_cost_ns / c->paid_ns),
			100 * (c->none_ns / c->paid_ns - 1));
	else if (c->none_ns < (1 - COARSE_GAIN) * c->paid_ns)
		replay_text_wrap(
			stdout, "  ",
			"%s: without any polling it would have cost %.0f %% less: %s of polling "
			"saved %" PRIu64 " blocks of %s each.",
			who, 100 * (1 - c->none_ns / c->paid_ns),
			DURATION(c->useful_ns + c->wasted_ns), c->hits, DURATION(c->block_ns));
	else if (c->paid_ns < (1 - COARSE_GAIN) * c->none_ns)
		replay_text_wrap(
			stdout, "  ",
			"%s: polling pays, without it the same halts would have cost %.0f %% "
			"more. Whether a larger ceiling would pay more, sums cannot say.",
			who, 100 * (c->none_ns / c->paid_ns - 1));
	else
		replay_text_wrap(
			stdout, "  ",
			"%s: polling as it is costs about what it saves; no change stands out.",
			who);
}

void advise_sums_print(const struct advise_sums *sums, bool alone)
{
	bool any = false;

	for (uint32_t i = 0; i < sums->nr; i++) {
		struct stats_summary *all = stats_summarise(sums->stats[i]);
		struct diagnose_coarse c;

		any |= sums->stats[i]->nr_scopes > 0;
		printf("%s%s\n", alone && !i ? "" : "\n", sums->paths[i]);
		print_stats(sums->stats[i], &sums->model);
		if (sums->stats[i]->nr_scopes)
			printf("\nCOARSE ADVICE: from sums of many halts, not from the halts\n");
		for (uint32_t s = 0; all && s < sums->stats[i]->nr_scopes; s++) {
			diagnose_coarse(&c, &all[s], &sums->model);
			print_coarse(&all[s], &c);
		}
		free(all);
	}
	if (any)
		replay_text_wrap(
			stdout, "  ",
			"Nothing is set from this. For real advice: vhalt advise --for 60s, or "
			"vhalt record on the host and vhalt advise on the file.");
	if (sums->findings.nr)
		printf("\nFINDINGS\n");
	print_findings(&sums->findings);
}

int advise_sums_json(const struct advise_sums *sums, json_t *object)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < sums->nr; i++) {
		json_t *one = json_stats(sums->stats[i], &sums->model);

		if (!one || json_object_set_new(one, "path", json_string(sums->paths[i])) ||
		    json_array_append_new(list, one)) {
			json_decref(list);
			return -ENOMEM;
		}
	}
	if (json_object_set_new(object, "findings", json_findings(&sums->findings)) ||
	    json_object_set_new(object, "statistics", list))
		return -ENOMEM;
	return 0;
}

void advise_sums_fini(struct advise_sums *sums)
{
	for (uint32_t i = 0; i < sums->nr; i++)
		stats_destroy(sums->stats[i]);
	diagnose_halts_destroy(sums->halts);
	findings_fini(&sums->findings);
	*sums = (struct advise_sums){.nr = 0};
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Replay results as JSON: the keys are documented in docs/replay.md and stay as they are.
#include "replay/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/results.h"

/* json_object_set_new() takes NULL as "failed before" and says so; count on it at the end. */
static void put(json_t *object, const char *key, json_t *value, bool *failed)
{
	*failed |= json_object_set_new(object, key, value) != 0;
}

static void put_u64(json_t *object, const char *key, uint64_t value, bool *failed)
{
	/* JSON integers here are signed: costs saturate. */
	put(object, key, json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value), failed);
}

static json_t *rounded(double value)
{
	return isfinite(value) ? json_real(results_rounded(value)) : json_null();
}

static json_t *finish(json_t *object, bool failed)
{
	if (failed) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static void put_metrics(json_t *object, const struct replay_metrics *m, bool *failed)
{
	put_u64(object, "cost_ns", m->cost_ns, failed);
	put(object, "ratio_to_oracle", rounded(m->ratio_to_oracle), failed);
	put(object, "poll_cpu_pct", rounded(m->poll_cpu_pct), failed);
	put(object, "poll_useful_pct", rounded(m->poll_useful_pct), failed);
	put(object, "poll_wasted_pct", rounded(m->poll_wasted_pct), failed);
	put(object, "polled_pct", rounded(m->polled_pct), failed);
	put(object, "latency_mean_ns", rounded(m->latency_mean_ns), failed);
	put_u64(object, "latency_p50_ns", m->latency_p50_ns, failed);
	put_u64(object, "latency_p99_ns", m->latency_p99_ns, failed);
}

json_t *replay_json_metrics(const struct replay_metrics *metrics)
{
	json_t *object = json_object();
	bool failed = false;

	put_metrics(object, metrics, &failed);
	return finish(object, failed);
}

json_t *replay_json_params(const struct vhalt_spec *spec)
{
	const struct vhalt_policy *policy = vhalt_policy_get(spec->policy);
	json_t *object = json_object();
	bool failed = false;

	for (uint32_t i = 0; policy && i < policy->nr_params; i++)
		put_u64(object, policy->params[i].name, spec->values[i], &failed);
	return finish(object, failed);
}

static json_t *policy_json(const struct replay *replay, uint32_t row, uint32_t group)
{
	const struct replay_row *r = replay_row(replay, row);
	json_t *object = json_object();
	struct replay_metrics metrics;
	bool failed = false;

	put(object, "name",
	    json_string(r->oracle ? "oracle" : vhalt_policy_get(r->spec.policy)->name), &failed);
	put(object, "params", r->oracle ? json_object() : replay_json_params(&r->spec), &failed);
	if (r->flags & REPLAY_ROW_PRESENT)
		put(object, "present", json_true(), &failed);
	replay_metrics(replay, row, group, &metrics);
	put_metrics(object, &metrics, &failed);
	return finish(object, failed);
}

static void put_group(json_t *object, const struct replay *replay, uint32_t index, bool *failed)
{
	const struct replay_group *group = replay_group(replay, index);
	json_t *policies = json_array();

	put_u64(object, "halts", group->counts.halts, failed);
	put_u64(object, "counted", group->counts.counted, failed);
	put_u64(object, "cut_short", group->counts.cut_short, failed);
	put_u64(object, "invalid", group->counts.invalid, failed);
	put_u64(object, "gaps", group->counts.gaps, failed);
	put_u64(object, "unknown_window", group->counts.unknown_window, failed);
	put_u64(object, "latency_measured", group->counts.measured, failed);
	put_u64(object, "wall_ns", group->wall_ns, failed);
	for (uint32_t row = 0; row < replay_nr_rows(replay); row++)
		*failed |= json_array_append_new(policies, policy_json(replay, row, index)) != 0;
	put(object, "policies", policies, failed);
}

static json_t *groups_json(const struct replay *replay)
{
	json_t *groups = json_array();
	bool failed = false;

	for (uint32_t i = 1; i < replay_nr_groups(replay); i++) {
		const struct replay_group *group = replay_group(replay, i);
		json_t *object = json_object();

		put(object, "label", json_string(group->label), &failed);
		put_group(object, replay, i, &failed);
		failed |= json_array_append_new(groups, object) != 0;
	}
	return finish(groups, failed);
}

json_t *replay_json(const struct replay *replay, bool groups)
{
	const struct replay_model *model = replay_model(replay);
	json_t *object = json_object();
	bool failed = false;

	put_u64(object, "price", model->price, &failed);
	put_u64(object, "latency_ns", model->latency_ns, &failed);
	put(object, "latency_source", json_string(replay_latency_source_name(model->source)),
	    &failed);
	put_u64(object, "switch_cost_ns", model->switch_ns, &failed);
	put_u64(object, "max_ns", model->max_ns, &failed);
	put_u64(object, "lost", replay_group(replay, 0)->lost, &failed);
	put_u64(object, "damaged_frames", replay_group(replay, 0)->damaged_frames, &failed);
	put_group(object, replay, 0, &failed);
	if (groups)
		put(object, "groups", groups_json(replay), &failed);
	return finish(object, failed);
}

char *replay_json_text(const json_t *object)
{
	char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15)), *longer;
	size_t length;

	if (!text)
		return NULL;
	length = strlen(text);
	longer = realloc(text, length + 2);
	if (!longer) {
		free(text);
		return NULL;
	}
	memcpy(longer + length, "\n", 2);
	return longer;
}

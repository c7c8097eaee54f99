// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Advice as JSON: the keys are documented in docs/replay.md and stay as they are.
#include "replay/advice_text.h"
#include "replay/json.h"

static int set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value);
}

static json_t *confidence_json(const struct confidence *c)
{
	return json_pack("{s:s,s:f,s:f,s:f,s:[f,f],s:[f,f],s:I}", "verdict",
			 confidence_verdict_name(c->verdict), "gain_pct", 100 * c->gain,
			 "gain_low_pct", 100 * c->low, "gain_high_pct", 100 * c->high,
			 "half_gain_pct", 100 * c->half_gain[0], 100 * c->half_gain[1],
			 "cross_gain_pct", 100 * c->cross_gain[0], 100 * c->cross_gain[1], "blocks",
			 (json_int_t)c->blocks);
}

static json_t *recommendation_json(const struct advice *a)
{
	struct advice_change changes[ADVICE_CHANGES_MAX];
	uint32_t nr = advice_changes(a, changes);
	json_t *set_json = json_object();

	for (uint32_t i = 0; i < nr; i++)
		if (set(set_json, changes[i].parameter, json_integer((json_int_t)changes[i].to))) {
			json_decref(set_json);
			return NULL;
		}
	return json_pack("{s:b,s:o,s:o,s:o,s:o,s:o,s:I,s:I}", "change", advice_is_change(a),
			 "params", replay_json_params(&a->recommended), "set", set_json,
			 "best_found", replay_json_params(&a->candidate), "best_found_metrics",
			 replay_json_metrics(&a->m_candidate), "confidence",
			 confidence_json(&a->sure), "settings_tried", (json_int_t)a->tried,
			 "searched_one_of", (json_int_t)a->sample_one_of);
}

static json_t *curve_json(const struct advice *a)
{
	json_t *curve = json_array();

	for (uint32_t i = 0; i < a->nr_curve; i++)
		if (json_array_append_new(curve, json_pack("{s:I,s:f}", "halt_poll_ns",
							   (json_int_t)a->curve[i].halt_poll_ns,
							   "gain_pct", 100 * a->curve[i].gain))) {
			json_decref(curve);
			return NULL;
		}
	return curve;
}

static json_t *vm_json(const struct advice_vm *vm)
{
	return json_pack(
		"{s:s,s:I,s:I,s:o,s:o,s:o,s:o,s:b,s:b,s:I,s:o}", "label", vm->label, "halts",
		(json_int_t)vm->counts.halts, "counted", (json_int_t)vm->counts.counted,
		"ceiling_ns",
		vm->ceiling_ns == TRACE_UNKNOWN_U32 ? json_null() : json_integer(vm->ceiling_ns),
		"present", replay_json_metrics(&vm->present), "recommended",
		replay_json_metrics(&vm->recommended), "auto", replay_json_metrics(&vm->automatic),
		"differs", vm->differs, "loses", vm->loses, "own_halt_poll_ns",
		(json_int_t)vm->own_ns, "own_confidence", confidence_json(&vm->own));
}

static json_t *vms_json(const struct advice *a)
{
	json_t *vms = json_array();

	for (uint32_t i = 0; i < a->nr_vms; i++)
		if (json_array_append_new(vms, vm_json(&a->vms[i]))) {
			json_decref(vms);
			return NULL;
		}
	return vms;
}

static json_t *notes_json(const struct advice_notes *notes)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < notes->nr; i++)
		if (json_array_append_new(array, json_string(notes->text[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

json_t *advice_json(const struct advice *a, const struct advice_notes *notes)
{
	json_t *object = replay_json(a->replay, false);

	if (!object)
		return NULL;
	if (set(object, "host", json_string(a->survey.host)) ||
	    set(object, "kernel", json_string(a->survey.kernel)) ||
	    set(object, "present",
		json_pack("{s:b,s:o,s:o}", "known", a->present_known, "params",
			  replay_json_params(&a->present), "metrics",
			  replay_json_metrics(&a->m_present))) ||
	    set(object, "recommendation", recommendation_json(a)) ||
	    set(object, "auto",
		json_pack("{s:o,s:o,s:o}", "params",
			  replay_json_params(&replay_row(a->replay, a->row_auto)->spec), "metrics",
			  replay_json_metrics(&a->m_auto), "confidence",
			  confidence_json(&a->auto_sure))) ||
	    set(object, "curve", curve_json(a)) || set(object, "vms", vms_json(a)) ||
	    set(object, "notes", notes_json(notes))) {
		json_decref(object);
		return NULL;
	}
	return object;
}

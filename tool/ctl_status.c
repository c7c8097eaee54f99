// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt ctl status: what the host module does, as text and as JSON.
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "lib/spec.h"
#include "tool/ctl_module.h"
#include "util/units.h"

/* One look at the module: info, VMs by pid, vCPUs by pid and number. */
struct look {
	struct ctl_info info;
	struct ctl_vm *vms;
	struct ctl_vcpu *vcpus;
	size_t nr_vms, nr_vcpus;
};

static int compare_vms(const void *a, const void *b)
{
	const struct ctl_vm *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int compare_vcpus(const void *a, const void *b)
{
	const struct ctl_vcpu *x = a, *y = b;

	if (x->pid != y->pid)
		return (x->pid > y->pid) - (x->pid < y->pid);
	return (x->number > y->number) - (x->number < y->number);
}

static void end_look(struct look *l)
{
	free(l->vms);
	free(l->vcpus);
}

/* Return: 0, -ENOENT (not loaded), or -errno. */
static int begin_look(struct look *l, struct ctl_error *error)
{
	struct ctl *ctl;
	int err = ctl_open(&ctl, error);

	memset(l, 0, sizeof(*l));
	if (err)
		return err;
	err = ctl_get_info(ctl, &l->info, error);
	if (!err)
		err = ctl_get_vms(ctl, &l->vms, &l->nr_vms, error);
	if (!err)
		err = ctl_get_vcpus(ctl, &l->vcpus, &l->nr_vcpus, error);
	ctl_close(ctl);
	if (err) {
		end_look(l);
		return err;
	}
	if (l->nr_vms)
		qsort(l->vms, l->nr_vms, sizeof(*l->vms), compare_vms);
	if (l->nr_vcpus)
		qsort(l->vcpus, l->nr_vcpus, sizeof(*l->vcpus), compare_vcpus);
	return 0;
}

/* As it would be typed: the policy, and the parameters that differ from this tool's defaults. */
static const char *setting_text(const struct ctl_setting *setting, char text[VHALT_SPEC_TEXT_BYTES])
{
	struct vhalt_spec spec;
	uint32_t id = vhalt_policy_find(setting->policy);

	if (id == VHALT_NR_POLICIES) {
		snprintf(text, VHALT_SPEC_TEXT_BYTES, "%s", setting->policy);
		return text;
	}
	vhalt_spec_init(&spec, id);
	for (uint32_t i = 0; i < setting->nr_params; i++) {
		int at = vhalt_spec_param(id, setting->params[i].name);

		if (at >= 0)
			spec.values[at] = setting->params[i].value;
	}
	return vhalt_spec_format(&spec, text);
}

static const char *ns_or_unknown(uint32_t ns, char text[UNITS_DURATION_BYTES])
{
	if (ns != VHALT_UNKNOWN_U32)
		return units_format_duration(ns, text);
	return strcpy(text, "unknown");
}

static void print_vcpu(const struct ctl_vcpu *v)
{
	char window[UNITS_DURATION_BYTES], ceiling[UNITS_DURATION_BYTES];
	char useful[UNITS_DURATION_BYTES], wasted[UNITS_DURATION_BYTES];

	printf("  vCPU %-3" PRIu32 " window %s, ceiling %s; %" PRIu64 " halts: %" PRIu64
	       " met by polling, %" PRIu64 " blocked, %" PRIu64
	       " invalid; polled %s useful, %s wasted",
	       v->number, units_format_duration(v->window_ns, window),
	       ns_or_unknown(v->ceiling_ns, ceiling), v->halts, v->polled, v->blocked, v->invalid,
	       units_format_duration(v->useful_ns, useful),
	       units_format_duration(v->wasted_ns, wasted));
	if (v->cut)
		printf(", %" PRIu64 " polls cut short", v->cut);
	if (v->decisions)
		printf("; %" PRIu64 " decisions", v->decisions);
	if (v->clipped)
		printf(", %" PRIu64 " above the ceiling", v->clipped);
	printf("\n");
}

static void print_info(const struct ctl_info *i)
{
	char text[VHALT_SPEC_TEXT_BYTES];

	printf("Module vhalt_kvm: %s; default policy %s; %" PRIu32 " VMs, %" PRIu32 " vCPUs\n",
	       i->attached ? "watching KVM" : "KVM is not loaded", setting_text(&i->dflt, text),
	       i->nr_vms, i->nr_vcpus);
	if (i->budget_ppm)
		printf("Budget: %.4g %% of the host's CPU time; %.4g %% polled lately, price "
		       "factor %.3g, "
		       "%" PRIu64 " decisions at the gate\n",
		       i->budget_ppm / 1e4, i->burnt_ppm / 1e4, i->factor / 1024., i->gated);
	if (i->unknown)
		printf("%" PRIu64 " halts of vCPUs that could not be found\n", i->unknown);
	if (i->refused)
		printf("%" PRIu64 " halts left to the kernel: no room (max_vms %" PRIu32
		       ", max_vcpus %" PRIu32 ")\n",
		       i->refused, i->max_vms, i->max_vcpus);
}

int ctl_module_status(void)
{
	char text[VHALT_SPEC_TEXT_BYTES];
	struct ctl_error error;
	struct look l;
	int err = begin_look(&l, &error);
	size_t at = 0;

	if (err == -ENOENT) {
		printf("Module vhalt_kvm is not loaded.\n");
		return 0;
	}
	if (err) {
		fprintf(stderr, "vhalt ctl: %s\n", error.text);
		return 1;
	}
	print_info(&l.info);
	for (size_t i = 0; i < l.nr_vms; i++) {
		printf("VM %" PRIu32 " %s: %s%s\n", l.vms[i].pid, l.vms[i].name,
		       setting_text(&l.vms[i].setting, text), l.vms[i].own ? "" : " (default)");
		while (at < l.nr_vcpus && l.vcpus[at].pid < l.vms[i].pid)
			at++;
		for (; at < l.nr_vcpus && l.vcpus[at].pid == l.vms[i].pid; at++)
			print_vcpu(&l.vcpus[at]);
	}
	end_look(&l);
	return 0;
}

/* --- JSON ---------------------------------------------------------------------------------- */

static json_t *json_setting(const struct ctl_setting *s)
{
	json_t *params = json_object();

	for (uint32_t i = 0; i < s->nr_params; i++)
		json_object_set_new(params, s->params[i].name,
				    json_integer((json_int_t)s->params[i].value));
	return json_pack("{s:s, s:o}", "policy", s->policy, "params", params);
}

static json_t *json_ceiling(uint32_t ns)
{
	return ns == VHALT_UNKNOWN_U32 ? json_null() : json_integer(ns);
}

static json_t *json_vcpu(const struct ctl_vcpu *v)
{
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{"vcpu", v->number},	     {"tid", v->tid},
		{"window_ns", v->window_ns}, {"halts", v->halts},
		{"polled", v->polled},	     {"blocked", v->blocked},
		{"invalid", v->invalid},     {"cut", v->cut},
		{"useful_ns", v->useful_ns}, {"wasted_ns", v->wasted_ns},
		{"halted_ns", v->halted_ns}, {"decisions", v->decisions},
		{"grown", v->grown},	     {"shrunk", v->shrunk},
		{"clipped", v->clipped},
	};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		json_object_set_new(object, rows[i].key, json_integer((json_int_t)rows[i].value));
	json_object_set_new(object, "ceiling_ns", json_ceiling(v->ceiling_ns));
	return object;
}

static json_t *json_vms(const struct look *l)
{
	json_t *vms = json_array();

	for (size_t i = 0; i < l->nr_vms; i++) {
		const struct ctl_vm *vm = &l->vms[i];
		json_t *vcpus = json_array(), *object = json_setting(&vm->setting);

		for (size_t at = 0; at < l->nr_vcpus; at++)
			if (l->vcpus[at].pid == vm->pid)
				json_array_append_new(vcpus, json_vcpu(&l->vcpus[at]));
		json_object_set_new(object, "pid", json_integer(vm->pid));
		json_object_set_new(object, "name", json_string(vm->name));
		json_object_set_new(object, "own", json_boolean(vm->own));
		json_object_set_new(object, "vcpus", vcpus);
		json_array_append_new(vms, object);
	}
	return vms;
}

static json_t *json_look(const struct look *l)
{
	const struct ctl_info *i = &l->info;

	return json_pack("{s:I, s:b, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I}, s:o}",
			 "abi", (json_int_t)i->abi, "attached", i->attached, "default",
			 json_setting(&i->dflt), "ceiling_ns", json_ceiling(i->ceiling_ns),
			 "max_vms", (json_int_t)i->max_vms, "max_vcpus", (json_int_t)i->max_vcpus,
			 "unknown", (json_int_t)i->unknown, "refused", (json_int_t)i->refused,
			 "gated", (json_int_t)i->gated, "budget", "ppm", (json_int_t)i->budget_ppm,
			 "factor", (json_int_t)i->factor, "burnt_ppm", (json_int_t)i->burnt_ppm,
			 "vms", json_vms(l));
}

int ctl_module_status_json(FILE *out)
{
	struct ctl_error error;
	struct look l;
	int err = begin_look(&l, &error);
	json_t *json;

	if (err == -ENOENT) {
		fputs("null", out);
		return 0;
	}
	if (err) {
		fprintf(stderr, "vhalt ctl: %s\n", error.text);
		return 1;
	}
	json = json_look(&l);
	err = !json || json_dumpf(json, out, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(json);
	end_look(&l);
	if (err)
		fprintf(stderr, "vhalt ctl: cannot write JSON\n");
	return err ? 1 : 0;
}

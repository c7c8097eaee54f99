// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Diagnosis of recorded halts: which vCPU a halt belongs to, and every rule for every vCPU.
#include "diagnose/halts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vhalt/cost.h>

#include "replay/halt.h"

/** A vCPU over all recordings. */
struct entry {
	struct diagnose_vcpu *gathered;
	struct trace_kvm_params params;
	uint32_t vm; /* over all recordings */
	bool has_windows;
	char label[FINDING_SUBJECT_BYTES];
};

struct diagnose_halts {
	struct diagnose_model model;
	struct entry *entries;
	uint32_t nr, room;
	uint32_t base;	  /* first entry of the present recording */
	uint32_t vm_base; /* first VM of it */
	uint64_t left_out;
	char (*user)[FINDING_EVIDENCE_BYTES]; /* evidence of recordings with halts in user space */
	uint32_t nr_user;
};

struct diagnose_halts *diagnose_halts_create(const struct diagnose_model *model)
{
	struct diagnose_halts *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->model = (struct diagnose_model){REPLAY_PRICE, REPLAY_LATENCY_NS, REPLAY_SWITCH_NS};
	if (model && model->latency_ns)
		d->model = *model;
	return d;
}

/* Entries for all vCPUs the present recording names so far. */
static int extend(struct diagnose_halts *d, const struct trace_info *info)
{
	uint32_t wanted = info->nr_vcpus;

	if (wanted > DIAGNOSE_VCPUS_MAX - d->base)
		wanted = DIAGNOSE_VCPUS_MAX - d->base;
	while (d->nr - d->base < wanted) {
		if (d->nr == d->room) {
			uint32_t room = d->room ? 2 * d->room : 16;
			struct entry *entries = reallocarray(d->entries, room, sizeof(*entries));

			if (!entries)
				return -ENOMEM;
			d->entries = entries;
			d->room = room;
		}
		d->entries[d->nr] = (struct entry){
			.gathered = malloc(sizeof(struct diagnose_vcpu))};
		if (!d->entries[d->nr].gathered)
			return -ENOMEM;
		diagnose_vcpu_init(d->entries[d->nr++].gathered);
	}
	return 0;
}

/* The ceiling in force, where known: the VM's own before the parameter. */
static void set_ceiling(struct diagnose_vcpu *v, const struct trace_info *info, uint32_t vcpu)
{
	uint32_t vm = info->vcpus[vcpu].vm;

	if (vm < info->nr_vms && info->vms[vm].ceiling_ns != TRACE_UNKNOWN_U32) {
		v->ceiling_ns = info->vms[vm].ceiling_ns;
		v->own_ceiling = true;
	} else if (info->params.halt_poll_ns != TRACE_UNKNOWN_U32) {
		v->ceiling_ns = info->params.halt_poll_ns;
	}
}

int diagnose_halts_feed(struct diagnose_halts *d, const struct trace_info *info,
			const struct trace_halt *halts, size_t n)
{
	int err = extend(d, info);

	for (size_t i = 0; !err && i < n; i++) {
		struct diagnose_vcpu *v;

		if (halts[i].vcpu >= info->nr_vcpus)
			return -EPROTO;
		if (d->base + halts[i].vcpu >= d->nr)
			continue; /* beyond the limit; counted at the end */
		v = d->entries[d->base + halts[i].vcpu].gathered;
		if (v->ceiling_ns == UINT64_MAX)
			set_ceiling(v, info, halts[i].vcpu);
		diagnose_vcpu_add(v, &halts[i], d->model.latency_ns);
	}
	return err;
}

static void name(struct entry *e, const struct trace_info *info, uint32_t vcpu, const char *label)
{
	const struct trace_vcpu *one = &info->vcpus[vcpu];
	const struct trace_vm *vm = one->vm < info->nr_vms ? &info->vms[one->vm] : NULL;
	char number[16] = "?";

	if (one->number != TRACE_UNKNOWN_U32)
		snprintf(number, sizeof(number), "%u", one->number);
	snprintf(e->label, sizeof(e->label), "%.60s%s%.40s vCPU %s (tid %u, %.24s)",
		 label ? label : "", label ? ": " : "", vm ? vm->name : "?", number, one->tid,
		 one->name);
	for (char *c = e->label; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

void diagnose_halts_end_recording(struct diagnose_halts *d, const struct trace_info *info,
				  const char *label)
{
	/* Only our own recorder names the kernel, and it always records window changes. */
	bool has_windows = info->kernel[0] != '\0';

	for (uint32_t i = d->base; i < d->nr; i++) {
		struct diagnose_vcpu *v = d->entries[i].gathered;

		diagnose_vcpu_end(v);
		has_windows |= v->windows || v->grew || v->shrank;
	}
	for (uint32_t i = d->base; i < d->nr && i - d->base < info->nr_vcpus; i++) {
		struct entry *e = &d->entries[i];

		e->params = info->params;
		e->vm = d->vm_base + info->vcpus[i - d->base].vm;
		e->has_windows = has_windows;
		name(e, info, i - d->base, label);
	}
	/* A list without a halt has a vCPU that nobody fed: that one is not too many. */
	if (info->nr_vcpus > d->nr - d->base && d->nr >= DIAGNOSE_VCPUS_MAX)
		d->left_out += info->nr_vcpus - (d->nr - d->base);
	d->base = d->nr;
	d->vm_base += info->nr_vms;
}

void diagnose_halts_events(struct diagnose_halts *d, const struct trace_events *events)
{
	char evidence[FINDING_EVIDENCE_BYTES];
	char(*user)[FINDING_EVIDENCE_BYTES];

	if (!events || d->nr_user == 64 || !diagnose_user_halts(events, evidence))
		return;
	user = reallocarray(d->user, d->nr_user + 1U, sizeof(*user));
	if (!user)
		return;
	d->user = user;
	memcpy(user[d->nr_user++], evidence, sizeof(evidence));
}

static bool nearly(uint64_t a, uint64_t b)
{
	uint64_t larger = a > b ? a : b, smaller = a > b ? b : a;

	return larger - smaller <= larger / 20;
}

static void look_at(const struct diagnose_halts *d, uint32_t at, struct diagnose_view *view)
{
	const struct entry *e = &d->entries[at];
	const struct diagnose_vcpu *v = e->gathered;
	uint32_t l_ns = d->model.latency_ns;

	*view = (struct diagnose_view){.v = v, .params = e->params, .has_windows = e->has_windows};
	if (v->last_ns > v->first_ns)
		view->seconds = (double)(v->last_ns - v->first_ns) / 1e9;
	view->rate = view->seconds > 0 ? (double)v->halts / view->seconds : 0;
	if (v->latencies)
		l_ns = (uint32_t)(v->latency_sum_ns / v->latencies);
	view->cost_ns = vhalt_break_even_ns(d->model.price, l_ns, d->model.switch_ns);
	diagnose_rhythm(&view->rhythm, v);
	for (uint32_t i = 0; i < d->nr; i++)
		view->twins += i != at && d->entries[i].vm == e->vm &&
			       nearly(d->entries[i].gathered->halts, v->halts);
}

void diagnose_halts_findings(const struct diagnose_halts *d, struct findings *findings)
{
	char evidence[FINDING_EVIDENCE_BYTES];
	struct diagnose_view view;

	for (uint32_t i = 0; i < d->base; i++) {
		if (!d->entries[i].gathered->halts)
			continue;
		look_at(d, i, &view);
		for (uint32_t r = 0; r < diagnose_nr_halts_rules; r++)
			if (diagnose_halts_rules[r].holds(&view, evidence))
				findings_add(findings, &diagnose_halts_rules[r].rule,
					     d->entries[i].label, evidence);
	}
	for (uint32_t i = 0; i < d->nr_user; i++)
		findings_add(findings, &diagnose_user_halts_rule, "the trace", d->user[i]);
}

uint64_t diagnose_halts_left_out(const struct diagnose_halts *d)
{
	return d->left_out;
}

uint64_t diagnose_halts_shortest_tick(const struct diagnose_halts *d)
{
	uint64_t shortest = UINT64_MAX;
	struct diagnose_rhythm rhythm;

	for (uint32_t i = 0; i < d->base; i++) {
		diagnose_rhythm(&rhythm, d->entries[i].gathered);
		/* Faster than any tick are messages. */
		if (rhythm.period_ns >= 900000 && rhythm.period_ns < shortest)
			shortest = rhythm.period_ns;
	}
	return shortest;
}

void diagnose_halts_destroy(struct diagnose_halts *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->nr; i++)
		free(d->entries[i].gathered);
	free(d->entries);
	free(d->user);
	free(d);
}

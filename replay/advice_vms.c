// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Advice per VM: who differs from the rest of the host, who loses, and the figures of each.
#include "replay/advice_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Costs of one VM's blocks, picked out of those of all. */
struct vm_costs {
	uint64_t *recommended, *own, *all;
	uint8_t *half;
	uint32_t nr;
	uint64_t counted;
};

static void pick_blocks(struct vm_costs *v, const struct advice_work *work, uint32_t vm)
{
	const struct replay_sample *sample = &work->sample;

	v->nr = 0;
	v->counted = 0;
	for (uint32_t i = 0; i < sample->nr_blocks; i++) {
		if (sample->blocks[i].vm != vm)
			continue;
		v->recommended[v->nr] = work->recommended[i];
		v->own[v->nr] = v->all[i];
		v->half[v->nr++] = work->half[i];
		v->counted += sample->blocks[i].count;
	}
}

/* The VM alone under the setting that suits it, against what it gets from the recommended one. */
static int judge_vm(struct advice_work *work, struct vm_costs *v, uint32_t vm)
{
	int window = vhalt_spec_param(VHALT_POLICY_KVM, "halt_poll_ns");
	struct advice *a = work->advice;
	struct advice_vm *out = &a->vms[vm];
	uint32_t best = replay_search_vm(&work->search, work->global, vm);
	const struct vhalt_spec *spec = &work->search.candidates[best].spec;
	struct confidence_costs costs = {
		.present = v->recommended, .other = v->own, .half = v->half};
	int err = replay_sample_costs(&work->sample, spec, false, v->all);

	if (err)
		return err;
	pick_blocks(v, work, vm);
	costs.nr = v->nr;
	costs.counted = v->counted;
	out->own_ns = spec->values[window];
	err = confidence_judge(&out->own, &costs);
	out->differs = out->own.verdict == CONFIDENCE_SURE;
	return err;
}

int advice_judge_vms(struct advice_work *work)
{
	size_t nr = (size_t)work->sample.nr_blocks + 1;
	struct advice *a = work->advice;
	struct vm_costs v = {
		.recommended = calloc(nr, sizeof(*v.recommended)),
		.own = calloc(nr, sizeof(*v.own)),
		.all = calloc(nr, sizeof(*v.all)),
		.half = calloc(nr, sizeof(*v.half)),
	};
	int err = -ENOMEM;

	a->nr_vms = work->sample.roster.nr_vms;
	a->vms = calloc((size_t)a->nr_vms + 1, sizeof(*a->vms));
	if (v.recommended && v.own && v.all && v.half && a->vms)
		err = 0;
	for (uint32_t vm = 0; !err && vm < a->nr_vms; vm++) {
		/* Group 0 is the total; the VMs follow in their order. */
		const struct replay_group *group = replay_group(a->replay, vm + 1);

		memcpy(a->vms[vm].label, group->label, sizeof(group->label));
		a->vms[vm].ceiling_ns = group->ceiling_ns;
		a->vms[vm].counts = group->counts;
		replay_metrics(a->replay, a->row_present, vm + 1, &a->vms[vm].present);
		replay_metrics(a->replay, a->row_auto, vm + 1, &a->vms[vm].automatic);
		err = judge_vm(work, &v, vm);
	}
	free(v.half);
	free(v.all);
	free(v.own);
	free(v.recommended);
	return err;
}

static int feed(void *context, const struct trace_info *info, const struct trace_halt *halts,
		size_t n)
{
	return replay_feed(context, info, halts, n);
}

static int end(void *context, const struct trace_info *info, const char *path)
{
	(void)path;
	replay_end_recording(context, info, NULL);
	return 0;
}

/* The row whose window is @window_ns, from 1 on; 0: none. */
static uint32_t row_of(const struct replay *replay, uint32_t rows, uint64_t window_ns)
{
	int window = vhalt_spec_param(VHALT_POLICY_KVM, "halt_poll_ns");

	for (uint32_t row = 1; row < rows; row++)
		if (replay_row(replay, row)->spec.values[window] == window_ns)
			return row;
	return 0;
}

/* Row 0 the candidate, then one for each window that suits some VM: no more than the grid has. */
static int add_measured(const struct advice_work *work, struct replay *replay)
{
	int window = vhalt_spec_param(VHALT_POLICY_KVM, "halt_poll_ns");
	const struct advice *a = work->advice;
	int row = replay_add_policy(replay, &a->candidate, REPLAY_ROW_CEILINGS);

	for (uint32_t vm = 0; row >= 0 && vm < a->nr_vms; vm++) {
		struct vhalt_spec spec = a->recommended;

		if (!a->vms[vm].differs ||
		    row_of(replay, replay_nr_rows(replay), a->vms[vm].own_ns))
			continue;
		spec.values[window] = a->vms[vm].own_ns;
		row = replay_add_policy(replay, &spec, 0);
	}
	return row < 0 ? row : 0;
}

static void take_metrics(struct advice *a, const struct replay *replay)
{
	uint32_t rows = replay_nr_rows(replay) - 1; /* the oracle is the last */
	bool change = advice_is_change(a);

	replay_metrics(replay, 0, 0, &a->m_candidate);
	for (uint32_t vm = 0; vm < a->nr_vms; vm++) {
		struct advice_vm *v = &a->vms[vm];

		v->recommended = v->present;
		if (change)
			replay_metrics(replay, 0, vm + 1, &v->recommended);
		v->loses = (double)v->recommended.cost_ns >
			   (double)v->present.cost_ns * (1 + ADVICE_LOSS);
		if (v->differs)
			replay_metrics(replay, row_of(replay, rows, v->own_ns), vm + 1,
				       &v->own_metrics);
	}
}

int advice_measure(struct advice_work *work)
{
	struct advice *a = work->advice;
	struct replay_options options = {a->model, REPLAY_BY_VM, 0};
	struct replay_visitor visitor = {feed, end, NULL};
	struct replay *replay;
	int err;

	options.threads = replay_pool_threads(work->pool);
	err = replay_create(&replay, &options);
	if (err)
		return err;
	visitor.context = replay;
	err = add_measured(work, replay);
	if (!err)
		err = work->input->read(work->input->context, &visitor, true);
	if (!err)
		err = replay_finish(replay);
	if (!err)
		take_metrics(a, replay);
	replay_destroy(replay);
	return err;
}

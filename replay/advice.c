// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Advice: what the present setting costs, what to set instead, and how sure that is.
#include "replay/advice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/advice_internal.h"
#include "replay/defaults.h"
#include "replay/kernel.h"

/* Feeds the replay of all policies and the sample from one reading. */
static int feed_both(void *context, const struct trace_info *info, const struct trace_halt *halts,
		     size_t n)
{
	struct advice_work *work = context;
	int err = replay_feed(work->advice->replay, info, halts, n);

	return err ? err : replay_sample_feed(&work->sample, info, halts, n);
}

static int end_both(void *context, const struct trace_info *info, const char *path)
{
	struct advice_work *work = context;
	const char *label = work->advice->survey.recordings > 1 ? path : NULL;

	replay_end_recording(work->advice->replay, info, label);
	replay_sample_end_recording(&work->sample, info, label);
	return 0;
}

/* Policies, search and bound may go as far as what is in force now: else it would beat the bound.
 */
static void widen_max(struct advice *a)
{
	int window = vhalt_spec_param(VHALT_POLICY_KVM, "halt_poll_ns");

	if (a->model.max_ns < a->present.values[window])
		a->model.max_ns = (uint32_t)a->present.values[window];
	if (a->model.max_ns < a->survey.ceiling_ns)
		a->model.max_ns = a->survey.ceiling_ns;
}

static int survey(struct advice_work *work, bool max_given)
{
	struct advice *a = work->advice;
	int err = replay_survey_read(&a->survey, work->input);

	if (err)
		return err;
	if (!a->survey.halts)
		return -ENODATA;
	replay_survey_latency(&a->survey, &a->model);
	a->present_known = a->survey.params.halt_poll_ns != TRACE_UNKNOWN_U32;
	vhalt_spec_init(&a->present, VHALT_POLICY_KVM);
	replay_kernel_spec(&a->present, &a->survey.params, a->survey.kernel);
	if (!max_given)
		widen_max(a);
	return 0;
}

/* The present setting first, then every policy of the table; kvm's default only if it differs. */
static int add_rows(struct advice *a)
{
	int row = replay_add_policy(a->replay, &a->present,
				    REPLAY_ROW_CEILINGS | REPLAY_ROW_PRESENT);

	for (uint32_t id = 0; row >= 0 && id < VHALT_NR_POLICIES; id++) {
		struct vhalt_spec spec;

		vhalt_spec_init(&spec, id);
		replay_spec_adopt(&spec, &a->model);
		if (id == VHALT_POLICY_KVM &&
		    !memcmp(spec.values, a->present.values, sizeof(spec.values)))
			continue;
		row = replay_add_policy(a->replay, &spec, 0);
		if (id == VHALT_POLICY_AUTO)
			a->row_auto = (uint32_t)row;
	}
	return row < 0 ? row : 0;
}

static int replay_policies(struct advice_work *work, unsigned int threads)
{
	struct advice *a = work->advice;
	struct replay_options options = {a->model, REPLAY_BY_VM, threads};
	struct replay_visitor visitor = {feed_both, end_both, work};
	int err = replay_create(&a->replay, &options);

	if (!err)
		err = add_rows(a);
	if (!err)
		err = replay_sample_init(&work->sample, &a->model, a->survey.halts);
	if (!err)
		err = work->input->read(work->input->context, &visitor, true);
	if (!err)
		err = replay_finish(a->replay);
	if (err)
		return err;
	a->counts = replay_group(a->replay, 0)->counts;
	a->wall_ns = replay_group(a->replay, 0)->wall_ns;
	a->sample_one_of = work->sample.one_of;
	a->sample_halts = work->sample.counted;
	replay_metrics(a->replay, a->row_present, 0, &a->m_present);
	replay_metrics(a->replay, a->row_auto, 0, &a->m_auto);
	replay_metrics(a->replay, replay_nr_rows(a->replay) - 1, 0, &a->m_oracle);
	return 0;
}

static int judge_spec(struct advice_work *work, const struct vhalt_spec *spec, bool searched,
		      uint64_t *costs, struct confidence *result)
{
	const struct replay_sample *sample = &work->sample;
	const struct advice *a = work->advice;
	struct confidence_costs c = {
		.present = work->present,
		.other = costs,
		.half = work->half,
		.nr = sample->nr_blocks,
		.counted = sample->counted,
		.wall_ns = (double)a->wall_ns * (double)sample->counted /
			   (double)(a->counts.counted ? a->counts.counted : 1),
		.searched = searched,
	};
	int err = replay_sample_costs(sample, spec, true, costs);

	for (uint32_t half = 0; searched && half < 2; half++)
		c.cross_gain[half] = replay_search_cross_gain(&work->search, half);
	return err ? err : confidence_judge(result, &c);
}

/* The points of the search that differ from the candidate in the window only. */
static int draw_curve(struct advice *a, const struct replay_search *search, uint32_t candidate)
{
	uint64_t present_ns = search->candidates[0].cost_ns;
	int window = vhalt_spec_param(VHALT_POLICY_KVM, "halt_poll_ns");

	a->curve = calloc(search->nr_candidates, sizeof(*a->curve));
	if (!a->curve)
		return -ENOMEM;
	for (uint32_t i = 0; i < search->nr_candidates; i++) {
		const struct replay_candidate *c = &search->candidates[i];
		struct advice_point point = {c->spec.values[window], 0};
		uint32_t at = a->nr_curve;

		if (!replay_search_on_curve(search, i, candidate))
			continue;
		if (present_ns)
			point.gain = 1 - (double)c->cost_ns / (double)present_ns;
		for (; at > 0 && a->curve[at - 1].halt_poll_ns > point.halt_poll_ns; at--)
			a->curve[at] = a->curve[at - 1];
		a->curve[at] = point;
		a->nr_curve++;
	}
	return 0;
}

static int prepare_costs(struct advice_work *work)
{
	const struct replay_sample *sample = &work->sample;
	size_t nr = (size_t)sample->nr_blocks + 1;

	work->half = calloc(nr, sizeof(*work->half));
	work->present = calloc(nr, sizeof(*work->present));
	work->recommended = calloc(nr, sizeof(*work->recommended));
	if (!work->half || !work->present || !work->recommended)
		return -ENOMEM;
	for (uint32_t i = 0; i < sample->nr_blocks; i++)
		work->half[i] = (uint8_t)sample->blocks[i].half;
	return replay_sample_costs(sample, &work->advice->present, true, work->present);
}

static int search_and_judge(struct advice_work *work)
{
	struct advice *a = work->advice;
	int err = prepare_costs(work);

	if (!err)
		err = replay_search_run(&work->search, &work->sample, &a->present, work->pool);
	if (err)
		return err;
	a->tried = work->search.nr_candidates;
	a->candidate = work->search.candidates[work->search.best].spec;
	a->recommended = a->present;
	err = judge_spec(work, &replay_row(a->replay, a->row_auto)->spec, false, work->recommended,
			 &a->auto_sure);
	if (!err)
		err = judge_spec(work, &a->candidate, true, work->recommended, &a->sure);
	if (!err)
		err = draw_curve(a, &work->search, work->search.best);
	if (err)
		return err;
	if (a->sure.verdict == CONFIDENCE_SURE) {
		a->recommended = a->candidate;
		work->global = work->search.best;
	} else {
		memcpy(work->recommended, work->present,
		       work->sample.nr_blocks * sizeof(*work->present));
	}
	return 0;
}

int advice_make(struct advice **out, const struct replay_input *input,
		const struct advice_options *options)
{
	struct advice_work work = {.input = input};
	struct advice *a = calloc(1, sizeof(*a));
	int err = -ENOMEM;

	if (!a)
		return -ENOMEM;
	work.advice = a;
	a->model = options->model;
	err = survey(&work, options->max_given);
	if (!err)
		err = replay_policies(&work, options->threads);
	if (!err)
		err = replay_pool_create(&work.pool, options->threads);
	if (!err)
		err = search_and_judge(&work);
	if (!err)
		err = advice_judge_vms(&work);
	if (!err)
		err = advice_measure(&work);
	free(work.half);
	free(work.present);
	free(work.recommended);
	replay_search_fini(&work.search);
	replay_sample_fini(&work.sample);
	replay_pool_destroy(work.pool);
	if (err) {
		advice_destroy(a);
		return err;
	}
	*out = a;
	return 0;
}

bool advice_is_change(const struct advice *a)
{
	return memcmp(a->present.values, a->recommended.values, sizeof(a->present.values)) != 0;
}

void advice_destroy(struct advice *a)
{
	if (!a)
		return;
	replay_destroy(a->replay);
	free(a->curve);
	free(a->vms);
	free(a);
}

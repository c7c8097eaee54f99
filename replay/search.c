// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The kernel's own parameter space, searched over a sample of the halts.
#include "replay/search.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "replay/grow.h"

/* What operators set, and a little around it. 0 switches polling off. */
static const uint64_t windows_ns[] = {0,      5000,   10000,  15000,  20000,  25000,
				      30000,  40000,  50000,  60000,  80000,  100000,
				      150000, 200000, 300000, 400000, 500000, 1000000};
static const uint64_t starts_ns[] = {5000, 10000, 20000, 50000, 100000};
static const uint64_t grows[] = {2, 4};
static const uint64_t shrinks[] = {0, 2, 4};

/* One axis of the grid: fixed steps, the present value in front. */
struct axis {
	const char *key;
	const uint64_t *steps;
	uint32_t nr_steps;
};

static const struct axis axes[] = {
	{"halt_poll_ns", windows_ns, sizeof(windows_ns) / sizeof(*windows_ns)},
	{"grow_start", starts_ns, sizeof(starts_ns) / sizeof(*starts_ns)},
	{"grow", grows, sizeof(grows) / sizeof(*grows)},
	{"shrink", shrinks, sizeof(shrinks) / sizeof(*shrinks)},
};
enum { NR_AXES = sizeof(axes) / sizeof(*axes), AXIS_WINDOW = 0 };

static int axis_param(uint32_t axis)
{
	return vhalt_spec_param(VHALT_POLICY_KVM, axes[axis].key);
}

static int add_candidate(struct replay_search *search, const struct vhalt_spec *spec)
{
	struct replay_candidate *c;
	struct vhalt_spec mainline;

	vhalt_spec_init(&mainline, VHALT_POLICY_KVM);

	if (replay_grow(&search->candidates, &search->room, search->nr_candidates + 1,
			sizeof(*search->candidates)))
		return -ENOMEM;
	c = &search->candidates[search->nr_candidates++];
	c->spec = *spec;
	for (uint32_t a = 0; a < NR_AXES; a++) {
		int i = axis_param(a);

		c->changes += spec->values[i] != search->candidates[0].spec.values[i];
		c->unusual += spec->values[i] != mainline.values[i];
	}
	return 0;
}

/* With polling off the other parameters mean nothing: one candidate stands for all. */
static bool is_redundant(const struct replay_search *search, const struct vhalt_spec *spec)
{
	if (spec->values[axis_param(AXIS_WINDOW)])
		return false;
	for (uint32_t a = AXIS_WINDOW + 1; a < NR_AXES; a++) {
		int i = axis_param(a);

		if (spec->values[i] != search->candidates[0].spec.values[i])
			return true;
	}
	return false;
}

/* Goes through all steps of @axis and, for each, through the axes behind it. */
static int lay_grid(struct replay_search *search, struct vhalt_spec *spec, uint32_t axis,
		    uint64_t max_ns)
{
	uint64_t present;
	int i, err = 0;

	if (axis == NR_AXES) {
		if (is_redundant(search, spec) ||
		    !memcmp(spec->values, search->candidates[0].spec.values, sizeof(spec->values)))
			return 0;
		return add_candidate(search, spec);
	}
	i = axis_param(axis);
	present = search->candidates[0].spec.values[i];
	spec->values[i] = present;
	err = lay_grid(search, spec, axis + 1, max_ns);
	for (uint32_t s = 0; !err && s < axes[axis].nr_steps; s++) {
		uint64_t step = axes[axis].steps[s];

		if (step == present || (axis == AXIS_WINDOW && step > max_ns))
			continue;
		spec->values[i] = step;
		err = lay_grid(search, spec, axis + 1, max_ns);
	}
	return err;
}

struct work {
	struct replay_search *search;
	const struct replay_sample *sample;
	atomic_int err;
};

static bool has_ceilings(const struct replay_sample *sample)
{
	for (uint32_t vm = 0; vm < sample->roster.nr_vms; vm++)
		if (sample->roster.vms[vm].ceiling_ns != TRACE_UNKNOWN_U32)
			return true;
	return false;
}

static int cost_candidate(struct replay_search *search, const struct replay_sample *sample,
			  size_t index, uint64_t *costs)
{
	uint64_t *vm_cost_ns = &search->vm_cost_ns[index * search->nr_vms];
	struct replay_candidate *c = &search->candidates[index];
	int err = replay_sample_costs(sample, &c->spec, true, costs);

	for (uint32_t i = 0; !err && i < sample->nr_blocks; i++) {
		c->cost_ns += costs[i];
		c->half_cost_ns[sample->blocks[i].half] += costs[i];
	}
	if (!err && has_ceilings(sample))
		err = replay_sample_costs(sample, &c->spec, false, costs);
	for (uint32_t i = 0; !err && i < sample->nr_blocks; i++)
		vm_cost_ns[sample->blocks[i].vm] += costs[i];
	return err;
}

static void try_candidate(void *context, size_t index)
{
	struct work *work = context;
	uint64_t *costs = calloc((size_t)work->sample->nr_blocks + 1, sizeof(*costs));
	int err = -ENOMEM;

	if (costs)
		err = cost_candidate(work->search, work->sample, index, costs);
	if (err)
		atomic_store(&work->err, err);
	free(costs);
}

/* The cost a pick looks at: all halts, one half (0, 1), or one VM. */
struct view {
	enum { VIEW_ALL, VIEW_HALF, VIEW_VM } of;
	uint32_t index;
};

static uint64_t cost_in(const struct replay_search *search, uint32_t candidate, struct view view)
{
	const struct replay_candidate *c = &search->candidates[candidate];

	if (view.of == VIEW_HALF)
		return c->half_cost_ns[view.index];
	if (view.of == VIEW_VM)
		return search->vm_cost_ns[(size_t)candidate * search->nr_vms + view.index];
	return c->cost_ns;
}

/* Do two candidates have the same value on every axis but that of the window? */
static bool same_but_window(const struct replay_search *search, uint32_t a, uint32_t b)
{
	const struct vhalt_spec *x = &search->candidates[a].spec, *y = &search->candidates[b].spec;

	for (uint32_t axis = AXIS_WINDOW + 1; axis < NR_AXES; axis++)
		if (x->values[axis_param(axis)] != y->values[axis_param(axis)])
			return false;
	return true;
}

/* A window of 0 is a setting of its own whatever the rest is. */
bool replay_search_on_curve(const struct replay_search *search, uint32_t candidate, uint32_t like)
{
	return !search->candidates[candidate].spec.values[axis_param(AXIS_WINDOW)] ||
	       same_but_window(search, candidate, like);
}

static bool eligible(const struct replay_search *search, uint32_t candidate, int64_t like)
{
	return like < 0 || replay_search_on_curve(search, candidate, (uint32_t)like);
}

/* Of two candidates that tie: is @a the better choice? */
static bool is_simpler(const struct replay_search *search, uint32_t a, uint32_t b, struct view view)
{
	const struct replay_candidate *x = &search->candidates[a], *y = &search->candidates[b];

	if (x->changes != y->changes)
		return x->changes < y->changes;
	if (x->unusual != y->unusual)
		return x->unusual < y->unusual;
	return cost_in(search, a, view) < cost_in(search, b, view);
}

/* The cheapest, or @home if it ties with that, or else the simplest that does. */
static uint32_t pick(const struct replay_search *search, struct view view, int64_t like,
		     uint32_t home)
{
	uint64_t least = UINT64_MAX, limit;
	uint32_t best = home;

	for (uint32_t i = 0; i < search->nr_candidates; i++)
		if (eligible(search, i, like) && cost_in(search, i, view) < least)
			least = cost_in(search, i, view);
	limit = least + (uint64_t)((double)least * REPLAY_SEARCH_TIE);
	if (cost_in(search, home, view) <= limit)
		return home;
	for (uint32_t i = 0; i < search->nr_candidates; i++)
		if (eligible(search, i, like) && cost_in(search, i, view) <= limit &&
		    (best == home || is_simpler(search, i, best, view)))
			best = i;
	return best;
}

int replay_search_run(struct replay_search *search, const struct replay_sample *sample,
		      const struct vhalt_spec *present, struct replay_pool *pool)
{
	struct work work = {search, sample, 0};
	struct vhalt_spec spec = *present;
	int err;

	memset(search, 0, sizeof(*search));
	search->nr_vms = sample->roster.nr_vms;
	err = replay_grow(&search->candidates, &search->room, 1, sizeof(*search->candidates));
	if (!err) {
		search->candidates[0].spec = *present;
		search->nr_candidates = 1;
		err = lay_grid(search, &spec, 0, sample->model.max_ns);
	}
	if (!err) {
		search->vm_cost_ns = calloc((size_t)search->nr_candidates * search->nr_vms + 1,
					    sizeof(*search->vm_cost_ns));
		err = search->vm_cost_ns ? 0 : -ENOMEM;
	}
	if (!err) {
		replay_pool_start(pool, try_candidate, &work, search->nr_candidates);
		replay_pool_wait(pool);
		err = atomic_load(&work.err);
	}
	if (err) {
		replay_search_fini(search);
		return err;
	}
	search->best = pick(search, (struct view){VIEW_ALL, 0}, -1, 0);
	for (uint32_t half = 0; half < 2; half++)
		search->half_best[half] = pick(search, (struct view){VIEW_HALF, half}, -1, 0);
	return 0;
}

uint32_t replay_search_vm(const struct replay_search *search, uint32_t global, uint32_t vm)
{
	return pick(search, (struct view){VIEW_VM, vm}, global, global);
}

double replay_search_cross_gain(const struct replay_search *search, uint32_t half)
{
	const struct replay_candidate *present = &search->candidates[0];
	const struct replay_candidate *other = &search->candidates[search->half_best[!half]];

	if (!present->half_cost_ns[half])
		return 0;
	return 1 - (double)other->half_cost_ns[half] / (double)present->half_cost_ns[half];
}

void replay_search_fini(struct replay_search *search)
{
	free(search->candidates);
	free(search->vm_cost_ns);
	memset(search, 0, sizeof(*search));
}

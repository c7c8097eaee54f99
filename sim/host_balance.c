// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Where vCPUs wake up, and how they move between pCPUs.
#include "sim/host.h"
#include "sim/host_internal.h"

enum { LEVEL_EVERY = 16 };

/* The pCPUs that share a cache with @pcpu: [first, end). */
static void cache_of(const struct sim_world *w, uint32_t pcpu, uint32_t *first, uint32_t *end)
{
	uint32_t size = (uint32_t)w->config->host.llc;

	*first = pcpu / size * size;
	*end = *first + size < w->nr_pcpus ? *first + size : w->nr_pcpus;
}

/* An idle pCPU of [from, to), with SMT one whose sibling is idle too if there is one. */
static uint32_t idle_in(const struct sim_world *w, uint32_t from, uint32_t to)
{
	uint32_t any = sim_bit_next(w->idle_pcpus, from, to);

	if (!w->config->host.smt)
		return any;
	for (uint32_t i = any; i < to; i = sim_bit_next(w->idle_pcpus, i + 1, to))
		if ((i ^ 1) >= w->nr_pcpus || sim_bit_test(w->idle_pcpus, i ^ 1))
			return i;
	return any;
}

uint32_t sim_host_place(struct sim_world *w, uint32_t last)
{
	uint32_t first, end, found, scan = (uint32_t)w->config->host.scan, stop;

	if (sim_bit_test(w->idle_pcpus, last))
		return last;
	cache_of(w, last, &first, &end);
	if (scan > end - first)
		scan = end - first;
	stop = last + 1 + scan < end ? last + 1 + scan : end;
	found = idle_in(w, last + 1, stop);
	if (found < stop)
		return found;
	scan -= stop - (last + 1);
	if (first + scan > last)
		scan = last - first;
	found = idle_in(w, first, first + scan);
	return found < first + scan ? found : last;
}

static uint32_t crowded_near(const struct sim_world *w, uint32_t pcpu)
{
	uint32_t first, end, found;

	cache_of(w, pcpu, &first, &end);
	found = sim_bit_next(w->crowded_pcpus, pcpu, end);
	if (found < end)
		return found;
	found = sim_bit_next(w->crowded_pcpus, first, pcpu);
	if (found < pcpu)
		return found;
	found = sim_bit_next(w->crowded_pcpus, end, w->nr_pcpus);
	if (found < w->nr_pcpus)
		return found;
	found = sim_bit_next(w->crowded_pcpus, 0, first);
	return found < first ? found : SIM_NONE;
}

/* Virtual time is each pCPU's own: what a vCPU is ahead by goes with it. */
static void move(struct sim_world *w, uint32_t vcpu, uint32_t to)
{
	struct sim_vcpu *v = &w->vcpu[vcpu];
	uint32_t from = v->pcpu;

	if (w->pcpu[from].buddy == vcpu)
		w->pcpu[from].buddy = SIM_NONE;
	if (w->pcpu[from].skip == vcpu)
		w->pcpu[from].skip = SIM_NONE;
	sim_host_dequeue(w, vcpu);
	v->vruntime += w->pcpu[to].min_vruntime - w->pcpu[from].min_vruntime;
	sim_host_enqueue(w, to, vcpu);
}

uint32_t sim_host_pull(struct sim_world *w, uint32_t pcpu, bool allowed)
{
	uint32_t from = allowed ? crowded_near(w, pcpu) : SIM_NONE, vcpu;

	if (from == SIM_NONE || from == pcpu)
		return SIM_NONE;
	vcpu = sim_rq_first(&w->pcpu[from].rq);
	move(w, vcpu, pcpu);
	return vcpu;
}

static uint32_t load_of(const struct sim_world *w, uint32_t pcpu)
{
	return w->pcpu[pcpu].rq.nr + (w->pcpu[pcpu].current != SIM_NONE);
}

static void extremes(const struct sim_world *w, uint32_t *most, uint32_t *least)
{
	*most = *least = 0;
	for (uint32_t i = 1; i < w->nr_pcpus; i++) {
		if (load_of(w, i) > load_of(w, *most))
			*most = i;
		if (load_of(w, i) < load_of(w, *least))
			*least = i;
	}
}

/* One vCPU at a time from the longest queue to the shortest, until they differ by less than two. */
static void level(struct sim_world *w)
{
	for (uint32_t moves = 0; moves < w->nr_pcpus; moves++) {
		uint32_t most, least;

		extremes(w, &most, &least);
		if (load_of(w, most) < load_of(w, least) + 2)
			return;
		move(w, sim_rq_first(&w->pcpu[most].rq), least);
		if (w->pcpu[least].current == SIM_NONE)
			sim_host_kick(w, least);
	}
}

void sim_host_balance(struct sim_world *w)
{
	uint64_t every_ns = w->config->host.balance_ns;

	for (uint32_t i = sim_bit_next(w->idle_pcpus, 0, w->nr_pcpus); i < w->nr_pcpus;
	     i = sim_bit_next(w->idle_pcpus, i + 1, w->nr_pcpus)) {
		if (sim_host_pull(w, i, true) == SIM_NONE)
			break;
		sim_host_kick(w, i);
	}
	if (w->now_ns / every_ns % LEVEL_EVERY == 0)
		level(w);
	sim_queue_arm(&w->queue, sim_handle_global(w, SIM_GLOBAL_BALANCE), w->now_ns + every_ns, 2);
}

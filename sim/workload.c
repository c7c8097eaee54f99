// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What guest threads do: the table of workloads, and what they share.
#include "sim/workload.h"

#include "sim/guest.h"
#include "sim/random.h"

enum { HOG_SEGMENT_NS = 20000000, HIST_STEPS = 8 };

static struct sim_action hog_step(struct sim_world *w, struct sim_thread *t)
{
	(void)w;
	(void)t;
	return sim_run_user(HOG_SEGMENT_NS);
}

static struct sim_action (*const steps[SIM_NR_WORKLOADS])(struct sim_world *,
							  struct sim_thread *) = {
	[SIM_WORKLOAD_HOG] = hog_step,
	[SIM_WORKLOAD_HACKBENCH] = sim_hackbench_step,
	[SIM_WORKLOAD_EBIZZY] = sim_ebizzy_step,
	[SIM_WORKLOAD_DBENCH] = sim_dbench_step,
	[SIM_WORKLOAD_RR] = sim_rr_step,
	[SIM_WORKLOAD_CTXSW] = sim_ctxsw_step,
	[SIM_WORKLOAD_POISSON] = sim_poisson_step,
};

struct sim_action sim_workload_step(struct sim_world *w, struct sim_thread *t)
{
	return steps[w->vm[t->vm].config->workload](w, t);
}

struct sim_needs sim_workload_needs(const struct sim_vm_config *c)
{
	uint32_t threads = (uint32_t)(c->threads ? c->threads : c->vcpus);

	switch ((enum sim_workload)c->workload) {
	case SIM_WORKLOAD_HACKBENCH:
		return (struct sim_needs){(uint32_t)(c->groups * c->pairs * 2),
					  (uint32_t)(c->groups * c->pairs),
					  (uint32_t)(c->groups * c->pairs)};
	case SIM_WORKLOAD_EBIZZY: return (struct sim_needs){threads, 1, 0};
	case SIM_WORKLOAD_DBENCH: return (struct sim_needs){threads, (uint32_t)c->locks + 1, 0};
	case SIM_WORKLOAD_CTXSW: return (struct sim_needs){(uint32_t)c->vcpus / 2 * 2, 0, 0};
	case SIM_WORKLOAD_HOG: return (struct sim_needs){threads, 0, 0};
	case SIM_WORKLOAD_RR:
	case SIM_WORKLOAD_POISSON: return (struct sim_needs){(uint32_t)c->vcpus, 0, 0};
	case SIM_WORKLOAD_IDLE:
	case SIM_NR_WORKLOADS: break;
	}
	return (struct sim_needs){0, 0, 0};
}

static bool is_pinned(const struct sim_vm_config *c)
{
	return c->workload == SIM_WORKLOAD_CTXSW || c->workload == SIM_WORKLOAD_RR ||
	       c->workload == SIM_WORKLOAD_POISSON;
}

/* The mutex of a workload is its last lock. */
static void init_locks(struct sim_world *w, const struct sim_vm *vm)
{
	bool has_mutex = vm->config->workload == SIM_WORKLOAD_EBIZZY ||
			 vm->config->workload == SIM_WORKLOAD_DBENCH;

	for (uint32_t i = 0; i < vm->nr_locks; i++)
		w->lock[vm->first_lock + i].kind = has_mutex && i + 1 == vm->nr_locks
							   ? SIM_LOCK_MUTEX
							   : SIM_LOCK_SPIN;
}

static void start_devices(struct sim_world *w, const struct sim_vm *vm)
{
	const struct sim_vm_config *c = vm->config;
	uint64_t mean_ns = c->workload == SIM_WORKLOAD_RR ? c->net_ns : c->mean_ns;

	if (c->workload != SIM_WORKLOAD_RR && c->workload != SIM_WORKLOAD_POISSON)
		return;
	for (uint32_t i = 0; i < vm->nr_vcpus; i++)
		sim_queue_arm(&w->queue, sim_handle_device(w, vm->first_vcpu + i),
			      sim_random_exp_ns(&w->rng, mean_ns), 2);
}

void sim_workload_init(struct sim_world *w, struct sim_vm *vm, uint32_t first_pipe)
{
	init_locks(w, vm);
	for (uint32_t i = 0; i < vm->nr_threads; i++) {
		struct sim_thread *t = &w->thread[vm->first_thread + i];

		t->number = i;
		t->vcpu = vm->first_vcpu + i % vm->nr_vcpus;
		t->pinned = is_pinned(vm->config);
		t->state = SIM_THREAD_READY;
		sim_guest_add(w, &w->vcpu[t->vcpu], vm->first_thread + i);
	}
	if (vm->config->workload == SIM_WORKLOAD_HACKBENCH)
		sim_hackbench_init(w, vm, first_pipe);
	start_devices(w, vm);
}

uint32_t sim_hist_bucket(uint64_t ns)
{
	uint32_t octave;

	if (ns < HIST_STEPS)
		return (uint32_t)ns;
	octave = 60 - (uint32_t)__builtin_clzll(ns);
	octave = octave * HIST_STEPS + (uint32_t)(ns >> octave);
	return octave < SIM_HIST_BUCKETS ? octave : SIM_HIST_BUCKETS - 1;
}

uint64_t sim_hist_ns(uint32_t bucket)
{
	uint32_t octave = bucket / HIST_STEPS;

	if (octave < 2)
		return bucket;
	octave--;
	return ((uint64_t)(bucket - octave * HIST_STEPS) << octave) + (1ULL << octave) / 2;
}

void sim_workload_done(struct sim_world *w, const struct sim_thread *t, uint64_t ns)
{
	struct sim_vm *vm = &w->vm[t->vm];

	vm->sum.work++;
	if (!ns)
		return;
	vm->sum.work_ns += ns;
	vm->hist[sim_hist_bucket(ns)]++;
}

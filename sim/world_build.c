// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Building a world: count, allocate, connect.
#include <errno.h>
#include <stdlib.h>

#include "sim/ahead.h"
#include "sim/guest.h"
#include "sim/host.h"
#include "sim/random.h"
#include "sim/workload.h"
#include "sim/world.h"

static uint32_t words(uint64_t bits)
{
	return (uint32_t)((bits + 63) / 64);
}

static void count(struct sim_world *w)
{
	const struct sim_config *c = w->config;

	w->nr_pcpus = (uint32_t)c->host.pcpus;
	w->pcpu_words = words(c->host.pcpus);
	for (uint32_t i = 0; i < c->nr_kinds; i++) {
		struct sim_needs needs = sim_workload_needs(&c->vm[i]);
		uint32_t vms = (uint32_t)c->vm[i].count;

		w->nr_vms += vms;
		w->nr_vcpus += vms * (uint32_t)c->vm[i].vcpus;
		w->nr_threads += vms * needs.threads;
		w->nr_locks += vms * needs.locks;
		w->nr_pipes += vms * needs.pipes;
		w->needs_stamps |= c->vm[i].workload == SIM_WORKLOAD_RR ||
				   c->vm[i].workload == SIM_WORKLOAD_POISSON;
		w->guests_poll |= c->vm[i].guest_poll;
	}
	w->nr_locks += w->nr_vcpus; /* run queue locks */
}

/* calloc() may return NULL for nothing at all, which is no failure. */
static bool get(void *pointer, uint64_t nr, size_t each)
{
	void **where = pointer;

	*where = calloc(nr ? nr : 1, each);
	return *where;
}

static bool allocate(struct sim_world *w)
{
	return get(&w->pcpu, w->nr_pcpus, sizeof(*w->pcpu)) &&
	       get(&w->vcpu, w->nr_vcpus, sizeof(*w->vcpu)) &&
	       get(&w->state, w->nr_vcpus, sizeof(*w->state)) &&
	       get(&w->guest_state, w->guests_poll ? w->nr_vcpus : 0, sizeof(*w->guest_state)) &&
	       get(&w->thread, w->nr_threads, sizeof(*w->thread)) &&
	       get(&w->lock, w->nr_locks, sizeof(*w->lock)) &&
	       get(&w->pipe, w->nr_pipes, sizeof(*w->pipe)) &&
	       get(&w->stamp, w->needs_stamps ? (uint64_t)w->nr_threads * SIM_STAMPS : 0,
		   sizeof(*w->stamp)) &&
	       get(&w->vm, w->nr_vms, sizeof(*w->vm)) &&
	       get(&w->idle_pcpus, w->pcpu_words, sizeof(uint64_t)) &&
	       get(&w->crowded_pcpus, w->pcpu_words, sizeof(uint64_t)) &&
	       get(&w->resched, w->nr_pcpus, sizeof(*w->resched)) &&
	       !sim_queue_init(&w->queue, 3 * w->nr_vcpus + w->nr_pcpus + SIM_NR_GLOBAL);
}

static bool allocate_vm(struct sim_vm *vm)
{
	return get(&vm->snapshot, vm->nr_vcpus, sizeof(*vm->snapshot)) &&
	       get(&vm->waiting, vm->words, sizeof(uint64_t)) &&
	       get(&vm->idle, vm->words, sizeof(uint64_t)) &&
	       get(&vm->crowded, vm->words, sizeof(uint64_t)) &&
	       get(&vm->flushing, vm->words, sizeof(uint64_t)) &&
	       get(&vm->unanswered,
		   vm->config->workload == SIM_WORKLOAD_EBIZZY ? (uint64_t)vm->words * vm->nr_vcpus
							       : 0,
		   sizeof(uint64_t));
}

static void init_pcpus(struct sim_world *w)
{
	for (uint32_t i = 0; i < w->nr_pcpus; i++) {
		struct sim_pcpu *p = &w->pcpu[i];

		sim_rq_init(&p->rq);
		p->current = p->buddy = p->skip = SIM_NONE;
		p->speed_pct = 100;
		p->avg_idle_ns = 2 * w->config->host.newidle_ns;
		sim_bit_set(w->idle_pcpus, i);
	}
}

static void init_vcpu(struct sim_world *w, struct sim_vm *vm, uint32_t index)
{
	uint32_t vcpu = vm->first_vcpu + index;
	struct sim_vcpu *v = &w->vcpu[vcpu];

	sim_rq_init(&v->ready);
	sim_rq_init(&v->sleepers);
	v->current = SIM_NONE;
	v->vm = (uint32_t)(vm - w->vm);
	v->index = index;
	v->pcpu = vcpu % w->nr_pcpus;
	v->tick_ns = ~0ULL;
	v->state = SIM_VCPU_BLOCKED;
	v->act = SIM_ACT_WAKE;
	v->ple_ns = w->config->host.ple_ns;
	vhalt_state_init(&w->state[vcpu], &vm->policy);
	if (vm->config->guest_poll)
		vhalt_state_init(&w->guest_state[vcpu], &vm->guest_policy);
	vhalt_boost_vcpu_init(&vm->snapshot[index]);
}

static int init_vm(struct sim_world *w, struct sim_vm *vm, uint32_t first_pipe)
{
	if (!allocate_vm(vm))
		return -ENOMEM;
	vhalt_spec_config(&w->config->host.policy, &vm->policy);
	vhalt_spec_config(&vm->config->guest_policy, &vm->guest_policy);
	vhalt_boost_init(&vm->boost, (uint32_t)vm->config->boost);
	for (uint32_t i = 0; i < vm->nr_vcpus; i++)
		init_vcpu(w, vm, i);
	for (uint32_t i = 0; i < vm->nr_threads; i++) {
		struct sim_thread *t = &w->thread[vm->first_thread + i];

		t->vm = (uint32_t)(vm - w->vm);
		t->lock = t->next = t->link = SIM_NONE;
	}
	sim_workload_init(w, vm, first_pipe);
	return 0;
}

static int init_vms(struct sim_world *w)
{
	uint32_t vcpu = 0, thread = 0, lock = w->nr_vcpus, pipe = 0, n = 0;
	int err = 0;

	for (uint32_t k = 0; !err && k < w->config->nr_kinds; k++) {
		const struct sim_vm_config *c = &w->config->vm[k];
		struct sim_needs needs = sim_workload_needs(c);

		for (uint64_t i = 0; !err && i < c->count; i++) {
			struct sim_vm *vm = &w->vm[n++];

			*vm = (struct sim_vm){.config = c,
					      .kind = k,
					      .first_vcpu = vcpu,
					      .nr_vcpus = (uint32_t)c->vcpus,
					      .first_thread = thread,
					      .nr_threads = needs.threads,
					      .first_lock = lock,
					      .nr_locks = needs.locks,
					      .words = words(c->vcpus)};
			err = init_vm(w, vm, pipe);
			vcpu += vm->nr_vcpus;
			thread += needs.threads;
			lock += needs.locks;
			pipe += needs.pipes;
		}
	}
	return err;
}

/* vCPUs come up one after the other in the first millisecond, not in one instant. */
static void start(struct sim_world *w)
{
	const struct sim_config *c = w->config;

	for (uint32_t i = 0; i < w->nr_vcpus; i++) {
		w->vcpu[i].act = SIM_ACT_SLEEP;
		w->vcpu[i].boots = true;
		sim_queue_arm(&w->queue, sim_handle_act(i), suite_rng_below(&w->rng, 1000000), 3);
	}
	sim_queue_arm(&w->queue, sim_handle_global(w, SIM_GLOBAL_BALANCE), c->host.balance_ns, 2);
	if (c->host.budget_ppm) {
		vhalt_budget_init(&w->budget, (uint32_t)c->host.budget_ppm);
		sim_queue_arm(&w->queue, sim_handle_global(w, SIM_GLOBAL_BUDGET),
			      VHALT_BUDGET_TICK_NS, 2);
	}
	sim_queue_arm(&w->queue, sim_handle_global(w, SIM_GLOBAL_MARK), c->warmup_ns, 0);
	sim_queue_arm(&w->queue, sim_handle_global(w, SIM_GLOBAL_END),
		      c->warmup_ns + c->duration_ns, 0);
}

int sim_world_create(struct sim_world **world, const struct sim_config *config, uint64_t seed)
{
	struct sim_world *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->config = config;
	suite_rng_init(&w->rng, seed, 0x73696d);
	count(w);
	if (!allocate(w))
		goto err_destroy;
	w->vcpu_nodes = (struct sim_rq_nodes){(char *)w->vcpu, sizeof(*w->vcpu)};
	w->thread_nodes = (struct sim_rq_nodes){(char *)w->thread, sizeof(*w->thread)};
	for (uint32_t i = 0; i < w->nr_locks; i++)
		w->lock[i] = (struct sim_lock){SIM_NONE, SIM_NONE, SIM_NONE,
					       SIM_NONE, SIM_NONE, SIM_LOCK_IRQ};
	init_pcpus(w);
	err = init_vms(w);
	if (err)
		goto err_destroy;
	start(w);
	w->fetches = sim_world_bytes(w) >= SIM_AHEAD_MIN_BYTES;
	*world = w;
	return 0;

err_destroy:
	sim_world_destroy(w);
	return err;
}

void sim_world_destroy(struct sim_world *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; w->vm && i < w->nr_vms; i++) {
		free(w->vm[i].snapshot);
		free(w->vm[i].waiting);
		free(w->vm[i].idle);
		free(w->vm[i].crowded);
		free(w->vm[i].flushing);
		free(w->vm[i].unanswered);
	}
	free(w->pcpu);
	free(w->vcpu);
	free(w->state);
	free(w->guest_state);
	free(w->thread);
	free(w->lock);
	free(w->pipe);
	free(w->stamp);
	free(w->vm);
	free(w->idle_pcpus);
	free(w->crowded_pcpus);
	free(w->resched);
	sim_queue_fini(&w->queue);
	free(w);
}

uint64_t sim_world_bytes(const struct sim_world *w)
{
	uint64_t policies = 1 + w->guests_poll;
	uint64_t bytes = sizeof(*w) + w->nr_pcpus * (sizeof(*w->pcpu) + sizeof(*w->resched)) +
			 w->nr_vcpus * (sizeof(*w->vcpu) + policies * sizeof(*w->state)) +
			 (uint64_t)w->nr_threads * sizeof(*w->thread) +
			 w->nr_locks * sizeof(*w->lock) + w->nr_pipes * sizeof(*w->pipe) +
			 (w->needs_stamps ? (uint64_t)w->nr_threads * SIM_STAMPS * 8 : 0) +
			 (uint64_t)w->queue.capacity * (sizeof(*w->queue.heap) + 4);

	for (uint32_t i = 0; i < w->nr_vms; i++)
		bytes += sizeof(w->vm[i]) + w->vm[i].nr_vcpus * sizeof(*w->vm[i].snapshot) +
			 w->vm[i].words * 8ULL * (4 + w->vm[i].nr_vcpus);
	return bytes;
}

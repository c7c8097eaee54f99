// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The guest's scheduler: queues of threads, wake-ups, who is next.
#include "sim/guest.h"
#include "sim/vcpu.h"

enum { PLACE_TRIES = 8 };

static int64_t ahead(const struct sim_thread *a, const struct sim_thread *b)
{
	return (int64_t)(a->vruntime - b->vruntime);
}

void sim_guest_account(struct sim_world *w, struct sim_vcpu *v)
{
	uint32_t first = sim_rq_first(&v->ready);
	uint64_t least;

	if (v->current == SIM_NONE)
		return;
	w->thread[v->current].vruntime += w->now_ns - v->guest_since_ns;
	v->guest_since_ns = w->now_ns;
	least = w->thread[v->current].vruntime;
	if (first != SIM_NONE && w->thread[first].vruntime < least)
		least = w->thread[first].vruntime;
	if (least > v->guest_min)
		v->guest_min = least;
}

void sim_guest_add(struct sim_world *w, struct sim_vcpu *v, uint32_t thread)
{
	sim_rq_add(&v->ready, w->thread_nodes, thread, w->thread[thread].vruntime);
	sim_bit_set(sim_vm_of(w, v)->crowded, v->index);
}

void sim_guest_remove(struct sim_world *w, struct sim_vcpu *v, uint32_t thread)
{
	sim_rq_remove(&v->ready, w->thread_nodes, thread);
	if (!v->ready.nr)
		sim_bit_clear(sim_vm_of(w, v)->crowded, v->index);
}

/* Idle, and not waiting for a pCPU to notice that. */
static bool available(const struct sim_world *w, const struct sim_vm *vm, uint32_t index)
{
	return sim_bit_test(vm->idle, index) &&
	       w->vcpu[vm->first_vcpu + index].state != SIM_VCPU_RUNNABLE;
}

static uint32_t available_in(const struct sim_world *w, const struct sim_vm *vm, uint32_t from,
			     uint32_t to)
{
	uint32_t i = from;

	for (uint32_t tries = 0; tries < PLACE_TRIES; tries++, i++) {
		i = sim_bit_next(vm->idle, i, to);
		if (i >= to)
			return SIM_NONE;
		if (available(w, vm, i))
			return i;
	}
	return SIM_NONE;
}

uint32_t sim_guest_place(struct sim_world *w, const struct sim_thread *t)
{
	const struct sim_vm *vm = &w->vm[t->vm];
	uint32_t last = t->vcpu - vm->first_vcpu, found;

	if (t->pinned || available(w, vm, last))
		return t->vcpu;
	found = available_in(w, vm, last + 1, vm->nr_vcpus);
	if (found == SIM_NONE)
		found = available_in(w, vm, 0, last);
	return found == SIM_NONE ? t->vcpu : vm->first_vcpu + found;
}

/* As the host places: as far from the queue's virtual time as before, with a bounded credit. */
static void place_vruntime(struct sim_world *w, struct sim_thread *t, const struct sim_vcpu *to)
{
	int64_t most_ns = (int64_t)w->config->host.latency_ns / 2;
	int64_t lead_ns = (int64_t)(t->vruntime - w->vcpu[t->vcpu].guest_min);

	if (lead_ns < -most_ns)
		lead_ns = -most_ns;
	t->vruntime = to->guest_min + (uint64_t)lead_ns;
}

static void rouse(struct sim_world *w, struct sim_vcpu *v, struct sim_vcpu *from)
{
	struct sim_vm *vm = sim_vm_of(w, v);

	sim_bit_clear(vm->idle, v->index);
	if (sim_vcpu_halted(v)) {
		if (from) {
			vm->sum.ipis++;
			sim_vcpu_charge(w, from, w->config->host.ipi_ns);
		}
		sim_vcpu_wake(w, v, false);
		if (from)
			vm->snapshot[v->index].ipi_from = (int32_t)from->index;
	} else if (v->act == SIM_ACT_GUEST_POLL && v->state == SIM_VCPU_RUNNING) {
		sim_vcpu_do(w, v, SIM_ACT_WAKE, vm->config->handover_ns);
	}
}

static void preempt_for(struct sim_world *w, struct sim_vcpu *v, struct sim_thread *t,
			struct sim_vcpu *from)
{
	sim_guest_account(w, v);
	if (ahead(&w->thread[v->current], t) <= (int64_t)w->config->host.granularity_ns)
		return;
	if (!from || from == v) {
		v->resched = true;
		return;
	}
	sim_vm_of(w, v)->sum.ipis++;
	sim_vcpu_charge(w, from, w->config->host.ipi_ns);
	sim_guest_interrupt(w, v, SIM_PENDING_RESCHED, false);
}

void sim_guest_ready(struct sim_world *w, uint32_t thread, uint32_t place, struct sim_vcpu *from)
{
	struct sim_thread *t = &w->thread[thread];
	struct sim_vcpu *v = &w->vcpu[place];

	place_vruntime(w, t, v);
	t->state = SIM_THREAD_READY;
	t->vcpu = place;
	sim_guest_add(w, v, thread);
	if (v->current == SIM_NONE)
		rouse(w, v, from);
	else
		preempt_for(w, v, t, from);
}

/* A thread that waits elsewhere, on a vCPU that has another to run. */
static uint32_t pull(struct sim_world *w, struct sim_vcpu *v)
{
	const struct sim_vm *vm = sim_vm_of(w, v);

	for (uint32_t i = sim_bit_next(vm->crowded, 0, vm->nr_vcpus); i < vm->nr_vcpus;
	     i = sim_bit_next(vm->crowded, i + 1, vm->nr_vcpus)) {
		struct sim_vcpu *from = &w->vcpu[vm->first_vcpu + i];
		uint32_t thread = sim_rq_first(&from->ready);
		struct sim_thread *t = &w->thread[thread];

		if (t->pinned || from->current == SIM_NONE)
			continue;
		sim_guest_remove(w, from, thread);
		t->vruntime += v->guest_min - from->guest_min;
		t->vcpu = sim_vcpu_number(w, v);
		sim_guest_add(w, v, thread);
		return thread;
	}
	return SIM_NONE;
}

bool sim_guest_next(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_vm *vm = sim_vm_of(w, v);
	uint32_t next = sim_rq_first(&v->ready);

	v->resched = false;
	if (next == SIM_NONE)
		next = pull(w, v);
	if (next == SIM_NONE) {
		sim_guest_idle(w, v);
		return false;
	}
	sim_guest_remove(w, v, next);
	sim_bit_clear(vm->idle, v->index);
	v->current = next;
	w->thread[next].state = SIM_THREAD_CURRENT;
	v->guest_since_ns = v->guest_picked_ns = w->now_ns;
	sim_guest_account(w, v);
	vm->sum.guest_switches++;
	if (v->tick_ns == ~0ULL)
		sim_guest_arm_timer(w, v);
	return true;
}

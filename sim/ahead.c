// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fetches into the caches what events that come soon will touch; no result depends on it.
#include "sim/ahead.h"

enum { LINE_BYTES = 64 };

/* Without the empty statement gcc finds that nothing here has an effect, and drops every call. */
static inline void fetch(const void *from, size_t bytes)
{
	__asm__ volatile("");
	for (size_t at = 0; at < bytes; at += LINE_BYTES)
		__builtin_prefetch((const char *)from + at, 1);
}

/* The vCPU an event is about, or SIM_NONE. */
static uint32_t vcpu_of(const struct sim_world *w, uint32_t handle)
{
	if (handle < w->nr_vcpus)
		return handle;
	if (handle < 2 * w->nr_vcpus)
		return handle - w->nr_vcpus;
	if (handle < sim_handle_device(w, 0))
		return SIM_NONE;
	return handle - sim_handle_device(w, 0);
}

/* What is found by its number alone. */
static void fetch_vcpu(const struct sim_world *w, uint32_t vcpu)
{
	fetch(&w->vcpu[vcpu], sizeof(*w->vcpu));
	fetch(&w->state[vcpu], 2 * LINE_BYTES); /* of most policies that is all */
	fetch(&w->lock[vcpu], sizeof(*w->lock));
	fetch(&w->queue.place[sim_handle_act(vcpu)], 1);
	fetch(&w->queue.place[sim_handle_timer(w, vcpu)], 1);
}

/* What the vCPU names. */
static void fetch_surroundings(const struct sim_world *w, uint32_t vcpu)
{
	const struct sim_vcpu *v = &w->vcpu[vcpu];
	const struct sim_vm *vm = &w->vm[v->vm];

	fetch(&w->pcpu[v->pcpu], sizeof(*w->pcpu));
	fetch(vm, 2 * LINE_BYTES);
	fetch(&vm->boost, offsetof(struct sim_vm, mark) - offsetof(struct sim_vm, boost));
}

/* The thread that runs, or will: with servers each vCPU's own. */
static uint32_t thread_of(const struct sim_vm *vm, const struct sim_vcpu *v)
{
	if (v->current != SIM_NONE)
		return v->current;
	if (v->ready.nr)
		return sim_rq_first(&v->ready);
	return v->sleepers.nr ? sim_rq_first(&v->sleepers) : vm->first_thread + v->index;
}

/* What the VM names. */
static void fetch_guest(const struct sim_world *w, uint32_t vcpu)
{
	const struct sim_vcpu *v = &w->vcpu[vcpu];
	const struct sim_vm *vm = &w->vm[v->vm];
	uint32_t thread = thread_of(vm, v), word = v->index / 64;

	fetch(&vm->snapshot[v->index], sizeof(*vm->snapshot));
	fetch(&vm->waiting[word], 1);
	fetch(&vm->idle[word], 1);
	fetch(&vm->crowded[word], 1);
	if (thread >= w->nr_threads)
		return;
	fetch(&w->thread[thread], sizeof(*w->thread));
	if (w->needs_stamps)
		fetch(&w->stamp[(size_t)thread * SIM_STAMPS], SIM_STAMPS * sizeof(*w->stamp));
}

/* A node has some 40, 10 and 3 events to go when it comes to these depths of the heap. */
void sim_ahead_fetch(const struct sim_world *w)
{
	uint32_t far = vcpu_of(w, w->queue.rose[3]);
	uint32_t middle = vcpu_of(w, w->queue.rose[2]);
	uint32_t near = vcpu_of(w, w->queue.rose[1]);

	if (far != SIM_NONE)
		fetch_vcpu(w, far);
	if (middle != SIM_NONE)
		fetch_surroundings(w, middle);
	if (near != SIM_NONE)
		fetch_guest(w, near);
}

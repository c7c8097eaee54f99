// SPDX-License-Identifier: GPL-2.0-only OR MIT
// hackbench: in each group every sender sends to every receiver in turn, over a socket per
// receiver.
#include "sim/random.h"
#include "sim/workload.h"

/*
 * A message costs `work` in the kernel on either side, and `hold` under the receiver's queue lock
 * on either side. A sender that finds the queue full sleeps until it is half empty. Waking somebody
 * takes the run queue lock of the vCPU chosen, after the queue lock is released.
 *
 * Fields of a thread: a = first pipe of the group (sender) or its own (receiver), b = next
 * receiver, c = whom to wake. The first half of a group's threads are senders.
 */
enum { PREPARE, LOCK, MOVE, LET_GO, WAKE, AGAIN };

void sim_hackbench_init(struct sim_world *w, struct sim_vm *vm, uint32_t first_pipe)
{
	uint32_t pairs = (uint32_t)vm->config->pairs;

	for (uint32_t i = 0; i < vm->nr_threads; i++) {
		struct sim_thread *t = &w->thread[vm->first_thread + i];
		uint32_t group = i / (2 * pairs), member = i % (2 * pairs);

		t->a = first_pipe + group * pairs;
		t->b = member % pairs;
		if (member < pairs)
			continue;
		t->a += member - pairs;
		w->pipe[t->a] = (struct sim_pipe){.lock = vm->first_lock + t->a - first_pipe,
						  .reader = vm->first_thread + i,
						  .writers_head = SIM_NONE,
						  .writers_tail = SIM_NONE};
	}
}

static bool is_sender(const struct sim_vm *vm, const struct sim_thread *t)
{
	return t->number % (2 * vm->config->pairs) < vm->config->pairs;
}

static uint32_t pop_writer(struct sim_world *w, struct sim_pipe *p)
{
	uint32_t thread = p->writers_head;

	if (thread != SIM_NONE)
		p->writers_head = w->thread[thread].link;
	return thread;
}

static void push_writer(struct sim_world *w, struct sim_pipe *p, struct sim_thread *t)
{
	uint32_t thread = (uint32_t)(t - w->thread);

	t->link = SIM_NONE;
	if (p->writers_head == SIM_NONE)
		p->writers_head = thread;
	else
		w->thread[p->writers_tail].link = thread;
	p->writers_tail = thread;
}

/* Under the lock. Sets whom to wake, SIM_NONE for nobody. Return: false: full. */
static bool put(struct sim_world *w, const struct sim_vm *vm, struct sim_thread *t,
		struct sim_pipe *p)
{
	t->c = SIM_NONE;
	if (p->count >= vm->config->capacity) {
		push_writer(w, p, t);
		return false;
	}
	p->count++;
	if (p->reader_waits)
		t->c = p->reader;
	p->reader_waits = false;
	return true;
}

/* Under the lock. Return: false: empty. */
static bool get(struct sim_world *w, const struct sim_vm *vm, struct sim_thread *t,
		struct sim_pipe *p)
{
	t->c = SIM_NONE;
	if (!p->count) {
		p->reader_waits = true;
		return false;
	}
	p->count--;
	if (p->count <= vm->config->capacity / 2)
		t->c = pop_writer(w, p);
	sim_workload_done(w, t, 0);
	return true;
}

struct sim_action sim_hackbench_step(struct sim_world *w, struct sim_thread *t)
{
	const struct sim_vm *vm = &w->vm[t->vm];
	bool sender = is_sender(vm, t), moved;
	struct sim_pipe *p = &w->pipe[sender ? t->a + t->b : t->a];

	switch (t->step) {
	case PREPARE:
		t->step = LOCK;
		return sim_run_kernel(sim_random_around_ns(&w->rng, vm->config->work_ns));
	case LOCK: t->step = MOVE; return sim_do(SIM_OP_LOCK, p->lock);
	case MOVE: t->step = LET_GO; return sim_run_kernel(vm->config->hold_ns);
	case LET_GO:
		moved = sender ? put(w, vm, t, p) : get(w, vm, t, p);
		t->step = moved ? WAKE : AGAIN;
		return sim_do(SIM_OP_UNLOCK, p->lock);
	case WAKE:
		t->step = PREPARE;
		if (sender && ++t->b == vm->config->pairs)
			t->b = 0;
		if (t->c != SIM_NONE)
			return sim_do(SIM_OP_WAKE, t->c);
		t->step = LOCK;
		return sim_run_kernel(sim_random_around_ns(&w->rng, vm->config->work_ns));
	default: t->step = LOCK; return sim_do(SIM_OP_WAIT, 0);
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// ebizzy and dbench: threads that share a memory map, clients that share a file system.
#include "sim/random.h"
#include "sim/workload.h"

/* The workload's mutex: the last of its locks. */
static uint32_t mutex_of(const struct sim_vm *vm)
{
	return vm->first_lock + vm->nr_locks - 1;
}

enum { MAP_LOCK, MAP, MAP_UNLOCK, SEARCH, UNMAP_LOCK, UNMAP, FLUSH, UNMAP_UNLOCK };

/* A record: map memory, touch and search it, unmap it, which makes all others flush their TLB. */
struct sim_action sim_ebizzy_step(struct sim_world *w, struct sim_thread *t)
{
	const struct sim_vm *vm = &w->vm[t->vm];
	uint16_t step = t->step;

	t->step = step == UNMAP_UNLOCK ? MAP_LOCK : step + 1;
	switch (step) {
	case MAP_LOCK:
	case UNMAP_LOCK: return sim_do(SIM_OP_MUTEX_LOCK, mutex_of(vm));
	case MAP:
	case UNMAP: return sim_run_kernel(sim_random_around_ns(&w->rng, vm->config->map_ns));
	case SEARCH: return sim_run_user(sim_random_around_ns(&w->rng, vm->config->work_ns));
	case FLUSH: return sim_do(SIM_OP_FLUSH, 0);
	case UNMAP_UNLOCK:
		sim_workload_done(w, t, 0);
		return sim_do(SIM_OP_MUTEX_UNLOCK, mutex_of(vm));
	default: return sim_do(SIM_OP_MUTEX_UNLOCK, mutex_of(vm));
	}
}

enum {
	THINK,
	NAME_LOCK,
	NAME,
	NAME_UNLOCK,
	TRANSFER,
	OPERATION_DONE,
	JOURNAL,
	JOURNAL_UNLOCK,
	DISK
};

/*
 * An operation: look a name up under one of several spin locks, transfer data; every so often
 * commit to the journal under the mutex and wait for the disk. a counts operations, b is the lock
 * taken.
 */
struct sim_action sim_dbench_step(struct sim_world *w, struct sim_thread *t)
{
	const struct sim_vm *vm = &w->vm[t->vm];
	const struct sim_vm_config *c = vm->config;

	switch (t->step++) {
	case THINK: return sim_run_user(sim_random_around_ns(&w->rng, c->think_ns));
	case NAME_LOCK:
		t->b = vm->first_lock + suite_rng_below(&w->rng, (uint32_t)c->locks);
		return sim_do(SIM_OP_LOCK, t->b);
	case NAME: return sim_run_kernel(c->hold_ns);
	case NAME_UNLOCK: return sim_do(SIM_OP_UNLOCK, t->b);
	case TRANSFER: return sim_run_kernel(sim_random_around_ns(&w->rng, c->work_ns));
	case OPERATION_DONE:
		sim_workload_done(w, t, 0);
		if (++t->a % c->every) {
			t->step = NAME_LOCK;
			return sim_run_user(sim_random_around_ns(&w->rng, c->think_ns));
		}
		return sim_do(SIM_OP_MUTEX_LOCK, mutex_of(vm));
	case JOURNAL: return sim_run_kernel(sim_random_around_ns(&w->rng, c->map_ns));
	case JOURNAL_UNLOCK: return sim_do(SIM_OP_MUTEX_UNLOCK, mutex_of(vm));
	default:
		t->step = THINK;
		return (struct sim_action){SIM_OP_SLEEP, 0,
					   sim_random_exp_ns(&w->rng, c->io_ns) + 1, false};
	}
}

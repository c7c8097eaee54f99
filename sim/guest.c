// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The guest kernel: what the current thread does, step by step.
#include "sim/guest.h"

#include "sim/lock.h"
#include "sim/random.h"
#include "sim/spin.h"
#include "sim/vcpu.h"
#include "sim/workload.h"

/* A run queue lock has the number of its vCPU. */
static uint32_t rq_lock_of(const struct sim_world *w, const struct sim_vcpu *v)
{
	return sim_vcpu_number(w, v);
}

static bool run(struct sim_world *w, struct sim_vcpu *v, uint64_t ns, bool user)
{
	w->thread[v->current].user = user;
	ns += v->debt_ns;
	v->debt_ns = 0;
	sim_vcpu_do(w, v, SIM_ACT_RUN, ns);
	return false;
}

static bool begin_sleep(struct sim_world *w, struct sim_vcpu *v, struct sim_thread *t,
			enum sim_phase afterwards)
{
	t->saved_phase = (uint8_t)afterwards;
	t->user = false;
	t->phase = SIM_PHASE_SLEEP_LOCK;
	return sim_lock_take(w, v, rq_lock_of(w, v));
}

static bool begin_wake(struct sim_world *w, struct sim_vcpu *v, struct sim_thread *t,
		       uint32_t target)
{
	struct sim_thread *other = &w->thread[target];

	if (other->state != SIM_THREAD_SLEEPING) {
		other->token = true;
		return true;
	}
	t->user = false;
	t->target = target;
	t->place = sim_guest_place(w, other);
	t->phase = SIM_PHASE_WAKE_LOCK;
	return sim_lock_take(w, v, rq_lock_of(w, &w->vcpu[t->place]));
}

static bool end_wake(struct sim_world *w, struct sim_vcpu *v, struct sim_thread *t)
{
	struct sim_thread *other = &w->thread[t->target];

	if (other->state == SIM_THREAD_SLEEPING) {
		if (other->timed)
			sim_rq_remove(&w->vcpu[other->vcpu].sleepers, w->thread_nodes, t->target);
		other->timed = false;
		sim_guest_ready(w, t->target, t->place, v);
	} else {
		other->token = true;
	}
	sim_lock_release(w, v, rq_lock_of(w, &w->vcpu[t->place]));
	t->phase = SIM_PHASE_STEP;
	return true;
}

static void off(struct sim_world *w, struct sim_vcpu *v)
{
	sim_guest_account(w, v);
	v->current = SIM_NONE;
}

/* The thread leaves, unless it was woken on its way. */
static bool end_sleep(struct sim_world *w, struct sim_vcpu *v, struct sim_thread *t)
{
	uint32_t thread = v->current;
	bool stays = t->token;

	t->token = false;
	if (!stays) {
		t->state = SIM_THREAD_SLEEPING;
		if (t->timed) {
			sim_rq_add(&v->sleepers, w->thread_nodes, thread, t->node.key);
			sim_guest_arm_timer(w, v);
		}
	} else {
		t->timed = false;
	}
	sim_lock_release(w, v, rq_lock_of(w, v));
	t->phase = t->saved_phase;
	if (stays)
		return true;
	off(w, v);
	return sim_guest_next(w, v);
}

static bool end_preempt(struct sim_world *w, struct sim_vcpu *v, struct sim_thread *t)
{
	uint32_t thread = v->current;

	sim_lock_release(w, v, rq_lock_of(w, v));
	t->phase = SIM_PHASE_STEP;
	off(w, v);
	t->state = SIM_THREAD_READY;
	sim_guest_add(w, v, thread);
	return sim_guest_next(w, v);
}

static bool take_mutex(struct sim_world *w, struct sim_vcpu *v, struct sim_thread *t, uint32_t lock)
{
	t->phase = SIM_PHASE_STEP;
	t->mutex = lock;
	switch (sim_mutex_take(w, v, lock)) {
	case SIM_MUTEX_TAKEN: return true;
	case SIM_MUTEX_SPINS: return false;
	case SIM_MUTEX_SLEEPS: break;
	}
	return begin_sleep(w, v, t, SIM_PHASE_MUTEX_AGAIN);
}

static bool act(struct sim_world *w, struct sim_vcpu *v, struct sim_thread *t)
{
	struct sim_action a = sim_workload_step(w, t);
	uint32_t thread;

	switch (a.op) {
	case SIM_OP_RUN: return run(w, v, a.ns, a.user);
	case SIM_OP_LOCK: t->user = false; return sim_lock_take(w, v, a.arg);
	case SIM_OP_UNLOCK: sim_lock_release(w, v, a.arg); return true;
	case SIM_OP_MUTEX_LOCK: t->user = false; return take_mutex(w, v, t, a.arg);
	case SIM_OP_MUTEX_UNLOCK:
		thread = sim_mutex_release(w, v, a.arg);
		return thread == SIM_NONE || begin_wake(w, v, t, thread);
	case SIM_OP_SLEEP:
		t->timed = true;
		t->node.key = w->now_ns + a.ns;
		return begin_sleep(w, v, t, SIM_PHASE_STEP);
	case SIM_OP_WAIT: return begin_sleep(w, v, t, SIM_PHASE_STEP);
	case SIM_OP_WAKE: return begin_wake(w, v, t, a.arg);
	case SIM_OP_FLUSH: t->phase = SIM_PHASE_FLUSH; return sim_flush_begin(w, v);
	}
	return false;
}

static bool end_flush(struct sim_world *w, struct sim_vcpu *v, struct sim_thread *t)
{
	sim_vm_of(w, v)->sum.flush_wait_ns += w->now_ns - t->stamp_ns;
	t->preempt--;
	t->phase = SIM_PHASE_STEP;
	return true;
}

static bool go_on(struct sim_world *w, struct sim_vcpu *v, struct sim_thread *t)
{
	const struct sim_vm_config *c = sim_vm_of(w, v)->config;
	uint64_t left_ns = t->left_ns;

	switch ((enum sim_phase)t->phase) {
	case SIM_PHASE_STEP:
		t->left_ns = 0;
		return left_ns ? run(w, v, left_ns, t->user) : act(w, v, t);
	case SIM_PHASE_WAKE_LOCK:
		t->phase = SIM_PHASE_WAKE_HOLD;
		return run(w, v, c->rq_hold_ns, false);
	case SIM_PHASE_WAKE_HOLD: return end_wake(w, v, t);
	case SIM_PHASE_SLEEP_LOCK:
		t->phase = SIM_PHASE_SLEEP_HOLD;
		return run(w, v, c->guest_switch_ns, false);
	case SIM_PHASE_SLEEP_HOLD: return end_sleep(w, v, t);
	case SIM_PHASE_PREEMPT_LOCK:
		t->phase = SIM_PHASE_PREEMPT_HOLD;
		return run(w, v, c->guest_switch_ns, false);
	case SIM_PHASE_PREEMPT_HOLD: return end_preempt(w, v, t);
	case SIM_PHASE_MUTEX_QUIT: return begin_sleep(w, v, t, SIM_PHASE_MUTEX_AGAIN);
	case SIM_PHASE_MUTEX_AGAIN: return take_mutex(w, v, t, t->mutex);
	case SIM_PHASE_FLUSH: return end_flush(w, v, t);
	}
	return false;
}

/* True: no time has passed, go on. */
static bool step(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_thread *t = &w->thread[v->current];

	if (!v->resched || !sim_guest_preemptible(t))
		return go_on(w, v, t);
	v->resched = false;
	if (!v->ready.nr)
		return go_on(w, v, t);
	t->phase = SIM_PHASE_PREEMPT_LOCK;
	return sim_lock_take(w, v, rq_lock_of(w, v));
}

void sim_guest_continue(struct sim_world *w, struct sim_vcpu *v)
{
	while (step(w, v))
		;
}

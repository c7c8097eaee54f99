// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The guest's locks: queued spin locks, plain and paravirtual, and mutexes that spin on their
// owner.
#include "sim/lock.h"

#include "sim/guest.h"
#include "sim/spin.h"
#include "sim/vcpu.h"

static struct sim_vcpu *vcpu_of(struct sim_world *w, const struct sim_thread *t)
{
	return &w->vcpu[t->vcpu];
}

static void append(struct sim_world *w, uint32_t *head, uint32_t *tail, uint32_t thread)
{
	w->thread[thread].next = SIM_NONE;
	if (*head == SIM_NONE)
		*head = thread;
	else
		w->thread[*tail].next = thread;
	*tail = thread;
}

/* Takes @thread out of the list behind @before (SIM_NONE: it is the first). */
static void unlink_behind(struct sim_world *w, uint32_t *head, uint32_t *tail, uint32_t before,
			  uint32_t thread)
{
	uint32_t next = w->thread[thread].next;

	if (before == SIM_NONE)
		*head = next;
	else
		w->thread[before].next = next;
	if (next == SIM_NONE)
		*tail = before;
}

static void sleep_for(struct sim_world *w, struct sim_lock *l, uint32_t thread)
{
	w->thread[thread].link = SIM_NONE;
	if (l->sleep_head == SIM_NONE)
		l->sleep_head = thread;
	else
		w->thread[l->sleep_tail].link = thread;
	l->sleep_tail = thread;
}

static bool unfair(struct sim_world *w, const struct sim_vcpu *v)
{
	return sim_vm_of(w, v)->config->pv_locks;
}

static void got(struct sim_world *w, struct sim_lock *l, uint32_t thread)
{
	struct sim_thread *t = &w->thread[thread];

	l->holder = thread;
	t->lock = SIM_NONE;
	t->pv_halted = false;
	t->held += l->kind != SIM_LOCK_MUTEX;
}

bool sim_lock_take(struct sim_world *w, struct sim_vcpu *v, uint32_t lock)
{
	struct sim_lock *l = &w->lock[lock];
	struct sim_thread *t = &w->thread[v->current];

	t->preempt++;
	t->irqs_off += l->kind == SIM_LOCK_IRQ;
	if (l->holder == SIM_NONE && (l->head == SIM_NONE || unfair(w, v))) {
		got(w, l, v->current);
		return true;
	}
	t->lock = lock;
	append(w, &l->head, &l->tail, v->current);
	sim_spin_begin(w, v);
	return false;
}

/* The lock is free: to the first waiter, or, if that has no pCPU, to whoever comes (paravirtual).
 */
static void pass(struct sim_world *w, struct sim_vcpu *from, struct sim_lock *l)
{
	uint32_t first = l->head;
	struct sim_vcpu *v;

	if (first == SIM_NONE)
		return;
	v = vcpu_of(w, &w->thread[first]);
	if (unfair(w, v) && (v->state != SIM_VCPU_RUNNING || v->act != SIM_ACT_SPIN)) {
		if (!w->thread[first].pv_halted || !sim_vcpu_halted(v))
			return;
		sim_vm_of(w, v)->sum.kicks++;
		sim_vcpu_charge(w, from, w->config->host.ipi_ns);
		sim_vcpu_wake(w, v, false);
		return;
	}
	unlink_behind(w, &l->head, &l->tail, SIM_NONE, first);
	got(w, l, first);
	sim_spin_over(w, v, sim_vm_of(w, v)->config->handover_ns);
}

void sim_lock_release(struct sim_world *w, struct sim_vcpu *v, uint32_t lock)
{
	struct sim_lock *l = &w->lock[lock];
	struct sim_thread *t = &w->thread[v->current];

	l->holder = SIM_NONE;
	t->held--;
	t->preempt--;
	pass(w, v, l);
	if (l->kind == SIM_LOCK_IRQ && !--t->irqs_off)
		sim_guest_take(w, v);
}

/* As the guest sees it: the holder is current on a vCPU the host has not preempted. */
static bool holder_runs(struct sim_world *w, const struct sim_lock *l)
{
	const struct sim_thread *h;

	if (l->holder == SIM_NONE)
		return true;
	h = &w->thread[l->holder];
	return h->state == SIM_THREAD_CURRENT && vcpu_of(w, h)->state == SIM_VCPU_RUNNING;
}

enum sim_mutex_result sim_mutex_take(struct sim_world *w, struct sim_vcpu *v, uint32_t lock)
{
	struct sim_lock *l = &w->lock[lock];
	struct sim_thread *t = &w->thread[v->current];

	if (l->holder == SIM_NONE) {
		got(w, l, v->current);
		return SIM_MUTEX_TAKEN;
	}
	if (!holder_runs(w, l)) {
		sleep_for(w, l, v->current);
		return SIM_MUTEX_SLEEPS;
	}
	t->lock = lock;
	t->preempt++;
	append(w, &l->head, &l->tail, v->current);
	sim_spin_begin(w, v);
	return SIM_MUTEX_SPINS;
}

/* A spinner of a mutex gets it: it may be preempted again. */
static void mutex_got(struct sim_world *w, struct sim_lock *l, uint32_t before, uint32_t thread)
{
	unlink_behind(w, &l->head, &l->tail, before, thread);
	got(w, l, thread);
	w->thread[thread].preempt--;
}

uint32_t sim_mutex_release(struct sim_world *w, struct sim_vcpu *v, uint32_t lock)
{
	struct sim_lock *l = &w->lock[lock];
	uint32_t before = SIM_NONE, thread;

	(void)v;
	l->holder = SIM_NONE;
	for (thread = l->head; thread != SIM_NONE; thread = w->thread[thread].next) {
		struct sim_vcpu *to = vcpu_of(w, &w->thread[thread]);

		if (to->state == SIM_VCPU_RUNNING) {
			mutex_got(w, l, before, thread);
			sim_spin_over(w, to, sim_vm_of(w, to)->config->handover_ns);
			return SIM_NONE;
		}
		before = thread;
	}
	thread = l->sleep_head;
	if (thread != SIM_NONE)
		l->sleep_head = w->thread[thread].link;
	return thread;
}

static uint32_t before_of(const struct sim_world *w, const struct sim_lock *l, uint32_t thread)
{
	uint32_t before = SIM_NONE;

	for (uint32_t i = l->head; i != thread; i = w->thread[i].next)
		before = i;
	return before;
}

bool sim_lock_resume(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_thread *t = &w->thread[v->current];
	struct sim_lock *l;

	if (t->lock == SIM_NONE) { /* a flush */
		if (t->acks)
			return false;
		sim_vcpu_do(w, v, SIM_ACT_RUN, 0);
		return true;
	}
	l = &w->lock[t->lock];
	if (l->holder != SIM_NONE || (l->kind != SIM_LOCK_MUTEX && l->head != v->current))
		return false;
	if (l->kind == SIM_LOCK_MUTEX) {
		mutex_got(w, l, before_of(w, l, v->current), v->current);
	} else {
		unlink_behind(w, &l->head, &l->tail, SIM_NONE, v->current);
		got(w, l, v->current);
	}
	sim_vcpu_do(w, v, SIM_ACT_RUN, sim_vm_of(w, v)->config->handover_ns);
	return true;
}

bool sim_lock_still(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_thread *t = &w->thread[v->current];
	struct sim_lock *l;

	if (t->lock == SIM_NONE || w->lock[t->lock].kind != SIM_LOCK_MUTEX)
		return true;
	l = &w->lock[t->lock];
	if (holder_runs(w, l) && !(v->resched && v->ready.nr))
		return true;
	unlink_behind(w, &l->head, &l->tail, before_of(w, l, v->current), v->current);
	t->lock = SIM_NONE;
	t->preempt--;
	sleep_for(w, l, v->current);
	return false;
}

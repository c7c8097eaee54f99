// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The invariants of a world.
#include "sim/guest.h"
#include "sim/vcpu.h"
#include "sim/world.h"

/* pCPUs and vCPUs agree on who runs where. */
static const char *check_pcpus(const struct sim_world *w)
{
	uint64_t waiting = 0;

	for (uint32_t i = 0; i < w->nr_pcpus; i++) {
		const struct sim_pcpu *p = &w->pcpu[i];

		waiting += p->rq.nr;
		if (p->current == SIM_NONE) {
			if (p->rq.nr || !sim_bit_test(w->idle_pcpus, i))
				return "a pCPU is idle while a vCPU waits for it";
			continue;
		}
		if (w->vcpu[p->current].pcpu != i ||
		    w->vcpu[p->current].state != SIM_VCPU_RUNNING || sim_bit_test(w->idle_pcpus, i))
			return "a pCPU's vCPU runs elsewhere";
		if (!sim_queue_armed(&w->queue, sim_handle_act(p->current)))
			return "a running vCPU has no event";
		if (p->busy_ns + p->idle_ns > w->now_ns)
			return "a pCPU has had more time than there was";
	}
	for (uint32_t i = 0; i < w->nr_vcpus; i++) {
		const struct sim_vcpu *v = &w->vcpu[i];

		waiting -= v->state == SIM_VCPU_RUNNABLE;
		if (v->state == SIM_VCPU_RUNNING && w->pcpu[v->pcpu].current != i)
			return "a vCPU runs on a pCPU that runs another";
		if (sim_bit_test(w->vm[v->vm].waiting, v->index) != (v->state == SIM_VCPU_RUNNABLE))
			return "the set of waiting vCPUs is wrong";
	}
	return waiting ? "vCPUs that wait and lengths of queues differ" : NULL;
}

/* Nobody who could run sleeps for good. */
static const char *check_vcpus(const struct sim_world *w)
{
	for (uint32_t i = 0; i < w->nr_vcpus; i++) {
		const struct sim_vcpu *v = &w->vcpu[i];

		bool idle = v->state == SIM_VCPU_BLOCKED && v->current == SIM_NONE && !v->boots;

		/* One that halted in the wait for a lock has its thread and may keep others. */
		if (idle && v->ready.nr)
			return "a vCPU is blocked though threads are ready: lost wake-up";
		if (idle && v->pending)
			return "a vCPU is blocked though an interrupt is pending: lost wake-up";
		if (v->current != SIM_NONE && w->thread[v->current].state != SIM_THREAD_CURRENT &&
		    w->thread[v->current].phase == SIM_PHASE_STEP)
			return "a vCPU's thread is not current";
		if (v->sleepers.nr && !sim_queue_armed(&w->queue, sim_handle_timer(w, i)) &&
		    !v->pending)
			return "a thread sleeps and no timer is armed";
	}
	return NULL;
}

static const char *check_locks(const struct sim_world *w)
{
	for (uint32_t i = 0; i < w->nr_locks; i++) {
		const struct sim_lock *l = &w->lock[i];
		const struct sim_vcpu *v;

		if (l->holder != SIM_NONE && l->holder >= w->nr_threads)
			return "a lock is held by nobody";
		if (l->holder != SIM_NONE || l->head == SIM_NONE)
			continue;
		v = &w->vcpu[w->thread[l->head].vcpu];
		if (v->state == SIM_VCPU_RUNNING && v->act == SIM_ACT_SPIN)
			return "a lock is free while its first waiter spins";
		if (v->state == SIM_VCPU_BLOCKED)
			return "a lock is free while its first waiter is halted: lost kick";
	}
	return NULL;
}

static const char *check_threads(const struct sim_world *w)
{
	uint64_t ready = 0;

	for (uint32_t i = 0; i < w->nr_threads; i++) {
		const struct sim_thread *t = &w->thread[i];

		ready += t->state == SIM_THREAD_READY;
		if (t->state == SIM_THREAD_CURRENT && w->vcpu[t->vcpu].current != i)
			return "a thread is current where another is";
		if (t->held > t->preempt)
			return "a thread holds spin locks and is preemptible";
	}
	for (uint32_t i = 0; i < w->nr_vcpus; i++)
		ready -= w->vcpu[i].ready.nr;
	return ready ? "threads that are ready and lengths of queues differ" : NULL;
}

const char *sim_world_check(struct sim_world *w)
{
	const char *wrong = check_pcpus(w);

	if (!wrong)
		wrong = check_vcpus(w);
	if (!wrong)
		wrong = check_threads(w);
	if (!wrong)
		wrong = check_locks(w);
	return wrong;
}

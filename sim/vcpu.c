// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A vCPU: what it does with the pCPU it has, and what becomes of that when it loses it.
#include "sim/vcpu.h"

#include "sim/guest.h"
#include "sim/halt.h"
#include "sim/host.h"
#include "sim/lock.h"
#include "sim/spin.h"

/* Flags of the snapshot that belong to the yield a vCPU has not come back from. */
#define KEPT_FLAGS (VHALT_BOOST_SPINNING | VHALT_BOOST_DY_ELIGIBLE)

static struct vhalt_boost_vcpu *snapshot_of(struct sim_world *w, const struct sim_vcpu *v)
{
	return &sim_vm_of(w, v)->snapshot[v->index];
}

static uint64_t stretched(const struct sim_world *w, const struct sim_vcpu *v, uint64_t ns)
{
	uint32_t pct = w->pcpu[v->pcpu].speed_pct;

	return pct == 100 ? ns : ns * 100 / pct;
}

void sim_vcpu_do(struct sim_world *w, struct sim_vcpu *v, enum sim_act act, uint64_t ns)
{
	uint64_t from_ns = v->busy_until_ns > w->now_ns ? v->busy_until_ns : w->now_ns;

	v->act = (uint8_t)act;
	v->end_ns = from_ns + stretched(w, v, ns);
	sim_queue_arm(&w->queue, sim_handle_act(sim_vcpu_number(w, v)), v->end_ns, 3);
}

void sim_vcpu_charge(struct sim_world *w, struct sim_vcpu *v, uint64_t ns)
{
	uint64_t from_ns = v->busy_until_ns > w->now_ns ? v->busy_until_ns : w->now_ns;

	v->busy_until_ns = from_ns + ns;
}

void sim_vcpu_respeed(struct sim_world *w, uint32_t vcpu, uint32_t old_pct, uint32_t new_pct)
{
	struct sim_vcpu *v = &w->vcpu[vcpu];
	uint64_t left_ns = v->end_ns > w->now_ns ? v->end_ns - w->now_ns : 0;

	if (v->act != SIM_ACT_RUN && v->act != SIM_ACT_WAKE)
		return;
	v->end_ns = w->now_ns + left_ns * old_pct / new_pct;
	sim_queue_arm(&w->queue, sim_handle_act(vcpu), v->end_ns, 3);
}

void sim_vcpu_ran(struct sim_world *w, struct sim_vcpu *v)
{
	vhalt_boost_ran(&sim_vm_of(w, v)->boost, snapshot_of(w, v), w->now_ns - v->picked_ns);
}

void sim_vcpu_wait(struct sim_world *w, uint32_t vcpu, bool preempted)
{
	struct sim_vcpu *v = &w->vcpu[vcpu];
	struct sim_vm *vm = sim_vm_of(w, v);
	struct vhalt_boost_vcpu *s = snapshot_of(w, v);
	uint32_t flags = VHALT_BOOST_RUNNABLE | (s->flags & KEPT_FLAGS);

	v->state = SIM_VCPU_RUNNABLE;
	sim_bit_set(vm->waiting, v->index);
	s->since_ns = w->now_ns;
	s->preempt_count = 0;
	if (vm->config->share)
		flags |= VHALT_BOOST_SHARED;
	if (preempted)
		flags |= VHALT_BOOST_PREEMPTED;
	else
		flags |= VHALT_BOOST_IRQ_PENDING;
	if (v->current != SIM_NONE) {
		const struct sim_thread *t = &w->thread[v->current];

		s->preempt_count = vm->config->share ? t->preempt : 0;
		flags |= t->irqs_off ? VHALT_BOOST_IRQS_OFF : 0;
		flags |= t->user ? 0 : VHALT_BOOST_IN_KERNEL;
		vm->sum.holder_preempted += preempted && t->held;
	} else {
		flags |= VHALT_BOOST_IN_KERNEL;
	}
	s->flags = flags;
}

void sim_vcpu_stop(struct sim_world *w, uint32_t vcpu)
{
	struct sim_vcpu *v = &w->vcpu[vcpu];
	uint64_t left_ns = v->end_ns > w->now_ns ? v->end_ns - w->now_ns : 0;

	if (v->act == SIM_ACT_SPIN)
		sim_spin_account(w, v);
	sim_vcpu_ran(w, v);
	v->left_ns = left_ns * w->pcpu[v->pcpu].speed_pct / 100;
	sim_queue_cancel(&w->queue, sim_handle_act(vcpu));
	sim_vcpu_wait(w, vcpu, true);
}

static void run_again(struct sim_world *w, struct sim_vcpu *v)
{
	switch (v->act) {
	case SIM_ACT_SPIN:
		if (!sim_lock_resume(w, v))
			sim_spin_resume(w, v);
		break;
	case SIM_ACT_GUEST_POLL:
		if (v->ready.nr || v->pending)
			sim_vcpu_do(w, v, SIM_ACT_WAKE, 0);
		else
			sim_vcpu_do(w, v, SIM_ACT_GUEST_POLL, v->left_ns);
		break;
	case SIM_ACT_HOST_POLL: sim_halt_poll_now(w, v); return;
	default: sim_vcpu_do(w, v, v->act, v->left_ns);
	}
	sim_guest_take(w, v);
}

void sim_vcpu_start(struct sim_world *w, uint32_t vcpu)
{
	struct sim_vcpu *v = &w->vcpu[vcpu];
	struct sim_vm *vm = sim_vm_of(w, v);
	struct vhalt_boost_vcpu *s = snapshot_of(w, v);

	if (v->current != SIM_NONE && w->thread[v->current].held)
		vm->sum.holder_wait_ns += w->now_ns - s->since_ns;
	vhalt_boost_spin_leave(s);
	s->flags = VHALT_BOOST_RUNNABLE | VHALT_BOOST_RUNNING;
	s->ipi_from = VHALT_BOOST_NONE;
	sim_bit_clear(vm->waiting, v->index);
	v->state = SIM_VCPU_RUNNING;
	v->ple_ns = w->config->host.ple_ns;
	run_again(w, v);
}

/* Interrupts taken meanwhile make the segment longer; one may have cut it short to switch threads.
 */
static void segment_over(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_thread *t = &w->thread[v->current];
	uint64_t debt_ns = v->debt_ns, left_ns = t->left_ns;

	if (debt_ns) {
		v->debt_ns = 0;
		sim_vcpu_do(w, v, SIM_ACT_RUN, debt_ns);
	} else if (left_ns && !(v->resched && sim_guest_preemptible(t))) {
		t->left_ns = 0;
		sim_vcpu_do(w, v, SIM_ACT_RUN, left_ns);
	} else {
		sim_guest_continue(w, v);
	}
}

void sim_vcpu_event(struct sim_world *w, uint32_t vcpu)
{
	struct sim_vcpu *v = &w->vcpu[vcpu];

	switch (v->act) {
	case SIM_ACT_RUN: segment_over(w, v); break;
	case SIM_ACT_SPIN: sim_spin_event(w, v); break;
	case SIM_ACT_WAKE:
		sim_halt_over(w, v);
		sim_guest_awake(w, v);
		break;
	case SIM_ACT_GUEST_POLL: sim_guest_poll_over(w, v); break;
	case SIM_ACT_HOST_POLL: sim_halt_poll_over(w, v, false); break;
	case SIM_ACT_SLEEP: sim_halt_sleep_over(w, v); break;
	}
}

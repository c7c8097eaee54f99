// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The guest's interrupts, timers and idle loop.
#include "sim/guest.h"
#include "sim/halt.h"
#include "sim/host.h"
#include "sim/lock.h"
#include "sim/spin.h"
#include "sim/vcpu.h"

static uint64_t period_ns(const struct sim_world *w, const struct sim_vcpu *v)
{
	uint64_t hz = w->vm[v->vm].config->hz;

	return hz ? 1000000000ULL / hz : 0;
}

/* Ticks are staggered over the VM's vCPUs, as Linux's skew_tick does, so that they do not collide.
 */
static uint64_t next_tick_ns(const struct sim_world *w, const struct sim_vcpu *v)
{
	uint64_t period = period_ns(w, v), offset_ns, passed_ns;

	if (!period)
		return ~0ULL;
	offset_ns = period * (v->index + 1) / (w->vm[v->vm].nr_vcpus + 1);
	passed_ns = w->now_ns + period - offset_ns;
	return w->now_ns + period - passed_ns % period;
}

void sim_guest_arm_timer(struct sim_world *w, struct sim_vcpu *v)
{
	uint32_t first = sim_rq_first(&v->sleepers), vcpu = sim_vcpu_number(w, v);
	uint64_t at_ns;

	if (v->tick_ns == ~0ULL && (v->current != SIM_NONE || !w->vm[v->vm].config->nohz))
		v->tick_ns = next_tick_ns(w, v);
	at_ns = v->tick_ns;
	if (first != SIM_NONE && w->thread[first].node.key < at_ns)
		at_ns = w->thread[first].node.key;
	if (at_ns == ~0ULL)
		sim_queue_cancel(&w->queue, sim_handle_timer(w, vcpu));
	else if (!sim_queue_armed(&w->queue, sim_handle_timer(w, vcpu)) ||
		 sim_queue_time_ns(&w->queue, sim_handle_timer(w, vcpu)) != at_ns)
		sim_queue_arm(&w->queue, sim_handle_timer(w, vcpu), at_ns, 2);
}

static bool sleeper_due(const struct sim_world *w, const struct sim_vcpu *v)
{
	uint32_t first = sim_rq_first(&v->sleepers);

	return first != SIM_NONE && w->thread[first].node.key <= w->now_ns;
}

void sim_guest_timer(struct sim_world *w, uint32_t vcpu)
{
	struct sim_vcpu *v = &w->vcpu[vcpu];

	/* An idle guest without ticks lets the one that is still armed go by. */
	if (v->current == SIM_NONE && sim_vcpu_halted(v) && w->vm[v->vm].config->nohz &&
	    !sleeper_due(w, v)) {
		v->tick_ns = ~0ULL;
		sim_guest_arm_timer(w, v);
		return;
	}
	sim_guest_interrupt(w, v, SIM_PENDING_TICK, true);
}

static void tick(struct sim_world *w, struct sim_vcpu *v)
{
	const struct sim_vm_config *c = sim_vm_of(w, v)->config;

	v->debt_ns += c->tick_ns;
	v->tick_ns = next_tick_ns(w, v);
	if (v->current == SIM_NONE || !v->ready.nr)
		return;
	sim_guest_account(w, v);
	if (w->now_ns - v->guest_picked_ns >= w->config->host.slice_ns)
		v->resched = true;
}

static void timer_interrupt(struct sim_world *w, struct sim_vcpu *v)
{
	while (sleeper_due(w, v)) {
		uint32_t thread = sim_rq_first(&v->sleepers);

		sim_rq_remove(&v->sleepers, w->thread_nodes, thread);
		w->thread[thread].timed = false;
		v->debt_ns += sim_vm_of(w, v)->config->irq_ns;
		sim_guest_ready(w, thread, sim_vcpu_number(w, v), NULL);
	}
	if (v->tick_ns <= w->now_ns)
		tick(w, v);
	sim_guest_arm_timer(w, v);
}

/* Interrupts the present segment, so that the thread can be switched. */
static void cut_segment(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_thread *t = &w->thread[v->current];
	uint64_t left_ns = v->end_ns > w->now_ns ? v->end_ns - w->now_ns : 0;

	t->left_ns += left_ns * w->pcpu[v->pcpu].speed_pct / 100;
	left_ns = v->debt_ns;
	v->debt_ns = 0;
	sim_vcpu_do(w, v, SIM_ACT_RUN, left_ns);
}

void sim_guest_take(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_thread *t = v->current == SIM_NONE ? NULL : &w->thread[v->current];
	uint8_t pending = v->pending;

	if (t && t->irqs_off)
		return;
	v->pending = 0;
	if (pending & SIM_PENDING_FLUSH)
		sim_flush_answer(w, v);
	if (pending & SIM_PENDING_TICK)
		timer_interrupt(w, v);
	if (pending & SIM_PENDING_RESCHED) {
		v->resched = true;
		v->debt_ns += sim_vm_of(w, v)->config->irq_ns;
	}
	if (t && v->act == SIM_ACT_RUN && v->resched && v->ready.nr && sim_guest_preemptible(t) &&
	    sim_queue_armed(&w->queue, sim_handle_act(sim_vcpu_number(w, v))))
		cut_segment(w, v);
}

void sim_guest_interrupt(struct sim_world *w, struct sim_vcpu *v, uint8_t pending, bool own_timer)
{
	v->pending |= pending;
	if (v->state == SIM_VCPU_RUNNABLE)
		sim_vm_of(w, v)->snapshot[v->index].flags |= VHALT_BOOST_IRQ_PENDING;
	/* A halt with interrupts off, in the wait for a lock, ends by a kick alone. */
	if (v->current != SIM_NONE && sim_vcpu_halted(v) && w->thread[v->current].irqs_off)
		return;
	if (sim_vcpu_halted(v))
		sim_vcpu_wake(w, v, own_timer);
	else if (v->state == SIM_VCPU_RUNNING && v->act == SIM_ACT_GUEST_POLL)
		sim_vcpu_do(w, v, SIM_ACT_WAKE, 0);
	else if (v->state == SIM_VCPU_RUNNING && v->act != SIM_ACT_WAKE)
		sim_guest_take(w, v);
}

void sim_guest_idle(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_vm *vm = sim_vm_of(w, v);
	struct vhalt_hint hint = {.run_ns = w->now_ns - v->awake_ns,
				  .deadline_ns = VHALT_NO_DEADLINE_NS};
	struct vhalt_plan plan;

	v->current = SIM_NONE;
	v->idle_ns = w->now_ns;
	v->guest_poll = SIM_GUEST_POLL_NONE;
	sim_bit_set(vm->idle, v->index);
	if (!vm->config->nohz && v->tick_ns == ~0ULL)
		sim_guest_arm_timer(w, v);
	if (!vm->config->guest_poll) {
		sim_vcpu_halt(w, v);
		return;
	}
	hint.deadline_ns = sim_halt_deadline_ns(w, v);
	plan = vhalt_decide(&w->guest_state[sim_vcpu_number(w, v)], &vm->guest_policy, &hint);
	v->guest_poll = SIM_GUEST_POLL_POLLS;
	/* A guest's idle loop has no timer of its own to sleep on first: it polls or it halts. */
	if (plan.window_ns && !plan.sleep_ns)
		sim_vcpu_do(w, v, SIM_ACT_GUEST_POLL, plan.window_ns);
	else
		sim_guest_poll_over(w, v);
}

static void account_guest_poll(struct sim_world *w, struct sim_vcpu *v)
{
	sim_vm_of(w, v)->sum.guest_poll_ns += w->now_ns - v->idle_ns;
}

void sim_guest_poll_over(struct sim_world *w, struct sim_vcpu *v)
{
	account_guest_poll(w, v);
	v->guest_poll = SIM_GUEST_POLL_HALTED;
	sim_vcpu_halt(w, v);
}

static void learn(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_vm *vm = sim_vm_of(w, v);
	uint32_t vcpu = sim_vcpu_number(w, v);
	struct vhalt_outcome outcome = {.halt_ns = w->now_ns - v->idle_ns,
					.wake_ns = VHALT_UNKNOWN_NS};

	outcome.window_ns = vhalt_window(&w->guest_state[vcpu], &vm->guest_policy);
	if (v->guest_poll == SIM_GUEST_POLL_POLLS) {
		outcome.flags = VHALT_OUTCOME_POLLED;
		account_guest_poll(w, v);
		vm->sum.guest_polled++;
	}
	if (v->own_timer)
		outcome.flags |= VHALT_OUTCOME_OWN_TIMER;
	vhalt_update(&w->guest_state[vcpu], &vm->guest_policy, &outcome);
	v->guest_poll = SIM_GUEST_POLL_NONE;
	v->awake_ns = w->now_ns;
}

void sim_guest_awake(struct sim_world *w, struct sim_vcpu *v)
{
	uint64_t debt_ns;

	v->act = SIM_ACT_RUN;
	if (v->current != SIM_NONE) { /* halted while it waited for a lock */
		v->act = SIM_ACT_SPIN;
		if (!sim_lock_resume(w, v))
			sim_spin_begin(w, v);
		sim_guest_take(w, v);
		return;
	}
	if (v->guest_poll != SIM_GUEST_POLL_NONE)
		learn(w, v);
	sim_guest_take(w, v);
	debt_ns = v->debt_ns;
	if (debt_ns && !v->ready.nr) {
		v->debt_ns = 0;
		sim_vcpu_do(w, v, SIM_ACT_WAKE, debt_ns);
		return;
	}
	if (!sim_guest_next(w, v))
		return;
	v->debt_ns += sim_vm_of(w, v)->config->guest_switch_ns; /* from the idle thread */
	sim_guest_continue(w, v);
}

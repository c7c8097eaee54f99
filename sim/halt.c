// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Halts on the host's side: the core's policies decide, the model carries out.
#include "sim/halt.h"

#include <vhalt/auto.h>

#include "sim/guest.h"
#include "sim/host.h"
#include "sim/vcpu.h"

uint64_t sim_halt_deadline_ns(const struct sim_world *w, const struct sim_vcpu *v)
{
	uint32_t first = sim_rq_first(&v->sleepers);
	uint64_t at_ns = w->vm[v->vm].config->nohz ? ~0ULL : v->tick_ns;

	if (first != SIM_NONE && w->thread[first].node.key < at_ns)
		at_ns = w->thread[first].node.key;
	if (at_ns == ~0ULL)
		return VHALT_NO_DEADLINE_NS;
	return at_ns > w->now_ns ? at_ns - w->now_ns : 0;
}

static bool gate_shut(const struct sim_world *w)
{
	return w->config->host.budget_ppm && w->burnt_ns >= w->budget.allowance_ns;
}

static void charge_poll(struct sim_world *w, struct sim_vcpu *v, uint64_t from_ns, bool useful)
{
	struct sim_counters *sum = &sim_vm_of(w, v)->sum;
	uint64_t polled_ns = w->now_ns > from_ns ? w->now_ns - from_ns : 0;

	sum->poll_ns += polled_ns;
	sum->poll_useful_ns += useful ? polled_ns : 0;
	w->burnt_ns += polled_ns;
	w->pcpu[v->pcpu].polled_ns += polled_ns;
}

static void block(struct sim_world *w, struct sim_vcpu *v, enum sim_act act)
{
	struct sim_vm *vm = sim_vm_of(w, v);

	v->act = (uint8_t)act;
	vm->snapshot[v->index].flags = 0;
	sim_vcpu_ran(w, v);
	sim_host_block(w, sim_vcpu_number(w, v));
}

void sim_vcpu_halt(struct sim_world *w, struct sim_vcpu *v)
{
	const struct sim_vm *vm = sim_vm_of(w, v);
	uint32_t vcpu = sim_vcpu_number(w, v);
	struct vhalt_plan plan = {0, 0};
	struct vhalt_hint hint = {.run_ns = w->now_ns - v->awake_ns,
				  .deadline_ns = sim_halt_deadline_ns(w, v)};

	hint.must_block = sim_host_crowded(w, v->pcpu) || gate_shut(w);
	v->halt_ns = w->now_ns;
	v->wake_ns = VHALT_UNKNOWN_NS;
	v->woken = v->slept = v->cut = v->own_timer = false;
	v->forced = hint.must_block;
	if (vm->config->host_poll)
		plan = vhalt_decide(&w->state[vcpu], &vm->policy, &hint);
	v->window_ns = plan.window_ns;
	if (plan.sleep_ns) {
		sim_queue_arm(&w->queue, sim_handle_act(vcpu), w->now_ns + plan.sleep_ns, 3);
		v->end_ns = w->now_ns + plan.sleep_ns + plan.window_ns;
		block(w, v, SIM_ACT_SLEEP);
	} else if (plan.window_ns) {
		sim_vcpu_do(w, v, SIM_ACT_HOST_POLL, plan.window_ns);
	} else {
		sim_queue_cancel(&w->queue, sim_handle_act(vcpu));
		block(w, v, SIM_ACT_BLOCK);
	}
}

void sim_halt_sleep_over(struct sim_world *w, struct sim_vcpu *v)
{
	/* A vCPU that has not run yet looks like one that sleeps. */
	v->act = v->boots ? SIM_ACT_WAKE : SIM_ACT_HOST_POLL;
	v->boots = false;
	sim_host_wake(w, sim_vcpu_number(w, v));
}

void sim_halt_poll_now(struct sim_world *w, struct sim_vcpu *v)
{
	if (v->end_ns <= v->busy_until_ns) {
		/* It took the whole window to get here; an event of its own, so that nothing
		 * recurs. */
		sim_vcpu_do(w, v, SIM_ACT_HOST_POLL, 0);
		return;
	}
	sim_vcpu_do(w, v, SIM_ACT_HOST_POLL, v->end_ns - v->busy_until_ns);
}

/* Polling began at the halt, or where the pCPU was got after a planned sleep. */
static uint64_t poll_began_ns(const struct sim_vcpu *v)
{
	return v->picked_ns > v->halt_ns ? v->picked_ns : v->halt_ns;
}

void sim_halt_poll_over(struct sim_world *w, struct sim_vcpu *v, bool cut)
{
	charge_poll(w, v, poll_began_ns(v), false);
	v->cut = cut;
	sim_queue_cancel(&w->queue, sim_handle_act(sim_vcpu_number(w, v)));
	block(w, v, SIM_ACT_BLOCK);
}

void sim_vcpu_cut_poll(struct sim_world *w, uint32_t vcpu)
{
	sim_halt_poll_over(w, &w->vcpu[vcpu], true);
}

void sim_vcpu_wake(struct sim_world *w, struct sim_vcpu *v, bool own_timer)
{
	struct sim_vm *vm = sim_vm_of(w, v);
	uint64_t idle_ns = vm->config->guest_idle_ns;
	enum sim_act was = v->act;

	if (!sim_vcpu_halted(v) || v->woken)
		return;
	v->woken = true;
	v->own_timer = own_timer;
	v->wake_ns = w->now_ns;
	vm->sum.wakes++;
	v->act = SIM_ACT_WAKE;
	v->left_ns = idle_ns;
	if (was == SIM_ACT_HOST_POLL && v->state == SIM_VCPU_RUNNING) {
		charge_poll(w, v, poll_began_ns(v), true);
		sim_vcpu_charge(w, v, w->config->host.poll_exit_ns);
		sim_vcpu_do(w, v, SIM_ACT_WAKE, idle_ns);
		vm->sum.polled++;
		return;
	}
	if (was == SIM_ACT_HOST_POLL)
		return; /* it waits for a pCPU already, to poll; now it will run */
	sim_queue_cancel(&w->queue, sim_handle_act(sim_vcpu_number(w, v)));
	vm->sum.blocked++;
	v->window_ns = was == SIM_ACT_SLEEP ? 0 : v->window_ns;
	v->slept = true;
	sim_host_wake(w, sim_vcpu_number(w, v));
}

static uint32_t outcome_flags(const struct sim_vcpu *v)
{
	return (!v->slept ? VHALT_OUTCOME_POLLED : 0) | (v->forced ? VHALT_OUTCOME_FORCED : 0) |
	       (v->cut ? VHALT_OUTCOME_CUT : 0) | (v->own_timer ? VHALT_OUTCOME_OWN_TIMER : 0);
}

void sim_halt_over(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_vm *vm = sim_vm_of(w, v);
	uint32_t vcpu = sim_vcpu_number(w, v);
	struct vhalt_outcome outcome = {.halt_ns = w->now_ns - v->halt_ns,
					.wake_ns = VHALT_UNKNOWN_NS,
					.window_ns = v->window_ns};

	if (!v->woken)
		return;
	v->woken = false;
	vm->sum.halts++;
	vm->sum.wake_latency_ns += w->now_ns - v->wake_ns;
	if (w->config->host.stamped)
		outcome.wake_ns = v->wake_ns - v->halt_ns;
	outcome.flags = outcome_flags(v);
	if (vm->config->host_poll)
		vhalt_update(&w->state[vcpu], &vm->policy, &outcome);
	v->awake_ns = w->now_ns;
}

void sim_halt_budget(struct sim_world *w)
{
	uint32_t factor = vhalt_budget_tick(&w->budget, w->burnt_ns,
					    VHALT_BUDGET_TICK_NS * w->nr_pcpus);

	w->burnt_ns = 0;
	w->factor_sum += factor;
	w->factor_ticks++;
	for (uint32_t i = 0; i < w->nr_vms; i++)
		if (w->vm[i].policy.policy == VHALT_POLICY_AUTO)
			vhalt_auto_scale(&w->vm[i].policy, factor);
	sim_queue_arm(&w->queue, sim_handle_global(w, SIM_GLOBAL_BUDGET),
		      w->now_ns + VHALT_BUDGET_TICK_NS, 2);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Spinning with PAUSE: exits by a window that grows, directed yields, flushes of other vCPUs.
#include "sim/spin.h"

#include "sim/guest.h"
#include "sim/host.h"
#include "sim/lock.h"
#include "sim/vcpu.h"

static struct sim_thread *current_of(struct sim_world *w, const struct sim_vcpu *v)
{
	return &w->thread[v->current];
}

void sim_spin_account(struct sim_world *w, struct sim_vcpu *v)
{
	uint64_t passed_ns = w->now_ns - v->spin_ns;

	v->spun_ns += passed_ns;
	v->spin_ns = w->now_ns;
	sim_vm_of(w, v)->sum.spin_ns += passed_ns;
}

/* Does the guest give up spinning after a while? Only for a paravirtual spin lock. */
static bool gives_up(struct sim_world *w, const struct sim_vcpu *v)
{
	const struct sim_thread *t = current_of(w, v);

	return sim_vm_of(w, v)->config->pv_locks && t->lock != SIM_NONE &&
	       w->lock[t->lock].kind != SIM_LOCK_MUTEX;
}

static void spin_on(struct sim_world *w, struct sim_vcpu *v)
{
	const struct sim_vm_config *c = sim_vm_of(w, v)->config;
	uint64_t ns = v->ple_ns;

	if (gives_up(w, v) && v->spun_ns + ns > c->pv_spin_ns)
		ns = c->pv_spin_ns > v->spun_ns ? c->pv_spin_ns - v->spun_ns : 0;
	sim_vcpu_do(w, v, SIM_ACT_SPIN, ns);
}

void sim_spin_begin(struct sim_world *w, struct sim_vcpu *v)
{
	v->spun_ns = 0;
	sim_spin_resume(w, v);
}

void sim_spin_resume(struct sim_world *w, struct sim_vcpu *v)
{
	v->spin_ns = w->now_ns;
	spin_on(w, v);
}

/* The core names one vCPU after the other; the host refuses those that wait for nothing. */
static void yield(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_vm *vm = sim_vm_of(w, v);
	struct vhalt_boost_request request = {.vcpus = vm->snapshot,
					      .candidates = vm->waiting,
					      .nr = vm->nr_vcpus,
					      .self = (int32_t)v->index,
					      .want_kernel = true,
					      .now_ns = w->now_ns};
	struct vhalt_boost_scan scan;
	int32_t to;

	vhalt_boost_spin_enter(&vm->snapshot[v->index]);
	for (to = vhalt_boost_first(&scan, &vm->boost, &request); to != VHALT_BOOST_NONE;
	     to = vhalt_boost_next(&scan, &vm->boost, &request)) {
		uint32_t target = vm->first_vcpu + (uint32_t)to;
		uint32_t thread = w->vcpu[target].current;

		if (sim_host_yield_to(w, sim_vcpu_number(w, v), target)) {
			vhalt_boost_done(&vm->boost, &request, to);
			vm->sum.yields++;
			vm->sum.yields_holder += thread != SIM_NONE && w->thread[thread].held;
			return;
		}
		if (!vhalt_boost_refused(&scan))
			break;
	}
	vhalt_boost_spin_leave(&vm->snapshot[v->index]);
}

static void pause_exit(struct sim_world *w, struct sim_vcpu *v)
{
	const struct sim_host_config *c = &w->config->host;

	sim_vm_of(w, v)->sum.pause_exits++;
	sim_vcpu_ran(w, v);
	sim_vcpu_charge(w, v, c->exit_ns);
	v->ple_ns *= c->ple_grow;
	if (v->ple_ns > c->ple_max_ns)
		v->ple_ns = c->ple_max_ns;
	yield(w, v);
	spin_on(w, v);
}

void sim_spin_event(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_thread *t = current_of(w, v);

	sim_spin_account(w, v);
	if (!sim_lock_still(w, v)) {
		t->phase = SIM_PHASE_MUTEX_QUIT;
		sim_guest_continue(w, v);
	} else if (gives_up(w, v) && v->spun_ns >= sim_vm_of(w, v)->config->pv_spin_ns) {
		t->pv_halted = true;
		sim_vm_of(w, v)->sum.pv_halts++;
		sim_vcpu_halt(w, v);
	} else {
		pause_exit(w, v);
	}
}

void sim_spin_over(struct sim_world *w, struct sim_vcpu *v, uint64_t ns)
{
	if (v->state == SIM_VCPU_RUNNING) {
		if (v->act == SIM_ACT_SPIN) {
			sim_spin_account(w, v);
			/* Interrupts cost a spinner nothing but time it would have spun. */
			v->debt_ns = 0;
		}
		sim_vcpu_do(w, v, SIM_ACT_RUN, ns);
		return;
	}
	v->act = SIM_ACT_RUN;
	v->left_ns = ns;
}

static uint64_t *unanswered_of(struct sim_vm *vm, uint32_t index)
{
	return vm->unanswered + (size_t)index * vm->words;
}

/* Runs, and not with interrupts off. */
static bool answers_now(const struct sim_world *w, const struct sim_vcpu *v)
{
	return v->state == SIM_VCPU_RUNNING && !w->thread[v->current].irqs_off;
}

bool sim_flush_begin(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_vm *vm = sim_vm_of(w, v);
	struct sim_thread *t = current_of(w, v);
	uint64_t round_trip_ns = w->config->host.ipi_ns + vm->config->irq_ns;

	vm->sum.flushes++;
	t->acks = 0;
	t->ready_ns = w->now_ns;
	t->stamp_ns = w->now_ns;
	for (uint32_t i = 0; i < vm->nr_vcpus; i++) {
		struct sim_vcpu *to = &w->vcpu[vm->first_vcpu + i];

		if (to == v || to->current == SIM_NONE || sim_vcpu_halted(to) ||
		    (vm->config->pv_tlb && to->state == SIM_VCPU_RUNNABLE))
			continue;
		vm->sum.ipis++;
		round_trip_ns += w->config->host.ipi_each_ns;
		t->ready_ns = w->now_ns + round_trip_ns;
		if (answers_now(w, to)) {
			to->debt_ns += vm->config->irq_ns;
			continue;
		}
		t->acks++;
		to->pending |= SIM_PENDING_FLUSH;
		sim_bit_set(unanswered_of(vm, v->index), i);
		vm->snapshot[i].flags |= VHALT_BOOST_IRQ_PENDING;
		vm->snapshot[i].ipi_from = (int32_t)v->index;
	}
	if (t->acks)
		sim_bit_set(vm->flushing, v->index);
	t->preempt++;
	sim_spin_begin(w, v);
	if (!t->acks)
		sim_spin_over(w, v, t->ready_ns - w->now_ns);
	return false;
}

void sim_flush_answer(struct sim_world *w, struct sim_vcpu *v)
{
	struct sim_vm *vm = sim_vm_of(w, v);

	for (uint32_t i = sim_bit_next(vm->flushing, 0, vm->nr_vcpus); i < vm->nr_vcpus;
	     i = sim_bit_next(vm->flushing, i + 1, vm->nr_vcpus)) {
		struct sim_vcpu *from = &w->vcpu[vm->first_vcpu + i];

		if (!sim_bit_test(unanswered_of(vm, i), v->index))
			continue;
		sim_bit_clear(unanswered_of(vm, i), v->index);
		v->debt_ns += vm->config->irq_ns;
		if (--current_of(w, from)->acks)
			continue;
		sim_bit_clear(vm->flushing, i);
		if (from->state == SIM_VCPU_RUNNING)
			sim_spin_over(w, from, vm->config->irq_ns);
	}
}

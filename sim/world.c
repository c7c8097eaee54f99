// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One simulation: its events, one after the other.
#include "sim/world.h"

#include <errno.h>

#include "sim/ahead.h"
#include "sim/guest.h"
#include "sim/halt.h"
#include "sim/host.h"
#include "sim/spin.h"
#include "sim/vcpu.h"
#include "sim/workload.h"

/* Times of what is still going on belong to the side of the mark they lie on. */
static void account_all(struct sim_world *w)
{
	for (uint32_t i = 0; i < w->nr_pcpus; i++)
		sim_host_account(w, i);
	for (uint32_t i = 0; i < w->nr_vcpus; i++) {
		struct sim_vcpu *v = &w->vcpu[i];

		if (v->state == SIM_VCPU_RUNNABLE) {
			w->vm[v->vm].sum.steal_ns += w->now_ns - v->since_ns;
			v->since_ns = w->now_ns;
		} else if (v->state == SIM_VCPU_RUNNING && v->act == SIM_ACT_SPIN) {
			sim_spin_account(w, v);
		}
	}
}

static void mark(struct sim_world *w)
{
	account_all(w);
	for (uint32_t i = 0; i < w->nr_pcpus; i++) {
		w->pcpu[i].busy_ns = w->pcpu[i].idle_ns = w->pcpu[i].overhead_ns = 0;
		w->pcpu[i].polled_ns = 0;
	}
	for (uint32_t i = 0; i < w->nr_vms; i++) {
		struct sim_vm *vm = &w->vm[i];

		vm->mark = vm->sum;
		for (uint32_t b = 0; b < SIM_HIST_BUCKETS; b++)
			vm->hist[b] = 0;
	}
	w->factor_sum = w->factor_ticks = 0;
	w->marked_events = w->events;
}

static void global_event(struct sim_world *w, uint32_t which)
{
	switch (which) {
	case SIM_GLOBAL_BALANCE: sim_host_balance(w); break;
	case SIM_GLOBAL_BUDGET: sim_halt_budget(w); break;
	case SIM_GLOBAL_MARK: mark(w); break;
	}
}

static void dispatch(struct sim_world *w, uint32_t handle)
{
	if (handle < w->nr_vcpus)
		sim_vcpu_event(w, handle);
	else if ((handle -= w->nr_vcpus) < w->nr_vcpus)
		sim_guest_timer(w, handle);
	else if ((handle -= w->nr_vcpus) < w->nr_pcpus)
		sim_host_slice(w, handle);
	else if ((handle -= w->nr_pcpus) < SIM_NR_GLOBAL)
		global_event(w, handle);
	else
		sim_workload_device(w, handle - SIM_NR_GLOBAL);
}

bool sim_world_step(struct sim_world *w)
{
	uint32_t handle;

	if (!sim_queue_take(&w->queue, &handle))
		return false;
	w->now_ns = w->queue.now_ns;
	if (handle == sim_handle_global(w, SIM_GLOBAL_END)) {
		account_all(w);
		return false;
	}
	w->events++;
	dispatch(w, handle);
	if (w->nr_resched)
		sim_host_settle(w);
	if (w->fetches)
		sim_ahead_fetch(w);
	return true;
}

int sim_world_run(struct sim_world *w)
{
	while (sim_world_step(w))
		if (w->check_every && w->events % w->check_every == 0 && sim_world_check(w))
			return -EPROTO;
	return w->check_every && sim_world_check(w) ? -EPROTO : 0;
}

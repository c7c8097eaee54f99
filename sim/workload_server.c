// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Servers and ping-pong: request/response, random arrivals, pairs of threads that wake each other.
#include "sim/guest.h"
#include "sim/random.h"
#include "sim/vcpu.h"
#include "sim/workload.h"

enum { WAIT, SERVE, DONE };

static struct sim_thread *server_of(struct sim_world *w, uint32_t vcpu)
{
	const struct sim_vm *vm = &w->vm[w->vcpu[vcpu].vm];

	return &w->thread[vm->first_thread + vcpu - vm->first_vcpu];
}

/* The device's interrupt wakes the server on its own vCPU. */
static void wake_server(struct sim_world *w, struct sim_thread *t)
{
	struct sim_vcpu *v = &w->vcpu[t->vcpu];

	v->debt_ns += w->vm[t->vm].config->irq_ns;
	if (t->state == SIM_THREAD_SLEEPING)
		sim_guest_ready(w, (uint32_t)(t - w->thread), t->vcpu, NULL);
	else
		t->token = true;
}

/* Arrivals that come while SIM_STAMPS wait already are lost, as in any full queue. */
static void arrive(struct sim_world *w, struct sim_thread *t)
{
	if (t->a - t->b == SIM_STAMPS)
		return;
	w->stamp[(size_t)(t - w->thread) * SIM_STAMPS + t->a++ % SIM_STAMPS] = w->now_ns;
	wake_server(w, t);
}

void sim_workload_device(struct sim_world *w, uint32_t vcpu)
{
	const struct sim_vm_config *c = w->vm[w->vcpu[vcpu].vm].config;

	arrive(w, server_of(w, vcpu));
	if (c->workload == SIM_WORKLOAD_POISSON)
		sim_queue_arm(&w->queue, sim_handle_device(w, vcpu),
			      w->now_ns + sim_random_exp_ns(&w->rng, c->mean_ns), 2);
}

static uint64_t served(struct sim_world *w, struct sim_thread *t)
{
	return w->now_ns - w->stamp[(size_t)(t - w->thread) * SIM_STAMPS + t->b++ % SIM_STAMPS];
}

/* The server, and the network and peer outside, take turns; a transaction is both. */
struct sim_action sim_rr_step(struct sim_world *w, struct sim_thread *t)
{
	const struct sim_vm_config *c = w->vm[t->vm].config;
	uint64_t net_ns;

	if (t->step == DONE) {
		net_ns = sim_random_around_ns(&w->rng, c->net_ns);
		sim_workload_done(w, t, served(w, t) + net_ns);
		sim_queue_arm(&w->queue, sim_handle_device(w, t->vcpu), w->now_ns + net_ns, 2);
	}
	if (t->a == t->b) {
		t->step = SERVE;
		return sim_do(SIM_OP_WAIT, 0);
	}
	t->step = DONE;
	return sim_run_kernel(sim_random_around_ns(&w->rng, c->work_ns));
}

struct sim_action sim_poisson_step(struct sim_world *w, struct sim_thread *t)
{
	const struct sim_vm_config *c = w->vm[t->vm].config;

	if (t->step == DONE)
		sim_workload_done(w, t, served(w, t));
	if (t->a == t->b) {
		t->step = WAIT;
		return sim_do(SIM_OP_WAIT, 0);
	}
	t->step = DONE;
	return sim_run_user(sim_random_exp_ns(&w->rng, c->work_ns) + 1);
}

enum { FIRST, WORK, WAKE_OTHER, SLEEP };

/* Threads 2i and 2i+1 wake each other in turn; each on a vCPU of its own. */
struct sim_action sim_ctxsw_step(struct sim_world *w, struct sim_thread *t)
{
	const struct sim_vm *vm = &w->vm[t->vm];

	switch (t->step) {
	case FIRST:
		t->step = WORK;
		if (t->number & 1)
			return sim_do(SIM_OP_WAIT, 0);
		/* fall through */
	case WORK: t->step = WAKE_OTHER; return sim_run_kernel(vm->config->work_ns);
	case WAKE_OTHER:
		t->step = SLEEP;
		sim_workload_done(w, t, 0);
		return sim_do(SIM_OP_WAKE, vm->first_thread + (t->number ^ 1));
	default: t->step = WORK; return sim_do(SIM_OP_WAIT, 0);
	}
}

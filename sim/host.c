// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The host: which vCPU has which pCPU.
#include "sim/host.h"

#include "sim/host_internal.h"
#include "sim/vcpu.h"

/* Virtual times are compared as differences, so that they may be moved by any amount. */
static int64_t ahead(const struct sim_world *w, uint32_t a, uint32_t b)
{
	return (int64_t)(w->vcpu[a].vruntime - w->vcpu[b].vruntime);
}

void sim_host_account(struct sim_world *w, uint32_t pcpu)
{
	struct sim_pcpu *p = &w->pcpu[pcpu];
	uint64_t passed_ns = w->now_ns - p->since_ns;
	uint32_t first = sim_rq_first(&p->rq);
	uint64_t least;

	p->since_ns = w->now_ns;
	if (p->current == SIM_NONE) {
		p->idle_ns += passed_ns;
		return;
	}
	p->busy_ns += passed_ns;
	w->vcpu[p->current].vruntime += passed_ns;
	sim_vm_of(w, &w->vcpu[p->current])->sum.run_ns += passed_ns;
	w->vcpu[p->current].since_ns = w->now_ns;
	least = w->vcpu[p->current].vruntime;
	if (first != SIM_NONE && w->vcpu[first].vruntime < least)
		least = w->vcpu[first].vruntime;
	if (least > p->min_vruntime)
		p->min_vruntime = least;
}

void sim_host_mark(struct sim_world *w, uint32_t pcpu)
{
	if (w->pcpu[pcpu].resched)
		return;
	w->pcpu[pcpu].resched = true;
	w->resched[w->nr_resched++] = pcpu;
}

static void arm_slice(struct sim_world *w, uint32_t pcpu)
{
	const struct sim_host_config *c = &w->config->host;
	struct sim_pcpu *p = &w->pcpu[pcpu];
	uint64_t slice_ns;

	if (p->current == SIM_NONE || !p->rq.nr) {
		sim_queue_cancel(&w->queue, sim_handle_slice(w, pcpu));
		return;
	}
	slice_ns = c->latency_ns / (p->rq.nr + 1);
	if (slice_ns < c->slice_ns)
		slice_ns = c->slice_ns;
	sim_queue_arm(&w->queue, sim_handle_slice(w, pcpu),
		      w->vcpu[p->current].picked_ns + slice_ns, 1);
}

void sim_host_enqueue(struct sim_world *w, uint32_t pcpu, uint32_t vcpu)
{
	struct sim_pcpu *p = &w->pcpu[pcpu];
	struct sim_vcpu *v = &w->vcpu[vcpu];

	v->pcpu = pcpu;
	sim_rq_add(&p->rq, w->vcpu_nodes, vcpu, v->vruntime);
	sim_bit_set(w->crowded_pcpus, pcpu);
	if (p->rq.nr == 1)
		arm_slice(w, pcpu);
}

void sim_host_dequeue(struct sim_world *w, uint32_t vcpu)
{
	struct sim_pcpu *p = &w->pcpu[w->vcpu[vcpu].pcpu];

	sim_rq_remove(&p->rq, w->vcpu_nodes, vcpu);
	if (p->rq.nr)
		return;
	sim_bit_clear(w->crowded_pcpus, w->vcpu[vcpu].pcpu);
	arm_slice(w, w->vcpu[vcpu].pcpu);
}

/* With SMT, a change of one sibling changes the speed of the other. */
static void tell_sibling(struct sim_world *w, uint32_t pcpu)
{
	const struct sim_host_config *c = &w->config->host;
	struct sim_pcpu *sibling;
	uint32_t pct;

	if (!c->smt || (pcpu ^ 1) >= w->nr_pcpus)
		return;
	sibling = &w->pcpu[pcpu ^ 1];
	pct = w->pcpu[pcpu].current == SIM_NONE ? 100 : (uint32_t)c->smt_pct;
	if (sibling->speed_pct == pct)
		return;
	if (sibling->current != SIM_NONE)
		sim_vcpu_respeed(w, sibling->current, sibling->speed_pct, pct);
	sibling->speed_pct = pct;
}

static uint64_t wake_from_idle_ns(struct sim_world *w, struct sim_pcpu *p)
{
	const struct sim_host_config *c = &w->config->host;
	uint64_t idle_ns = w->now_ns - p->idle_since_ns, most_ns = 2 * c->newidle_ns;

	p->avg_idle_ns = (7 * p->avg_idle_ns + (idle_ns < most_ns ? idle_ns : most_ns)) / 8;
	return sim_random_around_ns(&w->rng,
				    idle_ns < c->deep_after_ns ? c->idle_exit_ns : c->deep_exit_ns);
}

/* Gives the pCPU, free now, to @vcpu, which is in no queue. */
static void start(struct sim_world *w, uint32_t pcpu, uint32_t vcpu, uint64_t delay_ns)
{
	struct sim_pcpu *p = &w->pcpu[pcpu];
	struct sim_vcpu *v = &w->vcpu[vcpu];

	sim_host_account(w, pcpu);
	if (sim_bit_test(w->idle_pcpus, pcpu)) {
		delay_ns += wake_from_idle_ns(w, p);
		sim_bit_clear(w->idle_pcpus, pcpu);
	}
	sim_vm_of(w, v)->sum.steal_ns += w->now_ns - v->since_ns;
	p->current = vcpu;
	v->pcpu = pcpu;
	v->since_ns = v->picked_ns = w->now_ns;
	v->busy_until_ns = w->now_ns + delay_ns + w->config->host.switch_ns;
	arm_slice(w, pcpu);
	tell_sibling(w, pcpu);
	sim_vcpu_start(w, vcpu);
}

/* Takes the pCPU from its vCPU. */
static void stop(struct sim_world *w, uint32_t pcpu)
{
	struct sim_pcpu *p = &w->pcpu[pcpu];

	sim_host_account(w, pcpu);
	sim_vcpu_stop(w, p->current);
	p->current = SIM_NONE;
}

static void go_idle(struct sim_world *w, uint32_t pcpu)
{
	struct sim_pcpu *p = &w->pcpu[pcpu];

	sim_bit_set(w->idle_pcpus, pcpu);
	p->idle_since_ns = w->now_ns;
	p->buddy = p->skip = SIM_NONE;
	arm_slice(w, pcpu);
	tell_sibling(w, pcpu);
}

/* The best of the queue and @current, which may be SIM_NONE, leaving out @not. */
static uint32_t leftmost(struct sim_world *w, struct sim_pcpu *p, uint32_t current, uint32_t not )
{
	uint32_t first = sim_rq_first(&p->rq);

	if (first == not &&first != SIM_NONE)
		first = sim_rq_second(&p->rq, w->vcpu_nodes);
	if (current == SIM_NONE || current == not )
		return first;
	return first == SIM_NONE || ahead(w, current, first) <= 0 ? current : first;
}

static uint32_t choose(struct sim_world *w, struct sim_pcpu *p, uint32_t current)
{
	int64_t bound_ns = (int64_t)w->config->host.granularity_ns;
	uint32_t left = leftmost(w, p, current, SIM_NONE), chosen = left;

	if (left == SIM_NONE)
		return SIM_NONE;
	if (p->skip == left) {
		uint32_t second = leftmost(w, p, current, left);

		if (second != SIM_NONE && ahead(w, second, left) < bound_ns)
			chosen = second;
	}
	if (p->buddy != SIM_NONE && p->buddy != current && ahead(w, p->buddy, left) < bound_ns)
		chosen = p->buddy;
	p->buddy = p->skip = SIM_NONE;
	return chosen;
}

/* The pCPU has nothing current: run the best, or another pCPU's, or be idle. */
static void fill(struct sim_world *w, uint32_t pcpu)
{
	struct sim_pcpu *p = &w->pcpu[pcpu];
	uint32_t next = choose(w, p, SIM_NONE);

	if (next == SIM_NONE) {
		next = sim_host_pull(w, pcpu, p->avg_idle_ns >= w->config->host.newidle_ns);
		if (next == SIM_NONE) {
			go_idle(w, pcpu);
			return;
		}
	}
	sim_host_dequeue(w, next);
	start(w, pcpu, next, 0);
}

void sim_host_kick(struct sim_world *w, uint32_t pcpu)
{
	fill(w, pcpu);
}

static void reschedule(struct sim_world *w, uint32_t pcpu)
{
	struct sim_pcpu *p = &w->pcpu[pcpu];
	uint32_t current = p->current, next;

	p->resched = false;
	if (current == SIM_NONE || !p->rq.nr) {
		p->buddy = p->skip = SIM_NONE;
		return;
	}
	if (w->vcpu[current].act == SIM_ACT_HOST_POLL) {
		sim_vcpu_cut_poll(w, current);
		return;
	}
	sim_host_account(w, pcpu);
	next = choose(w, p, current);
	if (next == current) {
		w->vcpu[current].picked_ns = w->now_ns;
		arm_slice(w, pcpu);
		return;
	}
	stop(w, pcpu);
	sim_host_dequeue(w, next);
	sim_host_enqueue(w, pcpu, current);
	start(w, pcpu, next, 0);
}

void sim_host_settle(struct sim_world *w)
{
	while (w->nr_resched)
		reschedule(w, w->resched[--w->nr_resched]);
}

void sim_host_slice(struct sim_world *w, uint32_t pcpu)
{
	sim_host_mark(w, pcpu);
}

void sim_host_block(struct sim_world *w, uint32_t vcpu)
{
	uint32_t pcpu = w->vcpu[vcpu].pcpu;
	struct sim_pcpu *p = &w->pcpu[pcpu];

	sim_host_account(w, pcpu);
	w->vcpu[vcpu].state = SIM_VCPU_BLOCKED;
	p->current = SIM_NONE;
	p->overhead_ns += w->config->host.block_ns;
	fill(w, pcpu);
}

/* As far from its old queue's virtual time as it was, but at most half a latency behind it. */
static void place(struct sim_world *w, uint32_t vcpu, uint32_t pcpu)
{
	struct sim_vcpu *v = &w->vcpu[vcpu];
	int64_t most_ns = (int64_t)w->config->host.latency_ns / 2;
	int64_t lead_ns = (int64_t)(v->vruntime - w->pcpu[v->pcpu].min_vruntime);

	if (lead_ns < -most_ns)
		lead_ns = -most_ns;
	v->vruntime = w->pcpu[pcpu].min_vruntime + (uint64_t)lead_ns;
}

void sim_host_wake(struct sim_world *w, uint32_t vcpu)
{
	struct sim_vcpu *v = &w->vcpu[vcpu];
	uint32_t pcpu = sim_host_place(w, v->pcpu);
	struct sim_pcpu *p = &w->pcpu[pcpu];
	uint64_t path_ns = sim_random_around_ns(&w->rng, w->config->host.wake_ns);

	sim_host_account(w, pcpu);
	place(w, vcpu, pcpu);
	v->since_ns = w->now_ns;
	v->state = SIM_VCPU_RUNNABLE;
	sim_vcpu_wait(w, vcpu, false);
	if (p->current == SIM_NONE) {
		start(w, pcpu, vcpu, path_ns);
		return;
	}
	sim_host_enqueue(w, pcpu, vcpu);
	if (w->vcpu[p->current].act == SIM_ACT_HOST_POLL ||
	    ahead(w, p->current, vcpu) > (int64_t)w->config->host.granularity_ns)
		sim_host_mark(w, pcpu);
}

bool sim_host_yield_to(struct sim_world *w, uint32_t self, uint32_t target)
{
	const struct sim_vcpu *v = &w->vcpu[self], *t = &w->vcpu[target];

	if (t->state != SIM_VCPU_RUNNABLE)
		return false;
	if (w->config->host.yield_hint)
		w->pcpu[t->pcpu].buddy = target;
	w->pcpu[v->pcpu].skip = self;
	sim_host_mark(w, v->pcpu);
	sim_host_mark(w, t->pcpu);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What guest threads do: small models of the programs people measure with. */
#ifndef VHALT_SIM_WORKLOAD_H
#define VHALT_SIM_WORKLOAD_H

#include "sim/model.h"

/** What a thread does next. */
enum sim_op {
	SIM_OP_RUN,	     /* compute for ns, in user or kernel mode */
	SIM_OP_LOCK,	     /* take spin lock arg */
	SIM_OP_UNLOCK,	     /* release it */
	SIM_OP_MUTEX_LOCK,   /* take mutex arg */
	SIM_OP_MUTEX_UNLOCK, /* release it, wake who sleeps for it */
	SIM_OP_SLEEP,	     /* sleep for ns, or until woken */
	SIM_OP_WAIT,	     /* sleep until woken; not at all if that has happened already */
	SIM_OP_WAKE,	     /* wake thread arg */
	SIM_OP_FLUSH, /* have all vCPUs that run threads of this VM flush their TLB, and wait */
};

struct sim_action {
	enum sim_op op;
	uint32_t arg;
	uint64_t ns;
	bool user;
};

/** What a VM needs besides vCPUs. */
struct sim_needs {
	uint32_t threads, locks, pipes;
};

/** sim_workload_needs - sizes for a VM of this kind. */
struct sim_needs sim_workload_needs(const struct sim_vm_config *config);

/**
 * sim_workload_init - set up a VM's threads, locks and pipes and make the threads ready.
 * @first_pipe:  of its pipes
 *
 * vm's numbers of first entities and all entities' defaults are set already.
 */
void sim_workload_init(struct sim_world *w, struct sim_vm *vm, uint32_t first_pipe);

/** sim_workload_step - what @t does next; it is current and its last action is complete. */
struct sim_action sim_workload_step(struct sim_world *w, struct sim_thread *t);

/** sim_workload_device - a request comes in for @vcpu. */
void sim_workload_device(struct sim_world *w, uint32_t vcpu);

/** sim_workload_done - one piece of work of @t is done; it took @ns, 0: not known. */
void sim_workload_done(struct sim_world *w, const struct sim_thread *t, uint64_t ns);

/** sim_hist_bucket, sim_hist_ns - bucket of a latency, and the middle of a bucket. */
uint32_t sim_hist_bucket(uint64_t ns);
uint64_t sim_hist_ns(uint32_t bucket);

/* Shorthands for the workloads. */
static inline struct sim_action sim_run_kernel(uint64_t ns)
{
	return (struct sim_action){SIM_OP_RUN, 0, ns, false};
}

static inline struct sim_action sim_run_user(uint64_t ns)
{
	return (struct sim_action){SIM_OP_RUN, 0, ns, true};
}

static inline struct sim_action sim_do(enum sim_op op, uint32_t arg)
{
	return (struct sim_action){op, arg, 0, false};
}

/* The workloads: one file each. */
struct sim_action sim_hackbench_step(struct sim_world *w, struct sim_thread *t);
struct sim_action sim_ebizzy_step(struct sim_world *w, struct sim_thread *t);
struct sim_action sim_dbench_step(struct sim_world *w, struct sim_thread *t);
struct sim_action sim_rr_step(struct sim_world *w, struct sim_thread *t);
struct sim_action sim_ctxsw_step(struct sim_world *w, struct sim_thread *t);
struct sim_action sim_poisson_step(struct sim_world *w, struct sim_thread *t);
void sim_hackbench_init(struct sim_world *w, struct sim_vm *vm, uint32_t first_pipe);

#endif

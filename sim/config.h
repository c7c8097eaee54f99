/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a simulated host and its VMs are made of: every number the model takes from outside. */
#ifndef VHALT_SIM_CONFIG_H
#define VHALT_SIM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vhalt/boost.h>

#include "lib/spec.h"

/** What a VM's threads do; sim_workload_name() has the names. */
enum sim_workload {
	SIM_WORKLOAD_IDLE,	/* nothing but the tick */
	SIM_WORKLOAD_HOG,	/* one thread per vCPU that never stops computing */
	SIM_WORKLOAD_HACKBENCH, /* groups of senders and receivers over sockets */
	SIM_WORKLOAD_EBIZZY,	/* threads that map, touch, search and unmap memory */
	SIM_WORKLOAD_DBENCH,  /* clients of a file server inside the VM: locks, a journal, a disk */
	SIM_WORKLOAD_RR,      /* request and response with a peer outside, one at a time */
	SIM_WORKLOAD_CTXSW,   /* pairs of threads on two vCPUs that wake each other in turn */
	SIM_WORKLOAD_POISSON, /* requests that arrive at random, one server per vCPU */
	SIM_NR_WORKLOADS,
};

/** The host: section [host]. Defaults and bounds: the table in config.c. */
struct sim_host_config {
	uint64_t pcpus, llc; /* CPUs; CPUs that share a last-level cache */
	uint64_t smt;	     /* CPUs 2i and 2i+1 are siblings */
	uint64_t smt_pct;    /* speed of each while both are busy, % of one alone */
	/* fair scheduler */
	uint64_t latency_ns, slice_ns, granularity_ns, balance_ns, newidle_ns, scan;
	uint64_t yield_hint; /* is the directed yield's buddy hint honoured? */
	/* costs */
	uint64_t switch_ns, wake_ns, idle_exit_ns, deep_exit_ns, deep_after_ns, block_ns;
	uint64_t exit_ns, ipi_ns, ipi_each_ns, poll_exit_ns;
	/* PAUSE exits */
	uint64_t ple_ns, ple_grow, ple_max_ns;
	/* polling */
	struct vhalt_spec policy;
	uint64_t budget_ppm; /* 0: none */
	uint64_t stamped;    /* policies see the wake-up's time stamp */
};

/** One kind of VM: section [vm NAME]. */
struct sim_vm_config {
	char name[24];
	uint64_t count, vcpus;
	uint64_t workload; /* enum sim_workload */
	uint64_t boost;	   /* enum vhalt_boost_mode */
	uint64_t share;	   /* the guest shares its preempt_count */
	/* guest kernel */
	uint64_t hz, nohz, pv_locks, pv_spin_ns, pv_tlb, irq_ns, tick_ns, guest_switch_ns;
	uint64_t rq_hold_ns, guest_idle_ns, handover_ns;
	uint64_t guest_poll; /* the guest polls before it halts */
	struct vhalt_spec guest_policy;
	uint64_t host_poll; /* the host may poll for this VM: 0 as by the poll-control MSR */
	/* workload */
	uint64_t groups, pairs, threads; /* 0 threads: one per vCPU */
	uint64_t capacity;		 /* messages a receiver's queue holds */
	uint64_t work_ns, hold_ns, map_ns, think_ns, io_ns, net_ns, mean_ns;
	uint64_t locks, every; /* hashed spin locks; operations between two on the journal */
	uint64_t total;	       /* pieces of work of the published run */
	uint64_t bytes;	       /* of a piece of work, to give MB/s */
};

/** Most kinds of VM in a scenario. */
#define SIM_KINDS_MAX 8

/** How long to simulate, and all of the above. Self-contained: copy by assignment. */
struct sim_config {
	struct sim_host_config host;
	struct sim_vm_config vm[SIM_KINDS_MAX];
	uint32_t nr_kinds;
	uint64_t warmup_ns, duration_ns; /* the duration counts from the end of the warm-up */
};

enum sim_param_type {
	SIM_PARAM_NS,	  /* a duration */
	SIM_PARAM_NUMBER, /* a whole number */
	SIM_PARAM_BOOL,	  /* yes/no, 1/0 */
	SIM_PARAM_WORKLOAD,
	SIM_PARAM_BOOST,
	SIM_PARAM_POLICY, /* struct vhalt_spec */
};

/** One parameter of a section. */
struct sim_param {
	const char *name; /* as scenario files write it */
	enum sim_param_type type;
	size_t offset; /* in the section's structure */
	uint64_t dflt, min, max;
	const char *help; /* one sentence, lower case, no full stop */
};

/** The tables, each ended by a NULL name: [run], [host] and [vm NAME]. */
extern const struct sim_param sim_run_params[], sim_host_params[], sim_vm_params[];

/** sim_config_init - every default, no VM. */
void sim_config_init(struct sim_config *config);

/** Room for any message of the functions below. */
#define SIM_ERROR_BYTES 600

/**
 * sim_config_kind - the kind of VM called @name, added with its defaults if there is none.
 * Return: NULL when there are SIM_KINDS_MAX others or the name is none (letters, digits, - and _).
 */
struct sim_vm_config *sim_config_kind(struct sim_config *config, const char *name, bool add);

/**
 * sim_config_set - set a parameter by its full name.
 * @key:    "run.duration", "host.slice", "bench.vcpus" (KIND.PARAMETER), "vm.hz" (every kind)
 * @error:  receives one sentence on failure, SIM_ERROR_BYTES
 *
 * Return: 0, -ENOENT (no such parameter or kind), -EINVAL (not a value), -ERANGE.
 */
int sim_config_set(struct sim_config *config, const char *key, const char *value,
		   char error[SIM_ERROR_BYTES]);

/** sim_config_check - what no single parameter can see. Return: 0 or -EINVAL and @error. */
int sim_config_check(const struct sim_config *config, char error[SIM_ERROR_BYTES]);

/** sim_config_find - the row behind a full key, for those who step through values; or NULL. */
const struct sim_param *sim_config_find(const struct sim_config *config, const char *key);

/** sim_workload_name, sim_workload_find - names of the workloads; NULL, SIM_NR_WORKLOADS: none. */
const char *sim_workload_name(uint32_t workload);
uint32_t sim_workload_find(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a finished simulation is asked for: whole thousandths, so that they are the same everywhere.
 */
#ifndef VHALT_SIM_METRIC_H
#define VHALT_SIM_METRIC_H

#include "sim/model.h"

enum sim_metric {
	SIM_METRIC_RATE,	/* pieces of work a second */
	SIM_METRIC_SECONDS,	/* for `total` pieces of work at that rate */
	SIM_METRIC_MBPS,	/* MB/s, at `bytes` a piece */
	SIM_METRIC_LATENCY,	/* mean of a piece of work, us */
	SIM_METRIC_P50,		/* us */
	SIM_METRIC_P99,		/* us */
	SIM_METRIC_PER_WORK,	/* ns of one vCPU's time between two pieces of work of a pair */
	SIM_METRIC_CPU,		/* CPU time of all vCPUs, % of one CPU */
	SIM_METRIC_CPU_EACH,	/* of one vCPU, blocking included, % of a CPU */
	SIM_METRIC_STEAL,	/* waiting for a CPU, % of one CPU */
	SIM_METRIC_SPIN,	/* spinning, % of one CPU */
	SIM_METRIC_POLL,	/* host polling, % of one CPU */
	SIM_METRIC_POLL_WASTED, /* that met nothing */
	SIM_METRIC_GUEST_POLL,	/* guest polling, % of one CPU */
	SIM_METRIC_HALTS,	/* a second */
	SIM_METRIC_POLLED,	/* halts met by the host's polling, % */
	SIM_METRIC_WAKE,	/* event to guest running, mean over halts, us */
	SIM_METRIC_PAUSES,	/* PAUSE exits a second */
	SIM_METRIC_YIELDS,	/* directed yields a second */
	SIM_METRIC_HIT,		/* of these to one that holds a spin lock, % */
	SIM_METRIC_PREEMPTED,	/* vCPUs preempted with a spin lock held, a second */
	SIM_METRIC_HOLDER_WAIT, /* how long such a one waited, mean, us */
	SIM_METRIC_PV_HALTS,	/* waiters that gave up spinning, a second */
	SIM_METRIC_FLUSH,	/* mean wait for the answers to a flush, us */
	SIM_NR_VM_METRICS,
	/* of the host */
	SIM_METRIC_BUSY = 0,  /* CPUs not idle, % */
	SIM_METRIC_HOST_POLL, /* CPUs polling, % */
	SIM_METRIC_FACTOR,    /* price factor of the budget, mean */
	SIM_METRIC_EVENTS,    /* events of the simulation, in thousands of a second of it */
	SIM_NR_HOST_METRICS,
};

/** All metrics of one run, in thousandths. */
struct sim_result {
	int64_t host[SIM_NR_HOST_METRICS];
	int64_t vm[SIM_KINDS_MAX][SIM_NR_VM_METRICS];
};

/** sim_result_take - the metrics of a world that has been run; all VMs of a kind together. */
void sim_result_take(const struct sim_world *w, struct sim_result *result);

/** sim_metric_vm_name, sim_metric_host_name - by index; NULL at the end. */
const char *sim_metric_vm_name(uint32_t metric);
const char *sim_metric_host_name(uint32_t metric);

/** sim_metric_vm_summary, sim_metric_host_summary - one sentence. */
const char *sim_metric_vm_summary(uint32_t metric);
const char *sim_metric_host_summary(uint32_t metric);

/** Where a metric is: kind SIM_KINDS_MAX is the host. */
struct sim_metric_ref {
	uint32_t kind, metric;
};

/** sim_metric_find - "bench.rate", "host.busy". Return: 0 or -ENOENT. */
int sim_metric_find(const struct sim_config *config, const char *name, struct sim_metric_ref *ref);

/** sim_metric_value - in thousandths. */
static inline int64_t sim_metric_value(const struct sim_result *r, struct sim_metric_ref ref)
{
	return ref.kind == SIM_KINDS_MAX ? r->host[ref.metric] : r->vm[ref.kind][ref.metric];
}

/** sim_metric_lower_better - seconds, latencies, CPU time. */
bool sim_metric_lower_better(struct sim_metric_ref ref);

#endif

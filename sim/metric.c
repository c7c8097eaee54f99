// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What a finished simulation is asked for.
#include "sim/metric.h"

#include <errno.h>
#include <string.h>

#include "sim/workload.h"

static const struct {
	const char *name, *summary;
	bool lower_better;
} vm_metrics[SIM_NR_VM_METRICS] = {
	[SIM_METRIC_RATE] = {"rate", "pieces of work a second", false},
	[SIM_METRIC_SECONDS] = {"seconds", "time for `total` pieces of work at that rate", true},
	[SIM_METRIC_MBPS] = {"mbps", "MB/s, at `bytes` a piece of work", false},
	[SIM_METRIC_LATENCY] = {"latency", "time a piece of work takes, mean, us", true},
	[SIM_METRIC_P50] = {"p50", "median of that, us", true},
	[SIM_METRIC_P99] = {"p99", "99th percentile of that, us", true},
	[SIM_METRIC_PER_WORK] = {"per_work", "ns between two pieces of work of a pair of threads",
				 true},
	[SIM_METRIC_CPU] = {"cpu", "CPU time of all vCPUs, % of one CPU", true},
	[SIM_METRIC_CPU_EACH] = {"cpu_each", "CPU time of one vCPU, blocking included, % of a CPU",
				 true},
	[SIM_METRIC_STEAL] = {"steal", "waiting for a CPU, % of one CPU", true},
	[SIM_METRIC_SPIN] = {"spin", "spinning, % of one CPU", true},
	[SIM_METRIC_POLL] = {"poll", "polling by the host, % of one CPU", true},
	[SIM_METRIC_POLL_WASTED] = {"poll_wasted", "of that, polls that met nothing", true},
	[SIM_METRIC_GUEST_POLL] = {"guest_poll", "polling by the guest, % of one CPU", true},
	[SIM_METRIC_HALTS] = {"halts", "halts a second", true},
	[SIM_METRIC_POLLED] = {"polled", "halts met by the host's polling, %", false},
	[SIM_METRIC_WAKE] = {"wake", "from event to guest running, mean over halts, us", true},
	[SIM_METRIC_PAUSES] = {"pauses", "PAUSE exits a second", true},
	[SIM_METRIC_YIELDS] = {"yields", "directed yields a second", true},
	[SIM_METRIC_HIT] = {"hit", "of these to a vCPU that holds a spin lock, %", false},
	[SIM_METRIC_PREEMPTED] = {"preempted", "vCPUs preempted with a spin lock held, a second",
				  true},
	[SIM_METRIC_HOLDER_WAIT] = {"holder_wait", "how long these waited for a CPU, mean, us",
				    true},
	[SIM_METRIC_PV_HALTS] = {"pv_halts", "waiters that gave up spinning, a second", true},
	[SIM_METRIC_FLUSH] = {"flush", "wait for the answers to a TLB flush, mean, us", true},
};

static const struct {
	const char *name, *summary;
} host_metrics[SIM_NR_HOST_METRICS] = {
	[SIM_METRIC_BUSY] = {"busy", "CPUs that are not idle, %"},
	[SIM_METRIC_HOST_POLL] = {"poll", "CPUs that poll, %"},
	[SIM_METRIC_FACTOR] = {"factor", "price factor of the polling budget, mean"},
	[SIM_METRIC_EVENTS] = {"events", "events of the simulation, thousands in a second of it"},
};

/* a * 1000 * scale / b, rounded down; 0 when b is. */
static int64_t milli(uint64_t a, uint64_t scale, uint64_t b)
{
	return b ? (int64_t)((unsigned __int128)a * 1000 * scale / b) : 0;
}

static void add(struct sim_counters *sum, const struct sim_vm *vm)
{
	const uint64_t *now = (const uint64_t *)&vm->sum, *then = (const uint64_t *)&vm->mark;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++)
		to[i] += now[i] - then[i];
}

static int64_t percentile_us_milli(const uint64_t hist[SIM_HIST_BUCKETS], uint32_t percent)
{
	uint64_t all = 0, seen = 0;
	uint32_t b = 0;

	for (uint32_t i = 0; i < SIM_HIST_BUCKETS; i++)
		all += hist[i];
	while (b < SIM_HIST_BUCKETS - 1 && (seen += hist[b]) * 100 < all * percent)
		b++;
	return all ? (int64_t)sim_hist_ns(b) : 0;
}

static void take_kind(const struct sim_world *w, uint32_t kind, int64_t *m)
{
	const struct sim_vm_config *c = &w->config->vm[kind];
	uint64_t ns = w->config->duration_ns, hist[SIM_HIST_BUCKETS] = {0},
		 vcpus = c->vcpus * c->count;
	struct sim_counters s = {0};

	for (uint32_t i = 0; i < w->nr_vms; i++) {
		if (w->vm[i].kind != kind)
			continue;
		add(&s, &w->vm[i]);
		for (uint32_t b = 0; b < SIM_HIST_BUCKETS; b++)
			hist[b] += w->vm[i].hist[b];
	}
	m[SIM_METRIC_RATE] = milli(s.work, 1000000000, ns);
	m[SIM_METRIC_SECONDS] = milli((unsigned __int128)c->total * ns / 1000000000, 1, s.work);
	m[SIM_METRIC_MBPS] = milli(s.work * c->bytes, 1000, ns);
	m[SIM_METRIC_LATENCY] = milli(s.work_ns, 1, s.work * 1000);
	m[SIM_METRIC_P50] = percentile_us_milli(hist, 50);
	m[SIM_METRIC_P99] = percentile_us_milli(hist, 99);
	m[SIM_METRIC_PER_WORK] = milli(ns * (vcpus / 2), 1, s.work);
	m[SIM_METRIC_CPU] = milli(s.run_ns, 100, ns);
	m[SIM_METRIC_CPU_EACH] = milli(s.run_ns + s.blocked * w->config->host.block_ns, 100,
				       ns * vcpus);
	m[SIM_METRIC_STEAL] = milli(s.steal_ns, 100, ns);
	m[SIM_METRIC_SPIN] = milli(s.spin_ns, 100, ns);
	m[SIM_METRIC_POLL] = milli(s.poll_ns, 100, ns);
	m[SIM_METRIC_POLL_WASTED] = milli(s.poll_ns - s.poll_useful_ns, 100, ns);
	m[SIM_METRIC_GUEST_POLL] = milli(s.guest_poll_ns, 100, ns);
	m[SIM_METRIC_HALTS] = milli(s.halts, 1000000000, ns);
	m[SIM_METRIC_POLLED] = milli(s.polled, 100, s.halts);
	m[SIM_METRIC_WAKE] = milli(s.wake_latency_ns, 1, s.halts * 1000);
	m[SIM_METRIC_PAUSES] = milli(s.pause_exits, 1000000000, ns);
	m[SIM_METRIC_YIELDS] = milli(s.yields, 1000000000, ns);
	m[SIM_METRIC_HIT] = milli(s.yields_holder, 100, s.yields);
	m[SIM_METRIC_PREEMPTED] = milli(s.holder_preempted, 1000000000, ns);
	m[SIM_METRIC_HOLDER_WAIT] = milli(s.holder_wait_ns, 1, s.holder_preempted * 1000);
	m[SIM_METRIC_PV_HALTS] = milli(s.pv_halts, 1000000000, ns);
	m[SIM_METRIC_FLUSH] = milli(s.flush_wait_ns, 1, s.flushes * 1000);
}

void sim_result_take(const struct sim_world *w, struct sim_result *r)
{
	uint64_t busy_ns = 0, polled_ns = 0, all_ns = w->config->duration_ns * w->nr_pcpus;

	memset(r, 0, sizeof(*r));
	for (uint32_t i = 0; i < w->nr_pcpus; i++) {
		busy_ns += w->pcpu[i].busy_ns + w->pcpu[i].overhead_ns;
		polled_ns += w->pcpu[i].polled_ns;
	}
	r->host[SIM_METRIC_BUSY] = milli(busy_ns < all_ns ? busy_ns : all_ns, 100, all_ns);
	r->host[SIM_METRIC_HOST_POLL] = milli(polled_ns, 100, all_ns);
	r->host[SIM_METRIC_FACTOR] = milli(w->factor_sum, 1, w->factor_ticks * VHALT_FACTOR_ONE);
	r->host[SIM_METRIC_EVENTS] = milli(w->events - w->marked_events, 1000000,
					   w->config->duration_ns);
	for (uint32_t k = 0; k < w->config->nr_kinds; k++)
		take_kind(w, k, r->vm[k]);
}

const char *sim_metric_vm_name(uint32_t m)
{
	return m < SIM_NR_VM_METRICS ? vm_metrics[m].name : NULL;
}

const char *sim_metric_host_name(uint32_t m)
{
	return m < SIM_NR_HOST_METRICS ? host_metrics[m].name : NULL;
}

const char *sim_metric_vm_summary(uint32_t m)
{
	return m < SIM_NR_VM_METRICS ? vm_metrics[m].summary : NULL;
}

const char *sim_metric_host_summary(uint32_t m)
{
	return m < SIM_NR_HOST_METRICS ? host_metrics[m].summary : NULL;
}

int sim_metric_find(const struct sim_config *c, const char *name, struct sim_metric_ref *ref)
{
	const char *dot = strchr(name, '.');
	size_t n = dot ? (size_t)(dot - name) : 0;

	if (!dot)
		return -ENOENT;
	if (n == 4 && !strncmp(name, "host", 4)) {
		for (uint32_t m = 0; m < SIM_NR_HOST_METRICS; m++)
			if (!strcmp(host_metrics[m].name, dot + 1)) {
				*ref = (struct sim_metric_ref){SIM_KINDS_MAX, m};
				return 0;
			}
		return -ENOENT;
	}
	for (uint32_t k = 0; k < c->nr_kinds; k++)
		for (uint32_t m = 0; m < SIM_NR_VM_METRICS; m++)
			if (strlen(c->vm[k].name) == n && !strncmp(c->vm[k].name, name, n) &&
			    !strcmp(vm_metrics[m].name, dot + 1)) {
				*ref = (struct sim_metric_ref){k, m};
				return 0;
			}
	return -ENOENT;
}

bool sim_metric_lower_better(struct sim_metric_ref ref)
{
	return ref.kind == SIM_KINDS_MAX || vm_metrics[ref.metric].lower_better;
}

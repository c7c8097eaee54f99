// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Many vCPUs under one polling budget: what a price factor saves, and what a plain cut does.
#include "suite/budget.h"

#include <errno.h>
#include <stdlib.h>

#include <vhalt/auto.h>
#include <vhalt/budget.h>

#include "suite/parallel.h"
#include "suite/rng.h"
#include "suite/table.h"

enum {
	VARIANTS = 4, /* streams of halts per workload */
	STREAM_HALTS = 4096,
	STEPS = 10, /* rounds over the vCPUs per tick, so that they share it fairly */
	SETTLE_TICKS = 100,
	COUNTED_TICKS = 100,
};

static const struct suite_setting setting = {.b_ns = 50000, .max_ns = 200000};

/* Who lives on the host: 58 of 100 vCPUs idle or nearly so. */
static const struct {
	const char *workload;
	uint32_t share;
} mix[] = {
	{"idle_nohz", 22}, {"tick250", 14}, {"win64", 12},    {"win1k", 10},	  {"ctxsw", 3},
	{"mc_exp10", 3},   {"mc_exp30", 4}, {"mc_exp100", 5}, {"mc_exp1ms", 6},	  {"rr+250Hz", 4},
	{"rr+1kHz", 2},	   {"nvme80", 4},   {"fsync", 4},     {"burst_onoff", 4}, {"phase_chg", 3},
};

enum { NR_MIX = sizeof(mix) / sizeof(mix[0]) };

static struct suite_budget_row table[] = {
	{.spec = "auto", .means = SUITE_BUDGET_FREE},
	{.spec = "auto", .means = SUITE_BUDGET_PRICE, .cap_ppm = 50000},
	{.spec = "auto", .means = SUITE_BUDGET_PRICE, .cap_ppm = 20000},
	{.spec = "auto", .means = SUITE_BUDGET_PRICE, .cap_ppm = 10000},
	{.spec = "auto", .means = SUITE_BUDGET_CUT, .cap_ppm = 20000},
	{.spec = "kvm:halt_poll_ns=200us", .means = SUITE_BUDGET_FREE},
	{.spec = "kvm:halt_poll_ns=40us", .means = SUITE_BUDGET_FREE},
	{.spec = "kvm:halt_poll_ns=20us", .means = SUITE_BUDGET_FREE},
	{.spec = "kvm:halt_poll_ns=10us", .means = SUITE_BUDGET_FREE},
	{.spec = "kvm:halt_poll_ns=200us", .means = SUITE_BUDGET_CUT, .cap_ppm = 20000},
};

enum { NR_ROWS = sizeof(table) / sizeof(table[0]) };

/* A vCPU goes through its stream again and again, from a place of its own. */
struct tenant {
	struct suite_vcpu vcpu;
	const struct suite_halt *stream;
	uint32_t at;
	uint64_t now_ns;
};

struct study {
	struct suite_halt *streams; /* [(mix * VARIANTS + variant) * STREAM_HALTS] */
	uint64_t seed;
};

static uint32_t mix_of(uint32_t vcpu)
{
	uint32_t place = vcpu * 100 / SUITE_BUDGET_VCPUS, i = 0;

	while (place >= mix[i].share)
		place -= mix[i++].share;
	return i;
}

static void settle_in(struct tenant *t, const struct study *study, uint32_t vcpu,
		      const struct vhalt_config *config)
{
	struct suite_rng rng;

	suite_rng_init(&rng, study->seed, vcpu);
	t->stream = study->streams +
		    (size_t)(mix_of(vcpu) * VARIANTS + vcpu % VARIANTS) * STREAM_HALTS;
	t->at = suite_rng_below(&rng, STREAM_HALTS);
	t->now_ns = suite_rng_below(&rng, VHALT_BUDGET_TICK_NS);
	vhalt_state_init(&t->vcpu.state, config);
}

/* One vCPU up to @until_ns; returns what it polled. */
static uint64_t run_tenant(struct tenant *t, const struct vhalt_config *config,
			   const struct suite_host *host, uint64_t until_ns, bool gate_shut)
{
	uint64_t before = t->vcpu.sum.poll_ns;

	while (t->now_ns < until_ns) {
		uint64_t wall_ns = t->vcpu.sum.wall_ns;

		suite_vcpu_halt(&t->vcpu, config, host, &t->stream[t->at], gate_shut);
		t->now_ns += t->vcpu.sum.wall_ns - wall_ns;
		t->at = (t->at + 1) % STREAM_HALTS;
	}
	return t->vcpu.sum.poll_ns - before;
}

/* All vCPUs for one tick; returns what they polled. */
static uint64_t run_tick(struct tenant *tenants, const struct vhalt_config *config, uint64_t tick,
			 uint64_t allowance_ns)
{
	const struct suite_host host = {
		.b_ns = setting.b_ns, .max_ns = setting.max_ns, .switch_ns = 3000};
	uint64_t burnt_ns = 0;

	for (uint32_t step = 1; step <= STEPS; step++) {
		uint64_t until_ns = (tick * STEPS + step) * (VHALT_BUDGET_TICK_NS / STEPS);

		for (uint32_t v = 0; v < SUITE_BUDGET_VCPUS; v++)
			burnt_ns += run_tenant(&tenants[v], config, &host, until_ns,
					       burnt_ns >= allowance_ns);
	}
	return burnt_ns;
}

static void measure(struct suite_budget_row *row, const struct tenant *tenants,
		    const struct suite_sum *before)
{
	double seconds = COUNTED_TICKS * (double)VHALT_BUDGET_TICK_NS / 1e9;
	uint64_t poll_ns = 0, saved_ns = 0;

	for (uint32_t v = 0; v < SUITE_BUDGET_VCPUS; v++) {
		poll_ns += tenants[v].vcpu.sum.poll_ns - before[v].poll_ns;
		saved_ns += tenants[v].vcpu.sum.saved_ns - before[v].saved_ns;
	}
	row->burnt_pct = (double)poll_ns / (seconds * 1e9 * SUITE_BUDGET_CPUS) * 100;
	row->saved_ms_per_s = (double)saved_ns / 1e6 / seconds;
	row->saved_per_burnt = poll_ns ? (double)saved_ns / (double)poll_ns : 0;
}

static void simulate(struct suite_budget_row *row, struct tenant *tenants, struct suite_sum *before,
		     struct vhalt_config *config)
{
	const uint64_t host_ns = VHALT_BUDGET_TICK_NS * SUITE_BUDGET_CPUS;
	uint64_t allowance_ns = ~0ULL;
	struct vhalt_budget budget;

	vhalt_budget_init(&budget, row->cap_ppm);
	if (row->means == SUITE_BUDGET_CUT)
		allowance_ns = host_ns / 1000000 * row->cap_ppm;
	for (uint64_t tick = 0; tick < SETTLE_TICKS + COUNTED_TICKS; tick++) {
		uint64_t burnt_ns;
		double pct;

		for (uint32_t v = 0; tick == SETTLE_TICKS && v < SUITE_BUDGET_VCPUS; v++)
			before[v] = tenants[v].vcpu.sum;
		burnt_ns = run_tick(tenants, config, tick, allowance_ns);
		pct = (double)burnt_ns / (double)host_ns * 100;
		if (tick >= SETTLE_TICKS && pct > row->worst_tick_pct)
			row->worst_tick_pct = pct;
		if (row->means != SUITE_BUDGET_PRICE)
			continue;
		vhalt_auto_scale(config, vhalt_budget_tick(&budget, burnt_ns, host_ns));
		allowance_ns = budget.allowance_ns;
	}
	row->factor = (double)budget.factor / VHALT_FACTOR_ONE;
}

static int run_row(void *context, uint32_t i)
{
	struct tenant *tenants = calloc(SUITE_BUDGET_VCPUS, sizeof(*tenants));
	struct suite_sum *before = calloc(SUITE_BUDGET_VCPUS, sizeof(*before));
	struct suite_budget_row *row = &table[i];
	struct vhalt_config config;
	struct vhalt_spec spec;
	int err = -ENOMEM;

	if (!tenants || !before)
		goto out;
	err = vhalt_spec_parse(row->spec, &spec, NULL, 0);
	if (err)
		goto out;
	suite_spec_config(&spec, &setting, 3000, &config);
	for (uint32_t v = 0; v < SUITE_BUDGET_VCPUS; v++)
		settle_in(&tenants[v], context, v, &config);
	row->worst_tick_pct = 0;
	simulate(row, tenants, before, &config);
	measure(row, tenants, before);
out:
	free(before);
	free(tenants);
	return err;
}

int suite_budget_run(uint64_t seed, uint32_t threads, const struct suite_budget_row **rows,
		     uint32_t *nr)
{
	struct study study = {.seed = seed};
	int err;

	study.streams = malloc(sizeof(*study.streams) * NR_MIX * VARIANTS * STREAM_HALTS);
	if (!study.streams)
		return -ENOMEM;
	for (uint32_t i = 0; i < NR_MIX * VARIANTS; i++)
		suite_workload_generate((uint32_t)suite_workload_find(mix[i / VARIANTS].workload),
					&setting, seed + i % VARIANTS,
					&study.streams[(size_t)i * STREAM_HALTS], STREAM_HALTS);
	/* The first halt of a stream is marked as a new vCPU's; here it comes round again. */
	for (uint32_t i = 0; i < NR_MIX * VARIANTS; i++)
		study.streams[(size_t)i * STREAM_HALTS].fresh = false;
	err = suite_parallel(threads, NR_ROWS, run_row, &study, NULL);
	free(study.streams);
	*rows = table;
	*nr = NR_ROWS;
	return err;
}

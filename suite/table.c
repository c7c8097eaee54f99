// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The suite's table: settings x workloads x policies, each with its sums.
#include "suite/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/parallel.h"

/* What the jobs share: each writes its own cells only. */
struct run {
	struct suite_table *table;
	struct suite_sum *tunings; /* [job * SUITE_TUNINGS + tuning] */
};

static const char *const standard_specs[] = {
	"none", "always", "toggle",	  "dynamic",	  "guest",
	"pv",	"auto",	  "auto:sleep=2", "auto:sleep=1",
};

void suite_options_init(struct suite_options *o)
{
	static const uint32_t b_us[] = {10, 20, 50, 100, 150, 300};

	*o = (struct suite_options){.halts = SUITE_HALTS, .switch_ns = 3000, .seed = 1};
	for (size_t i = 0; i < sizeof(b_us) / sizeof(b_us[0]); i++)
		o->b_ns[o->nr_b++] = b_us[i] * 1000;
	o->max_ns[o->nr_max++] = 200000;
	o->max_ns[o->nr_max++] = 1000000;
	while (o->nr_workloads < suite_nr_workloads()) {
		o->workloads[o->nr_workloads] = o->nr_workloads;
		o->nr_workloads++;
	}
	for (size_t i = 0; i < sizeof(standard_specs) / sizeof(standard_specs[0]); i++)
		vhalt_spec_parse(standard_specs[i], &o->specs[o->nr_specs++], NULL, 0);
}

void suite_spec_config(const struct vhalt_spec *spec, const struct suite_setting *setting,
		       uint32_t switch_ns, struct vhalt_config *config)
{
	struct vhalt_spec s = *spec;
	int price = vhalt_spec_param(s.policy, "price");

	vhalt_spec_set(&s, "max_ns", setting->max_ns);
	vhalt_spec_set(&s, "halt_poll_ns", setting->max_ns);
	vhalt_spec_set(&s, "latency_ns", SUITE_LATENCY_NS);
	vhalt_spec_set(&s, "switch_ns", switch_ns);
	if (price >= 0 && !(s.given & 1U << price))
		vhalt_spec_set(&s, "b_ns", setting->b_ns);
	vhalt_spec_config(&s, config);
}

struct suite_host suite_host_of(const struct suite_options *o, const struct suite_setting *setting)
{
	return (struct suite_host){
		.b_ns = setting->b_ns,
		.max_ns = setting->max_ns,
		.switch_ns = o->switch_ns < setting->b_ns ? o->switch_ns : setting->b_ns,
		.stamped = o->stamped,
		.timers_hidden = o->timers_hidden,
	};
}

static void yardstick_spec(struct vhalt_spec *spec, uint64_t shrink)
{
	vhalt_spec_init(spec, VHALT_POLICY_KVM);
	vhalt_spec_set(spec, "shrink", shrink);
}

/* One workload under one setting: every policy sees the same halts. */
static int run_job(void *context, uint32_t job)
{
	const struct run *run = context;
	struct suite_table *t = run->table;
	const struct suite_options *o = &t->options;
	const struct suite_setting *setting = &t->settings[job / o->nr_workloads];
	struct suite_host host = suite_host_of(o, setting);
	struct suite_sum *sums = &t->sums[(size_t)job * t->nr_rows];
	struct suite_halt *halts = malloc(o->halts * sizeof(*halts));
	struct vhalt_config config;
	struct vhalt_spec spec;
	int err;

	if (!halts)
		return -ENOMEM;
	suite_workload_generate(o->workloads[job % o->nr_workloads], setting, o->seed, halts,
				o->halts);
	for (uint32_t i = 0; i < 2; i++) {
		yardstick_spec(&spec, i == SUITE_KVM0 ? 0 : 2);
		suite_spec_config(&spec, setting, o->switch_ns, &config);
		sums[i] = suite_drive(&config, &host, halts, o->halts);
	}
	for (uint32_t i = 0; i < SUITE_TUNINGS; i++) {
		suite_tuning(i, setting->max_ns, &config, NULL);
		run->tunings[(size_t)job * SUITE_TUNINGS + i] = suite_drive(&config, &host, halts,
									    o->halts);
	}
	for (uint32_t i = 0; i < o->nr_specs; i++) {
		suite_spec_config(&o->specs[i], setting, o->switch_ns, &config);
		sums[SUITE_YARDSTICKS + i] = suite_drive(&config, &host, halts, o->halts);
	}
	err = suite_best_fixed(&host, halts, o->halts, &sums[SUITE_FIXED]);
	free(halts);
	return err;
}

/* One tuning for all workloads of a setting, as an operator would have to choose it. */
static void choose_tuning(struct run *run, uint32_t setting)
{
	struct suite_table *t = run->table;
	uint32_t nr = t->options.nr_workloads, best = 0;
	double least = INFINITY;

	for (uint32_t tuning = 0; tuning < SUITE_TUNINGS; tuning++) {
		double sum = 0;

		for (uint32_t w = 0; w < nr; w++)
			sum += log((double)run->tunings[(setting * nr + w) * SUITE_TUNINGS + tuning]
					   .cost_ns);
		if (sum < least) {
			least = sum;
			best = tuning;
		}
	}
	for (uint32_t w = 0; w < nr; w++)
		t->sums[(size_t)(setting * nr + w) * t->nr_rows + SUITE_TUNED] =
			run->tunings[(setting * nr + w) * SUITE_TUNINGS + best];
	suite_tuning(best, t->settings[setting].max_ns, &(struct vhalt_config){0},
		     t->tuned_names[setting]);
}

static void name_rows(struct suite_table *t)
{
	static const char *const yardsticks[SUITE_YARDSTICKS] = {
		[SUITE_KVM0] = "kvm/0",
		[SUITE_KVM2] = "kvm/2",
		[SUITE_TUNED] = "kvm tuned",
		[SUITE_FIXED] = "best fixed",
	};
	char text[VHALT_SPEC_TEXT_BYTES];

	for (uint32_t i = 0; i < t->nr_rows; i++)
		snprintf(
			t->row_names[i], SUITE_NAME_BYTES, "%.*s", (int)SUITE_NAME_BYTES - 1,
			i < SUITE_YARDSTICKS
				? yardsticks[i]
				: vhalt_spec_format(&t->options.specs[i - SUITE_YARDSTICKS], text));
}

int suite_table_run(struct suite_table *t, const struct suite_options *o)
{
	struct run run = {.table = t};
	size_t jobs = (size_t)o->nr_b * o->nr_max * o->nr_workloads;
	int err = -ENOMEM;

	*t = (struct suite_table){.options = *o, .nr_settings = o->nr_b * o->nr_max};
	t->nr_rows = SUITE_YARDSTICKS + o->nr_specs;
	if (!jobs || t->nr_settings > SUITE_SETTINGS_MOST || t->nr_rows > SUITE_ROWS_MOST ||
	    !o->halts)
		return -EINVAL;
	for (uint32_t i = 0; i < t->nr_settings; i++)
		t->settings[i] = (struct suite_setting){o->b_ns[i % o->nr_b],
							o->max_ns[i / o->nr_b]};
	name_rows(t);
	t->sums = calloc(jobs * t->nr_rows, sizeof(*t->sums));
	run.tunings = calloc(jobs * SUITE_TUNINGS, sizeof(*run.tunings));
	if (t->sums && run.tunings)
		err = suite_parallel(o->threads, (uint32_t)jobs, run_job, &run, o->progress);
	for (uint32_t i = 0; i < t->nr_settings && !err; i++)
		choose_tuning(&run, i);
	free(run.tunings);
	return err;
}

void suite_table_fini(struct suite_table *table)
{
	free(table->sums);
	table->sums = NULL;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The figures policy `auto` has to reach, and whether it does.
#include "suite/target.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { TARGET_MAX_NS = 200000, EXCESS_FROM_B_NS = 50000, SLEEP_B_NS = 50000 };

/* Geometric means at max = 200 us. */
static const struct {
	uint32_t b_ns;
	double bound;
} geomeans[] = {
	{10000, 1.05},	 {20000, 1.07},	  {50000, 1.085},
	{100000, 1.085}, {150000, 1.085}, {300000, 1.085},
};

static const double worst_bound = 1.04, excess_bound = 58, sleep_bound = .90;
static const double trial_p50_bound = .97, trial_p99_bound = 1.02;

struct list {
	struct suite_target *targets;
	uint32_t nr;
};

__attribute__((format(printf, 5, 6))) static void add(struct list *list, double value, double bound,
						      bool at_least, const char *what, ...)
{
	struct suite_target *t = &list->targets[list->nr];
	va_list args;

	if (list->nr == SUITE_TARGETS_MOST)
		return;
	list->nr++;
	va_start(args, what);
	vsnprintf(t->what, sizeof(t->what), what, args);
	va_end(args);
	t->value = value;
	t->bound = bound;
	t->at_least = at_least;
	t->held = at_least ? value >= bound : value <= bound;
}

static int setting_of(const struct suite_table *t, uint32_t b_ns, uint32_t max_ns)
{
	for (uint32_t i = 0; i < t->nr_settings; i++)
		if (t->settings[i].b_ns == b_ns && t->settings[i].max_ns == max_ns)
			return (int)i;
	return -1;
}

static void add_worst(struct list *list, const struct suite_table *t, uint32_t row)
{
	uint32_t workload = 0, at = 0, where = 0;
	double worst = 0;

	for (uint32_t i = 0; i < t->nr_settings; i++) {
		double ratio = suite_table_worst(t, i, row, false, &workload);

		if (ratio <= worst)
			continue;
		worst = ratio;
		at = i;
		where = workload;
	}
	add(list, worst, worst_bound, false,
	    "worst of all against kvm/0 and kvm/2 (%s, B %" PRIu32 " us, max %" PRIu32 " us)",
	    suite_workload_name(t->options.workloads[where]), t->settings[at].b_ns / 1000,
	    t->settings[at].max_ns / 1000);
}

static void add_excess(struct list *list, const struct suite_table *t, uint32_t row)
{
	for (uint32_t i = 0; i < t->nr_settings; i++) {
		double ours = suite_table_excess(t, i, row);
		double kvm = suite_table_excess(t, i, SUITE_KVM2);

		if (t->settings[i].b_ns >= EXCESS_FROM_B_NS && kvm > 0)
			add(list, 100 * (1 - ours / kvm), excess_bound, true,
			    "excess below kvm/2 in %%, B %" PRIu32 " us, max %" PRIu32 " us",
			    t->settings[i].b_ns / 1000, t->settings[i].max_ns / 1000);
	}
}

uint32_t suite_table_targets(const struct suite_table *t,
			     struct suite_target targets[SUITE_TARGETS_MOST])
{
	struct list list = {targets, 0};
	int row = suite_table_row(t, "auto"), sleep_row = suite_table_row(t, "auto:sleep=2"), at;

	if (t->options.nr_workloads != suite_nr_workloads())
		return 0;
	for (size_t i = 0; row >= 0 && i < sizeof(geomeans) / sizeof(geomeans[0]); i++) {
		at = setting_of(t, geomeans[i].b_ns, TARGET_MAX_NS);
		if (at >= 0)
			add(&list, suite_table_geomean(t, (uint32_t)at, (uint32_t)row),
			    geomeans[i].bound, false,
			    "geometric mean, B %" PRIu32 " us, max 200 us",
			    geomeans[i].b_ns / 1000);
	}
	if (row >= 0) {
		add_worst(&list, t, (uint32_t)row);
		add_excess(&list, t, (uint32_t)row);
	}
	at = setting_of(t, SLEEP_B_NS, TARGET_MAX_NS);
	if (at >= 0 && sleep_row >= 0)
		add(&list, suite_table_geomean(t, (uint32_t)at, (uint32_t)sleep_row), sleep_bound,
		    false, "geometric mean sleeping by known timers, B 50 us, max 200 us");
	return list.nr;
}

uint32_t suite_trial_targets(const struct suite_trial *trial,
			     struct suite_target targets[SUITE_TARGETS_MOST])
{
	struct list list = {targets, 0};

	add(&list, trial->to_kvm.p50, trial_p50_bound, false,
	    "median against the better of kvm/0 and kvm/2");
	add(&list, trial->to_kvm.p99, trial_p99_bound, false,
	    "99th percentile against the better of kvm/0 and kvm/2");
	return list.nr;
}

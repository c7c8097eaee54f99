/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The suite's table: settings x workloads x policies, each with its sums. */
#ifndef VHALT_SUITE_TABLE_H
#define VHALT_SUITE_TABLE_H

#include "lib/spec.h"
#include "suite/drive.h"
#include "suite/hindsight.h"

#define SUITE_SETTINGS_MOST 64U
#define SUITE_ROWS_MOST	    32U
#define SUITE_NAME_BYTES    64U

/** What is run. suite_options_init() gives the standard suite. */
struct suite_options {
	uint32_t b_ns[SUITE_SETTINGS_MOST], nr_b;
	uint32_t max_ns[SUITE_SETTINGS_MOST],
		nr_max;				  /* nr_b * nr_max at most SUITE_SETTINGS_MOST */
	uint32_t workloads[64], nr_workloads;	  /* indices, in the order shown */
	struct vhalt_spec specs[SUITE_ROWS_MOST]; /* policies beside the yardsticks */
	uint32_t nr_specs;			  /* at most SUITE_ROWS_MOST - SUITE_YARDSTICKS */
	uint32_t halts;				  /* per workload */
	uint32_t switch_ns;			  /* C */
	uint32_t threads;			  /* 0: all CPUs */
	uint64_t seed;
	bool stamped;				      /* wake-ups are time-stamped */
	bool timers_hidden;			      /* deadlines are not given as hints */
	void (*progress)(uint32_t done, uint32_t nr); /* NULL, or see suite_parallel() */
};

/** Rows every table begins with: what the others are measured by. */
enum suite_yardstick {
	SUITE_KVM0,  /* kvm:shrink=0, halt_poll_ns = max */
	SUITE_KVM2,  /* kvm:shrink=2, halt_poll_ns = max: mainline's defaults */
	SUITE_TUNED, /* kvm with halt_poll_ns and shrink chosen in hindsight for the setting */
	SUITE_FIXED, /* the best fixed window in hindsight, for each workload anew */
	SUITE_YARDSTICKS,
};

/** One finished table. */
struct suite_table {
	struct suite_options options;
	uint32_t nr_settings, nr_rows;
	struct suite_setting settings[SUITE_SETTINGS_MOST];
	char row_names[SUITE_ROWS_MOST][SUITE_NAME_BYTES];
	char tuned_names[SUITE_SETTINGS_MOST][32]; /* what hindsight chose, "20us/2" */
	struct suite_sum *sums; /* [(setting * nr_workloads + workload) * nr_rows + row] */
};

/** suite_options_init - the standard suite: every workload and policy, 6 B, 2 max, seed 1. */
void suite_options_init(struct suite_options *options);

/**
 * suite_spec_config - prepare @spec for a setting.
 *
 * Parameters that were not given follow the setting: max_ns or halt_poll_ns is its max, and for
 * `auto` b_ns, latency_ns and switch_ns are those of the suite, unless a price was given.
 */
void suite_spec_config(const struct vhalt_spec *spec, const struct suite_setting *setting,
		       uint32_t switch_ns, struct vhalt_config *config);

/** suite_host_of - the host that @setting means under @options. */
struct suite_host suite_host_of(const struct suite_options *options,
				const struct suite_setting *setting);

/**
 * suite_table_run - fill @table; suite_table_fini() frees it, after an error too.
 *
 * The result depends on @options alone, not on the number of threads. Takes all CPUs for some
 * seconds. Return: 0, -EINVAL (too many settings or rows, or none), -ENOMEM.
 */
int suite_table_run(struct suite_table *table, const struct suite_options *options);
void suite_table_fini(struct suite_table *table);

/** suite_table_sum - the cell; @workload counts within options.workloads. */
static inline const struct suite_sum *
suite_table_sum(const struct suite_table *table, uint32_t setting, uint32_t workload, uint32_t row)
{
	return &table->sums[(setting * table->options.nr_workloads + workload) * table->nr_rows +
			    row];
}

/** suite_table_ratio - cost / oracle's cost. */
double suite_table_ratio(const struct suite_table *table, uint32_t setting, uint32_t workload,
			 uint32_t row);

/** suite_table_geomean - geometric mean of the ratios over the workloads. */
double suite_table_geomean(const struct suite_table *table, uint32_t setting, uint32_t row);

/** suite_table_excess - arithmetic mean of ratio - 1 over the workloads. */
double suite_table_excess(const struct suite_table *table, uint32_t setting, uint32_t row);

/**
 * suite_table_worst - the largest ratio of @row against the better of kvm/0 and kvm/2.
 * @tuned:     compare with the better of these and kvm tuned in hindsight
 * @workload:  receives where (within options.workloads)
 */
double suite_table_worst(const struct suite_table *table, uint32_t setting, uint32_t row,
			 bool tuned, uint32_t *workload);

/** suite_table_row - index of the row called @name, or -1. */
int suite_table_row(const struct suite_table *table, const char *name);

#endif

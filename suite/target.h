/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The figures policy `auto` has to reach, and whether it does. */
#ifndef VHALT_SUITE_TARGET_H
#define VHALT_SUITE_TARGET_H

#include "suite/table.h"
#include "suite/trial.h"

/** One figure with its bound. */
struct suite_target {
	char what[96];
	double value, bound;
	bool at_least; /* the bound is a lower one */
	bool held;
};

/** Room for every target of a table. */
#define SUITE_TARGETS_MOST 32U

/**
 * suite_table_targets - the targets that can be judged from @table.
 *
 * Needs the rows "auto" and, for one of them, "auto:sleep=2"; targets whose setting or row is not
 * in the table are left out, and so are all if the table does not have every workload. Return:
 * number of targets written.
 */
uint32_t suite_table_targets(const struct suite_table *table,
			     struct suite_target targets[SUITE_TARGETS_MOST]);

/** suite_trial_targets - the targets of a trial of `auto`; returns their number. */
uint32_t suite_trial_targets(const struct suite_trial *trial,
			     struct suite_target targets[SUITE_TARGETS_MOST]);

#endif

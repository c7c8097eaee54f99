// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policies `none` and `always`, rule by rule.

#include "tests/unit/policy_table.h"

/* clang-format off */
#define NONE VHALT_POLICY_NONE, {0}
#define ALWAYS(max) VHALT_POLICY_ALWAYS, {max}
/* clang-format on */

/* These two keep no window: putting one into the state has no effect. */
static struct policy_row rows[] = {
	{"none: blocks at once", NONE, 0, 0, 5000, 0, 0},
	{"none: ignores a window put in", NONE, 50000, 0, 5000, 0, 0},
	{"none: forced", NONE, 0, 0, 5000, VHALT_OUTCOME_FORCED, 0},
	{"none: invalid wake-up", NONE, 0, 0, 5000, VHALT_OUTCOME_INVALID, 0},
	{"always: short halt", ALWAYS(200000), 0, 200000, 5000, VHALT_OUTCOME_POLLED, 200000},
	{"always: long halt", ALWAYS(200000), 0, 200000, 4000000000000, 0, 200000},
	{"always: ignores a window put in", ALWAYS(200000), 7, 200000, 5000, 0, 200000},
	{"always: forced to block", ALWAYS(200000), 0, 0, 5000, VHALT_OUTCOME_FORCED, 200000},
	{"always: invalid wake-up", ALWAYS(200000), 0, 200000, 5000, VHALT_OUTCOME_INVALID, 200000},
	{"always: max 0", ALWAYS(0), 0, 0, 5000, 0, 0},
	{"always: widest window", ALWAYS(MAX32), 0, MAX32, 1, VHALT_OUTCOME_POLLED, MAX32},
};

int main(void)
{
	return policy_table_run("policies none and always", rows, ARRAY_SIZE(rows));
}

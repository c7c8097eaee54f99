// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `pv`, rule by rule.

#include "tests/unit/policy_table.h"

/* clang-format off */
#define PV(max) VHALT_POLICY_PV, {max}
/* clang-format on */

static struct policy_row rows[] = {
	/* Rule 1. */
	{"long idle: half", PV(200000), 200000, 200000, 200001, 0, 100000},
	{"long idle: no floor", PV(200000), 10000, 10000, 900000, 0, 5000},
	{"long idle: last nanosecond goes", PV(200000), 1, 1, 900000, 0, 0},
	{"long idle at 0: stays 0", PV(200000), 0, 0, 900000, 0, 0},
	{"long idle at the widest window", PV(MAX32), MAX32, MAX32, 1ULL << 32, 0, HALF32 - 1},
	{"max lowered below window, idle above window: half", PV(50000), 160000, 160000, 170000, 0,
	 80000},
	{"max lowered below window, idle between: half", PV(50000), 160000, 160000, 100000,
	 VHALT_OUTCOME_POLLED, 80000},
	{"max lowered to 0: halves away", PV(0), 160000, 160000, 1, VHALT_OUTCOME_POLLED, 80000},
	/* Rule 2. */
	{"first grow: 10 us", PV(200000), 0, 0, 5000, 0, 10000},
	{"idle of 0 grows as well", PV(200000), 0, 0, 0, 0, 10000},
	{"grow though the window sufficed", PV(200000), 40000, 40000, 20000, VHALT_OUTCOME_POLLED,
	 80000},
	{"grow: times 2", PV(200000), 40000, 40000, 90000, 0, 80000},
	{"grow ends at max", PV(200000), 160000, 160000, 190000, 0, 200000},
	{"first grow above max: max", PV(5000), 0, 0, 4000, 0, 5000},
	{"grow just below max", PV(200000), 199999, 199999, 199999, 0, 200000},
	{"grow does not wrap at 2^32", PV(MAX32), HALF32, HALF32, HALF32 + 1, 0, MAX32},
	/* Rule 3. */
	{"idle = max: keep", PV(200000), 40000, 40000, 200000, 0, 40000},
	{"idle = max at 0: keep", PV(200000), 0, 0, 200000, 0, 0},
	{"window = max, short idle: keep", PV(200000), 200000, 200000, 5000, VHALT_OUTCOME_POLLED,
	 200000},
	{"max lowered below window, short idle: keep", PV(50000), 160000, 160000, 20000,
	 VHALT_OUTCOME_POLLED, 160000},
	{"max 0 at 0: stays 0", PV(0), 0, 0, 5000, 0, 0},
	/* Outcomes. */
	{"forced, short: state kept", PV(200000), 40000, 0, 5000, VHALT_OUTCOME_FORCED, 40000},
	{"forced, long: state kept", PV(200000), 40000, 0, 900000, VHALT_OUTCOME_FORCED, 40000},
	{"invalid wake-up counts as idle", PV(200000), 40000, 40000, 5000, VHALT_OUTCOME_INVALID,
	 80000},
};

int main(void)
{
	return policy_table_run("policy pv", rows, ARRAY_SIZE(rows));
}

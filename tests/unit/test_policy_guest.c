// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `guest`, rule by rule. What counts is the halt's length less the window polled.

#include "tests/unit/policy_table.h"

/* max_ns, grow, grow_start, shrink, allow_shrink */
/* clang-format off */
#define GUEST(...) VHALT_POLICY_GUEST, {__VA_ARGS__}
/* clang-format on */
#define DEFAULTS GUEST(200000, 2, 50000, 2, 1)

static struct policy_row rows[] = {
	/* Rule 1. */
	{"met by polling: keep", DEFAULTS, 100000, 100000, 30000, VHALT_OUTCOME_POLLED, 100000},
	{"met by polling, late: keep", DEFAULTS, 100000, 100000, 900000, VHALT_OUTCOME_POLLED,
	 100000},
	/* Rule 2. */
	{"first grow: grow_start", DEFAULTS, 0, 0, 20000, 0, 50000},
	{"first grow, blocked = max", DEFAULTS, 0, 0, 200000, 0, 50000},
	{"blocked 1 ns: grows from 0", DEFAULTS, 0, 0, 1, 0, 50000},
	{"grow: times grow", DEFAULTS, 50000, 50000, 110000, 0, 100000},
	{"grow ends at max", DEFAULTS, 150000, 150000, 310000, 0, 200000},
	{"grow 3 ends at max", GUEST(200000, 3, 50000, 2, 1), 100000, 100000, 210000, 0, 200000},
	{"grow_start above max: max", GUEST(20000, 2, 50000, 2, 1), 0, 0, 20000, 0, 20000},
	{"grow 0: restarts at grow_start", GUEST(200000, 0, 50000, 2, 1), 80000, 80000, 180000, 0,
	 50000},
	{"grow 1 below grow_start: lifted", GUEST(200000, 1, 50000, 2, 1), 20000, 20000, 50000, 0,
	 50000},
	{"grow 1: stays", GUEST(200000, 1, 50000, 2, 1), 80000, 80000, 180000, 0, 80000},
	{"grow_start 0 from 0: stuck", GUEST(200000, 2, 0, 2, 1), 0, 0, 20000, 0, 0},
	{"grow wraps at 2^32", GUEST(MAX32, 2, 50000, 2, 1), HALF32, HALF32, 2ULL * HALF32 + 1, 0,
	 50000},
	{"grow wraps to a long one", GUEST(MAX32, 3, 50000, 2, 1), HALF32, HALF32,
	 2ULL * HALF32 + 1, 0, HALF32},
	/* Rule 3. */
	{"blocked above max: shrink", DEFAULTS, 200000, 200000, 400001, 0, 100000},
	{"shrink below grow_start: 0", DEFAULTS, 50000, 50000, 900000, 0, 0},
	{"shrink to grow_start exactly: kept", DEFAULTS, 100000, 100000, 900000, 0, 50000},
	{"shrink just below grow_start: 0", DEFAULTS, 99999, 99999, 900000, 0, 0},
	{"shrink 0: to 0", GUEST(200000, 2, 50000, 0, 1), 200000, 200000, 900000, 0, 0},
	{"shrink 1: stays", GUEST(200000, 2, 50000, 1, 1), 200000, 200000, 900000, 0, 200000},
	{"shrink 1 below grow_start: 0", GUEST(200000, 2, 50000, 1, 1), 40000, 40000, 900000, 0, 0},
	{"shrink 0, grow_start 0: to 0", GUEST(200000, 2, 0, 0, 1), 200000, 200000, 900000, 0, 0},
	{"shrink at 0: stays 0", DEFAULTS, 0, 0, 900000, 0, 0},
	{"allow_shrink 0: keep", GUEST(200000, 2, 50000, 2, 0), 200000, 200000, 900000, 0, 200000},
	{"max 0: shrinks away", GUEST(0, 2, 50000, 2, 1), 50000, 50000, 60000, 0, 0},
	{"max 0 at 0: stays 0", GUEST(0, 2, 50000, 2, 1), 0, 0, 60000, 0, 0},
	/* Rule 4. */
	{"blocked = limit: keep", DEFAULTS, 100000, 100000, 200000, 0, 100000},
	{"blocked = limit + 1: grow", DEFAULTS, 100000, 100000, 200001, 0, 200000},
	{"blocked less than limit: keep", DEFAULTS, 100000, 100000, 150000, 0, 100000},
	{"blocked = max = limit: keep", DEFAULTS, 200000, 200000, 400000, 0, 200000},
	{"halt = window, not met: keep", DEFAULTS, 100000, 100000, 100000, 0, 100000},
	{"halt below window, not met (cut): keep", DEFAULTS, 100000, 100000, 60000,
	 VHALT_OUTCOME_CUT, 100000},
	{"max lowered below limit, blocked between: keep", GUEST(50000, 2, 50000, 2, 1), 100000,
	 100000, 140000, 0, 100000},
	{"max lowered below limit, blocked above: shrink", GUEST(50000, 2, 20000, 2, 1), 100000,
	 100000, 160000, 0, 50000},
	/* Outcomes. */
	{"forced, short: state kept", DEFAULTS, 50000, 0, 110000, VHALT_OUTCOME_FORCED, 50000},
	{"forced, long: state kept", DEFAULTS, 50000, 0, 900000, VHALT_OUTCOME_FORCED, 50000},
	{"invalid wake-up counts as a halt", DEFAULTS, 0, 0, 20000, VHALT_OUTCOME_INVALID, 50000},
};

int main(void)
{
	return policy_table_run("policy guest", rows, ARRAY_SIZE(rows));
}

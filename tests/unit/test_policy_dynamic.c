// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `dynamic`, rule by rule.

#include "tests/unit/policy_table.h"

/* max_ns, grow, grow_start, shrink */
/* clang-format off */
#define DYNAMIC(...) VHALT_POLICY_DYNAMIC, {__VA_ARGS__}
/* clang-format on */
#define DEFAULTS DYNAMIC(200000, 2, 10000, 0)

static struct policy_row rows[] = {
	/* Rule 1. */
	{"max 0: window becomes 0", DYNAMIC(0, 2, 10000, 0), 40000, 40000, 5000, 0, 0},
	{"max 0: stays 0", DYNAMIC(0, 2, 10000, 0), 0, 0, 5000, 0, 0},
	/* Rule 2. */
	{"halt below window: keep", DEFAULTS, 40000, 40000, 20000, VHALT_OUTCOME_POLLED, 40000},
	{"halt = window: keep", DEFAULTS, 40000, 40000, 40000, 0, 40000},
	{"window 0, halt 0: keep", DEFAULTS, 0, 0, 0, 0, 0},
	{"overshot window goes on polling", DEFAULTS, 320000, 320000, 250000, VHALT_OUTCOME_POLLED,
	 320000},
	{"max lowered below window, halt between: keep", DYNAMIC(50000, 2, 10000, 0), 160000,
	 160000, 100000, VHALT_OUTCOME_POLLED, 160000},
	/* Rule 3. */
	{"long halt, shrink 0: reset", DEFAULTS, 160000, 160000, 200001, 0, 0},
	{"long halt, shrink 1: keeps its size", DYNAMIC(200000, 2, 10000, 1), 160000, 160000,
	 900000, 0, 160000},
	{"long halt, shrink 2: half", DYNAMIC(200000, 2, 10000, 2), 160000, 160000, 900000, 0,
	 80000},
	{"shrink leaves crumbs", DYNAMIC(200000, 2, 10000, 2), 10000, 10000, 900000, 0, 5000},
	{"last crumb goes", DYNAMIC(200000, 2, 10000, 2), 1, 1, 900000, 0, 0},
	{"shrink widest divisor", DYNAMIC(200000, 2, 10000, MAX32), MAX32, MAX32, 1ULL << 40, 0, 1},
	{"overshot window, longer halt: shrink", DEFAULTS, 320000, 320000, 320001, 0, 0},
	{"max lowered below window, longer halt: shrink", DYNAMIC(50000, 2, 10000, 2), 160000,
	 160000, 160001, 0, 80000},
	{"window 0, long halt: nothing to shrink", DEFAULTS, 0, 0, 900000, 0, 0},
	/* Rule 4. */
	{"first grow: grow_start", DEFAULTS, 0, 0, 5000, 0, 10000},
	{"first grow, halt just below max", DEFAULTS, 0, 0, 199999, 0, 10000},
	{"next grow: times grow", DEFAULTS, 10000, 10000, 30000, 0, 20000},
	{"grow overshoots max", DEFAULTS, 160000, 160000, 170000, 0, 320000},
	{"grow_start above max: overshoots", DYNAMIC(5000, 2, 10000, 0), 0, 0, 4000, 0, 10000},
	{"grow from a crumb: no floor", DYNAMIC(200000, 2, 10000, 2), 1250, 1250, 5000, 0, 2500},
	{"grow 0 from 0: stays 0", DYNAMIC(200000, 0, 10000, 0), 0, 0, 5000, 0, 0},
	{"grow 0 from a window: falls to 0", DYNAMIC(200000, 0, 10000, 0), 40000, 40000, 50000, 0,
	 0},
	{"grow 1: stays", DYNAMIC(200000, 1, 10000, 0), 40000, 40000, 50000, 0, 40000},
	{"grow wraps at 2^32", DYNAMIC(MAX32, 2, 10000, 0), HALF32 + 5, HALF32 + 5, HALF32 + 6, 0,
	 10},
	{"grow widest factor wraps", DYNAMIC(MAX32, MAX32, 10000, 0), 3, 3, 4, 0, MAX32 - 2},
	{"grow_start 0: stuck at 0", DYNAMIC(200000, 2, 0, 0), 0, 0, 5000, 0, 0},
	/* Rule 5. */
	{"halt = max: keep", DEFAULTS, 40000, 40000, 200000, 0, 40000},
	{"window 0, halt = max: keep", DEFAULTS, 0, 0, 200000, 0, 0},
	{"window = max, halt just above: shrink", DEFAULTS, 200000, 200000, 200001, 0, 0},
	/* Outcomes. */
	{"forced, short halt: state kept", DEFAULTS, 40000, 0, 50000, VHALT_OUTCOME_FORCED, 40000},
	{"forced, long halt: state kept", DEFAULTS, 40000, 0, 900000, VHALT_OUTCOME_FORCED, 40000},
	{"forced with max 0: state kept", DYNAMIC(0, 2, 10000, 0), 40000, 0, 5000,
	 VHALT_OUTCOME_FORCED, 40000},
	{"invalid wake-up counts as a halt", DEFAULTS, 10000, 10000, 30000, VHALT_OUTCOME_INVALID,
	 20000},
	{"cut poll counts as a halt", DEFAULTS, 10000, 10000, 30000, VHALT_OUTCOME_CUT, 20000},
	{"own timer counts as a halt", DEFAULTS, 40000, 40000, 4000000, VHALT_OUTCOME_OWN_TIMER, 0},
};

int main(void)
{
	return policy_table_run("policy dynamic", rows, ARRAY_SIZE(rows));
}

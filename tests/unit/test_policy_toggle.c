// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `toggle`, rule by rule.

#include "tests/unit/policy_table.h"

/* clang-format off */
#define TOGGLE(max) VHALT_POLICY_TOGGLE, {max}
/* clang-format on */

static struct policy_row rows[] = {
	/* Rule 1: met, keep. */
	{"on, short halt: stays on", TOGGLE(200000), 200000, 200000, 30000, VHALT_OUTCOME_POLLED,
	 200000},
	{"on, halt = window: stays on", TOGGLE(200000), 200000, 200000, 200000, 0, 200000},
	/* Rule 2: off. */
	{"on, halt just above max: off", TOGGLE(200000), 200000, 200000, 200001, 0, 0},
	{"on, halt of an hour: off", TOGGLE(200000), 200000, 200000, 3600000000000, 0, 0},
	{"on at the widest, halt 2^32: off", TOGGLE(MAX32), MAX32, MAX32, 1ULL << 32, 0, 0},
	/* Rule 3: on. */
	{"off, short halt: on", TOGGLE(200000), 0, 0, 30000, 0, 200000},
	{"off, halt just below max: on", TOGGLE(200000), 0, 0, 199999, 0, 200000},
	{"off, halt = max: stays off", TOGGLE(200000), 0, 0, 200000, 0, 0},
	{"off, long halt: stays off", TOGGLE(200000), 0, 0, 5000000, 0, 0},
	{"off, halt of 0: it needed no poll, stays off", TOGGLE(200000), 0, 0, 0, 0, 0},
	{"off, max widest, halt just below: on", TOGGLE(MAX32), 0, 0, MAX32 - 1, 0, MAX32},
	/* Rule 4. */
	{"max 0: off and stays off", TOGGLE(0), 0, 0, 5000, 0, 0},
	{"max lowered to 0 while on: off at once", TOGGLE(0), 200000, 0, 5000, 0, 0},
	{"max 1, halt of 0 while off: stays off", TOGGLE(1), 0, 0, 0, 0, 0},
	/* The window follows max. */
	{"max lowered while on: polls the new max", TOGGLE(50000), 200000, 50000, 40000,
	 VHALT_OUTCOME_POLLED, 50000},
	{"max lowered while on, halt between: off", TOGGLE(50000), 200000, 50000, 100000, 0, 0},
	{"max raised while on: polls the new max", TOGGLE(400000), 200000, 400000, 300000,
	 VHALT_OUTCOME_POLLED, 400000},
	/* Outcomes it does not judge, and those it does not know. */
	{"forced: state kept on", TOGGLE(200000), 200000, 0, 5000000, VHALT_OUTCOME_FORCED, 200000},
	{"forced: state kept off", TOGGLE(200000), 0, 0, 5000, VHALT_OUTCOME_FORCED, 0},
	{"invalid wake-up counts as a halt", TOGGLE(200000), 0, 0, 5000, VHALT_OUTCOME_INVALID,
	 200000},
	{"cut poll counts as a halt", TOGGLE(200000), 200000, 200000, 300000, VHALT_OUTCOME_CUT, 0},
};

int main(void)
{
	return policy_table_run("policy toggle", rows, ARRAY_SIZE(rows));
}

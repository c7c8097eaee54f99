/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Table-driven tests of a window-keeping policy: one row, one halt, one named test case. */
#ifndef VHALT_TESTS_POLICY_TABLE_H
#define VHALT_TESTS_POLICY_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <vhalt/policy.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/** Edges of the 32-bit window. */
#define MAX32  0xffffffffU
#define HALF32 0x80000000U

/** One halt: the window before it, what is planned, how it ends, the window after it. */
struct policy_row {
	const char *what;
	uint32_t id;			   /* enum vhalt_policy_id */
	uint64_t values[VHALT_PARAMS_MAX]; /* parameters in the order of the policy's table */
	uint32_t before_ns;		   /* window put into the state */
	uint32_t plan_ns;		   /* window vhalt_decide() must plan */
	uint64_t halt_ns;
	uint32_t flags; /* enum vhalt_outcome_flags; FORCED also sets the hint */
	uint32_t after_ns;
};

static const struct vhalt_hint policy_hint_none = {
	.run_ns = VHALT_UNKNOWN_NS,
	.deadline_ns = VHALT_NO_DEADLINE_NS,
};

static inline void policy_row_fail(const char *what, const char *field, uint64_t got, uint64_t want)
{
	if (got != want)
		fail_msg("%s: %s is %llu, expected %llu", what, field, (unsigned long long)got,
			 (unsigned long long)want);
}

/** policy_row_begin - prepare config and state, decide, and check the plan. */
static inline struct vhalt_outcome policy_row_begin(const struct policy_row *row,
						    struct vhalt_config *config,
						    struct vhalt_state *state)
{
	struct vhalt_hint hint = policy_hint_none;
	struct vhalt_plan plan;

	assert_int_equal(vhalt_config_init(config, row->id, row->values, NULL), 0);
	vhalt_state_init(state, config);
	vhalt_state_set_window(state, config, row->before_ns);
	hint.must_block = row->flags & VHALT_OUTCOME_FORCED;
	plan = vhalt_decide(state, config, &hint);
	policy_row_fail(row->what, "sleep", plan.sleep_ns, 0);
	policy_row_fail(row->what, "planned window", plan.window_ns, row->plan_ns);
	return (struct vhalt_outcome){
		.halt_ns = row->halt_ns,
		.wake_ns = VHALT_UNKNOWN_NS,
		.window_ns = plan.window_ns,
		.flags = row->flags,
	};
}

/** policy_row_test - a cmocka test function; *@arg is the struct policy_row. */
static inline void policy_row_test(void **arg)
{
	const struct policy_row *row = (const struct policy_row *)*arg;
	struct vhalt_config config;
	struct vhalt_state state;
	struct vhalt_outcome outcome = policy_row_begin(row, &config, &state);

	vhalt_update(&state, &config, &outcome);
	policy_row_fail(row->what, "window after", vhalt_window(&state, &config), row->after_ns);
}

/** policy_table_run - run @count rows as one group called @name. Return: main()'s exit code. */
static inline int policy_table_run(const char *name, struct policy_row *rows, size_t count)
{
	static struct CMUnitTest tests[128];

	if (count > ARRAY_SIZE(tests))
		return 1;
	for (size_t i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){rows[i].what, policy_row_test, NULL, NULL, &rows[i]};
	return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
}

#endif

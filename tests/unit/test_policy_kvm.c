// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy `kvm`, rule by rule, with the event the kernel would trace.

#include "tests/unit/policy_table.h"

#include <string.h>
#include <vhalt/kvm.h>

enum event { SILENT, GROW, SHRINK };

struct kvm_row {
	struct policy_row row;
	enum event event;
};

/* halt_poll_ns, grow, grow_start, shrink, clamp */
/* clang-format off */
#define KVM(...) VHALT_POLICY_KVM, {__VA_ARGS__}
/* clang-format on */
#define DEFAULTS KVM(200000, 2, 10000, 2, 0)
#define OLD	 KVM(200000, 2, 10000, 0, 1)
#define POLLED	 VHALT_OUTCOME_POLLED
#define INVALID	 VHALT_OUTCOME_INVALID
#define FORCED	 VHALT_OUTCOME_FORCED

static struct kvm_row rows[] = {
	/* Rule 1: the ceiling, silently, when the next halt begins. */
	{{"window above ceiling is cut", DEFAULTS, 320000, 200000, 150000, POLLED, 200000}, SILENT},
	{{"cut window, long halt: shrinks from the ceiling", DEFAULTS, 320000, 200000, 200001, 0,
	  100000},
	 SHRINK},
	{{"ceiling lowered below window", KVM(50000, 2, 10000, 2, 0), 200000, 50000, 50001, 0,
	  25000},
	 SHRINK},
	{{"ceiling lowered, halt = new ceiling", KVM(50000, 2, 10000, 2, 0), 200000, 50000, 50000,
	  0, 50000},
	 SILENT},
	{{"ceiling lowered below grow_start", KVM(7000, 2, 10000, 2, 0), 10000, 7000, 8000, 0, 0},
	 SHRINK},
	{{"cut although forced", DEFAULTS, 320000, 0, 5000, FORCED, 200000}, SILENT},
	/* Rule 2: invalid wake-ups. */
	{{"invalid, short halt: shrink", DEFAULTS, 80000, 80000, 5000, INVALID | POLLED, 40000},
	 SHRINK},
	{{"invalid, halt within reach: shrink", DEFAULTS, 40000, 40000, 90000, INVALID, 20000},
	 SHRINK},
	{{"invalid at 0: event without change", DEFAULTS, 0, 0, 5000, INVALID, 0}, SHRINK},
	{{"invalid, shrink 1, window at grow_start", KVM(200000, 2, 10000, 1, 0), 10000, 10000,
	  5000, INVALID, 10000},
	 SHRINK},
	{{"invalid, ceiling 0: cut, then event", KVM(0, 2, 10000, 2, 0), 80000, 0, 5000, INVALID,
	  0},
	 SHRINK},
	{{"invalid but forced: nothing", DEFAULTS, 80000, 0, 5000, INVALID | FORCED, 80000},
	 SILENT},
	/* Rule 3: ceiling 0. */
	{{"ceiling 0: window 0, no event", KVM(0, 2, 10000, 2, 0), 80000, 0, 5000, 0, 0}, SILENT},
	{{"ceiling 0 at 0", KVM(0, 2, 10000, 2, 0), 0, 0, 5000, 0, 0}, SILENT},
	{{"ceiling 0, halt 0", KVM(0, 2, 10000, 2, 0), 0, 0, 0, 0, 0}, SILENT},
	{{"ceiling 0, old kernel: polls once more", KVM(0, 2, 10000, 0, 1), 80000, 80000, 5000,
	  POLLED, 0},
	 SILENT},
	/* Rule 4: met. */
	{{"halt below window: keep", DEFAULTS, 40000, 40000, 20000, POLLED, 40000}, SILENT},
	{{"halt = window: keep", DEFAULTS, 40000, 40000, 40000, 0, 40000}, SILENT},
	{{"window 0, halt 0: keep", DEFAULTS, 0, 0, 0, 0, 0}, SILENT},
	{{"window = ceiling = halt: keep", DEFAULTS, 200000, 200000, 200000, 0, 200000}, SILENT},
	{{"late poll, halt above window: grows all the same", DEFAULTS, 40000, 40000, 40001, POLLED,
	  80000},
	 GROW},
	/* Rule 5: shrink. */
	{{"long halt: half", DEFAULTS, 80000, 80000, 200001, 0, 40000}, SHRINK},
	{{"long halt, window = ceiling", DEFAULTS, 200000, 200000, 200001, 0, 100000}, SHRINK},
	{{"shrink rounds down", KVM(200000, 2, 1, 3, 0), 80000, 80000, 900000, 0, 26666}, SHRINK},
	{{"shrink to grow_start: kept", DEFAULTS, 20000, 20000, 900000, 0, 10000}, SHRINK},
	{{"shrink below grow_start: 0", DEFAULTS, 19999, 19999, 900000, 0, 0}, SHRINK},
	{{"shrink 0: 0", KVM(200000, 2, 10000, 0, 0), 160000, 160000, 900000, 0, 0}, SHRINK},
	{{"shrink 0, grow_start 0: 0", KVM(200000, 2, 0, 0, 0), 160000, 160000, 900000, 0, 0},
	 SHRINK},
	{{"shrink 1: event without change", KVM(200000, 2, 10000, 1, 0), 80000, 80000, 900000, 0,
	  80000},
	 SHRINK},
	{{"shrink 1 below grow_start: 0", KVM(200000, 2, 10000, 1, 0), 9999, 9999, 900000, 0, 0},
	 SHRINK},
	{{"shrink with the widest divisor", KVM(MAX32, 2, 1, MAX32, 0), MAX32, MAX32, 1ULL << 32, 0,
	  1},
	 SHRINK},
	{{"halt beyond 32 bits is long", DEFAULTS, 80000, 80000, (1ULL << 32) + 5, 0, 40000},
	 SHRINK},
	{{"halt of 2^64-1", DEFAULTS, 80000, 80000, ~0ULL, 0, 40000}, SHRINK},
	{{"long halt at 0: nothing", DEFAULTS, 0, 0, 900000, 0, 0}, SILENT},
	/* Rule 6: grow. */
	{{"first grow: grow_start", DEFAULTS, 0, 0, 5000, 0, 10000}, GROW},
	{{"first grow, halt just below ceiling", DEFAULTS, 0, 0, 199999, 0, 10000}, GROW},
	{{"grow: times grow", DEFAULTS, 20000, 20000, 30000, 0, 40000}, GROW},
	{{"grow past the ceiling", DEFAULTS, 160000, 160000, 170000, 0, 320000}, GROW},
	{{"grow is at least grow_start", DEFAULTS, 2000, 2000, 5000, 0, 10000}, GROW},
	{{"grow_start above ceiling", KVM(5000, 2, 10000, 2, 0), 0, 0, 4000, 0, 10000}, GROW},
	{{"grow_start above ceiling, next halt", KVM(5000, 2, 10000, 2, 0), 10000, 5000, 4000,
	  POLLED, 5000},
	 SILENT},
	{{"grow_start 0 at 0: event without change", KVM(200000, 2, 0, 2, 0), 0, 0, 5000, 0, 0},
	 GROW},
	{{"grow 0: event without change", KVM(200000, 0, 10000, 2, 0), 20000, 20000, 30000, 0,
	  20000},
	 GROW},
	{{"grow 0 at 0: event without change", KVM(200000, 0, 10000, 2, 0), 0, 0, 5000, 0, 0},
	 GROW},
	{{"grow 1: event without change", KVM(200000, 1, 10000, 2, 0), 20000, 20000, 30000, 0,
	  20000},
	 GROW},
	{{"grow 1 at 0: grow_start", KVM(200000, 1, 10000, 2, 0), 0, 0, 5000, 0, 10000}, GROW},
	{{"grow wraps at 2^32 to 0: grow_start", KVM(MAX32, 2, 10000, 2, 0), HALF32, HALF32,
	  HALF32 + 1, 0, 10000},
	 GROW},
	{{"grow wraps at 2^32 to little: grow_start", KVM(MAX32, 2, 10000, 2, 0), HALF32 + 4000,
	  HALF32 + 4000, HALF32 + 4001, 0, 10000},
	 GROW},
	{{"grow wraps at 2^32 to more", KVM(MAX32, 2, 10000, 2, 0), HALF32 + 40000, HALF32 + 40000,
	  HALF32 + 40001, 0, 80000},
	 GROW},
	{{"grow by the widest factor wraps", KVM(MAX32, MAX32, 10000, 2, 0), 3, 3, 4, 0, MAX32 - 2},
	 GROW},
	{{"ceiling at the widest, window just below", KVM(MAX32, 1, 10000, 2, 0), MAX32 - 2,
	  MAX32 - 2, MAX32 - 1, 0, MAX32 - 2},
	 GROW},
	/* Rule 7. */
	{{"halt = ceiling: keep", DEFAULTS, 40000, 40000, 200000, 0, 40000}, SILENT},
	{{"halt = ceiling at 0: keep", DEFAULTS, 0, 0, 200000, 0, 0}, SILENT},
	{{"ceiling 1, halt 1 at 0: keep", KVM(1, 2, 10000, 2, 0), 0, 0, 1, 0, 0}, SILENT},
	{{"widest ceiling, halt = ceiling: keep", KVM(MAX32, 2, 10000, 2, 0), 40000, 40000, MAX32,
	  0, 40000},
	 SILENT},
	/* Kernels before 6.1: clamp 1, shrink 0. */
	{{"old: grow is cut at once", OLD, 160000, 160000, 170000, 0, 200000}, GROW},
	{{"old: grow_start is cut at once", KVM(5000, 2, 10000, 0, 1), 0, 0, 4000, 0, 5000}, GROW},
	{{"old: long halt resets", OLD, 160000, 160000, 200001, 0, 0}, SHRINK},
	{{"old: lowered ceiling not applied, halt between", KVM(50000, 2, 10000, 0, 1), 160000,
	  160000, 100000, POLLED, 160000},
	 SILENT},
	{{"old: lowered ceiling not applied, halt above", KVM(50000, 2, 10000, 0, 1), 160000,
	  160000, 160001, 0, 0},
	 SHRINK},
	{{"old: grow 0 is not cut", KVM(200000, 0, 10000, 0, 1), 20000, 20000, 30000, 0, 20000},
	 GROW},
	/* Polling forbidden: nothing. */
	{{"forced, short halt: state kept", DEFAULTS, 40000, 0, 50000, FORCED, 40000}, SILENT},
	{{"forced, long halt: state kept", DEFAULTS, 40000, 0, 900000, FORCED, 40000}, SILENT},
	{{"forced, old, ceiling 0: state kept", KVM(0, 2, 10000, 0, 1), 40000, 0, 5000, FORCED,
	  40000},
	 SILENT},
	/* Outcomes the kernel does not tell apart. */
	{{"cut poll counts as a halt", DEFAULTS, 20000, 20000, 30000, VHALT_OUTCOME_CUT, 40000},
	 GROW},
	{{"own timer counts as a halt", DEFAULTS, 80000, 80000, 4000000, VHALT_OUTCOME_OWN_TIMER,
	  40000},
	 SHRINK},
};

static void check_event(const struct kvm_row *r, const struct vhalt_window_change *change,
			uint32_t in_force_ns)
{
	const char *what = r->row.what;

	policy_row_fail(what, "event", change->decided, r->event != SILENT);
	policy_row_fail(what, "event's direction", change->grow, r->event == GROW);
	policy_row_fail(what, "event's old window", change->old_ns, in_force_ns);
	policy_row_fail(what, "event's new window", change->new_ns, r->row.after_ns);
}

/* The row through vhalt_kvm_update(), then through vhalt_update(): same state. */
static void kvm_row_test(void **arg)
{
	const struct kvm_row *r = (const struct kvm_row *)*arg;
	struct vhalt_config config;
	struct vhalt_state state, twin;
	struct vhalt_outcome outcome = policy_row_begin(&r->row, &config, &state);
	uint32_t in_force_ns = vhalt_window(&state, &config);
	struct vhalt_window_change change;

	memcpy(&twin, &state, sizeof(twin));
	change = vhalt_kvm_update(&state, &config, &outcome);
	policy_row_fail(r->row.what, "window after", vhalt_window(&state, &config),
			r->row.after_ns);
	check_event(r, &change, in_force_ns);
	vhalt_update(&twin, &config, &outcome);
	assert_memory_equal(&twin, &state, sizeof(twin));
}

/* A recording made on stock 6.12 semantics, by hand: start, growth, overshoot, ceiling, decay. */
static void life_of_a_window(void **arg)
{
	static const struct {
		uint64_t halt_ns;
		uint32_t window_ns;
	} steps[] = {
		{150000, 10000},  {150000, 20000},  {150000, 40000},  {150000, 80000},
		{150000, 160000}, {150000, 160000}, {180000, 320000}, {180000, 200000},
		{250000, 100000}, {250000, 50000},  {250000, 25000},  {250000, 12500},
		{250000, 0},	  {250000, 0},	    {1000, 10000},
	};
	static const uint64_t values[VHALT_PARAMS_MAX] = {200000, 2, 10000, 2, 0};
	struct vhalt_config config;
	struct vhalt_state state;

	(void)arg;
	assert_int_equal(vhalt_config_init(&config, VHALT_POLICY_KVM, values, NULL), 0);
	vhalt_state_init(&state, &config);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct vhalt_outcome outcome = {.halt_ns = steps[i].halt_ns,
						.wake_ns = VHALT_UNKNOWN_NS};

		outcome.window_ns = vhalt_decide(&state, &config, &policy_hint_none).window_ns;
		vhalt_update(&state, &config, &outcome);
		assert_int_equal(vhalt_window(&state, &config), steps[i].window_ns);
	}
}

int main(void)
{
	static struct CMUnitTest tests[ARRAY_SIZE(rows) + 1];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tests[i] = (struct CMUnitTest){rows[i].row.what, kvm_row_test, NULL, NULL,
					       &rows[i]};
	tests[ARRAY_SIZE(rows)] = (struct CMUnitTest)cmocka_unit_test(life_of_a_window);
	return cmocka_run_group_tests_name("policy kvm", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The inner loop against a plain driver written from docs/replay.md, sleeping plans included.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/spec.h"
#include "replay/run.h"
#include "tests/unit/replay_fixture.h"

enum { HALTS = 20000, PRICE = 10, SWITCH_NS = 3000 };

/* One halt as the page says; returns its cost and tells the policy. */
static uint64_t plain_halt(struct vhalt_state *state, const struct vhalt_config *config,
			   const struct replay_halt *h)
{
	struct vhalt_hint hint = {h->run_ns, h->deadline_ns, false};
	struct vhalt_plan plan = vhalt_decide(state, config, &hint);
	uint64_t t = h->t_ns, l = h->latency_ns, b = PRICE * l + SWITCH_NS, late = 0, cost;
	uint64_t awake = plan.sleep_ns ? plan.sleep_ns + l : 0;
	uint64_t end = (uint64_t)plan.sleep_ns + plan.window_ns;
	struct vhalt_outcome outcome = {.wake_ns = VHALT_UNKNOWN_NS, .window_ns = plan.window_ns};
	bool blocked = false;

	if (plan.sleep_ns && t < plan.sleep_ns) {
		blocked = true;
		cost = b;
	} else if (plan.sleep_ns && t <= awake) {
		late = awake - t;
		cost = SWITCH_NS + PRICE * late;
	} else {
		uint64_t woken = plan.sleep_ns ? SWITCH_NS : 0;

		blocked = t > end;
		cost = blocked ? woken + (end > awake ? end - awake : 0) + b : woken + t - awake;
	}
	outcome.halt_ns = t + (blocked ? l : late);
	if (h->flags & REPLAY_HALT_STAMPED)
		outcome.wake_ns = t;
	outcome.flags = (blocked ? 0 : VHALT_OUTCOME_POLLED) |
			(h->flags & REPLAY_HALT_OWN_TIMER ? VHALT_OUTCOME_OWN_TIMER : 0);
	vhalt_update(state, config, &outcome);
	return cost;
}

/* Own timers at 4 ms, replies after 30 us, latencies that change half way. */
static void draw_halts(struct replay_halt *halts, bool stamped)
{
	struct fixture f;

	fixture_init(&f, 1);
	for (int i = 0; i < HALTS; i++) {
		bool timer = fixture_draw(&f, 2);
		uint64_t deadline_ns = 300000 + fixture_draw(&f, 4000000);

		halts[i] = (struct replay_halt){
			.t_ns = timer ? deadline_ns + fixture_draw(&f, 3000)
				      : 20000 + fixture_draw(&f, 20000),
			.run_ns = 2000 + fixture_draw(&f, 50000),
			.deadline_ns = deadline_ns,
			.latency_ns = (i < HALTS / 2 ? 5000 : 20000) +
				      (uint32_t)fixture_draw(&f, 9000),
			.flags = (timer ? REPLAY_HALT_OWN_TIMER : 0) |
				 (stamped ? REPLAY_HALT_STAMPED : 0),
		};
	}
	fixture_fini(&f);
}

static uint64_t compare(const char *text, bool stamped)
{
	struct replay_model model = {.price = PRICE, .switch_ns = SWITCH_NS};
	struct replay_halt *halts = calloc(HALTS, sizeof(*halts));
	struct replay_tally tally = {0};
	struct vhalt_config config;
	struct vhalt_state state;
	struct vhalt_spec spec;
	uint64_t cost_ns = 0;

	assert_int_equal(vhalt_spec_parse(text, &spec, NULL, 0), 0);
	assert_int_equal(vhalt_spec_config(&spec, &config), 0);
	draw_halts(halts, stamped);
	vhalt_state_init(&state, &config);
	for (int i = 0; i < HALTS; i++)
		cost_ns += plain_halt(&state, &config, &halts[i]);
	vhalt_state_init(&state, &config);
	replay_run(&config, &state, halts, HALTS, &tally, NULL);
	assert_int_equal(tally.polled + tally.blocked, HALTS);
	assert_int_equal(replay_tally_cost_ns(&tally, &model), cost_ns);
	free(halts);
	return tally.timer_wakes;
}

static void test_polling(void **state)
{
	const struct vhalt_policy *policy;

	(void)state;
	for (uint32_t id = 0; (policy = vhalt_policy_get(id)); id++)
		for (int stamped = 0; stamped < 2; stamped++)
			assert_int_equal(compare(policy->name, stamped), 0);
}

static void test_sleeping(void **state)
{
	(void)state;
	for (int stamped = 0; stamped < 2; stamped++) {
		assert_true(compare("auto:sleep=1", stamped) > HALTS / 10);
		assert_true(compare("auto:sleep=2", stamped) > HALTS / 10);
		compare("auto:sleep=3", stamped);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_polling),
		cmocka_unit_test(test_sleeping),
	};

	return cmocka_run_group_tests_name("replay_run", tests, NULL, NULL);
}

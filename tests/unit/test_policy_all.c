// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What holds for every policy: the table, the config's checks, forced halts, nothing but arguments.

#include "tests/unit/policy_table.h"

#include <inttypes.h>
#include <string.h>

enum { HALTS = 20000 };

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* A log-uniform length up to 2^36 ns, at times a multiple of 1000 so that edges are hit. */
static uint64_t random_length(uint64_t *seed)
{
	uint64_t ns = random_next(seed) & ((1ULL << (1 + random_next(seed) % 36)) - 1);

	return random_next(seed) % 4 ? ns : ns / 10000 * 10000;
}

static struct vhalt_hint random_hint(uint64_t *seed)
{
	uint64_t kind = random_next(seed);

	return (struct vhalt_hint){
		.run_ns = kind & 1 ? random_length(seed) : VHALT_UNKNOWN_NS,
		.deadline_ns = kind & 2 ? random_length(seed) : VHALT_NO_DEADLINE_NS,
		.must_block = kind % 13 == 0,
	};
}

static struct vhalt_outcome random_outcome(uint64_t *seed, const struct vhalt_hint *hint,
					   struct vhalt_plan plan)
{
	uint64_t halt_ns = random_length(seed), kind = random_next(seed);
	struct vhalt_outcome outcome = {halt_ns, VHALT_UNKNOWN_NS, plan.window_ns, 0};

	if (halt_ns <= plan.window_ns)
		outcome.flags |= VHALT_OUTCOME_POLLED;
	if (kind & 1)
		outcome.wake_ns = halt_ns - halt_ns / 8;
	if (kind % 17 == 0)
		outcome.flags |= VHALT_OUTCOME_INVALID;
	if (kind % 19 == 0)
		outcome.flags |= VHALT_OUTCOME_CUT;
	if (kind % 5 == 0)
		outcome.flags |= VHALT_OUTCOME_OWN_TIMER;
	if (hint->must_block)
		outcome.flags |= VHALT_OUTCOME_FORCED;
	return outcome;
}

static void default_config(struct vhalt_config *config, uint32_t id)
{
	uint64_t values[VHALT_PARAMS_MAX] = {0};

	vhalt_policy_defaults(id, values);
	assert_int_equal(vhalt_config_init(config, id, values, NULL), 0);
}

static void table_is_sound(void **arg)
{
	(void)arg;
	for (uint32_t id = 0; id < VHALT_NR_POLICIES; id++) {
		const struct vhalt_policy *policy = vhalt_policy_get(id);

		assert_non_null(policy);
		assert_int_equal(vhalt_policy_find(policy->name), id);
		assert_true(policy->summary[0] &&
			    policy->summary[strlen(policy->summary) - 1] != '.');
		assert_true(policy->state_bytes <= sizeof(struct vhalt_state));
		assert_true(policy->nr_params <= VHALT_PARAMS_MAX);
		for (uint32_t i = 0; i < policy->nr_params; i++) {
			const struct vhalt_param *param = &policy->params[i];

			assert_non_null(param->name);
			assert_non_null(param->help);
			assert_in_range(param->dflt, param->min, param->max);
			for (uint32_t k = 0; k < i; k++)
				assert_string_not_equal(param->name, policy->params[k].name);
		}
	}
}

static void names_are_found(void **arg)
{
	static const char *const names[VHALT_NR_POLICIES] = {"none", "always", "toggle", "dynamic",
							     "kvm",  "guest",  "pv",	 "auto"};
	static const char *const others[] = {"", "KVM", "kv", "kvmm", "oracle", "kvm "};

	(void)arg;
	for (uint32_t id = 0; id < VHALT_NR_POLICIES; id++) {
		assert_int_equal(vhalt_policy_find(names[id]), id);
		assert_string_equal(vhalt_policy_get(id)->name, names[id]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(vhalt_policy_find(others[i]), VHALT_NR_POLICIES);
	assert_null(vhalt_policy_get(VHALT_NR_POLICIES));
	assert_null(vhalt_policy_get(UINT32_MAX));
}

/* One parameter at its bounds and just outside; the config must not change on refusal. */
static void check_bounds(uint32_t id, uint32_t i)
{
	const struct vhalt_param *param = &vhalt_policy_get(id)->params[i];
	uint64_t values[VHALT_PARAMS_MAX] = {0};
	struct vhalt_config config, before;
	uint32_t bad = 99;

	vhalt_policy_defaults(id, values);
	values[i] = param->min;
	assert_int_equal(vhalt_config_init(&config, id, values, &bad), 0);
	values[i] = param->max;
	assert_int_equal(vhalt_config_init(&config, id, values, &bad), 0);
	assert_int_equal(bad, 99);
	memcpy(&before, &config, sizeof(before));
	if (param->max < UINT64_MAX) {
		values[i] = param->max + 1;
		assert_int_equal(vhalt_config_init(&config, id, values, &bad), -34);
		assert_int_equal(bad, i);
		assert_int_equal(vhalt_config_init(&config, id, values, NULL), -34);
	}
	if (param->min > 0) {
		values[i] = param->min - 1;
		assert_int_equal(vhalt_config_init(&config, id, values, &bad), -34);
		assert_int_equal(bad, i);
	}
	assert_memory_equal(&before, &config, sizeof(before));
}

static void bounds_are_kept(void **arg)
{
	(void)arg;
	for (uint32_t id = 0; id < VHALT_NR_POLICIES; id++)
		for (uint32_t i = 0; i < vhalt_policy_get(id)->nr_params; i++)
			check_bounds(id, i);
}

static void unknown_policies_are_refused(void **arg)
{
	uint64_t values[VHALT_PARAMS_MAX] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct vhalt_config config, before;
	uint32_t bad = 99;

	(void)arg;
	memset(&config, 0x5a, sizeof(config));
	memcpy(&before, &config, sizeof(before));
	assert_int_equal(vhalt_config_init(&config, VHALT_NR_POLICIES, values, &bad), -22);
	assert_int_equal(vhalt_config_init(&config, UINT32_MAX, values, &bad), -22);
	assert_memory_equal(&before, &config, sizeof(before));
	assert_int_equal(bad, 99);
	vhalt_policy_defaults(VHALT_NR_POLICIES, values);
	assert_int_equal(values[0], 1);
}

/* A config nobody prepared: never polls, never crashes. */
static void wild_config_blocks(void **arg)
{
	struct vhalt_config config;
	struct vhalt_state state;
	struct vhalt_outcome outcome = {5000, VHALT_UNKNOWN_NS, 0, 0};
	struct vhalt_plan plan;

	(void)arg;
	memset(&config, 0, sizeof(config));
	config.policy = 0xdeadbeef;
	vhalt_state_init(&state, &config);
	plan = vhalt_decide(&state, &config, &policy_hint_none);
	assert_int_equal(plan.window_ns, 0);
	assert_int_equal(plan.sleep_ns, 0);
	vhalt_update(&state, &config, &outcome);
	vhalt_state_set_window(&state, &config, 5000);
	assert_int_equal(vhalt_window(&state, &config), 0);
}

/* Same inputs, same decisions: whatever lay in the memory before, wherever the state lies. */
static void decisions_depend_on_arguments_alone(void **arg)
{
	(void)arg;
	for (uint32_t id = 0; id < VHALT_NR_POLICIES; id++) {
		uint64_t seed = 0x9e3779b97f4a7c15ULL + id;
		struct vhalt_state state, twin, moved;
		struct vhalt_config config, config_twin;

		memset(&state, 0x00, sizeof(state));
		memset(&twin, 0xff, sizeof(twin));
		memset(&config, 0x00, sizeof(config));
		memset(&config_twin, 0xff, sizeof(config_twin));
		default_config(&config, id);
		default_config(&config_twin, id);
		assert_memory_equal(&config, &config_twin, sizeof(config));
		vhalt_state_init(&state, &config);
		vhalt_state_init(&twin, &config_twin);
		for (int i = 0; i < HALTS; i++) {
			struct vhalt_hint hint = random_hint(&seed);
			struct vhalt_plan plan = vhalt_decide(&state, &config, &hint);
			struct vhalt_plan other = vhalt_decide(&twin, &config_twin, &hint);
			struct vhalt_outcome outcome = random_outcome(&seed, &hint, plan);

			assert_memory_equal(&plan, &other, sizeof(plan));
			vhalt_update(&state, &config, &outcome);
			vhalt_update(&twin, &config_twin, &outcome);
			memcpy(&moved, &twin, sizeof(moved));
			memcpy(&twin, &moved, sizeof(twin));
		}
		assert_memory_equal(&state, &twin, sizeof(state));
	}
}

/* must_block: no sleep, no window; for the classic policies also no lesson. */
static void forced_halts_block(void **arg)
{
	(void)arg;
	for (uint32_t id = 0; id < VHALT_NR_POLICIES; id++) {
		uint64_t seed = 12345 + id;
		struct vhalt_config config;
		struct vhalt_state state;

		default_config(&config, id);
		vhalt_state_init(&state, &config);
		for (int i = 0; i < HALTS; i++) {
			struct vhalt_hint hint = random_hint(&seed);
			struct vhalt_plan plan = vhalt_decide(&state, &config, &hint);
			struct vhalt_outcome outcome = random_outcome(&seed, &hint, plan);
			uint32_t window_ns = vhalt_window(&state, &config);

			if (hint.must_block && (plan.window_ns || plan.sleep_ns))
				fail_msg("%s: halt %d: forced, but polls %" PRIu32
					 " ns after %" PRIu32,
					 vhalt_policy_get(id)->name, i, plan.window_ns,
					 plan.sleep_ns);
			vhalt_update(&state, &config, &outcome);
			if (hint.must_block && id != VHALT_POLICY_AUTO)
				assert_int_equal(vhalt_window(&state, &config), window_ns);
		}
	}
}

/* Nothing is written behind state_bytes: a driver may allocate just those. */
static void state_bytes_are_enough(void **arg)
{
	(void)arg;
	for (uint32_t id = 0; id < VHALT_NR_POLICIES; id++) {
		uint32_t bytes = vhalt_policy_get(id)->state_bytes;
		uint64_t seed = 777 + id;
		struct vhalt_config config;
		struct vhalt_state state;

		default_config(&config, id);
		vhalt_state_init(&state, &config);
		memset((char *)&state + bytes, 0xa5, sizeof(state) - bytes);
		for (int i = 0; i < HALTS; i++) {
			struct vhalt_hint hint = random_hint(&seed);
			struct vhalt_plan plan = vhalt_decide(&state, &config, &hint);
			struct vhalt_outcome outcome = random_outcome(&seed, &hint, plan);

			vhalt_update(&state, &config, &outcome);
		}
		for (size_t i = bytes; i < sizeof(state); i++)
			assert_int_equal(((unsigned char *)&state)[i], 0xa5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_sound),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(bounds_are_kept),
		cmocka_unit_test(unknown_policies_are_refused),
		cmocka_unit_test(wild_config_blocks),
		cmocka_unit_test(decisions_depend_on_arguments_alone),
		cmocka_unit_test(forced_halts_block),
		cmocka_unit_test(state_bytes_are_enough),
	};

	return cmocka_run_group_tests_name("every policy", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The cost model, and the few arithmetic helpers of the core.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <vhalt/cost.h>
#include "core/deps.h"

#define MOST (~0ULL >> 1)

static void break_even(void **arg)
{
	static const struct {
		uint32_t price;
		uint64_t latency_ns, switch_ns, b_ns;
	} rows[] = {
		{10, 13000, 3000, 133000},
		{0, 13000, 3000, 3000},
		{10, 0, 3000, 3000},
		{0, 0, 0, 0},
		{0, ~0ULL, 5, 5},
		{1, MOST, 0, MOST},
		{1, MOST - 5, 5, MOST},
		{1, MOST - 5, 6, MOST},
		{1, MOST - 5, 4, MOST - 1},
		{1, ~0ULL, 0, MOST},
		{0, 0, MOST, MOST},
		{0, 0, MOST + 1, MOST},
		{0, 0, ~0ULL, MOST},
		{2, MOST / 2, 1, MOST},
		{2, MOST / 2, 2, MOST},
		{0xffffffff, 0xffffffff, 0, MOST}, /* just below 2^64 */
		{0xffffffff, 0x80000000, 0, 0x7fffffff80000000},
		{0xffffffff, 0x80000001, 0, MOST},
		{0xffffffff, ~0ULL, ~0ULL, MOST},
		{3, 1ULL << 33, 7, (3ULL << 33) + 7},
		{1000, 5000000000, 1, 5000000000001},
	};

	(void)arg;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(
			vhalt_break_even_ns(rows[i].price, rows[i].latency_ns, rows[i].switch_ns),
			rows[i].b_ns);
}

static void cost_of_a_halt(void **arg)
{
	(void)arg;
	assert_int_equal(vhalt_cost_ns(30000, 50000, 133000), 30000);
	assert_int_equal(vhalt_cost_ns(50000, 50000, 133000), 50000);
	assert_int_equal(vhalt_cost_ns(50001, 50000, 133000), 183000);
	assert_int_equal(vhalt_cost_ns(5000, 0, 133000), 133000);
	assert_int_equal(vhalt_cost_ns(0, 0, 133000), 0);
}

static void oracle(void **arg)
{
	(void)arg;
	assert_int_equal(vhalt_oracle_cost_ns(30000, 200000, 133000), 30000);
	assert_int_equal(vhalt_oracle_cost_ns(133000, 200000, 133000), 133000);
	assert_int_equal(vhalt_oracle_cost_ns(150000, 200000, 133000), 133000);
	assert_int_equal(vhalt_oracle_cost_ns(120000, 100000, 133000), 133000);
	assert_int_equal(vhalt_oracle_cost_ns(100000, 100000, 133000), 100000);
	assert_int_equal(vhalt_oracle_cost_ns(1, 0, 133000), 133000);
}

/* Nobody who must choose the window first beats the oracle. */
static void oracle_is_a_bound(void **arg)
{
	static const uint64_t edges[] = {0,	 1,	 9999,	 10000,	    50000,
					 133000, 200000, 200001, 1ULL << 40};

	(void)arg;
	for (size_t t = 0; t < CORE_ARRAY_SIZE(edges); t++)
		for (size_t w = 0; w < CORE_ARRAY_SIZE(edges) && edges[w] <= 200000; w++)
			for (size_t b = 0; b < CORE_ARRAY_SIZE(edges); b++)
				assert_true(vhalt_cost_ns(edges[t], edges[w], edges[b]) >=
					    vhalt_oracle_cost_ns(edges[t], 200000, edges[b]));
}

static void helpers(void **arg)
{
	uint64_t words[4] = {1, 2, 3, 4};

	(void)arg;
	assert_int_equal(core_fls64(0), 0);
	for (uint32_t bit = 0; bit < 64; bit++) {
		assert_int_equal(core_fls64(1ULL << bit), bit + 1);
		assert_int_equal(core_fls64(~0ULL >> (63 - bit)), bit + 1);
	}
	assert_int_equal(core_add_sat64(~0ULL - 1, 1), ~0ULL);
	assert_int_equal(core_add_sat64(~0ULL - 1, 2), ~0ULL);
	assert_int_equal(core_add_sat64(~0ULL, ~0ULL), ~0ULL);
	assert_int_equal(core_sub_sat64(5, 6), 0);
	assert_int_equal(core_sub_sat64(6, 5), 1);
	assert_int_equal(core_clamp64(5, 6, 8), 6);
	assert_int_equal(core_clamp64(9, 6, 8), 8);
	assert_int_equal(core_clamp64(7, 6, 8), 7);
	assert_int_equal(core_div64(~0ULL, 10), 1844674407370955161);
	assert_int_equal(core_div64(9, 10), 0);
	core_zero(words, 3);
	assert_int_equal(words[0] | words[1] | words[2], 0);
	assert_int_equal(words[3], 4);
	assert_true(core_streq("", "") && core_streq("kvm", "kvm"));
	assert_false(core_streq("kvm", "kv") || core_streq("kv", "kvm") || core_streq("", "k"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(break_even), cmocka_unit_test(cost_of_a_halt),
		cmocka_unit_test(oracle),     cmocka_unit_test(oracle_is_a_bound),
		cmocka_unit_test(helpers),
	};

	return cmocka_run_group_tests_name("cost model", tests, NULL, NULL);
}

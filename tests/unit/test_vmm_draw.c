// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Micro-VMM: the timers of guest "burst" are fixed by their seed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "vmm/guests/draw.h"
#include "vmm/vmm.h"

static uint64_t digest_of(uint64_t seed, unsigned int timers)
{
	uint64_t state = seed, digest = DRAW_DIGEST_INIT;
	struct vmm_config c;

	vmm_config_init(&c, "burst");
	for (unsigned int i = 0; i < timers; i++)
		digest = draw_digest(digest,
				     draw_timer_ns(&state, c.short_ns, c.long_ns, c.short_percent));
	return digest;
}

/* splitmix64 from seed 1234567: the values published with the algorithm's reference code. */
static void test_generator(void **state)
{
	static const uint64_t expected[] = {6457827717110365317ULL, 3203168211198807973ULL,
					    9817491932198370423ULL};
	uint64_t s = 1234567;

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(draw_u64(&s), expected[i]);
}

/* tests/vm/cases/10-vmm.sh expects the first of these from a real guest. */
static void test_digest_is_fixed_by_the_seed(void **state)
{
	(void)state;
	assert_int_equal(digest_of(1, 100), 0x6fd5dc1a7f9bc2a1ULL);
	assert_int_equal(digest_of(1, 100), digest_of(1, 100));
	assert_int_not_equal(digest_of(2, 100), digest_of(1, 100));
	assert_int_not_equal(digest_of(1, 101), digest_of(1, 100));
}

static void test_shares_and_lengths(void **state)
{
	uint64_t s = 7;
	unsigned int nr_short = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t ns = draw_timer_ns(&s, 1000, 2000000000, 80);

		if (ns < 1000000) {
			assert_in_range(ns, 500, 1500);
			nr_short++;
		} else {
			assert_in_range(ns, 1000000000, 3000000000);
		}
	}
	assert_in_range(nr_short, 7800, 8200);
}

static void test_extreme_shares(void **state)
{
	uint64_t s = 7;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_true(draw_timer_ns(&s, 1000, 9000, 100) <= 1500);
		assert_true(draw_timer_ns(&s, 1000, 9000, 0) >= 4500);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generator),
		cmocka_unit_test(test_digest_is_fixed_by_the_seed),
		cmocka_unit_test(test_shares_and_lengths),
		cmocka_unit_test(test_extreme_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Micro-VMM: the guests' histogram of cycles and what is computed from it.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/internal.h"

/* 1 GHz: a cycle is a nanosecond. */
#define GHZ_KHZ 1000000

static struct vmm_abi_latency hist;

static void add(uint64_t cycles)
{
	if (!hist.count || cycles < hist.min_cycles)
		hist.min_cycles = cycles;
	if (cycles > hist.max_cycles)
		hist.max_cycles = cycles;
	hist.count++;
	hist.sum_cycles += cycles;
	hist.buckets[vmm_abi_bucket(cycles)]++;
}

static void test_buckets_are_exact_and_ordered(void **state)
{
	(void)state;
	for (uint64_t v = 0; v < 64; v++) {
		assert_int_equal(vmm_abi_bucket(v), v);
		assert_int_equal(vmm_abi_bucket_middle((unsigned int)v), v);
	}
	for (unsigned int b = 1; b < VMM_ABI_HIST_BUCKETS; b++) {
		assert_true(vmm_abi_bucket_middle(b) > vmm_abi_bucket_middle(b - 1));
		assert_int_equal(vmm_abi_bucket(vmm_abi_bucket_middle(b)), b);
	}
	assert_int_equal(vmm_abi_bucket((1ULL << 41) - 1), VMM_ABI_HIST_BUCKETS - 1);
	assert_int_equal(vmm_abi_bucket(1ULL << 41), VMM_ABI_HIST_BUCKETS - 1);
	assert_int_equal(vmm_abi_bucket(UINT64_MAX), VMM_ABI_HIST_BUCKETS - 1);
}

static void test_bucket_error_is_bounded(void **state)
{
	(void)state;
	for (uint64_t v = 64; v < 1ULL << 41; v += v / 37 + 1) {
		uint64_t middle = vmm_abi_bucket_middle(vmm_abi_bucket(v));
		uint64_t off = middle > v ? middle - v : v - middle;

		assert_true(off * 64 <= v);
	}
}

static void test_empty_is_zero(void **state)
{
	struct vmm_latency l;
	const struct vmm_latency zero = {0};

	(void)state;
	memset(&hist, 0, sizeof(hist));
	memset(&l, 0xff, sizeof(l));
	vmm_report_latency(&hist, GHZ_KHZ, &l);
	assert_memory_equal(&l, &zero, sizeof(l));
}

static void test_percentiles(void **state)
{
	struct vmm_latency l;

	(void)state;
	memset(&hist, 0, sizeof(hist));
	for (uint64_t v = 1; v <= 50; v++)
		add(v);
	for (int i = 0; i < 49; i++)
		add(1000);
	add(1000000);
	vmm_report_latency(&hist, GHZ_KHZ, &l);
	assert_int_equal(l.count, 100);
	assert_int_equal(l.p50_ns, 50);	      /* the 50th value */
	assert_in_range(l.p99_ns, 985, 1015); /* the 99th is still 1000 */
	assert_int_equal(l.min_ns, 1);
	assert_int_equal(l.max_ns, 1000000);
	assert_int_equal(l.mean_ns, (50 * 51 / 2 + 49 * 1000 + 1000000) / 100);
}

static void test_single_value_is_itself(void **state)
{
	struct vmm_latency l;

	(void)state;
	memset(&hist, 0, sizeof(hist));
	add(123457);
	vmm_report_latency(&hist, 2 * GHZ_KHZ, &l);
	assert_int_equal(l.p50_ns, 61728);
	assert_int_equal(l.p99_ns, 61728);
	assert_int_equal(l.mean_ns, 61728);
}

/* A guest may write anything there. */
static void test_nonsense_is_survived(void **state)
{
	struct vmm_latency l;

	(void)state;
	memset(&hist, 0xff, sizeof(hist));
	vmm_report_latency(&hist, 1, &l);
	assert_int_equal(l.count, UINT64_MAX);
	memset(&hist, 0, sizeof(hist));
	hist.count = 5; /* but nothing in any bucket */
	vmm_report_latency(&hist, 1, &l);
	assert_int_equal(l.count, 0);
	hist.buckets[VMM_ABI_HIST_BUCKETS - 1] = 1;
	hist.min_cycles = UINT64_MAX;
	vmm_report_latency(&hist, 1, &l);
	assert_int_equal(l.p50_ns, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets_are_exact_and_ordered),
		cmocka_unit_test(test_bucket_error_is_bounded),
		cmocka_unit_test(test_empty_is_zero),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_single_value_is_itself),
		cmocka_unit_test(test_nonsense_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

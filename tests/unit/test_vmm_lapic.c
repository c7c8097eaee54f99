// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Micro-VMM: the local APIC's state machine.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/lapic.h"

#define NOW	 1000000ULL
#define ENABLE	 0x1ff
#define MASKED	 0x10000
#define PERIODIC 0x20000

static struct vmm_lapic lapic;
static struct vmm_lapic_ipi ipi;

static void put(uint32_t offset, uint32_t value)
{
	assert_int_equal(vmm_lapic_write(&lapic, offset, value, NOW, &ipi), 0);
}

static uint32_t get_at(uint32_t offset, uint64_t now_ns)
{
	uint32_t value = 0xdeadbeef;

	assert_int_equal(vmm_lapic_read(&lapic, offset, now_ns, &value), 0);
	return value;
}

static int switch_on(void **state)
{
	(void)state;
	vmm_lapic_init(&lapic, 3);
	put(VMM_LAPIC_SVR, ENABLE);
	return 0;
}

static void test_reset_state(void **state)
{
	(void)state;
	vmm_lapic_init(&lapic, 3);
	assert_int_equal(get_at(VMM_LAPIC_ID, NOW), 3U << 24);
	assert_int_equal(get_at(VMM_LAPIC_SVR, NOW), 0xff);
	assert_int_equal(get_at(VMM_LAPIC_LVT_TIMER, NOW), MASKED);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
	assert_true(vmm_lapic_deadline_ns(&lapic) == VMM_LAPIC_NO_TIMER);
	/* Off: what comes is lost, also for later. */
	vmm_lapic_accept(&lapic, 0x41);
	put(VMM_LAPIC_SVR, ENABLE);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
}

static void test_highest_first_and_eoi(void **state)
{
	(void)state;
	vmm_lapic_accept(&lapic, 0x41);
	vmm_lapic_accept(&lapic, 0xf3);
	vmm_lapic_accept(&lapic, 0x41); /* twice before it is served: once */
	assert_int_equal(get_at(VMM_LAPIC_IRR + 0x20, NOW), 2);
	assert_int_equal(get_at(VMM_LAPIC_IRR + 0x70, NOW), 1U << 19);
	assert_int_equal(vmm_lapic_pending(&lapic), 0xf3);
	vmm_lapic_deliver(&lapic, 0xf3);
	assert_int_equal(get_at(VMM_LAPIC_ISR + 0x70, NOW), 1U << 19);
	assert_int_equal(get_at(VMM_LAPIC_PPR, NOW), 0xf0);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
	put(VMM_LAPIC_EOI, 0);
	assert_int_equal(vmm_lapic_pending(&lapic), 0x41);
	vmm_lapic_deliver(&lapic, 0x41);
	/* The same class must wait, a higher one need not. */
	vmm_lapic_accept(&lapic, 0x4f);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
	vmm_lapic_accept(&lapic, 0x50);
	assert_int_equal(vmm_lapic_pending(&lapic), 0x50);
	vmm_lapic_deliver(&lapic, 0x50);
	put(VMM_LAPIC_EOI, 0); /* ends 0x50 */
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
	put(VMM_LAPIC_EOI, 0); /* ends 0x41 */
	assert_int_equal(vmm_lapic_pending(&lapic), 0x4f);
	vmm_lapic_deliver(&lapic, 0x4f);
	put(VMM_LAPIC_EOI, 0);
	put(VMM_LAPIC_EOI, 0); /* one too many */
	assert_int_equal(get_at(VMM_LAPIC_PPR, NOW), 0);
}

static void test_task_priority(void **state)
{
	(void)state;
	put(VMM_LAPIC_TPR, 0x4a);
	assert_int_equal(get_at(VMM_LAPIC_PPR, NOW), 0x4a);
	vmm_lapic_accept(&lapic, 0x4f);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
	vmm_lapic_accept(&lapic, 0x51);
	assert_int_equal(vmm_lapic_pending(&lapic), 0x51);
	put(VMM_LAPIC_TPR, 0);
	vmm_lapic_accept(&lapic, 0xff);
	put(VMM_LAPIC_SVR, 0xff);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
}

static void test_illegal_vectors_are_lost(void **state)
{
	(void)state;
	for (unsigned int v = 0; v < 16; v++)
		vmm_lapic_accept(&lapic, (uint8_t)v);
	assert_int_equal(get_at(VMM_LAPIC_IRR, NOW), 0);
	vmm_lapic_accept(&lapic, 16);
	assert_int_equal(vmm_lapic_pending(&lapic), 16);
}

static void test_one_shot_timer(void **state)
{
	(void)state;
	put(VMM_LAPIC_TIMER_DIVIDE, 0xb);
	put(VMM_LAPIC_LVT_TIMER, 0x40);
	put(VMM_LAPIC_TIMER_COUNT, 5000);
	assert_true(vmm_lapic_deadline_ns(&lapic) == NOW + 5000);
	assert_int_equal(get_at(VMM_LAPIC_TIMER_CURRENT, NOW), 5000);
	assert_int_equal(get_at(VMM_LAPIC_TIMER_CURRENT, NOW + 4999), 1);
	assert_int_equal(get_at(VMM_LAPIC_TIMER_CURRENT, NOW - 7),
			 5000); /* a clock that is behind */
	vmm_lapic_advance(&lapic, NOW + 4999);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
	vmm_lapic_advance(&lapic, NOW + 5000);
	assert_int_equal(vmm_lapic_pending(&lapic), 0x40);
	assert_true(vmm_lapic_deadline_ns(&lapic) == VMM_LAPIC_NO_TIMER);
	assert_int_equal(get_at(VMM_LAPIC_TIMER_CURRENT, NOW + 6000), 0);
	vmm_lapic_deliver(&lapic, 0x40);
	vmm_lapic_advance(&lapic, NOW + 100000);
	put(VMM_LAPIC_EOI, 0);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
	/* A count of 0 stops it. */
	put(VMM_LAPIC_TIMER_COUNT, 5000);
	put(VMM_LAPIC_TIMER_COUNT, 0);
	vmm_lapic_advance(&lapic, NOW + 100000);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
}

static void test_divisors(void **state)
{
	static const struct {
		uint32_t code, divisor;
	} cases[] = {{0xb, 1},	{0x0, 2},  {0x1, 4},  {0x2, 8},
		     {0x3, 16}, {0x8, 32}, {0x9, 64}, {0xa, 128}};

	(void)state;
	put(VMM_LAPIC_LVT_TIMER, 0x40);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(VMM_LAPIC_TIMER_DIVIDE, cases[i].code);
		put(VMM_LAPIC_TIMER_COUNT, 0xffffffff);
		assert_true(vmm_lapic_deadline_ns(&lapic) ==
			    NOW + 0xffffffffULL * cases[i].divisor);
		assert_int_equal(
			get_at(VMM_LAPIC_TIMER_CURRENT, NOW + 0xfffffff0ULL * cases[i].divisor),
			0xf);
	}
}

static void test_periodic_timer_keeps_its_grid(void **state)
{
	(void)state;
	put(VMM_LAPIC_TIMER_DIVIDE, 0xb);
	put(VMM_LAPIC_LVT_TIMER, 0x40 | PERIODIC);
	put(VMM_LAPIC_TIMER_COUNT, 1000);
	vmm_lapic_advance(&lapic, NOW + 1000);
	assert_true(vmm_lapic_deadline_ns(&lapic) == NOW + 2000);
	vmm_lapic_advance(&lapic, NOW + 5500); /* late by three periods and a half */
	assert_true(vmm_lapic_deadline_ns(&lapic) == NOW + 6000);
	assert_int_equal(vmm_lapic_pending(&lapic), 0x40);
	vmm_lapic_deliver(&lapic, 0x40);
	put(VMM_LAPIC_EOI, 0);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
	/* The count is taken away under a running timer. */
	lapic.timer_count = 0;
	vmm_lapic_advance(&lapic, NOW + 9000);
	assert_true(vmm_lapic_deadline_ns(&lapic) == VMM_LAPIC_NO_TIMER);
}

static void test_masked_timer_is_no_deadline(void **state)
{
	(void)state;
	put(VMM_LAPIC_TIMER_DIVIDE, 0xb);
	put(VMM_LAPIC_LVT_TIMER, 0x40 | MASKED);
	put(VMM_LAPIC_TIMER_COUNT, 1000);
	assert_true(vmm_lapic_deadline_ns(&lapic) == VMM_LAPIC_NO_TIMER);
	put(VMM_LAPIC_LVT_TIMER, 0x40);
	assert_true(vmm_lapic_deadline_ns(&lapic) == NOW + 1000);
	put(VMM_LAPIC_LVT_TIMER, 0x40 | MASKED);
	vmm_lapic_advance(&lapic, NOW + 1000);
	put(VMM_LAPIC_LVT_TIMER, 0x40);
	assert_int_equal(vmm_lapic_pending(&lapic), -1);
	assert_int_equal(vmm_lapic_write(&lapic, VMM_LAPIC_LVT_TIMER, 0x40040, NOW, &ipi),
			 -EOPNOTSUPP); /* TSC deadline */
}

static void test_ipis(void **state)
{
	(void)state;
	put(VMM_LAPIC_ICR_HIGH, 5U << 24);
	assert_int_equal(vmm_lapic_write(&lapic, VMM_LAPIC_ICR_LOW, 0x41, NOW, &ipi), 1);
	assert_int_equal(ipi.vector, 0x41);
	assert_int_equal(ipi.to, 5);
	assert_false(ipi.self || ipi.others);
	assert_int_equal(get_at(VMM_LAPIC_ICR_LOW, NOW), 0x41);
	assert_int_equal(vmm_lapic_write(&lapic, VMM_LAPIC_ICR_LOW, 0x40041, NOW, &ipi), 1);
	assert_true(ipi.self && !ipi.others);
	assert_int_equal(vmm_lapic_write(&lapic, VMM_LAPIC_ICR_LOW, 0x80041, NOW, &ipi), 1);
	assert_true(ipi.self && ipi.others);
	assert_int_equal(vmm_lapic_write(&lapic, VMM_LAPIC_ICR_LOW, 0xc0041, NOW, &ipi), 1);
	assert_true(!ipi.self && ipi.others);
	/* Lowest priority, SMI, NMI, INIT, start-up, logical, level. */
	for (uint32_t mode = 1; mode < 8; mode++)
		assert_int_equal(vmm_lapic_write(&lapic, VMM_LAPIC_ICR_LOW, mode << 8, NOW, &ipi),
				 -EOPNOTSUPP);
	assert_int_equal(vmm_lapic_write(&lapic, VMM_LAPIC_ICR_LOW, 0x841, NOW, &ipi), -EOPNOTSUPP);
	assert_int_equal(vmm_lapic_write(&lapic, VMM_LAPIC_ICR_LOW, 0x8041, NOW, &ipi),
			 -EOPNOTSUPP);
	assert_int_equal(get_at(VMM_LAPIC_ICR_LOW, NOW), 0xc0041);
}

/* Whatever a guest does to the page, there is an answer, and priorities hold. */
static void test_every_offset(void **state)
{
	uint32_t value;

	(void)state;
	for (uint32_t offset = 0; offset < 0x1000; offset++) {
		int err = vmm_lapic_write(&lapic, offset, 0xfffff0ff, NOW, &ipi);

		assert_true(err == 0 || err == -EINVAL || err == -EOPNOTSUPP);
		err = vmm_lapic_read(&lapic, offset, NOW, &value);
		assert_true(err == 0 || err == -EINVAL);
		vmm_lapic_advance(&lapic, NOW * 2);
		assert_int_equal(vmm_lapic_pending(&lapic), -1); /* TPR is 0xff or it is off */
	}
	assert_int_equal(vmm_lapic_write(&lapic, VMM_LAPIC_ID, 1, NOW, &ipi), -EINVAL);
	assert_int_equal(vmm_lapic_write(&lapic, VMM_LAPIC_TPR + 4, 1, NOW, &ipi), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reset_state),
		cmocka_unit_test_setup(test_highest_first_and_eoi, switch_on),
		cmocka_unit_test_setup(test_task_priority, switch_on),
		cmocka_unit_test_setup(test_illegal_vectors_are_lost, switch_on),
		cmocka_unit_test_setup(test_one_shot_timer, switch_on),
		cmocka_unit_test_setup(test_divisors, switch_on),
		cmocka_unit_test_setup(test_periodic_timer_keeps_its_grid, switch_on),
		cmocka_unit_test_setup(test_masked_timer_is_no_deadline, switch_on),
		cmocka_unit_test_setup(test_ipis, switch_on),
		cmocka_unit_test_setup(test_every_offset, switch_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Micro-VMM: the user-space interrupt controller without KVM: accesses, IPIs, what ends a halt.
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/clock.h"
#include "vmm/internal.h"

#define VCPUS 3
#define MS    1000000ULL

static struct vmm *vm;
static struct kvm_run runs[VCPUS];

static int setup(void **state)
{
	(void)state;
	vm = aligned_alloc(_Alignof(struct vmm), sizeof(*vm));
	assert_non_null(vm);
	memset(vm, 0, sizeof(*vm));
	memset(runs, 0, sizeof(runs));
	assert_int_equal(vmm_config_init(&vm->config, "rr"), 0);
	vm->config.nr_vcpus = VCPUS;
	vm->guest = vmm_guest_find("rr");
	vhalt_engine_init(&vm->engine, &vm->config.policy);
	for (unsigned int n = 0; n < VCPUS; n++) {
		struct vmm_vcpu *vcpu = &vm->vcpus[n];

		vcpu->vm = vm;
		vcpu->n = n;
		vcpu->fd = -1;
		vcpu->run = &runs[n];
		runs[n].if_flag = 1;
		runs[n].ready_for_interrupt_injection = 1;
		vmm_irqchip_init(vcpu, &vm->engine);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(vm);
	return 0;
}

static int access_at(unsigned int n, uint64_t gpa, uint32_t len, bool is_write, uint32_t value)
{
	runs[n].mmio.phys_addr = gpa;
	runs[n].mmio.len = len;
	runs[n].mmio.is_write = is_write;
	memcpy(runs[n].mmio.data, &value, sizeof(value));
	return vmm_irqchip_access(&vm->vcpus[n]);
}

static int put(unsigned int n, uint32_t offset, uint32_t value)
{
	return access_at(n, VMM_ABI_LAPIC_GPA + offset, 4, true, value);
}

static void test_only_the_lapic_page_in_words(void **state)
{
	uint32_t value;

	(void)state;
	assert_int_equal(put(0, VMM_LAPIC_SVR, 0x1ff), 0);
	assert_int_equal(access_at(0, VMM_ABI_LAPIC_GPA + VMM_LAPIC_SVR, 4, false, 0), 0);
	memcpy(&value, runs[0].mmio.data, sizeof(value));
	assert_int_equal(value, 0x1ff);
	assert_int_equal(access_at(0, VMM_ABI_LAPIC_GPA - 4, 4, true, 0), -EINVAL);
	assert_int_equal(access_at(0, VMM_ABI_LAPIC_GPA + 0x1000, 4, true, 0), -EINVAL);
	assert_int_equal(access_at(0, VMM_ABI_LAPIC_GPA + VMM_LAPIC_SVR, 8, true, 0), -EINVAL);
	assert_int_equal(access_at(0, VMM_ABI_LAPIC_GPA + VMM_LAPIC_SVR, 1, true, 0), -EINVAL);
	assert_int_equal(access_at(0, ~0ULL, 4, true, 0), -EINVAL);
	assert_int_equal(put(0, 0xff0, 0), -EINVAL);
	assert_int_equal(put(0, VMM_LAPIC_ICR_LOW, 4 << 8), -EOPNOTSUPP);
}

static unsigned int got(unsigned int vector)
{
	unsigned int mask = 0;

	for (unsigned int n = 0; n < VCPUS; n++) {
		bool posted = vm->vcpus[n].irqchip.posted[vector / 64] >> vector % 64 & 1;

		assert_int_equal(posted, vhalt_waiter_kicked(&vm->vcpus[n].irqchip.waiter));
		mask |= (unsigned int)posted << n;
	}
	return mask;
}

static void test_ipis_go_where_they_are_sent(void **state)
{
	static const struct {
		uint32_t high, low;
		unsigned int expected; /* bit n: vCPU n */
	} cases[] = {
		{1U << 24, 0x41, 2},	{0, 0x41, 1},		{2U << 24, 0xfe, 4},
		{3U << 24, 0x41, 0},	{0xffU << 24, 0x41, 7}, {2U << 24, 0x40041, 2},
		{2U << 24, 0x80041, 7}, {2U << 24, 0xc0041, 5},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(put(1, VMM_LAPIC_ICR_HIGH, cases[i].high), 0);
		assert_int_equal(put(1, VMM_LAPIC_ICR_LOW, cases[i].low), 0);
		assert_int_equal(got(cases[i].low & 0xff), cases[i].expected);
		teardown(state);
		setup(state);
	}
}

/* There is no KVM behind it: that an injection was tried is seen by its failure. */
static void assert_injects(unsigned int n)
{
	struct vmm_vcpu *vcpu = &vm->vcpus[n];

	assert_int_equal(vmm_irqchip_halt(vcpu), VMM_END_FAILED);
	assert_int_equal(vcpu->error, -EBADF);
	assert_non_null(strstr(vcpu->error_text.text, "KVM_INTERRUPT"));
}

static void test_what_is_pending_ends_a_halt_at_once(void **state)
{
	struct vhalt_waiter_stats stats;

	(void)state;
	assert_int_equal(put(0, VMM_LAPIC_SVR, 0x1ff), 0);
	assert_int_equal(put(1, VMM_LAPIC_ICR_LOW, 0x41), 0);
	assert_injects(0);
	assert_int_equal(vm->vcpus[0].irqchip.posted[1], 0);
	/* The kick went with it: nothing is left to end the next halt. */
	assert_false(vhalt_waiter_kicked(&vm->vcpus[0].irqchip.waiter));
	vhalt_waiter_stats(&vm->vcpus[0].irqchip.waiter, &stats);
	assert_int_equal(stats.halts, 0);
}

static void test_the_timer_ends_a_halt(void **state)
{
	struct vhalt_waiter_stats stats;
	uint64_t start_ns;

	(void)state;
	assert_int_equal(put(0, VMM_LAPIC_SVR, 0x1ff), 0);
	assert_int_equal(put(0, VMM_LAPIC_TIMER_DIVIDE, 0xb), 0);
	assert_int_equal(put(0, VMM_LAPIC_LVT_TIMER, 0x40), 0);
	start_ns = clock_now_ns();
	assert_int_equal(put(0, VMM_LAPIC_TIMER_COUNT, 3 * MS), 0);
	assert_injects(0);
	assert_true(clock_now_ns() - start_ns >= 3 * MS);
	vhalt_waiter_stats(&vm->vcpus[0].irqchip.waiter, &stats);
	assert_int_equal(stats.halts, 1);
	assert_int_equal(stats.deadlines, 1);
}

static void *send_later(void *arg)
{
	const struct timespec ms = {0, 2000000};

	(void)arg;
	/* First to a LAPIC that takes no such vector: ends the wait, not the halt. */
	nanosleep(&ms, NULL);
	put(1, VMM_LAPIC_ICR_LOW, 0x05);
	nanosleep(&ms, NULL);
	put(1, VMM_LAPIC_ICR_LOW, 0x41);
	return NULL;
}

static void test_an_ipi_ends_a_halt(void **state)
{
	pthread_t sender;

	(void)state;
	assert_int_equal(put(0, VMM_LAPIC_SVR, 0x1ff), 0);
	assert_int_equal(pthread_create(&sender, NULL, send_later, NULL), 0);
	assert_injects(0);
	pthread_join(sender, NULL);
	assert_int_equal(vm->vcpus[0].irqchip.posted[0], 0);
}

static void *leave_later(void *arg)
{
	const struct timespec ms = {0, 2000000};

	nanosleep(&ms, NULL);
	atomic_store((atomic_bool *)arg, true);
	vhalt_waiter_kick(&vm->vcpus[0].irqchip.waiter);
	return NULL;
}

static void test_leaving_and_parking_end_a_halt(void **state)
{
	atomic_bool *const reasons[] = {&vm->leaving, &vm->parking};

	(void)state;
	for (int i = 0; i < 2; i++) {
		pthread_t other;

		assert_int_equal(pthread_create(&other, NULL, leave_later, reasons[i]), 0);
		assert_int_equal(vmm_irqchip_halt(&vm->vcpus[0]), VMM_END_NONE);
		pthread_join(other, NULL);
		atomic_store(reasons[i], false);
	}
}

/* Not at the HLT, then as soon as KVM says. */
static void test_an_injection_that_must_wait(void **state)
{
	struct vmm_vcpu *vcpu = &vm->vcpus[1];

	(void)state;
	assert_int_equal(put(1, VMM_LAPIC_SVR, 0x1ff), 0);
	assert_int_equal(put(1, VMM_LAPIC_ICR_LOW, 0x40041), 0);
	runs[1].ready_for_interrupt_injection = 0;
	assert_int_equal(vmm_irqchip_halt(vcpu), VMM_END_NONE);
	assert_int_equal(runs[1].request_interrupt_window, 1);
	assert_int_equal(vmm_irqchip_window(vcpu), VMM_END_NONE); /* it was mistaken */
	assert_int_equal(runs[1].request_interrupt_window, 1);
	runs[1].ready_for_interrupt_injection = 1;
	assert_int_equal(vmm_irqchip_window(vcpu), VMM_END_FAILED);
	assert_int_equal(vcpu->error, -EBADF); /* injected, if there were a KVM */
	assert_int_equal(runs[1].request_interrupt_window, 0);
	/* A window with nothing to inject any more. */
	vmm_irqchip_reset(vcpu);
	runs[1].request_interrupt_window = 1;
	assert_int_equal(vmm_irqchip_window(vcpu), VMM_END_NONE);
	assert_int_equal(runs[1].request_interrupt_window, 0);
}

static void test_halts_nothing_could_end(void **state)
{
	(void)state;
	runs[0].if_flag = 0;
	assert_int_equal(vmm_irqchip_halt(&vm->vcpus[0]), VMM_END_FAILED);
	assert_non_null(strstr(vm->vcpus[0].error_text.text, "interrupts disabled"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_only_the_lapic_page_in_words, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ipis_go_where_they_are_sent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_pending_ends_a_halt_at_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_timer_ends_a_halt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_ipi_ends_a_halt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leaving_and_parking_end_a_halt, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_an_injection_that_must_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_halts_nothing_could_end, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

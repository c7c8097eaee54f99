// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Guest "lock" on a real /dev/kvm: what it publishes, what KVM adds, and resets. Skipped without
// one.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <uapi/vhalt_guest.h>

#include "vmm/internal.h"

#define MS 1000000ULL

/* As arch/x86 uapi has it. */
struct steal_time {
	uint64_t steal;
	uint32_t version, flags;
	uint8_t preempted;
	uint8_t pad[3];
	uint32_t more[11];
};
_Static_assert(sizeof(struct steal_time) == 64, "KVM's structure");
_Static_assert(VHALT_GUEST_SHARE_OFFSET + sizeof(struct vhalt_guest_share) ==
		       sizeof(struct steal_time),
	       "the share is its end");
_Static_assert(VHALT_GUEST_SHARE_OFFSET > offsetof(struct steal_time, preempted) + 4,
	       "clear of what KVM writes");

static struct vmm *run(const struct vmm_config *c, struct vmm_result *r)
{
	struct vmm_error e = {""};
	struct vmm *vm;

	if (access("/dev/kvm", R_OK | W_OK)) {
		print_message("no usable /dev/kvm: %s\n", strerror(errno));
		skip();
	}
	if (vmm_create(c, &vm, &e) || vmm_start(vm, &e))
		fail_msg("%s: %s", c->guest, e.text);
	if (vmm_wait(vm, r))
		fail_msg("%s", r->error_text.text);
	return vm;
}

static struct vmm_config config_of(unsigned int nr_vcpus)
{
	struct vmm_config c;

	assert_int_equal(vmm_config_init(&c, "lock"), 0);
	c.nr_vcpus = nr_vcpus;
	c.duration_ns = 500 * MS;
	return c;
}

static const struct steal_time *steal_of(const struct vmm *vm, unsigned int n)
{
	return vmm_ram_at(vm, VMM_ABI_STEAL_GPA + n * VMM_ABI_STEAL_STRIDE,
			  sizeof(struct steal_time));
}

static struct vhalt_guest_share share_of(const struct vmm *vm, unsigned int n)
{
	struct vhalt_guest_share share;

	memcpy(&share, (const char *)steal_of(vm, n) + VHALT_GUEST_SHARE_OFFSET, sizeof(share));
	return share;
}

static void test_publishes_beside_kvm(void **state)
{
	struct vmm_config c = config_of(3);
	struct vmm_result r;
	struct vmm *vm = run(&c, &r);

	(void)state;
	assert_int_equal(r.nr_vcpus, 3);
	for (unsigned int n = 0; n < 3; n++) {
		struct vhalt_guest_share s = share_of(vm, n);
		const uint32_t *count = vmm_ram_at(vm, s.gpa, 4);

		assert_int_equal(s.magic, VHALT_GUEST_MAGIC);
		assert_int_equal(s.version, VHALT_GUEST_VERSION);
		assert_int_equal(s.width, 4);
		assert_int_equal(s.need_resched_mask, 0x80000000);
		assert_int_equal(s.gpa, VMM_ABI_COUNTS_GPA + n * VMM_ABI_COUNT_STRIDE);
		/* It was stopped with the lock, waiting for it, or without. */
		assert_non_null(count);
		assert_in_range(*count & ~s.need_resched_mask, 0, 1);
		assert_true(*count & s.need_resched_mask);
		/* KVM writes an even version after each update. */
		assert_int_equal(steal_of(vm, n)->version % 2, 0);
		assert_in_range(steal_of(vm, n)->version, 2, UINT32_MAX);
	}
	vmm_destroy(vm);
}

static void test_withdraws_when_done(void **state)
{
	struct vmm_config c = config_of(2);
	struct vmm_result r;
	struct vmm *vm;

	(void)state;
	c.rounds = 20;
	c.duration_ns = 0;
	c.watchdog_ns = 30000 * MS;
	vm = run(&c, &r);
	assert_int_equal(r.end, VMM_END_DONE);
	assert_int_equal(r.acquisitions, 40);
	for (unsigned int n = 0; n < 2; n++)
		assert_int_equal(share_of(vm, n).magic, 0);
	vmm_destroy(vm);
}

static void test_without_steal_time_kvm_writes_nothing(void **state)
{
	const struct steal_time zero = {0};
	struct vmm_config c = config_of(2);
	struct vmm_result r;
	struct vmm *vm;

	(void)state;
	c.share = VMM_SHARE_NONE;
	vm = run(&c, &r);
	assert_memory_equal(steal_of(vm, 0), &zero, sizeof(zero));
	assert_memory_equal(steal_of(vm, 1), &zero, sizeof(zero));
	vmm_destroy(vm);
}

static void test_resets_start_over(void **state)
{
	struct vmm_config c = config_of(2);
	struct vmm_result r;
	struct vmm *vm;

	(void)state;
	c.duration_ns = 1000 * MS;
	c.reset_ns = 20 * MS;
	vm = run(&c, &r);
	assert_int_equal(r.end, VMM_END_TIME);
	assert_in_range(r.resets, 2, 50);
	assert_in_range(r.acquisitions, r.vcpus[0].rounds + r.vcpus[1].rounds,
			r.vcpus[0].rounds + r.vcpus[1].rounds + 1);
	assert_int_equal(vm->vcpus[0].parked_for, r.resets);
	vmm_destroy(vm);
}

/* A stop, a watchdog and the guest's own end may meet a reset at any moment. */
static void test_ends_meet_resets(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		struct vmm_config c = config_of(3);
		struct vmm_result r;

		c.reset_ns = 10 * MS;
		c.duration_ns = (10 + i) * MS;
		c.rounds = i % 2 ? 20 : 0;
		vmm_destroy(run(&c, &r));
		assert_true(r.end == VMM_END_TIME || (c.rounds && r.end == VMM_END_DONE));
	}
}

static void test_configuration(void **state)
{
	struct vmm_error e = {""};
	struct vmm_config c = config_of(9);

	(void)state;
	assert_int_equal(vmm_config_check(&c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "9 vCPUs"));
	c = config_of(0);
	assert_int_equal(vmm_config_check(&c, &e), -EINVAL);
	c = config_of(8);
	assert_int_equal(vmm_config_check(&c, &e), 0);
	c.reset_ns = VMM_MIN_RESET_NS - 1;
	assert_int_equal(vmm_config_check(&c, &e), -EINVAL);
	assert_int_equal(vmm_config_init(&c, "rr"), 0);
	c.nr_vcpus = 3;
	assert_int_equal(vmm_config_check(&c, &e), -EINVAL);
	c.nr_vcpus = 2;
	c.share = VMM_SHARE_STEAL;
	assert_int_equal(vmm_config_check(&c, &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_configuration),
		cmocka_unit_test(test_publishes_beside_kvm),
		cmocka_unit_test(test_withdraws_when_done),
		cmocka_unit_test(test_without_steal_time_kvm_writes_nothing),
		cmocka_unit_test(test_resets_start_over),
		cmocka_unit_test(test_ends_meet_resets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

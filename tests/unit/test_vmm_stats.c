// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Micro-VMM: reading KVM's binary statistics, from files made here.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/kvm.h>

#include "vmm/stats.h"

#define NAME_BYTES 48

/* The name follows its descriptor at once. */
#define DESCRIPTOR_BYTES (sizeof(struct kvm_stats_desc) + NAME_BYTES)

static void write_at(int fd, const void *buf, size_t bytes, off_t at)
{
	assert_int_equal(pwrite(fd, buf, bytes, at), (ssize_t)bytes);
}

/* A statistics file with the given names; value number i is 1000 + i. Other order than the table.
 */
static int make_file(const char *const *names, uint32_t nr, uint32_t claimed_nr)
{
	const struct kvm_stats_header h = {
		.name_size = NAME_BYTES,
		.num_desc = claimed_nr,
		.id_offset = sizeof(h),
		.desc_offset = sizeof(h) + NAME_BYTES,
		.data_offset = (uint32_t)(sizeof(h) + NAME_BYTES + nr * DESCRIPTOR_BYTES),
	};
	int fd = memfd_create("stats", MFD_CLOEXEC);

	assert_true(fd >= 0);
	write_at(fd, &h, sizeof(h), 0);
	for (uint32_t i = 0; i < nr; i++) {
		const struct kvm_stats_desc d = {.size = 1, .offset = i * 8};
		const off_t at = (off_t)(h.desc_offset + i * DESCRIPTOR_BYTES);
		char name[NAME_BYTES] = "";
		uint64_t value = 1000 + i;

		strncpy(name, names[i], NAME_BYTES - 1);
		write_at(fd, &d, sizeof(d), at);
		write_at(fd, name, sizeof(name), at + (off_t)sizeof(d));
		write_at(fd, &value, sizeof(value), h.data_offset + (off_t)i * 8);
	}
	return fd;
}

static const char *const kernel_names[] = {
	"pf_taken",	     "halt_wait_ns",	    "halt_poll_fail_ns",    "halt_poll_success_ns",
	"halt_poll_invalid", "halt_attempted_poll", "halt_successful_poll", "halt_wakeup",
	"halt_exits",	     "halt_exits_more",
};

static void test_counters_are_found_by_name(void **state)
{
	struct vmm_stats stats;
	struct vmm_kvm_stats kvm;

	(void)state;
	assert_int_equal(vmm_stats_init(&stats, make_file(kernel_names, 10, 10)), 0);
	assert_int_equal(vmm_stats_read(&stats, &kvm), 0);
	assert_true(kvm.valid);
	assert_int_equal(kvm.halt_wait_ns, 1001);
	assert_int_equal(kvm.halt_poll_fail_ns, 1002);
	assert_int_equal(kvm.halt_poll_success_ns, 1003);
	assert_int_equal(kvm.halt_poll_invalid, 1004);
	assert_int_equal(kvm.halt_attempted_poll, 1005);
	assert_int_equal(kvm.halt_successful_poll, 1006);
	assert_int_equal(kvm.halt_wakeup, 1007);
	assert_int_equal(kvm.halt_exits, 1008);
	vmm_stats_fini(&stats);
	assert_int_equal(stats.fd, -1);
}

static void test_missing_counter_reads_zero(void **state)
{
	struct vmm_stats stats;
	struct vmm_kvm_stats kvm;

	(void)state;
	assert_int_equal(vmm_stats_init(&stats, make_file(kernel_names, 2, 2)), 0);
	assert_int_equal(vmm_stats_read(&stats, &kvm), 0);
	assert_int_equal(kvm.halt_wait_ns, 1001);
	assert_int_equal(kvm.halt_exits, 0);
	vmm_stats_fini(&stats);
}

static void test_broken_layouts_are_refused(void **state)
{
	struct vmm_stats stats;

	(void)state;
	assert_int_equal(vmm_stats_init(&stats, memfd_create("empty", MFD_CLOEXEC)), -EPROTO);
	assert_int_equal(stats.fd, -1);
	assert_int_equal(vmm_stats_init(&stats, make_file(kernel_names, 2, 0)), -EPROTO);
	assert_int_equal(vmm_stats_init(&stats, make_file(kernel_names, 2, 200)), -EPROTO);
	assert_int_equal(vmm_stats_init(&stats, make_file(kernel_names, 2, 0xffffffff)), -EPROTO);
}

static void test_value_past_the_end_is_an_error(void **state)
{
	struct vmm_stats stats;
	struct vmm_kvm_stats kvm;
	int fd = make_file(kernel_names, 10, 10);

	(void)state;
	assert_int_equal(vmm_stats_init(&stats, fd), 0);
	assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) - 12), 0);
	assert_int_equal(vmm_stats_read(&stats, &kvm), -EPROTO);
	assert_false(kvm.valid);
	vmm_stats_fini(&stats);
	assert_int_equal(vmm_stats_read(&stats, &kvm), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters_are_found_by_name),
		cmocka_unit_test(test_missing_counter_reads_zero),
		cmocka_unit_test(test_broken_layouts_are_refused),
		cmocka_unit_test(test_value_past_the_end_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

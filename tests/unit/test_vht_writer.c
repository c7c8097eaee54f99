// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Writing .vht recordings: definitions and their names, what is refused, and files that run full.
#include "tests/unit/vht_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

static void test_definitions(void **state)
{
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 3, 2);
	struct trace_vcpu late = {1, 77, TRACE_UNKNOWN_U32, "late"}, wrong = {3, 1, 1, "no VM"};
	struct reading *r;

	(void)state;
	assert_int_equal(vht_writer_add_vcpu(w, &late), 0);
	assert_int_equal(vht_writer_add_vcpu(w, &wrong), -EINVAL);
	assert_int_equal(vht_writer_update_vcpu(w, 6, &wrong), -EINVAL);
	assert_int_equal(vht_writer_update_vcpu(w, 7, &late), -EINVAL);
	late.number = 5;
	assert_int_equal(vht_writer_update_vcpu(w, 6, &late), 0);
	assert_int_equal(vht_writer_close(w, 1, 0), 0);
	r = read_fd(fd);
	assert_int_equal(r->nr_reports, 0);
	assert_int_equal(r->info.nr_vms, 3);
	assert_int_equal(r->info.nr_vcpus, 7);
	assert_string_equal(r->info.vms[2].name, "vm2");
	assert_int_equal(r->info.vms[1].pid, 1001);
	assert_int_equal(r->info.vms[1].ceiling_ns, 100000);
	assert_int_equal(r->info.vms[2].ceiling_ns, TRACE_UNKNOWN_U32);
	assert_int_equal(r->info.vcpus[3].vm, 1);
	assert_int_equal(r->info.vcpus[3].tid, 2003);
	assert_int_equal(r->info.vcpus[3].number, 1);
	assert_string_equal(r->info.vcpus[3].name, "CPU 1/KVM");
	assert_memory_equal(&r->info.vcpus[6], &late, sizeof(late));
	reading_free(r);
}

/* Names come from guests' owners: nothing in them may reach a terminal as a command. */
static void test_names_are_printable(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{"plain", "plain"},
		{"esc\033[2J", "esc?[2J"},
		{"nl\nx", "nl?x"},
		{"h\xc3\xa9 \xe5\x90\x8d \xf0\x9f\x90\xa7",
		 "h\xc3\xa9 \xe5\x90\x8d \xf0\x9f\x90\xa7"},
		{"c1\xc2\x9b", "c1??"},	    /* a C1 control, two bytes */
		{"over\xc0\xaf", "over??"}, /* overlong slash */
		{"cut\xe5\x90", "cut??"},
		{"surrogate\xed\xa0\x80", "surrogate???"},
		{"\xff\xf8 \x7f", "?? ?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_vm vm = {.pid = 1};
		int fd = memory_file();
		struct vht_writer *w = begin_recording(fd, &test_info, 0, 0);
		struct reading *r;

		memcpy(vm.name, rows[i].in, strlen(rows[i].in));
		assert_int_equal(vht_writer_add_vm(w, &vm), 0);
		assert_int_equal(vht_writer_close(w, 1, 0), 0);
		r = read_fd(fd);
		assert_string_equal(r->info.vms[0].name, rows[i].out);
		reading_free(r);
	}
}

static void test_name_fills_its_room(void **state)
{
	struct trace_vm vm = {.pid = 1};
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 0, 0);
	struct reading *r;

	(void)state;
	memset(vm.name, 'x', sizeof(vm.name)); /* no NUL */
	assert_int_equal(vht_writer_add_vm(w, &vm), 0);
	assert_int_equal(vht_writer_close(w, 1, 0), 0);
	r = read_fd(fd);
	assert_int_equal(strlen(r->info.vms[0].name), TRACE_NAME_BYTES - 1);
	reading_free(r);
}

static void test_too_many_vms(void **state)
{
	const struct trace_vm vm = {1, 2, "x"};
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 0, 0);
	struct reading *r;

	(void)state;
	for (uint32_t i = 0; i < VHT_INDEX_MAX; i++)
		assert_int_equal(vht_writer_add_vm(w, &vm), 0);
	assert_int_equal(vht_writer_add_vm(w, &vm), -E2BIG);
	assert_int_equal(vht_writer_close(w, 1, 0), 0);
	r = read_fd(fd);
	assert_int_equal(r->info.nr_vms, VHT_INDEX_MAX);
	assert_int_equal(r->nr_reports, 0);
	reading_free(r);
}

static void test_bad_halts_are_refused(void **state)
{
	struct trace_halt h = {.vcpu = 1};
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 1, 1);

	(void)state;
	assert_int_equal(vht_writer_add(w, &h), -EINVAL);
	h.vcpu = 0;
	h.flags = 1 << 5;
	assert_int_equal(vht_writer_add(w, &h), -EINVAL);
	h.flags = TRACE_HALT_WAITED;
	assert_int_equal(vht_writer_add(w, &h), 0);
	assert_int_equal(vht_writer_close(w, 1, 0), 0);
	close(fd);
}

static void test_full_device(void **state)
{
	struct vht_writer *w;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(vht_writer_create(&w, fd, &test_info), -ENOSPC);
	close(fd);
}

/*
 * A file that may not grow any further: one write comes back short, the next fails. The writer
 * keeps the first error, writes no more, and what went before is still readable.
 */
static void test_file_stops_growing(void **state)
{
	struct rlimit before, limit;
	int fd = memory_file(), err = 0;
	struct vht_writer *w = begin_recording(fd, &test_info, 1, 1);
	struct kvm_vcpu vcpu = {0, 0, 200000};
	struct rng rng = {99};
	struct reading *r;
	off_t bytes;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 150000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (uint32_t i = 0; i < 100000 && !err; i++) {
		struct trace_halt h = kvm_halt(&vcpu, 0, rng_below(&rng, 10000),
					       rng_below(&rng, 100000));

		err = vht_writer_add(w, &h);
	}
	assert_int_equal(err, -EFBIG);
	bytes = lseek(fd, 0, SEEK_END);
	assert_int_equal(bytes, 150000);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(vht_writer_add(w, &(struct trace_halt){0}), -EFBIG);
	assert_int_equal(vht_writer_flush(w), -EFBIG);
	assert_int_equal(vht_writer_close(w, 1, 0), -EFBIG);
	assert_int_equal(lseek(fd, 0, SEEK_END), bytes);
	r = read_fd(fd);
	assert_true(r->nr >= VHT_HALTS_WRITTEN && r->nr % VHT_HALTS_WRITTEN == 0);
	assert_int_equal(r->nr_reports, 1);
	assert_non_null(strstr(r->text, "cut short"));
	reading_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_names_are_printable),
		cmocka_unit_test(test_name_fills_its_room),
		cmocka_unit_test(test_too_many_vms),
		cmocka_unit_test(test_bad_halts_are_refused),
		cmocka_unit_test(test_full_device),
		cmocka_unit_test(test_file_stops_growing),
	};

	return cmocka_run_group_tests_name("vht_writer", tests, NULL, NULL);
}

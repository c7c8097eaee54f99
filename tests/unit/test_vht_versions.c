// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Hand-made .vht files as other writers may make them: newer versions, definitions late or never.
#include "tests/unit/vht_maker.h"

#include <errno.h>

/* The sound file all others are made of, and what stands in for definitions that never came. */
static void test_hand_made_file(void **state)
{
	struct maker m = begin_file();
	struct reading *r;

	(void)state;
	put_sound_frame(&m, 2, 0);
	put_sound_frame(&m, 2, 440);
	r = end_file(&m);
	assert_int_equal(r->nr_reports, 0);
	assert_int_equal(r->nr, 2 * HALTS);
	assert_int_equal(r->halts[7].start_ns, 780);
	assert_int_equal(r->halts[7].flags, 0);
	assert_int_equal(r->info.nr_vcpus, 3);
	assert_int_equal(r->info.nr_vms, 2);
	assert_int_equal(r->info.vcpus[2].vm, 1);
	assert_int_equal(r->info.vcpus[2].tid, 502);
	assert_string_equal(r->info.vcpus[2].name, "?");
	assert_string_equal(r->info.vms[1].name, "?");
	assert_int_equal(r->info.vms[1].ceiling_ns, TRACE_UNKNOWN_U32);
	reading_free(r);
}

static void test_definition_comes_late(void **state)
{
	const struct trace_vcpu early = {0, 5, 9, "first"}, late = {0, 502, 2, "second"};
	struct vht_buffer records = {0};
	struct maker m = begin_file();
	struct reading *r;

	(void)state;
	vht_put_vcpu(&records, &m.body, 2, &early);
	put(&m, VHT_FRAME_VCPUS, 0, &records);
	put_sound_frame(&m, 2, 0);
	records.used = 0;
	vht_put_vcpu(&records, &m.body, 2, &late);
	put(&m, VHT_FRAME_VCPUS, 0, &records);
	r = end_file(&m);
	assert_int_equal(r->nr_reports, 0);
	assert_int_equal(r->info.nr_vcpus, 3);
	assert_memory_equal(&r->info.vcpus[2], &late, sizeof(late));
	reading_free(r);
	vht_buffer_fini(&records);
}

/* A newer minor version: longer records, sections and frames nobody knows. Nothing is lost. */
static void test_newer_minor(void **state)
{
	struct vht_buffer payload = {0}, record = {0}, records = {0};
	struct maker m = begin_file();
	struct reading *r;

	(void)state;
	m.frame.minor = VHT_MINOR + 3;
	vht_put_varint(&record, 0);
	vht_put_u32(&record, 4242);
	vht_put_u32(&record, 77);
	vht_put_string(&record, "new", 10);
	vht_put_u64(&record, 1); /* a field of the future */
	vht_put_varint(&records, record.used);
	vht_put_bytes(&records, record.data, record.used);
	put(&m, VHT_FRAME_VMS, 0, &records);
	put(&m, 200, 0, &record);
	put_sound_payload(&payload, 0, 0);
	put_section(&payload, 100, &record);
	put(&m, VHT_FRAME_HALTS, HALTS, &payload);
	r = end_file(&m);
	assert_int_equal(r->last, 0);
	assert_int_equal(r->nr, HALTS);
	assert_int_equal(r->info.damaged_frames, 0);
	assert_int_equal(r->info.vms[0].pid, 4242);
	assert_string_equal(r->info.vms[0].name, "new");
	assert_int_equal(r->nr_reports, 1);
	assert_non_null(strstr(r->text, "frame of unknown type 200 (format version 1.3) left out"));
	reading_free(r);
	vht_buffer_fini(&payload);
	vht_buffer_fini(&record);
	vht_buffer_fini(&records);
}

static void test_newer_major(void **state)
{
	struct maker m = begin_file();
	struct reading *r;

	(void)state;
	put_sound_frame(&m, 0, 0);
	m.frame.major = VHT_MAJOR + 1;
	put_sound_frame(&m, 0, 440);
	m.frame.major = VHT_MAJOR;
	put_sound_frame(&m, 1, 0);
	r = end_file(&m);
	assert_int_equal(r->nr, 2 * HALTS);
	assert_int_equal(r->info.damaged_frames, 1);
	assert_non_null(strstr(r->text, "format version 2.0, this vhalt reads 1.x"));
	reading_free(r);

	m = begin_file();
	m.file.used = 0;
	m.frame.sequence = 0;
	m.frame.major = VHT_MAJOR + 1;
	put_sound_frame(&m, 0, 0);
	r = end_file(&m);
	assert_int_equal(r->open_error, -EPROTO);
	assert_int_equal(r->nr_reports, 1);
	assert_non_null(strstr(r->text, "file: offset 0: format version 2.0"));
	reading_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hand_made_file),
		cmocka_unit_test(test_definition_comes_late),
		cmocka_unit_test(test_newer_minor),
		cmocka_unit_test(test_newer_major),
	};

	return cmocka_run_group_tests_name("vht_versions", tests, NULL, NULL);
}

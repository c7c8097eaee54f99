// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Hand-made .vht files: lying headers, and payloads that break a rule of vht(5).
#include "tests/unit/vht_maker.h"

/* Headers that are sound by their checksum and ask for the impossible. */
static void test_lying_headers(void **state)
{
	static const struct {
		size_t offset; /* of the u32 in the header */
		uint32_t value;
		const char *text;
	} rows[] = {
		{24, 0xffffffffU, "claims 4294967295 halts (at most 16384)"},
		{24, VHT_HALTS_MAX + 1, "claims 16385 halts"},
		{24, HALTS + 1, "breaks the rules"},
		{24, 0, "breaks the rules"},
		{28, 0xffffffffU, "claims 4294967295 bytes"},
		{28, VHT_STORED_MAX + 1, "claims 2162689 bytes"},
		{28, 1, "payload checksum mismatch"},
		{32, 0xffffffffU, "unpacked 4294967295 (at most 2097152)"},
		{32, 5, "payload of two lengths"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct maker m = begin_file();
		size_t at = m.file.used;
		struct reading *r;

		put_sound_frame(&m, 0, 0);
		vht_store_u32(m.file.data + at + rows[i].offset, rows[i].value);
		vht_store_u32(m.file.data + at + 40, vht_crc32(m.file.data + at, 40));
		put_sound_frame(&m, 1, 0);
		r = end_file(&m);
		assert_int_equal(r->last, 0);
		assert_int_equal(r->nr, HALTS);
		assert_int_equal(r->halts[0].vcpu, 1);
		assert_int_equal(r->info.damaged_frames, 1);
		assert_int_equal(r->nr_reports, 1);
		assert_non_null(strstr(r->text, rows[i].text));
		reading_free(r);
	}
}

static void test_unknown_flags(void **state)
{
	struct maker m = begin_file();
	struct reading *r;

	(void)state;
	m.frame.flags = 0x40;
	put_sound_frame(&m, 0, 0);
	m.frame.flags = VHT_FRAME_ZSTD; /* which it is not */
	put_sound_frame(&m, 0, 440);
	r = end_file(&m);
	assert_int_equal(r->nr, 0);
	assert_int_equal(r->last, 0);
	assert_int_equal(r->info.damaged_frames, 2);
	assert_non_null(strstr(r->text, "unknown flags 0x40"));
	assert_non_null(strstr(r->text, "does not decompress"));
	reading_free(r);
}

/* Reads @payload as a frame of @halts between two sound ones; it must be refused, they must not. */
static void assert_refused(const char *what, const struct vht_buffer *payload, uint32_t halts)
{
	struct maker m = begin_file();
	struct reading *r;

	print_message("# %s\n", what);
	put_sound_frame(&m, 0, 0);
	put(&m, VHT_FRAME_HALTS, halts, payload);
	put_sound_frame(&m, 0, 440);
	r = end_file(&m);
	assert_int_equal(r->last, 0);
	assert_int_equal(r->nr, 2 * HALTS);
	assert_int_equal(r->halts[HALTS].flags, 0);
	assert_int_equal(r->info.damaged_frames, 1);
	assert_int_equal(r->nr_reports, 1);
	assert_non_null(strstr(r->text, "breaks the rules"));
	assert_int_equal(r->info.nr_vcpus, 1);
	reading_free(r);
}

static void test_bad_streams(void **state)
{
	static const struct {
		const char *what;
		struct lane lanes[2];
		unsigned nr;
	} rows[] = {
		{"vCPU out of range", {{VHT_INDEX_MAX, 0, 1, HALTS, 0}}, 1},
		{"VM out of range", {{0, VHT_INDEX_MAX, 1, HALTS, 0}}, 1},
		{"thread id out of range", {{0, 0, 1ULL << 32, HALTS, 0}}, 1},
		{"no halts", {{0, 0, 1, HALTS, 0}, {0, 0, 1, 0, 0}}, 2},
		{"more halts than the frame", {{0, 0, 1, HALTS + 1, 0}}, 1},
		{"fewer halts than the frame", {{0, 0, 1, HALTS - 1, 0}}, 1},
		{"very many halts", {{0, 0, 1, ~0ULL, 0}}, 1},
		{"no streams", {{0}}, 0},
		{"one vCPU twice", {{0, 0, 1, HALTS / 2, 0}, {0, 0, 1, HALTS / 2, 0}}, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vht_buffer payload = {0};

		put_lanes(&payload, rows[i].lanes, rows[i].nr);
		put_ops(&payload, no_ops, HALTS);
		put_constant(&payload, VHT_SECTION_RUN, 10, HALTS);
		put_constant(&payload, VHT_SECTION_HALT, 100, HALTS);
		assert_refused(rows[i].what, &payload, HALTS);
		vht_buffer_fini(&payload);
	}
}

static const struct lane lane = {0, 0, 1, HALTS, 0};

static void test_bad_sections(void **state)
{
	struct vht_buffer payload = {0}, sound = {0};

	(void)state;
	put_sound_payload(&sound, 0, 440);
	assert_refused("nothing", &payload, HALTS);
	for (size_t nr = 1; nr < sound.used; nr++) {
		payload.used = 0;
		vht_put_bytes(&payload, sound.data, nr);
		assert_refused("cut", &payload, HALTS);
	}
	payload.used = 0;
	vht_put_bytes(&payload, sound.data, sound.used);
	put_constant(&payload, VHT_SECTION_RUN, 10, HALTS);
	assert_refused("section out of order", &payload, HALTS);
	payload.used = 0;
	vht_put_bytes(&payload, sound.data, sound.used);
	put_constant(&payload, VHT_SECTION_LATENCY, 10, HALTS + 1);
	assert_refused("one latency too many", &payload, HALTS);
	payload.used = 0;
	vht_put_bytes(&payload, sound.data, sound.used);
	put_section(&payload, VHT_SECTION_RUN_APART, &sound);
	assert_refused("run times apart of no halt", &payload, HALTS);
	vht_buffer_fini(&payload);
	vht_buffer_fini(&sound);
}

static void test_bad_operations(void **state)
{
	static const uint8_t ops[][HALTS] = {
		{0, VHT_OP_RUN_APART},
		{0, 0, VHT_OP_WINDOW_APART},
		{0, 0, 0, TRACE_HALT_WINDOW | VHT_OP_DECISION_APART},
		{VHT_OP_DECISION_APART},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct vht_buffer payload = {0};

		put_lanes(&payload, &lane, 1);
		put_ops(&payload, ops[i], HALTS);
		put_constant(&payload, VHT_SECTION_RUN, 10, HALTS);
		put_constant(&payload, VHT_SECTION_HALT, 100, HALTS);
		assert_refused("values apart that are not there", &payload, HALTS);
		vht_buffer_fini(&payload);
	}
}

static void test_bad_records(void **state)
{
	static const struct {
		const char *bytes;
		size_t nr;
	} rows[] = {
		{"\x05", 1},					  /* longer than the frame */
		{"\x01\x00", 2},				  /* only an index */
		{"\x0c\x80\x80\x04\x01\0\0\0\x01\0\0\0\x00", 13}, /* index 65536 */
		{"\x0a\x00\x01\0\0\0\x01\0\0\0\x05", 11},	  /* name cut off */
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10}, /* no varint */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vht_buffer records = {0};
		struct maker m = begin_file();
		struct reading *r;

		vht_put_bytes(&records, rows[i].bytes, rows[i].nr);
		put(&m, VHT_FRAME_VMS, 0, &records);
		r = end_file(&m);
		assert_int_equal(r->last, 0);
		assert_int_equal(r->info.nr_vms, 0);
		assert_int_equal(r->info.damaged_frames, 1);
		assert_non_null(strstr(r->text, "breaks the rules"));
		reading_free(r);
		vht_buffer_fini(&records);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lying_headers),  cmocka_unit_test(test_unknown_flags),
		cmocka_unit_test(test_bad_streams),    cmocka_unit_test(test_bad_sections),
		cmocka_unit_test(test_bad_operations), cmocka_unit_test(test_bad_records),
	};

	return cmocka_run_group_tests_name("vht_rules", tests, NULL, NULL);
}

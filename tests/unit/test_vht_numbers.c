// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Columns of numbers: any numbers come back, common shapes come out short, nonsense is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vht_numbers.h"

static uint64_t seed;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* An encoded column with the slack a decoder may read behind it. */
struct column {
	struct vht_buffer bytes;
	struct vht_pieces pieces;
	size_t used;
};

static struct column encode(const uint64_t *values, size_t nr)
{
	uint64_t *scratch = malloc(2 * nr * sizeof(*scratch));
	struct column c = {0};

	assert_non_null(scratch);
	vht_numbers_encode(&c.bytes, &c.pieces, values, nr, scratch);
	c.used = c.bytes.used;
	assert_non_null(vht_buffer_reserve(&c.bytes, VHT_NUMBERS_SLACK));
	/* A decoder that believed what lies behind would differ. */
	memset(c.bytes.data + c.used, 0xff, VHT_NUMBERS_SLACK);
	free(scratch);
	return c;
}

static int decode(const struct column *c, uint64_t *values, size_t nr)
{
	struct vht_cursor from = {c->bytes.data, c->bytes.data + c->used, false};
	int err = vht_numbers_decode(&from, values, nr);

	if (!err)
		assert_ptr_equal(from.at, from.end);
	return err;
}

static void assert_round_trip(const uint64_t *values, size_t nr)
{
	uint64_t *got = malloc(nr * sizeof(*got));
	struct column c = encode(values, nr);

	assert_non_null(got);
	assert_int_equal(decode(&c, got, nr), 0);
	assert_memory_equal(got, values, nr * sizeof(*got));
	vht_buffer_fini(&c.bytes);
	free(got);
}

static void test_extremes(void **state)
{
	static const uint64_t rows[][4] = {
		{0, 0, 0, 0},
		{~0ULL, ~0ULL, ~0ULL, ~0ULL},
		{0, ~0ULL, 0, ~0ULL},
		{1ULL << 63, (1ULL << 63) - 1, 1ULL << 63, 0},
		{1, 2, 4, 8},
		{~0ULL - 1, ~0ULL, 1, 0},
		{1ULL << 56, (1ULL << 57) - 1, 1ULL << 62, 12345},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t nr = 1; nr <= 4; nr++)
			assert_round_trip(rows[i], nr);
}

static void test_random(void **state)
{
	static uint64_t values[VHT_HALTS_MAX];

	(void)state;
	for (seed = 1; seed < 200;) {
		uint64_t begin = seed, shape;
		size_t nr;

		print_message("# seed %u\n", (unsigned)seed);
		shape = draw() % 5;
		nr = 1 + draw() % (draw() % 4 ? 300 : VHT_HALTS_MAX);
		for (size_t i = 0; i < nr; i++)
			switch (shape) {
			case 0: values[i] = draw(); break;
			case 1: values[i] = draw() >> draw() % 64; break;
			case 2: values[i] = 5000 + draw() % 1000; break;
			case 3: values[i] = draw() % 3 ? 0 : draw() % 1000000; break;
			case 4: values[i] = (draw() % 7) << 40 | draw() % 100; break;
			}
		assert_round_trip(values, nr);
		seed = begin + 1;
	}
}

/* More narrow clusters than there are bins. */
static void test_many_clusters(void **state)
{
	static uint64_t values[VHT_HALTS_MAX];

	(void)state;
	seed = 77;
	for (size_t i = 0; i < VHT_HALTS_MAX; i++)
		values[i] = (draw() % 500) * 1000003;
	assert_round_trip(values, VHT_HALTS_MAX);
}

/*
 * Uniform within 2^k: k bits and hardly more, wherever it begins. The indices are counted by their
 * entropy, which is what the compressor makes of them.
 */
static void test_bits(void **state)
{
	static uint64_t values[VHT_HALTS_MAX];

	(void)state;
	seed = 4242;
	for (unsigned k = 4; k <= 32; k += 4) {
		double bits = 0, count[256] = {0};
		const uint8_t *index;
		unsigned nr_bins;
		struct column c;
		struct vht_cursor at;

		for (size_t i = 0; i < VHT_HALTS_MAX; i++)
			values[i] = 1234567 + draw() % (1ULL << k);
		c = encode(values, VHT_HALTS_MAX);
		at = (struct vht_cursor){c.bytes.data, c.bytes.data + c.used, false};
		vht_get_u8(&at);
		vht_get_varint(&at);
		nr_bins = vht_get_u8(&at) + 1U;
		vht_get_bytes(&at, nr_bins);
		index = vht_get_bytes(&at, VHT_HALTS_MAX);
		for (size_t i = 0; i < VHT_HALTS_MAX; i++)
			count[index[i]]++;
		for (unsigned b = 0; b < nr_bins; b++)
			bits += count[b] > 0 ? count[b] * log2(VHT_HALTS_MAX / count[b]) : 0;
		bits = bits / VHT_HALTS_MAX + 8.0 * vht_get_u32(&at) / VHT_HALTS_MAX;
		print_message("# 2^%u: %.3f bits in %u bins\n", k, bits, nr_bins);
		assert_true(bits < k + 0.2);
		vht_buffer_fini(&c.bytes);
	}
}

/* Numbers that share a power of two pay nothing for it. */
static void test_unit(void **state)
{
	uint64_t values[4096], coarse[4096];
	struct column fine, units;

	(void)state;
	seed = 4711;
	for (size_t i = 0; i < 4096; i++) {
		values[i] = draw() % 100000;
		coarse[i] = values[i] * 64;
	}
	assert_round_trip(coarse, 4096);
	fine = encode(values, 4096);
	units = encode(coarse, 4096);
	assert_int_equal(units.bytes.data[0], fine.bytes.data[0] + 6);
	assert_int_equal(units.used, fine.used);
	vht_buffer_fini(&fine.bytes);
	vht_buffer_fini(&units.bytes);
}

/* Whatever bytes come: refused, or read as some numbers; never beyond the slack (sanitizers tell).
 */
static void test_nonsense(void **state)
{
	uint64_t values[64], got[64];
	unsigned refused = 0;

	(void)state;
	seed = 31337;
	for (int round = 0; round < 3000; round++) {
		struct column c;

		for (int i = 0; i < 64; i++)
			values[i] = draw() >> draw() % 64;
		c = encode(values, 64);
		for (int i = 0; i < 3; i++)
			c.bytes.data[draw() % c.used] ^= (uint8_t)(1 + draw() % 255);
		if (!(round % 3))
			c.used = draw() % c.used;
		refused += decode(&c, got, 64) == -EBADMSG;
		vht_buffer_fini(&c.bytes);
	}
	assert_true(refused > 1000);
}

static void test_refused(void **state)
{
	static const struct {
		const char *what, *bytes;
		size_t nr;
	} rows[] = {
		{"unit too large", "\x10\x00\x00\x00\x00\x00\x00\x00\x00", 9},
		{"bin too wide", "\x00\x00\x00\x40\x00\x00\x00\x00\x00", 9},
		{"index without a bin", "\x00\x00\x00\x00\x01\x00\x00\x00\x00", 9},
		{"bits missing", "\x00\x00\x00\x09\x00\x01\x00\x00\x00\xff", 10},
		{"bits too many", "\x00\x00\x00\x07\x00\x02\x00\x00\x00\x00\x00", 11},
		{"bits left over not 0", "\x00\x00\x00\x07\x00\x01\x00\x00\x00\x80", 10},
		{"bits longer than all", "\x00\x00\x00\x07\x00\xff\xff\xff\xff\x00", 10},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct column c = {.used = rows[i].nr};
		uint64_t got;

		print_message("# %s\n", rows[i].what);
		vht_put_bytes(&c.bytes, rows[i].bytes, rows[i].nr);
		assert_non_null(vht_buffer_reserve(&c.bytes, VHT_NUMBERS_SLACK));
		memset(c.bytes.data + c.used, 0, VHT_NUMBERS_SLACK);
		assert_int_equal(decode(&c, &got, 1), -EBADMSG);
		vht_buffer_fini(&c.bytes);
	}
}

static void test_varints(void **state)
{
	static const struct {
		const char *bytes;
		size_t nr;
		uint64_t value;
		bool bad;
	} rows[] = {
		{"\x00", 1, 0, false},
		{"\x7f", 1, 127, false},
		{"\x80\x01", 2, 128, false},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, ~0ULL, false},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, 0, true}, /* 65 bits */
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, 0, true},
		{"\x80", 1, 0, true},
		{"", 0, 0, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint8_t *bytes = (const uint8_t *)rows[i].bytes;
		struct vht_cursor at = {bytes, bytes + rows[i].nr, false};
		struct vht_buffer back = {0};

		assert_int_equal(vht_get_varint(&at), rows[i].value);
		assert_int_equal(at.bad, rows[i].bad);
		vht_put_varint(&back, rows[i].value);
		if (!rows[i].bad)
			assert_memory_equal(back.data, bytes, rows[i].nr);
		vht_buffer_fini(&back);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extremes),      cmocka_unit_test(test_random),
		cmocka_unit_test(test_many_clusters), cmocka_unit_test(test_bits),
		cmocka_unit_test(test_unit),
		cmocka_unit_test(test_nonsense),      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_varints),
	};

	return cmocka_run_group_tests_name("vht_numbers", tests, NULL, NULL);
}

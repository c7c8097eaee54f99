// SPDX-License-Identifier: GPL-2.0-only OR MIT
// KVM's binary statistics: values, histograms, units, both byte orders, and every way to be cut.
#include "tests/unit/stats_fixture.h"

#include <errno.h>
#include <linux/kvm.h>

enum { NAME_BYTES = 40 };

struct counter {
	const char *name;
	uint32_t flags;
	int16_t exponent;
	uint16_t size;
	uint64_t first; /* value, or of bucket i: first + i */
};

#define CUMULATIVE (KVM_STATS_TYPE_CUMULATIVE | KVM_STATS_UNIT_NONE | KVM_STATS_BASE_POW10)
#define NANO	   (KVM_STATS_TYPE_CUMULATIVE | KVM_STATS_UNIT_SECONDS | KVM_STATS_BASE_POW10)
#define LOG2_NANO  (KVM_STATS_TYPE_LOG_HIST | KVM_STATS_UNIT_SECONDS | KVM_STATS_BASE_POW10)

static const struct counter counters[] = {
	{"halt_successful_poll", CUMULATIVE, 0, 1, 40},
	{"halt_attempted_poll", CUMULATIVE, 0, 1, 100},
	{"halt_poll_success_ns", NANO, -9, 1, 123456},
	{"halt_wait_ns", NANO, -6, 1, 7},
	{"halt_poll_fail_hist", LOG2_NANO, -9, 32, 1},
	{"blocking", KVM_STATS_TYPE_INSTANT | 4 << KVM_STATS_UNIT_SHIFT, 0, 1, 1},
	{"pages", CUMULATIVE, 0, 1, 9},
};

enum { NR = sizeof(counters) / sizeof(counters[0]) };

/** A file being made. */
struct file {
	uint8_t bytes[4096];
	size_t nr;
};

static void put(struct file *f, size_t at, const void *from, size_t bytes)
{
	assert_true(at + bytes <= sizeof(f->bytes));
	memcpy(f->bytes + at, from, bytes);
	f->nr = at + bytes > f->nr ? at + bytes : f->nr;
}

static void put32(struct file *f, size_t at, uint32_t v, bool swap)
{
	v = swap ? __builtin_bswap32(v) : v;
	put(f, at, &v, sizeof(v));
}

static void put16(struct file *f, size_t at, uint16_t v, bool swap)
{
	v = swap ? (uint16_t)__builtin_bswap16(v) : v;
	put(f, at, &v, sizeof(v));
}

static void put64(struct file *f, size_t at, uint64_t v, bool swap)
{
	v = swap ? __builtin_bswap64(v) : v;
	put(f, at, &v, sizeof(v));
}

static struct file make(const struct counter *c, uint32_t nr, bool swap)
{
	struct file f = {.nr = 0};
	size_t id = 24, desc = id + NAME_BYTES, one = 16 + NAME_BYTES, data = desc + nr * one;
	uint32_t offset = 0;
	const uint32_t head[] = {0, NAME_BYTES, nr, (uint32_t)id, (uint32_t)desc, (uint32_t)data};

	for (size_t i = 0; i < 6; i++)
		put32(&f, 4 * i, head[i], swap);
	put(&f, id, "kvm-7/vcpu-3", 13);
	for (uint32_t i = 0; i < nr; i++, c++) {
		size_t at = desc + i * one;

		put32(&f, at, c->flags, swap);
		put16(&f, at + 4, (uint16_t)c->exponent, swap);
		put16(&f, at + 6, c->size, swap);
		put32(&f, at + 8, offset, swap);
		put(&f, at + 16, c->name, strlen(c->name));
		for (uint16_t b = 0; b < c->size; b++)
			put64(&f, data + offset + 8UL * b, c->first + b, swap);
		offset += 8U * c->size;
	}
	return f;
}

static void check_all(bool swap)
{
	struct file f = make(counters, NR, swap);
	struct read_stats r = read_bytes(f.bytes, f.nr);

	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_int_equal(r.stats->kinds, STATS_BINARY);
	assert_int_equal(r.stats->swapped, swap);
	assert_string_equal(r.stats->scopes[0].label, "kvm-7/vcpu-3");
	assert_int_equal(r.stats->nr_values, NR);
	assert_int_equal(r.sums[0].successful, 40);
	assert_int_equal(r.sums[0].attempted, 100);
	assert_int_equal(r.sums[0].success_ns, 123456);
	/* Microseconds become ns. */
	assert_int_equal(r.sums[0].wait_ns, 7000);
	assert_int_equal(stats_find(r.stats, 0, "halt_wait_ns")->unit, STATS_NS);
	assert_non_null(r.sums[0].fail_hist);
	assert_int_equal(r.sums[0].fail_hist->nr, 32);
	assert_int_equal(r.sums[0].fail_hist->bucket[31], 32);
	assert_true(stats_find(r.stats, 0, "blocking")->instant);
	assert_int_equal(stats_find(r.stats, 0, "blocking")->unit, STATS_BOOLEAN);
	read_done(&r);
}

static void test_values(void **state)
{
	(void)state;
	check_all(false);
}

/* As a s390 or a big-endian powerpc host writes it. */
static void test_swapped(void **state)
{
	(void)state;
	check_all(true);
}

/* Cut anywhere: no value that is not whole, each missing one reported by its offset. */
static void test_cut(void **state)
{
	struct file f = make(counters, NR, false);
	size_t data = 24 + NAME_BYTES + NR * (16 + NAME_BYTES);

	(void)state;
	for (size_t nr = 0; nr < f.nr; nr++) {
		struct read_stats r = read_bytes(f.bytes, nr);

		if (nr < 24) {
			assert_int_equal(r.error, -EPROTO);
			continue;
		}
		assert_int_equal(r.error, 0);
		assert_true(r.nr_reports > 0);
		assert_true(r.stats->damaged > 0);
		assert_reported(&r, "f: offset ");
		for (uint32_t i = 0; i < r.stats->nr_values; i++)
			assert_true(r.stats->values[i].place + 8 <= nr);
		/* The counters are 8 bytes each, but for the histogram at the end of the others. */
		if (nr >= data + 8)
			assert_int_equal(total(&r, 0, "halt_successful_poll"), 40);
		read_done(&r);
	}
}

static void test_bad_descriptors(void **state)
{
	static const struct {
		struct counter counter;
		const char *report;
	} rows[] = {
		{{"a", CUMULATIVE, 0, 2, 5}, "number of values not understood"},
		{{"b", CUMULATIVE, 0, 0, 5}, "number of values not understood"},
		{{"c", LOG2_NANO, -9, 65, 5}, "number of values not understood"},
		{{"d", NANO, -12, 1, 5}, "unit not understood"},
		{{"e", NANO, 9, 1, UINT64_MAX}, "beyond 2^64-1"},
		{{"f", NANO, 12, 1, 1}, "unit not understood"},
		{{"", CUMULATIVE, 0, 1, 5}, "a counter without a name"},
		/* Names are a stranger's: nothing of them may reach a terminal. */
		{{"new\nline\033[2J", CUMULATIVE, 0, 2, 5}, "\"new?line?[2J\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct counter two[2] = {rows[i].counter, counters[1]};
		struct file f = make(two, 2, false);
		struct read_stats r = read_bytes(f.bytes, f.nr);

		print_message("# %s\n", rows[i].report);
		assert_int_equal(r.error, 0);
		assert_reported(&r, rows[i].report);
		assert_int_equal(r.stats->nr_values, 1);
		assert_int_equal(r.sums[0].attempted, 100);
		read_done(&r);
	}
}

/* Offsets that point anywhere but into the file. */
static void test_bad_offsets(void **state)
{
	(void)state;
	for (uint32_t offset = 0xffffff00; offset; offset += 0x55) {
		struct file f = make(counters, NR, false);
		struct read_stats r;

		put32(&f, 24 + NAME_BYTES + 8, offset, false);
		r = read_bytes(f.bytes, f.nr);
		assert_int_equal(r.error, 0);
		assert_int_equal(r.stats->nr_values, NR - 1);
		assert_reported(&r, "the file ends before this counter's value");
		read_done(&r);
		if (offset > 0xffffff00 + 0x1000)
			break;
	}
}

/* Files put one behind the other: what is not read is said. */
static void test_behind_the_end(void **state)
{
	struct file f = make(counters, NR, false);
	struct read_stats r = read_bytes(f.bytes, f.nr);

	(void)state;
	assert_int_equal(r.stats->damaged, 0);
	read_done(&r);
	put32(&f, f.nr, 0, false);
	r = read_bytes(f.bytes, f.nr);
	assert_int_equal(r.stats->nr_values, NR);
	assert_int_equal(r.stats->damaged, 1);
	assert_non_null(strstr(r.reports[0], "behind the last value"));
	read_done(&r);
}

/* Two things at one place: none of the numbers is to be believed, and where is said. */
static void test_overlap(void **state)
{
	enum { DESC = 24 + NAME_BYTES, ONE = 16 + NAME_BYTES, DATA = DESC + NR * ONE };
	static const struct {
		size_t at; /* of the number that is made wrong */
		uint32_t value;
		const char *report;
	} rows[] = {
		/* The second counter's value is the first's. */
		{DESC + ONE + 8, 0, "the value of \"halt_attempted_poll\" begins here"},
		{DESC + ONE + 8, 4, "to 464: they overlap"},
		/* In the midst of a histogram. */
		{DESC + 6 * ONE + 8, 32 + 8 * 31, "the value of \"halt_poll_fail_hist\" reaches"},
		/* The header's: more descriptors than there is room for, and values in them. */
		{8, NR + 1, "the table of descriptors reaches from offset 64 to 512"},
		{20, DESC, "begins here, but"},
		{20, 24, "the id begins here, but the value"},
		{16, 24, "begins here, but"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct file f = make(counters, NR, false);
		struct read_stats r;
		char offset[32] = "f: offset ";

		put32(&f, rows[i].at, rows[i].value, false);
		r = read_bytes(f.bytes, f.nr);
		print_message("# %zu %s\n", i, r.reports[0]);
		assert_int_equal(r.error, -EPROTO);
		assert_int_equal(r.nr_reports, 1);
		assert_reported(&r, offset);
		assert_reported(&r, rows[i].report);
		/* Refused as what it is, not as something unknown. */
		assert_true(recognised(f.bytes, f.nr));
	}
	assert_int_equal(DATA, 456);
}

static void test_no_statistics(void **state)
{
	struct file f = make(counters, NR, false);
	static const size_t fields[] = {4, 8, 12, 16, 20};

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct file bad = f;
		struct read_stats r;

		put32(&bad, fields[i], 0xdeadbeef, false);
		r = read_bytes(bad.bytes, bad.nr);
		assert_int_equal(r.error, -EPROTO);
		assert_false(recognised(bad.bytes, bad.nr));
	}
	assert_true(recognised(f.bytes, f.nr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	      cmocka_unit_test(test_swapped),
		cmocka_unit_test(test_cut),	      cmocka_unit_test(test_bad_descriptors),
		cmocka_unit_test(test_bad_offsets),   cmocka_unit_test(test_behind_the_end),
		cmocka_unit_test(test_no_statistics), cmocka_unit_test(test_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Durations and numbers as people write them, and back.

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "util/units.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct parse_row {
	const char *text;
	int err;
	uint64_t value;
};

static void check_parse(const struct parse_row *rows, size_t count,
			int (*parse)(const char *text, uint64_t *value))
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 4711;
		int err = parse(rows[i].text, &value);

		if (err != rows[i].err || value != (err ? 4711 : rows[i].value))
			fail_msg("\"%s\": %d, %llu; expected %d, %llu", rows[i].text, err,
				 (unsigned long long)value, rows[i].err,
				 (unsigned long long)rows[i].value);
	}
}

static void durations(void **arg)
{
	static const struct parse_row rows[] = {
		{"0", 0, 0},
		{"0ns", 0, 0},
		{"0s", 0, 0},
		{"1ns", 0, 1},
		{"13000ns", 0, 13000},
		{"200us", 0, 200000},
		{"4ms", 0, 4000000},
		{"10s", 0, 10000000000},
		{"2m", 0, 120000000000},
		{"1h", 0, 3600000000000},
		{"007us", 0, 7000},
		{"1.5ms", 0, 1500000},
		{"1.5us", 0, 1500},
		{"1.5ns", 0, 1},
		{"0.999999999ns", 0, 0},
		{"0.000000001s", 0, 1},
		{"0.0000000019s", 0, 1},
		{"1.2345678901s", 0, 1234567890},
		{"0.5m", 0, 30000000000},
		{"1.25h", 0, 4500000000000},
		/* A nanosecond is 1/3600000000000 h: the digits behind the ninth count as well. */
		{"0.000000000278h", 0, 1000},
		{"0.0000000001h", 0, 360},
		{"0.00000000001667m", 0, 1},
		{"0.0000000000002777777777778h", 0, 1},
		{"0.0000000000002777777777777h", 0, 0},
		{"0.333333333333333333333333333333h", 0, 1199999999999},
		{"9223372036854775807ns", 0, INT64_MAX},
		{"9223372036.854775807s", 0, INT64_MAX},
		{"9223372036854775808ns", -ERANGE, 0},
		{"9223372036.854775808s", -ERANGE, 0},
		{"18446744073709551615ns", -ERANGE, 0},
		{"18446744073709551616ns", -ERANGE, 0},
		{"99999999999999999999999999s", -ERANGE, 0},
		{"2562048h", -ERANGE, 0},
		{"2562047h", 0, 2562047ULL * 3600000000000},
	};

	(void)arg;
	check_parse(rows, ARRAY_SIZE(rows), units_parse_duration);
}

static void not_durations(void **arg)
{
	static const struct parse_row rows[] = {
		{"", -EINVAL, 0},      {"5", -EINVAL, 0},      {"1.5", -EINVAL, 0},
		{"us", -EINVAL, 0},    {".5s", -EINVAL, 0},    {"1.s", -EINVAL, 0},
		{"1..5s", -EINVAL, 0}, {"1.5.5s", -EINVAL, 0}, {"-1s", -EINVAL, 0},
		{"+1s", -EINVAL, 0},   {" 1s", -EINVAL, 0},    {"1 s", -EINVAL, 0},
		{"1s ", -EINVAL, 0},   {"1sec", -EINVAL, 0},   {"1S", -EINVAL, 0},
		{"1e3us", -EINVAL, 0}, {"0x10us", -EINVAL, 0}, {"1,5ms", -EINVAL, 0},
		{"00", -EINVAL, 0},    {"0.0", -EINVAL, 0},    {"1\xc2\xb5s", -EINVAL, 0},
	};

	(void)arg;
	check_parse(rows, ARRAY_SIZE(rows), units_parse_duration);
}

static void numbers(void **arg)
{
	static const struct parse_row rows[] = {
		{"0", 0, 0},
		{"10", 0, 10},
		{"0010", 0, 10},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1.0", -EINVAL, 0},
		{"1k", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
	};

	(void)arg;
	check_parse(rows, ARRAY_SIZE(rows), units_parse_u64);
}

static void formatted(void **arg)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{0, "0ns"},
		{1, "1ns"},
		{999, "999ns"},
		{1000, "1us"},
		{13000, "13us"},
		{13500, "13.5us"},
		{123456, "123.5us"},
		{999940, "999.9us"},
		{999950, "1ms"},
		{999999, "1ms"},
		{4217000, "4.217ms"},
		{4217499, "4.217ms"},
		{999999999, "1s"},
		{1000000000, "1s"},
		{12345678901, "12.35s"},
		{999940000000, "999.9s"},
		{1234567890123, "1235s"},
		{123456789012345, "123457s"},
		{UINT64_MAX, "18446744074s"},
	};
	char buf[UNITS_DURATION_BYTES];

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(units_format_duration(rows[i].ns, buf), rows[i].text);
}

static void exact_round_trip(void **arg)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{0, "0ns"},
		{1, "1ns"},
		{200000, "200us"},
		{1500001, "1500001ns"},
		{1500000, "1500us"},
		{4000000, "4ms"},
		{10000000000, "10s"},
		{3600000000000, "3600s"},
		{INT64_MAX, "9223372036854775807ns"},
	};
	char buf[UNITS_DURATION_BYTES];

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t ns;

		assert_string_equal(units_format_exact(rows[i].ns, buf), rows[i].text);
		assert_int_equal(units_parse_duration(buf, &ns), 0);
		assert_int_equal(ns, rows[i].ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations),	    cmocka_unit_test(not_durations),
		cmocka_unit_test(numbers),	    cmocka_unit_test(formatted),
		cmocka_unit_test(exact_round_trip),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}

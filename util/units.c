// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Durations, counts and percentages as people write them, and back.
#include "util/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit units[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000ULL},
	{"m", 60000000000ULL},
	{"h", 3600000000000ULL},
};

static const struct unit *unit_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

/* Reads digits at *text, moves *text behind them. */
static int parse_digits(const char **text, uint64_t *value)
{
	const char *p = *text;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (*value = 0; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*p - '0'), value))
			return -ERANGE;
	*text = p;
	return 0;
}

int units_parse_u64(const char *text, uint64_t *value)
{
	uint64_t v;
	int err = parse_digits(&text, &v);

	if (err)
		return err;
	if (*text)
		return -EINVAL;
	*value = v;
	return 0;
}

/*
 * The digits in [digits, end) behind a decimal point, in units of @unit_ns, rounded down. From the
 * last digit to the first: rounding down at each step loses nothing, and hours need no more room
 * than seconds.
 */
static uint64_t fraction_ns(const char *digits, const char *end, uint64_t unit_ns)
{
	uint64_t ns = 0;

	while (end-- > digits)
		ns = ((uint64_t)(*end - '0') * unit_ns + ns) / 10;
	return ns;
}

int units_parse_duration(const char *text, uint64_t *ns)
{
	const char *name = text, *digits;
	const struct unit *unit;
	uint64_t whole;
	int err = parse_digits(&name, &whole);

	if (err)
		return err;
	if (!strcmp(text, "0")) {
		*ns = 0;
		return 0;
	}
	if (*name == '.' && !isdigit((unsigned char)*++name))
		return -EINVAL;
	for (digits = name; isdigit((unsigned char)*name); name++)
		;
	unit = unit_by_name(name);
	if (!unit)
		return -EINVAL;
	if (__builtin_mul_overflow(whole, unit->ns, &whole) ||
	    __builtin_add_overflow(whole, fraction_ns(digits, name, unit->ns), &whole) ||
	    whole > INT64_MAX)
		return -ERANGE;
	*ns = whole;
	return 0;
}

const char *units_format_duration(uint64_t ns, char buf[UNITS_DURATION_BYTES])
{
	size_t i = 3;

	if (ns < 1000) {
		snprintf(buf, UNITS_DURATION_BYTES, "%" PRIu64 "ns", ns);
		return buf;
	}
	/* From 999.95 on four digits are 1000 of this unit, so 1 of the next. */
	while (i > 0 && ns < units[i].ns - units[i - 1].ns / 20)
		i--;
	snprintf(buf, UNITS_DURATION_BYTES, ns / units[i].ns >= 1000 ? "%.0f%s" : "%.4g%s",
		 (double)ns / (double)units[i].ns, units[i].name);
	return buf;
}

const char *units_format_exact(uint64_t ns, char buf[UNITS_DURATION_BYTES])
{
	size_t i = 3;

	while (i > 0 && (!ns || ns % units[i].ns))
		i--;
	snprintf(buf, UNITS_DURATION_BYTES, "%" PRIu64 "%s", ns / units[i].ns, units[i].name);
	return buf;
}

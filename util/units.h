/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Durations, counts and percentages as people write them, and back. */
#ifndef VHALT_UTIL_UNITS_H
#define VHALT_UTIL_UNITS_H

#include <stddef.h>
#include <stdint.h>

/**
 * units_parse_duration - read a duration such as "10s", "200us", "1.5ms", "13000ns".
 * @text:  the whole word; a bare "0" is the only number allowed without a unit
 * @ns:    receives nanoseconds
 *
 * Units: ns, us, ms, s, m (minutes), h. A decimal fraction is exact down to one nanosecond.
 * Return: 0, -EINVAL (not a duration, or no unit), -ERANGE (more than 2^63-1 ns).
 */
int units_parse_duration(const char *text, uint64_t *ns);

/**
 * units_parse_u64 - read a whole decimal number.
 * Return: 0, -EINVAL (not a number, sign or trailing text), -ERANGE.
 */
int units_parse_u64(const char *text, uint64_t *value);

/** Longest text units_format_duration() writes, with its NUL. */
#define UNITS_DURATION_BYTES 32

/**
 * units_format_duration - write @ns with at most four significant digits: "13us", "4.217ms".
 * @buf: at least UNITS_DURATION_BYTES
 *
 * From 1000 s on it writes whole seconds, all digits. Return: @buf. Cannot fail.
 */
const char *units_format_duration(uint64_t ns, char buf[UNITS_DURATION_BYTES]);

/**
 * units_format_exact - write @ns so that units_parse_duration() gives @ns back: "200us",
 * "1500001ns". Return: @buf. Cannot fail.
 */
const char *units_format_exact(uint64_t ns, char buf[UNITS_DURATION_BYTES]);

#endif

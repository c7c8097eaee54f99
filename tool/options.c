// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Command-line options as a table: parsing, --help and the manual's check come from the same rows.
#include "tool/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/units.h"

enum { MAX_ROWS = 40, HELP_INDEX = 1000 };

static void print_help(const struct option_spec *spec)
{
	printf("Usage: vhalt %s %s\n\n%s\n\nOptions:\n", spec->command, spec->usage, spec->summary);
	for (const struct option_row *r = spec->rows; r->name; r++) {
		char left[64];

		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", r->letter ? '-' : ' ',
			 r->letter ? r->letter : ' ', r->letter ? ',' : ' ', r->name,
			 r->arg ? " " : "", r->arg ? r->arg : "");
		printf("  %-28s %s\n", left, r->help);
	}
	printf("  %-28s %s\n", "-h, --help", "show this text");
}

static int bad_value(const struct option_spec *spec, const struct option_row *r, const char *arg,
		     const char *why)
{
	fprintf(stderr, "vhalt %s: --%s: \"%s\": %s\n", spec->command, r->name, arg, why);
	return -EINVAL;
}

static int set_number(const struct option_spec *spec, const struct option_row *r, const char *arg)
{
	bool duration = r->kind == OPTION_DURATION;
	char lo[UNITS_DURATION_BYTES], hi[UNITS_DURATION_BYTES], why[160];
	uint64_t v;
	int err = duration ? units_parse_duration(arg, &v) : units_parse_u64(arg, &v);

	if (err == -ERANGE)
		return bad_value(spec, r, arg, "too large");
	if (err)
		return bad_value(spec, r, arg,
				 duration ? "not a duration (write 10s, 200us, 1.5ms)" :
					    "not a whole number");
	if (v >= r->min && (!r->max || v <= r->max)) {
		*(uint64_t *)r->value = v;
		return 0;
	}
	if (duration)
		snprintf(why, sizeof(why), "out of range (%s to %s)",
			 units_format_exact(r->min, lo), r->max ? units_format_exact(r->max, hi) : "any");
	else if (r->max)
		snprintf(why, sizeof(why), "out of range (%" PRIu64 " to %" PRIu64 ")", r->min, r->max);
	else
		snprintf(why, sizeof(why), "must be at least %" PRIu64, r->min);
	return bad_value(spec, r, arg, why);
}

static int apply(const struct option_spec *spec, const struct option_row *r, const char *arg)
{
	switch (r->kind) {
	case OPTION_FLAG:
		*(bool *)r->value = true;
		return 0;
	case OPTION_STRING:
		*(const char **)r->value = arg;
		return 0;
	case OPTION_U64:
	case OPTION_DURATION:
		return set_number(spec, r, arg);
	case OPTION_CALL:
		return r->call(arg, r->value);
	}
	return -EINVAL;
}

/* Fills getopt's two tables; a row's getopt value is its index, so that one look-up serves both. */
static int build_tables(const struct option_spec *spec, struct option longs[MAX_ROWS + 2],
			char shorts[2 * MAX_ROWS + 4])
{
	int n = 0;
	char *s = shorts;

	*s++ = ':';
	for (const struct option_row *r = spec->rows; r->name && n < MAX_ROWS; r++, n++) {
		longs[n] = (struct option){r->name, r->arg ? required_argument : no_argument, NULL,
					   HELP_INDEX + 1 + n};
		if (r->letter) {
			*s++ = r->letter;
			if (r->arg)
				*s++ = ':';
		}
	}
	longs[n] = (struct option){"help", no_argument, NULL, HELP_INDEX};
	longs[n + 1] = (struct option){0};
	*s++ = 'h';
	*s = '\0';
	return n;
}

static const struct option_row *row_of(const struct option_spec *spec, int c)
{
	if (c > HELP_INDEX)
		return &spec->rows[c - HELP_INDEX - 1];
	for (const struct option_row *r = spec->rows; r->name; r++)
		if (r->letter == c)
			return r;
	return NULL;
}

static int complain(const struct option_spec *spec, int c, char **argv)
{
	fprintf(stderr, "vhalt %s: %s: %s (try --help)\n", spec->command, argv[optind - 1],
		c == ':' ? "needs an argument" : "unknown option");
	return OPTIONS_BAD;
}

int options_parse(const struct option_spec *spec, int argc, char **argv)
{
	struct option longs[MAX_ROWS + 2];
	char shorts[2 * MAX_ROWS + 4];
	int c;

	build_tables(spec, longs, shorts);
	optind = 0; /* glibc: also restart the scan of a permuted argv */
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *r;

		if (c == 'h' || c == HELP_INDEX) {
			print_help(spec);
			return OPTIONS_HELP;
		}
		if (c == ':' || c == '?')
			return complain(spec, c, argv);
		r = row_of(spec, c);
		if (!r || apply(spec, r, optarg))
			return OPTIONS_BAD;
	}
	return optind;
}

int options_exit(int result)
{
	return result == OPTIONS_HELP ? 0 : 2;
}

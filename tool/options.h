/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Command-line options as a table: parsing, --help and the manual's check come from the same rows. */
#ifndef VHALT_TOOL_OPTIONS_H
#define VHALT_TOOL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG,	 /* bool *: no argument, sets true */
	OPTION_STRING,	 /* const char **: points into argv */
	OPTION_U64,	 /* uint64_t *: whole number within [min, max] */
	OPTION_DURATION, /* uint64_t *: nanoseconds within [min, max], written "10s", "200us" */
	OPTION_CALL,	 /* int (*)(const char *arg, void *value): repeatable; -errno and said itself */
};

struct option_row {
	const char *name; /* long name without "--"; NULL ends the table */
	char letter;	  /* short name, 0 for none */
	enum option_kind kind;
	void *value;	     /* where the result goes; for OPTION_CALL passed through */
	const char *arg;     /* name of the argument in --help, NULL for flags */
	const char *help;    /* one sentence, lower case, no full stop */
	uint64_t min, max;   /* bounds of numbers and durations; max 0 means no upper bound */
	int (*call)(const char *arg, void *value);
};

struct option_spec {
	const char *command;		/* "record": messages and --help begin with "vhalt record" */
	const char *usage;		/* what follows the command: "[options] -o FILE" */
	const char *summary;		/* one sentence */
	const struct option_row *rows;
};

/** Results of options_parse() below zero. */
enum { OPTIONS_HELP = -1, OPTIONS_BAD = -2 };

/**
 * options_parse - parse argv by the table.
 *
 * Prints --help on stdout, or what is wrong (naming option and value) on stderr.
 * Return: index of the first operand (argv is permuted, operands last), OPTIONS_HELP (caller
 * returns 0) or OPTIONS_BAD (caller returns 2).
 */
int options_parse(const struct option_spec *spec, int argc, char **argv);

/** options_exit - the exit code for a negative result of options_parse(). */
int options_exit(int result);

#endif

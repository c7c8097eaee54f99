/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Running a command of the tool within a test, on files of a temporary folder. */
#ifndef VHALT_TESTS_COMMAND_RUN_H
#define VHALT_TESTS_COMMAND_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/** What one run of a command printed. */
struct run {
	int code;
	char out[16384], err[4096];
};

static char test_folder[] = "/tmp/vhalt-inspect-XXXXXX";

static inline const char *write_file(const char *name, const char *text)
{
	static char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", test_folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	return path;
}

static inline void slurp(FILE *file, char *to, size_t room)
{
	size_t nr;

	rewind(file);
	nr = fread(to, 1, room - 1, file);
	to[nr] = '\0';
	fclose(file);
}

static inline struct run run(int (*command)(int argc, char **argv), const char *one,
			     const char *two)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int saved_out, saved_err, argc = one ? two ? 3 : 2 : 1;
	char *argv[4] = {strdup("x"), one ? strdup(one) : NULL, two ? strdup(two) : NULL, NULL};
	struct run r;

	fflush(stdout);
	saved_out = dup(STDOUT_FILENO);
	saved_err = dup(STDERR_FILENO);
	dup2(fileno(out), STDOUT_FILENO);
	dup2(fileno(err), STDERR_FILENO);
	r.code = command(argc, argv);
	fflush(stdout);
	dup2(saved_out, STDOUT_FILENO);
	dup2(saved_err, STDERR_FILENO);
	close(saved_out);
	close(saved_err);
	for (int i = 0; i < 3; i++)
		free(argv[i]);
	slurp(out, r.out, sizeof(r.out));
	slurp(err, r.err, sizeof(r.err));
	return r;
}

static inline void assert_says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("\"%s\" is not in:\n%s", what, text);
}

static inline void assert_silent(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("\"%s\" is in:\n%s", what, text);
}

static inline int set_up(void **state)
{
	(void)state;
	return mkdtemp(test_folder) ? 0 : -1;
}

static inline int tear_down(void **state)
{
	char command[600];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", test_folder);
	return system(command);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What the user is told when a recording cannot be used.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Tools are not in the library of parts: this file is built in here. */
#include "tool/replay_args.c"

/* What replay_reading_complain() writes to standard error. */
static void complaint(char **paths, size_t nr_paths, int err, char text[256])
{
	int ends[2], before = dup(STDERR_FILENO);
	struct replay_reading reading;
	ssize_t n;

	assert_int_equal(replay_reading_init(&reading, "advise", paths, nr_paths), 0);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	replay_reading_complain(&reading, err);
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	close(ends[1]);
	n = read(ends[0], text, 255);
	close(ends[0]);
	assert_true(n >= 0);
	text[n] = '\0';
}

static void test_no_halts(void **state)
{
	char a[] = "/nonexistent/a.vht", b[] = "/nonexistent/b.vht", text[256];
	char *paths[] = {a, b};

	(void)state;
	complaint(paths, 1, -ENODATA, text);
	assert_string_equal(text, "vhalt advise: /nonexistent/a.vht: no halts in the recording\n");
	complaint(paths, 2, -ENODATA, text);
	assert_string_equal(
		text,
		"vhalt advise: /nonexistent/a.vht and the others: no halts in the recordings\n");
	complaint(paths, 1, -ENOMEM, text);
	assert_string_equal(text, "vhalt advise: Cannot allocate memory\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_halts),
	};

	return cmocka_run_group_tests_name("replay_args", tests, NULL, NULL);
}

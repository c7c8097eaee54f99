// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Recordings read several times, from files and from a pipe, and what the first reading finds.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay/source.h"
#include "tests/unit/replay_fixture.h"
#include "trace/vht.h"

static char folder[] = "/tmp/vhalt-source-XXXXXX", path_a[64], path_b[64];

struct seen {
	uint64_t halts, sum_ns;
	int ends, findings, calls;
	int fail; /* returned for a batch */
};

static int count_halts(void *context, const struct trace_info *info, const struct trace_halt *halts,
		       size_t n)
{
	struct seen *seen = context;

	(void)info;
	seen->halts += n;
	for (size_t i = 0; i < n; i++)
		seen->sum_ns += halts[i].halt_ns;
	return seen->fail;
}

static int count_end(void *context, const struct trace_info *info, const char *path)
{
	(void)info;
	(void)path;
	((struct seen *)context)->ends++;
	return 0;
}

static void count_finding(void *context, const char *text)
{
	(void)text;
	((struct seen *)context)->findings++;
}

static void count_progress(void *context, uint64_t halts)
{
	struct seen *seen = context;

	assert_true(halts <= 1000000);
	seen->calls++;
}

static int read_all(const char *const *paths, size_t nr, bool again, struct seen *seen)
{
	struct trace_diag diag = {count_finding, seen};
	struct replay_files files = {paths, nr, &diag, count_progress, seen};
	struct replay_visitor visitor = {count_halts, count_end, seen};

	return replay_files_read(&files, &visitor, again);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_files(void **state)
{
	const char *const paths[] = {path_a, path_b};
	struct seen seen = {0};

	(void)state;
	write_text(path_a, "1000\n2000 5\n");
	write_text(path_b, "4000 5 -\n");
	assert_int_equal(read_all(paths, 2, false, &seen), 0);
	assert_int_equal(seen.halts, 3);
	assert_int_equal(seen.sum_ns, 7000);
	assert_int_equal(seen.ends, 2);
	assert_true(seen.calls >= 2);
	assert_int_equal(read_all(paths, 2, true, &seen), 0);
	assert_int_equal(seen.halts, 6);
	seen.fail = -42;
	assert_int_equal(read_all(paths, 2, true, &seen), -42);
	assert_int_equal(seen.ends, 4);
}

/* A finding is told by the first reading only, an error by its code each time. */
static void test_findings(void **state)
{
	const char *const paths[] = {"/nonexistent"};
	struct seen seen = {0};

	(void)state;
	assert_int_equal(read_all(paths, 1, false, &seen), -ENOENT);
	assert_int_equal(seen.findings, 1);
	assert_int_equal(read_all(paths, 1, true, &seen), -ENOENT);
	assert_int_equal(seen.findings, 1);
}

/* A pipe becomes a file that can be read twice; its name stays "-". */
static void test_pipe(void **state)
{
	const char *const paths[] = {"-"};
	int ends[2], before = dup(STDIN_FILENO);
	struct seen seen = {0};

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "1000\n2000\n", 10), 10);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	assert_int_equal(replay_source_rewindable(), 0);
	assert_int_equal(lseek(STDIN_FILENO, 0, SEEK_CUR), 0); /* at its begin, for any reader */
	assert_int_equal(read_all(paths, 1, false, &seen), 0);
	assert_int_equal(read_all(paths, 1, true, &seen), 0);
	assert_int_equal(seen.halts, 4);
	/* Again: it is a file by now. */
	assert_int_equal(replay_source_rewindable(), 0);
	assert_int_equal(read_all(paths, 1, true, &seen), 0);
	assert_int_equal(seen.halts, 6);
	dup2(before, STDIN_FILENO);
	close(before);
}

static void test_named_pipe(void **state)
{
	char copy[REPLAY_COPY_BYTES] = "";
	const char *const paths[] = {copy};
	struct seen seen = {0};
	int ends[2];
	char name[32];

	(void)state;
	write_text(path_a, "1000\n");
	assert_int_equal(replay_source_copy(path_a, copy), 0);
	assert_int_equal(replay_source_copy("/nonexistent", copy), 0);
	assert_string_equal(copy, "");
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "1000\n2000\n", 10), 10);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	close(ends[1]);
	assert_int_equal(replay_source_copy(name, copy), 1);
	close(ends[0]);
	assert_int_equal(read_all(paths, 1, false, &seen), 0);
	assert_int_equal(read_all(paths, 1, true, &seen), 0);
	assert_int_equal(seen.halts, 4);
}

static void write_vht(const char *path, uint32_t halt_poll_ns, bool latency)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	struct vht_writer *writer;
	struct fixture f;

	assert_true(fd >= 0);
	fixture_init(&f, 1);
	f.info.params = (struct trace_kvm_params){halt_poll_ns, 2, 10000, 2};
	f.info.has_latency = latency;
	strcpy(f.info.host, "CPU\033");
	fixture_blocked(&f, 0, 50000, latency ? 10000 : TRACE_UNKNOWN_U32);
	fixture_blocked(&f, 0, 50000, latency ? 15001 : TRACE_UNKNOWN_U32);
	fixture_polled(&f, 0, 50000);
	assert_int_equal(vht_writer_create(&writer, fd, &f.info), 0);
	assert_int_equal(vht_writer_add_vm(writer, &f.vms[0]), 0);
	assert_int_equal(vht_writer_add_vcpu(writer, &f.vcpus[0]), 0);
	for (size_t i = 0; i < f.nr; i++)
		assert_int_equal(vht_writer_add(writer, &f.halts[i]), 0);
	assert_int_equal(vht_writer_close(writer, 1000000, 5), 0);
	fixture_fini(&f);
	close(fd);
}

static void survey_of(struct replay_survey *survey, bool brief)
{
	const char *const paths[] = {path_a, path_b};
	struct replay_files files = {.paths = paths, .nr_paths = 2};
	struct replay_input input = {replay_files_read, &files};

	memset(survey, 0, sizeof(*survey));
	survey->brief = brief;
	assert_int_equal(replay_survey_read(survey, &input), 0);
}

static void test_survey(void **state)
{
	struct replay_survey survey;
	struct replay_model model;

	(void)state;
	write_vht(path_a, 200000, true);
	write_vht(path_b, 50000, true);
	survey_of(&survey, false);
	assert_int_equal(survey.halts, 6);
	assert_int_equal(survey.measured, 4);
	assert_int_equal(survey.recordings, 2);
	assert_int_equal(survey.vms, 2);
	assert_int_equal(survey.vcpus, 2);
	assert_int_equal(survey.lost, 10);
	assert_int_equal(survey.duration_ns, 2000000);
	assert_int_equal(survey.params.halt_poll_ns, 200000);
	assert_true(survey.params_differ);
	assert_true(survey.has_latency);
	assert_string_equal(survey.host, "CPU?");
	replay_model_init(&model);
	replay_survey_latency(&survey, &model);
	assert_int_equal(model.latency_ns, 12501); /* 12500.5, rounded */
	assert_int_equal(model.source, REPLAY_LATENCY_MEASURED);
	replay_model_init(&model);
	model.source = REPLAY_LATENCY_GIVEN;
	replay_survey_latency(&survey, &model);
	assert_int_equal(model.latency_ns, REPLAY_LATENCY_NS);
	assert_int_equal(model.source, REPLAY_LATENCY_GIVEN);
}

static void test_brief_survey(void **state)
{
	struct replay_survey survey;
	struct replay_model model;

	(void)state;
	write_vht(path_a, 200000, false);
	write_vht(path_b, 200000, false);
	survey_of(&survey, true);
	assert_int_equal(survey.measured, 0);
	assert_int_equal(survey.recordings, 0); /* it did not read to any end */
	replay_model_init(&model);
	replay_survey_latency(&survey, &model);
	assert_int_equal(model.source, REPLAY_LATENCY_DEFAULT);
	survey_of(&survey, false);
	assert_int_equal(survey.halts, 6);
	assert_false(survey.params_differ);
}

/* The mean comes from all files that measure, wherever they stand; findings are left for later. */
static void test_order(void **state)
{
	struct replay_survey survey;

	(void)state;
	for (int first = 0; first < 2; first++) {
		write_vht(path_a, 200000, !first);
		write_vht(path_b, 200000, first);
		survey_of(&survey, true);
		assert_true(survey.has_latency);
		assert_int_equal(survey.measured, 2);
		assert_int_equal(survey.latency_sum_ns, 25001);
	}
}

/* What a brief survey meets is told by the reading that follows it. */
static void test_silent(void **state)
{
	const char *const paths[] = {path_a};
	struct replay_survey survey = {.brief = true};
	struct seen seen = {0};
	struct trace_diag diag = {count_finding, &seen};
	struct replay_files files = {.paths = paths, .nr_paths = 1, .diag = &diag};
	struct replay_input input = {replay_files_read, &files};

	(void)state;
	write_text(path_a, "1000\nrubbish\n2000\n");
	assert_int_equal(replay_survey_read(&survey, &input), 0);
	assert_int_equal(seen.findings, 0);
	assert_int_equal(read_all(paths, 1, false, &seen), 0);
	assert_true(seen.findings > 0);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path_a, sizeof(path_a), "%s/a", folder);
	snprintf(path_b, sizeof(path_b), "%s/b", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path_a);
	unlink(path_b);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),  cmocka_unit_test(test_findings),
		cmocka_unit_test(test_pipe),   cmocka_unit_test(test_named_pipe),
		cmocka_unit_test(test_survey), cmocka_unit_test(test_brief_survey),
		cmocka_unit_test(test_order),  cmocka_unit_test(test_silent),
	};

	return cmocka_run_group_tests_name("replay_source", tests, make_folder, remove_folder);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Opening recordings: formats by content, and a clear word on everything that is none.
#include "tests/unit/vht_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

static struct reading *open_path(const char *path)
{
	struct reading *r = calloc(1, sizeof(*r));
	const struct trace_diag diag = {reading_report, r};
	struct trace_reader *reader;

	assert_non_null(r);
	r->open_error = trace_reader_open(&reader, path, &diag);
	if (!r->open_error)
		trace_reader_close(reader);
	return r;
}

static void test_what_cannot_be_opened(void **state)
{
	static const struct {
		const char *path;
		int error;
		const char *report;
	} rows[] = {
		{"/nonexistent/file", -ENOENT, "/nonexistent/file: No such file or directory\n"},
		{"/", -EISDIR, "/: Is a directory\n"},
		{"/dev/null", -EPROTO, "/dev/null: empty: no recording in it\n"},
		{"", -ENOENT, ": No such file or directory\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct reading *r = open_path(rows[i].path);

		assert_int_equal(r->open_error, rows[i].error);
		assert_string_equal(r->text, rows[i].report);
		free(r);
	}
}

static void test_unknown_content(void **state)
{
	static const struct {
		const char *bytes;
		size_t nr;
		const char *report;
	} rows[] = {
		{"hello, world\nmore\n", 18,
		 "file: offset 0: text \"hello, world\": not a recording"},
		{"\x7f"
		 "ELF\x02\x01\x01\x00\x00",
		 9, "file: offset 0: bytes 7f 45 4c 46 02 01 01 00:"},
		{"\x1b]0;evil\x07\n", 10, "file: offset 0: bytes 1b 5d 30"},
		{"\0\0\0\0", 4, "file: offset 0: bytes 00 00 00 00:"},
		{"\x89VH", 3, "file: offset 0: bytes 89 56 48:"},
		{"x", 1, "file: offset 0: text \"x\": not a recording"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct reading *r = read_bytes(rows[i].bytes, rows[i].nr);

		assert_int_equal(r->open_error, -EPROTO);
		assert_int_equal(r->nr_reports, 1);
		assert_ptr_equal(strstr(r->text, rows[i].report), r->text);
		/* The message says what would have been read. */
		assert_non_null(strstr(r->text, "vht ("));
		assert_non_null(strstr(r->text, "ns ("));
		reading_free(r);
	}
}

/* What is no recording, but may hold one. */
static void test_containers(void **state)
{
	static const struct {
		const char *bytes, *report;
	} rows[] = {
		{"PERFILE2h\x01\x02", "file: a perf.data: hand over what perf script prints\n"},
		{"\x1f\x8b\x08\x01", "file: compressed: hand over what gzip -dc prints\n"},
		{"\xfd" "7zXZ\x01", "file: compressed: hand over what xz -dc prints\n"},
		{"\x28\xb5\x2f\xfd\x01", "file: compressed: hand over what zstd -dc prints\n"},
		{"1000\r2000\r", "file: lines that end in carriage returns alone: hand over what tr "
				 "'\\r' '\\n' makes of it\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct reading *r = read_bytes(rows[i].bytes, strlen(rows[i].bytes));

		assert_int_equal(r->open_error, -EPROTO);
		assert_string_equal(r->text, rows[i].report);
		reading_free(r);
	}
}

/* A trace is found behind a long log; what comes before it is counted, not guessed at. */
static void test_late_trace(void **state)
{
	static const char line[] = "[    1.500000] pci 0000:00:1f.0: a line of a long log\n";
	static const char event[] = "[    9.5] v-41  1d..2. 900us : kvm_vcpu_wakeup: wait time 5 ns\n";
	enum { LINES = 8000 };
	char *text = malloc(LINES * sizeof(line) + sizeof(event));
	struct reading *r;
	size_t nr = 0;

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < LINES; i++, nr += sizeof(line) - 1)
		memcpy(text + nr, line, sizeof(line));
	memcpy(text + nr, event, sizeof(event));
	r = read_bytes(text, nr + sizeof(event) - 1);
	assert_int_equal(r->open_error, 0);
	assert_string_equal(r->format, "text");
	assert_int_equal(r->nr, 1);
	assert_int_equal(r->halts[0].halt_ns, 5);
	reading_free(r);
	free(text);
}

/* The magic, and junk behind it: recognised, and nothing found. */
static void test_magic_alone(void **state)
{
	char bytes[5000];
	struct reading *r;

	(void)state;
	memset(bytes, 'j', sizeof(bytes));
	memcpy(bytes, VHT_MAGIC, VHT_MAGIC_BYTES);
	for (size_t nr = VHT_MAGIC_BYTES; nr <= sizeof(bytes); nr += 1249) {
		r = read_bytes(bytes, nr);
		assert_int_equal(r->open_error, 0);
		assert_int_equal(r->last, -ENODATA);
		assert_non_null(strstr(r->text, "file: offset 0: "));
		assert_non_null(strstr(r->text, "file: no sound frame in it"));
		reading_free(r);
	}
}

/* Random bytes of many lengths: never recognised, never a crash. */
static void test_random_bytes(void **state)
{
	struct rng rng = {20260202};
	uint8_t bytes[3000];

	(void)state;
	for (int round = 0; round < 200; round++) {
		size_t nr = 1 + rng_below(&rng, sizeof(bytes));
		struct reading *r;

		for (size_t i = 0; i < nr; i++)
			bytes[i] = (uint8_t)(rng_next(&rng) >> 20);
		bytes[0] |= 0x80; /* one byte alone might be a digit */
		r = read_bytes(bytes, nr);
		assert_int_equal(r->open_error, -EPROTO);
		assert_int_equal(r->nr_reports, 1);
		reading_free(r);
	}
}

static void test_read_error(void **state)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct reading *r = read_fd(fd);

	(void)state;
	assert_int_equal(r->open_error, -EBADF);
	assert_string_equal(r->text, "file: offset 0: read: Bad file descriptor\n");
	assert_int_equal(fcntl(fd, F_GETFD), -1); /* closed also on failure */
	reading_free(r);
}

/* A pipe that delivers a byte at a time: formats are recognised, and nothing seeks. */
static struct reading *through_pipe(const uint8_t *data, size_t nr)
{
	struct reading *r;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(ends[0]);
		for (size_t i = 0; i < nr; i++)
			if (write(ends[1], data + i, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	r = read_fd(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return r;
}

static void test_pipes(void **state)
{
	static const uint8_t list[] = "# list\n1000 5\n2000 6\n";
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 1, 1);
	struct kvm_vcpu vcpu = {0, 0, 200000};
	struct reading *r;
	struct bytes file;

	(void)state;
	r = through_pipe(list, sizeof(list) - 1);
	assert_string_equal(r->format, "ns");
	assert_int_equal(r->nr, 2);
	assert_int_equal(r->nr_reports, 0);
	reading_free(r);

	for (int i = 0; i < 20; i++) {
		struct trace_halt h = kvm_halt(&vcpu, 0, 5000, 30000);

		assert_int_equal(vht_writer_add(w, &h), 0);
	}
	assert_int_equal(vht_writer_close(w, 1, 0), 0);
	file = bytes_of(fd);
	close(fd);
	r = through_pipe(file.data, file.nr);
	assert_string_equal(r->format, "vht");
	assert_int_equal(r->nr, 20);
	assert_int_equal(r->nr_reports, 0);
	reading_free(r);
	free(file.data);
}

static void test_standard_input(void **state)
{
	int saved = dup(STDIN_FILENO), fd = memory_file();
	struct reading *r;

	(void)state;
	assert_int_equal(pwrite(fd, "garbage\n", 8, 0), 8);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	r = open_path("-");
	assert_int_equal(r->open_error, -EPROTO);
	assert_ptr_equal(strstr(r->text, "standard input: offset 0: text \"garbage\""), r->text);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* stays the process's */
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(fd);
	free(r);
}

/* A hostile file cannot flood the caller with findings. */
static void test_findings_are_limited(void **state)
{
	enum { LINES = 1000 };
	char text[8 * LINES] = "1\n2\n";
	struct reading *r;

	(void)state;
	for (int i = 0; i < LINES; i++)
		strcat(text, "1.5\n");
	r = read_bytes(text, strlen(text));
	assert_int_equal(r->nr, 2);
	assert_int_equal(r->info.damaged_frames, LINES);
	assert_int_equal(r->nr_reports, READER_REPORTS_MAX + 1);
	assert_non_null(strstr(r->text, "file: more than 50 findings"));
	reading_free(r);
}

/* Nobody need listen. */
static void test_no_sink(void **state)
{
	const struct trace_diag deaf = {NULL, NULL};
	struct trace_reader *reader;

	(void)state;
	assert_int_equal(trace_reader_open(&reader, "/dev/null", NULL), -EPROTO);
	assert_int_equal(trace_reader_open(&reader, "/dev/null", &deaf), -EPROTO);
	assert_int_equal(trace_reader_open(&reader, "/", NULL), -EISDIR);
	trace_reader_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_cannot_be_opened),
		cmocka_unit_test(test_unknown_content),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_late_trace),
		cmocka_unit_test(test_magic_alone),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_read_error),
		cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_standard_input),
		cmocka_unit_test(test_findings_are_limited),
		cmocka_unit_test(test_no_sink),
	};

	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}

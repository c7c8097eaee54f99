// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt dump: what it prints of a recording, in which order, and its exit codes.
#include "tests/unit/vht_file.h"

#include <fcntl.h>
#include <jansson.h>

/* The command is not in the library of parts: its three files are built in here. */
#include "tool/cmd_dump.c"
#include "tool/dump_print.c"
#include "tool/options.c"

enum { MAX_LINES = 64 };

/** What one run of the command printed. */
struct run {
	int code;
	char *out, *err;
	char *line[MAX_LINES]; /* of out */
	int nr_lines;
};

static char *content(int fd)
{
	struct bytes b = bytes_of(fd);

	b.data[b.nr] = '\0';
	close(fd);
	return (char *)b.data;
}

/* Puts @fd where @standard was; returns where that is now. */
static int redirect(int standard, int fd)
{
	int saved = dup(standard);

	assert_true(saved >= 0);
	assert_int_equal(dup2(fd, standard), standard);
	return saved;
}

static void restore(int standard, int saved)
{
	assert_int_equal(dup2(saved, standard), standard);
	close(saved);
}

static struct run run_to(int out, const char *const *args)
{
	char *argv[8] = {(char[]){"dump"}};
	int argc = 1, err = memory_file(), saved_out, saved_err;
	struct run r = {0};

	for (; args[argc - 1]; argc++)
		argv[argc] = strdup(args[argc - 1]);
	fflush(stdout);
	saved_out = redirect(STDOUT_FILENO, out);
	saved_err = redirect(STDERR_FILENO, err);
	r.code = cmd_dump(argc, argv);
	fflush(stdout);
	clearerr(stdout);
	restore(STDOUT_FILENO, saved_out);
	restore(STDERR_FILENO, saved_err);
	r.err = content(err);
	while (--argc)
		free(argv[argc]);
	return r;
}

static struct run run(const char *const *args)
{
	int out = memory_file();
	struct run r = run_to(out, args);
	char *rest, *line;

	r.out = content(out);
	rest = r.out;
	while ((line = strsep(&rest, "\n")) && rest && r.nr_lines < MAX_LINES)
		r.line[r.nr_lines++] = line;
	return r;
}

static void run_free(struct run *r)
{
	free(r->out);
	free(r->err);
}

/* Two vCPUs whose halts overlap across frames; the path of the file. */
static const char *recording(void)
{
	static char path[64];
	static int fd = -1;
	static const struct {
		uint64_t start_ns, halt_ns, run_ns;
		uint32_t vcpu, flags;
	} rows[] = {
		{100, 50, 100, 0, 0},
		{200, 100, 50, 0, TRACE_HALT_WAITED},
		{20, 260, 20, 1, TRACE_HALT_WAITED | TRACE_HALT_WINDOW | TRACE_HALT_GROW},
		/* frame 2: ends before the last of frame 1 */
		{290, 5, 10, 1, TRACE_HALT_INVALID},
		{310, 90, VHALT_UNKNOWN_NS, 0,
		 TRACE_HALT_GAP | TRACE_HALT_WAITED | TRACE_HALT_WINDOW},
	};
	struct vht_writer *w;

	if (fd >= 0)
		return path;
	fd = memory_file();
	w = begin_recording(fd, &test_info, 1, 2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_halt h = {.start_ns = rows[i].start_ns,
				       .halt_ns = rows[i].halt_ns,
				       .run_ns = rows[i].run_ns,
				       .deadline_ns = i == 1 ? 4000 : VHALT_NO_DEADLINE_NS,
				       .latency_ns = i == 1 ? 33 : TRACE_UNKNOWN_U32,
				       .window_ns = i ? 10000 : TRACE_UNKNOWN_U32,
				       .old_ns = 10000,
				       .new_ns = i == 2 ? 20000 : 0,
				       .vcpu = rows[i].vcpu,
				       .flags = rows[i].flags};

		assert_int_equal(vht_writer_add(w, &h), 0);
		if (i == 2)
			assert_int_equal(vht_writer_flush(w), 0);
	}
	assert_int_equal(vht_writer_close(w, 5000, 7), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static void test_text(void **state)
{
	struct run r = run((const char *const[]){recording(), NULL});

	(void)state;
	assert_int_equal(r.code, 0);
	assert_string_equal(r.err, "");
	assert_int_equal(r.nr_lines, 4 + 3 + 5 + 1);
	assert_string_equal(r.line[0], "# format vht, host Test CPU @ 3 GHz, kernel 6.1.0-test");
	assert_string_equal(r.line[1], "# start_ns 0 is 2023-11-14T22:13:20.123456789Z");
	assert_string_equal(r.line[2], "# kvm halt_poll_ns 200000, grow 2, grow_start 10000, "
				       "shrink 2; latency not measured");
	assert_string_equal(r.line[4], "# vm 0: pid 1000, ceiling -, vm0");
	assert_string_equal(r.line[6], "# vcpu 1: vm 0, tid 2001, number 1, CPU 1/KVM");
	/* In the order they ended, across vCPUs and frames. */
	assert_string_equal(r.line[7],
			    "             100      0            50           100          -"
			    "          -             -  polled");
	assert_string_equal(r.line[8],
			    "              20      1           260            20      10000"
			    "          -             -  blocked grow 10000 to 20000");
	assert_string_equal(r.line[9],
			    "             290      1             5            10      10000"
			    "          -             -  polled invalid");
	assert_string_equal(r.line[10],
			    "             200      0           100            50      10000"
			    "         33          4000  blocked");
	assert_string_equal(r.line[11],
			    "             310      0            90             -      10000"
			    "          -             -  blocked gap shrink 10000 to 0");
	assert_string_equal(r.line[12], "# 5 halts printed; recorded for 5000 ns, 7 events lost, 0 "
					"damaged parts left out");
	run_free(&r);
}

static json_t *parse(const char *line)
{
	json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(object);
	return object;
}

static void test_json(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"info\",\"format\":\"vht\",\"host\":\"Test CPU @ 3 GHz\","
		"\"kernel\":\"6.1.0-test\",\"origin_unix_ns\":1700000000123456789,"
		"\"halt_poll_ns\":200000,\"grow\":2,\"grow_start_ns\":10000,\"shrink\":2,"
		"\"has_latency\":false}",
		"{\"type\":\"vm\",\"vm\":0,\"pid\":1000,\"ceiling_ns\":null,\"name\":\"vm0\"}",
		"{\"type\":\"vcpu\",\"vcpu\":0,\"vm\":0,\"tid\":2000,\"number\":0,\"name\":\"CPU "
		"0/KVM\"}",
		"{\"type\":\"vcpu\",\"vcpu\":1,\"vm\":0,\"tid\":2001,\"number\":1,\"name\":\"CPU "
		"1/KVM\"}",
		"{\"type\":\"halt\",\"vcpu\":0,\"start_ns\":100,\"halt_ns\":50,\"run_ns\":100,"
		"\"deadline_ns\":null,\"latency_ns\":null,\"window_ns\":null,\"blocked\":false,"
		"\"invalid\":false,\"gap\":false,\"decision\":null,\"old_ns\":null,\"new_ns\":"
		"null}",
		"{\"type\":\"halt\",\"vcpu\":1,\"start_ns\":20,\"halt_ns\":260,\"run_ns\":20,"
		"\"deadline_ns\":null,\"latency_ns\":null,\"window_ns\":10000,\"blocked\":true,"
		"\"invalid\":false,\"gap\":false,\"decision\":\"grow\",\"old_ns\":10000,\"new_ns\":"
		"20000}",
		"{\"type\":\"halt\",\"vcpu\":1,\"start_ns\":290,\"halt_ns\":5,\"run_ns\":10,"
		"\"deadline_ns\":null,\"latency_ns\":null,\"window_ns\":10000,\"blocked\":false,"
		"\"invalid\":true,\"gap\":false,\"decision\":null,\"old_ns\":null,\"new_ns\":null}",
		"{\"type\":\"halt\",\"vcpu\":0,\"start_ns\":200,\"halt_ns\":100,\"run_ns\":50,"
		"\"deadline_ns\":4000,\"latency_ns\":33,\"window_ns\":10000,\"blocked\":true,"
		"\"invalid\":false,\"gap\":false,\"decision\":null,\"old_ns\":null,\"new_ns\":"
		"null}",
		"{\"type\":\"halt\",\"vcpu\":0,\"start_ns\":310,\"halt_ns\":90,\"run_ns\":null,"
		"\"deadline_ns\":null,\"latency_ns\":null,\"window_ns\":10000,\"blocked\":true,"
		"\"invalid\":false,\"gap\":true,\"decision\":\"shrink\",\"old_ns\":10000,\"new_"
		"ns\":0}",
		"{\"type\":\"end\",\"halts\":5,\"duration_ns\":5000,\"lost\":7,\"damaged\":0}",
	};
	struct run r = run((const char *const[]){"--json", recording(), NULL});

	(void)state;
	assert_int_equal(r.code, 0);
	assert_int_equal(r.nr_lines, sizeof(lines) / sizeof(lines[0]));
	for (int i = 0; i < r.nr_lines; i++) {
		json_t *got = parse(r.line[i]), *wanted = parse(lines[i]);

		print_message("# %s\n", r.line[i]);
		assert_true(json_equal(got, wanted));
		json_decref(got);
		json_decref(wanted);
	}
	run_free(&r);
}

/* Quotes and backslashes in a name stay a name. */
static void test_json_strings(void **state)
{
	const struct trace_vm vm = {1, 2, "a\"b\\c"};
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 0, 0);
	char path[64];
	struct run r;
	json_t *line;

	(void)state;
	assert_int_equal(vht_writer_add_vm(w, &vm), 0);
	assert_int_equal(vht_writer_close(w, 1, 0), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = run((const char *const[]){"--json", path, NULL});
	assert_int_equal(r.nr_lines, 3);
	line = parse(r.line[1]);
	assert_string_equal(json_string_value(json_object_get(line, "name")), vm.name);
	json_decref(line);
	run_free(&r);
	close(fd);
}

static void test_vcpu_and_limit(void **state)
{
	struct run r = run((const char *const[]){"--vcpu", "1", recording(), NULL});

	(void)state;
	assert_int_equal(r.code, 0);
	assert_int_equal(r.nr_lines, 4 + 3 + 2 + 1);
	assert_non_null(strstr(r.line[9], "# 2 halts printed"));
	run_free(&r);

	r = run((const char *const[]){"--limit", "3", recording(), NULL});
	assert_int_equal(r.code, 0);
	assert_non_null(strstr(r.line[r.nr_lines - 1], "# 3 halts printed"));
	assert_non_null(strstr(r.line[r.nr_lines - 2], "polled invalid"));
	run_free(&r);

	r = run((const char *const[]){"--vcpu", "2", recording(), NULL});
	assert_int_equal(r.code, 1);
	assert_string_equal(r.err, "vhalt dump: no vCPU 2 in it, it has 2\n");
	run_free(&r);
}

static void test_usage(void **state)
{
	static const struct {
		const char *args[4];
		const char *err;
	} rows[] = {
		{{NULL}, "vhalt dump: no FILE given (try --help)\n"},
		{{"a", "b", NULL}, "vhalt dump: more than one FILE given (try --help)\n"},
		{{"--vcpu", "65536", "a", NULL},
		 "vhalt dump: --vcpu: \"65536\": out of range (0 to 65535)\n"},
		{{"--limit", "0", "a", NULL}, "vhalt dump: --limit: \"0\": must be at least 1\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run r = run(rows[i].args);

		assert_int_equal(r.code, 2);
		assert_string_equal(r.err, rows[i].err);
		assert_string_equal(r.out, "");
		run_free(&r);
	}
}

static void test_output_errors(void **state)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), ends[2];
	struct run r = run_to(full, (const char *const[]){recording(), NULL});

	(void)state;
	assert_int_equal(r.code, 1);
	assert_string_equal(r.err, "vhalt dump: standard output: No space left on device\n");
	free(r.err);
	close(full);

	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	r = run_to(ends[1], (const char *const[]){recording(), NULL});
	assert_int_equal(r.code, 1);
	assert_string_equal(r.err, "");
	free(r.err);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	     cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_strings), cmocka_unit_test(test_vcpu_and_limit),
		cmocka_unit_test(test_usage),	     cmocka_unit_test(test_output_errors),
	};

	return cmocka_run_group_tests_name("dump", tests, NULL, NULL);
}

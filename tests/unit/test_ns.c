// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Plain lists of halts: what a line may say, and what becomes of a list with bad lines.
#include "tests/unit/vht_file.h"

#include <errno.h>

#include "trace/ns.h"

#define NO_RUN	    VHALT_UNKNOWN_NS
#define NO_DEADLINE VHALT_NO_DEADLINE_NS

static void test_lines(void **state)
{
	static const struct {
		const char *text;
		enum ns_line_kind kind;
		uint64_t t_ns, run_ns, deadline_ns;
		const char *value, *why; /* of bad lines */
	} rows[] = {
		{"1000", NS_LINE_HALT, 1000, NO_RUN, NO_DEADLINE, NULL, NULL},
		{"0", NS_LINE_HALT, 0, NO_RUN, NO_DEADLINE, NULL, NULL},
		{"007 08", NS_LINE_HALT, 7, 8, NO_DEADLINE, NULL, NULL},
		{" \t12\t 34 ", NS_LINE_HALT, 12, 34, NO_DEADLINE, NULL, NULL},
		{"12 34 -", NS_LINE_HALT, 12, 34, NO_DEADLINE, NULL, NULL},
		{"12 34 56\r", NS_LINE_HALT, 12, 34, 56, NULL, NULL},
		{"12 34 56 # why", NS_LINE_HALT, 12, 34, 56, NULL, NULL},
		{"12 #34", NS_LINE_HALT, 12, NO_RUN, NO_DEADLINE, NULL, NULL},
		{"\xef\xbb\xbf" "12 34", NS_LINE_HALT, 12, 34, NO_DEADLINE, NULL, NULL},
		{"9223372036854775807", NS_LINE_HALT, INT64_MAX, NO_RUN, NO_DEADLINE, NULL, NULL},
		{"", NS_LINE_EMPTY, 0, 0, 0, NULL, NULL},
		{" \t\r", NS_LINE_EMPTY, 0, 0, 0, NULL, NULL},
		{"# 12 34", NS_LINE_EMPTY, 0, 0, 0, NULL, NULL},
		{"  #", NS_LINE_EMPTY, 0, 0, 0, NULL, NULL},
		{"9223372036854775808", NS_LINE_BAD, 0, 0, 0, "9223372036854775808", "2^63-1"},
		{"99999999999999999999999", NS_LINE_BAD, 0, 0, 0, "99999999999999999999999",
		 "2^63-1"},
		{"-5", NS_LINE_BAD, 0, 0, 0, "-5", "negative"},
		{"-", NS_LINE_BAD, 0, 0, 0, "-", "negative"},
		{"1.5", NS_LINE_BAD, 0, 0, 0, "1.5", "whole number"},
		{"1e6", NS_LINE_BAD, 0, 0, 0, "1e6", "whole number"},
		{"+5", NS_LINE_BAD, 0, 0, 0, "+5", "whole number"},
		{"0x10", NS_LINE_BAD, 0, 0, 0, "0x10", "whole number"},
		{"12us", NS_LINE_BAD, 0, 0, 0, "12us", "whole number"},
		{"12,34", NS_LINE_BAD, 0, 0, 0, "12,34", "whole number"},
		{"12 -", NS_LINE_BAD, 0, 0, 0, "-", "negative"},
		{"12 -3", NS_LINE_BAD, 0, 0, 0, "-3", "negative"},
		{"12 34 --", NS_LINE_BAD, 0, 0, 0, "--", "negative"},
		{"12 34 5.6", NS_LINE_BAD, 0, 0, 0, "5.6", "whole number"},
		{"12 34 56 78", NS_LINE_BAD, 0, 0, 0, "78", "fourth value"},
		{"\x1b[2J", NS_LINE_BAD, 0, 0, 0, "?[2J", "whole number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* A copy of just the length, for the sanitizer to see a step too far. */
		size_t nr = strlen(rows[i].text);
		char *text = copy_of(rows[i].text, nr);
		struct ns_line line;

		text[nr] = '9';
		print_message("# \"%s\"\n", rows[i].text[0] == '\x1b' ? "ESC" : rows[i].text);
		assert_int_equal(ns_line_parse(&line, text, nr), rows[i].kind);
		if (rows[i].kind == NS_LINE_HALT) {
			assert_int_equal(line.t_ns, rows[i].t_ns);
			assert_int_equal(line.run_ns, rows[i].run_ns);
			assert_int_equal(line.deadline_ns, rows[i].deadline_ns);
		} else if (rows[i].kind == NS_LINE_BAD) {
			assert_string_equal(line.value, rows[i].value);
			assert_non_null(strstr(line.why, rows[i].why));
		}
		free(text);
	}
}

static void test_long_value_is_cut(void **state)
{
	char text[200];
	struct ns_line line;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(ns_line_parse(&line, text, sizeof(text)), NS_LINE_BAD);
	assert_int_equal(strlen(line.value), sizeof(line.value) - 1);
}

static struct reading *read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static void test_list(void **state)
{
	struct reading *r = read_text(
		"# halts of one vCPU\n\n1000 10\n2000\n3000 20 5000\n400 5 -");

	(void)state;
	assert_int_equal(r->open_error, 0);
	assert_int_equal(r->nr_reports, 0);
	assert_string_equal(r->format, "ns");
	assert_int_equal(r->nr, 4);
	assert_int_equal(r->halts[0].start_ns, 10);
	assert_int_equal(r->halts[1].start_ns, 1010);
	assert_int_equal(r->halts[1].run_ns, VHALT_UNKNOWN_NS);
	assert_int_equal(r->halts[2].start_ns, 3030);
	assert_int_equal(r->halts[2].deadline_ns, 5000);
	assert_int_equal(r->halts[3].halt_ns, 400);
	assert_int_equal(r->halts[3].deadline_ns, VHALT_NO_DEADLINE_NS);
	for (size_t i = 0; i < r->nr; i++) {
		/* T is the wake event: nothing to subtract from it. */
		assert_int_equal(r->halts[i].flags, 0);
		assert_int_equal(r->halts[i].latency_ns, TRACE_UNKNOWN_U32);
		assert_int_equal(r->halts[i].window_ns, TRACE_UNKNOWN_U32);
		assert_int_equal(r->halts[i].vcpu, 0);
	}
	assert_int_equal(r->info.nr_vms, 1);
	assert_int_equal(r->info.nr_vcpus, 1);
	assert_int_equal(r->info.duration_ns, 6435);
	assert_int_equal(r->info.params.halt_poll_ns, TRACE_UNKNOWN_U32);
	reading_free(r);
}

static void test_bad_lines_are_left_out(void **state)
{
	struct reading *r = read_text("1000\n2000\nhello\n3000\n-4\n1.5\n12 3 4 5\n4000\n");

	(void)state;
	assert_int_equal(r->last, 0);
	assert_int_equal(r->nr, 4);
	assert_int_equal(r->info.damaged_frames, 4);
	assert_int_equal(r->nr_reports, 4);
	assert_non_null(strstr(r->text, "file: line 3: \"hello\": not a whole number"));
	assert_non_null(strstr(r->text, "file: line 5: \"-4\": negative"));
	assert_non_null(strstr(r->text, "file: line 6: \"1.5\": not a whole number"));
	assert_non_null(strstr(r->text, "file: line 7: \"5\": a fourth value"));
	assert_int_equal(r->halts[1].flags, 0);
	assert_int_equal(r->halts[2].flags, TRACE_HALT_GAP);
	assert_int_equal(r->halts[3].flags, TRACE_HALT_GAP);
	assert_int_equal(r->halts[3].start_ns, 6000);
	reading_free(r);
}

static void test_times_overflow(void **state)
{
	struct reading *r = read_text("9223372036854775807\n9223372036854775807\n5\n1\n");

	(void)state;
	assert_int_equal(r->nr, 3);
	assert_non_null(strstr(r->text, "line 3: \"\": the sum of all times exceeds 2^64 ns"));
	assert_int_equal(r->halts[2].start_ns + r->halts[2].halt_ns, ~0ULL);
	reading_free(r);
}

static void test_long_line(void **state)
{
	enum { LONG = 300000 };
	char *text = malloc(LONG + 100);
	struct reading *r;
	size_t nr;

	(void)state;
	assert_non_null(text);
	nr = (size_t)sprintf(text, "1\n2\n3\n4\n");
	memset(text + nr, '7', LONG);
	nr += LONG;
	nr += (size_t)sprintf(text + nr, "\n5\n");
	r = read_bytes(text, nr);
	assert_int_equal(r->nr, 5);
	assert_int_equal(r->halts[4].halt_ns, 5);
	assert_int_equal(r->halts[4].flags, TRACE_HALT_GAP);
	assert_int_equal(r->nr_reports, 1);
	assert_non_null(strstr(r->text, "line 5: \"\": line longer than 4096 bytes"));
	reading_free(r);
	free(text);
}

/* A line of exactly the longest length, and one more, with and without a newline behind. */
static void test_line_lengths(void **state)
{
	static const struct {
		size_t length;
		bool newline;
		size_t halts;
	} rows[] = {{4096, true, 2}, {4096, false, 2}, {4097, true, 1}, {4097, false, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[5000] = "1\n";
		struct reading *r;

		memset(text + 2, ' ', rows[i].length);
		text[2 + rows[i].length - 1] = '2';
		text[2 + rows[i].length] = rows[i].newline ? '\n' : '\0';
		r = read_bytes(text, 2 + rows[i].length + rows[i].newline);
		assert_int_equal(r->nr, rows[i].halts);
		assert_int_equal(r->info.damaged_frames, 2 - rows[i].halts);
		reading_free(r);
	}
}

static void test_many_lines(void **state)
{
	enum { LINES = 100000 };
	char *text = malloc(LINES * 16), *end = text;
	uint64_t start_ns = 0;
	struct reading *r;

	(void)state;
	assert_non_null(text);
	for (unsigned i = 0; i < LINES; i++)
		end += sprintf(end, "%u %u\n", 1000 + i, i % 50);
	r = read_bytes(text, (size_t)(end - text));
	assert_int_equal(r->nr, LINES);
	assert_int_equal(r->nr_reports, 0);
	for (unsigned i = 0; i < LINES; i++) {
		start_ns += i % 50;
		assert_int_equal(r->halts[i].start_ns, start_ns);
		assert_int_equal(r->halts[i].halt_ns, 1000 + i);
		start_ns += 1000 + i;
	}
	reading_free(r);
	free(text);
}

static void test_no_halts(void **state)
{
	static const struct {
		const char *text, *report;
	} rows[] = {
		{"# nothing\n\n", "file: no halts in it: 2 lines, 0 of them bad"},
		{"\n", "file: no halts in it: 1 lines, 0 of them bad"},
		{"1.5\n2.5\n", "file: no halts in it: 2 lines, 2 of them bad"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct reading *r = read_text(rows[i].text);

		assert_int_equal(r->open_error, 0);
		assert_int_equal(r->last, -ENODATA);
		assert_non_null(strstr(r->text, rows[i].report));
		reading_free(r);
	}
}

/* Numbers alone do not make a list: figures in other people's output must not pass for halts. */
static void test_other_text(void **state)
{
	static const char *const texts[] = {
		"hello\n",
		"hello\n1000\n",
		"==> halt_poll_ns <==\n200000\n\n==> halt_poll_ns_grow <==\n2\n",
		"87162647182125: halt_poll_ns 0 (shrink 10000)\n",
		"1000\nfoo\nbar\n",
		"1000 \0 200\n",
		"# cat /sys/module/kvm/parameters/halt_poll_ns*\n200000\n2\n10000\n0\n",
		"     0.000 CPU 0/KVM/4711 kvm:kvm_vcpu_wakeup(ns: 30000)\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct reading *r = read_bytes(texts[i], i == 5 ? 11 : strlen(texts[i]));

		assert_int_equal(r->open_error, -EPROTO);
		assert_int_equal(r->nr_reports, 1);
		reading_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long_value_is_cut),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_bad_lines_are_left_out),
		cmocka_unit_test(test_times_overflow),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_line_lengths),
		cmocka_unit_test(test_many_lines),
		cmocka_unit_test(test_no_halts),
		cmocka_unit_test(test_other_text),
	};

	return cmocka_run_group_tests_name("ns", tests, NULL, NULL);
}

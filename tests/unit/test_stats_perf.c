// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Reports of perf kvm stat: each architecture's names, with and without head and total, wrapped,
// cut.
#include "tests/unit/stats_fixture.h"

#include <errno.h>

#define HEAD                                                                                       \
	"             VM-EXIT    Samples  Samples%     Time%    Min Time    Max Time  Avg time "   \
	"\n\n"
#define CPUID_ROW " CPUID 5 5.00% 1.00% 1.00us 2.00us 1.50us ( +- 1.00% )\n"

static void test_amd(void **state)
{
	struct read_stats r = read_text("Analyze events for pid(s) 812, all VCPUs:\n\n" HEAD
					"                 hlt      20000    99.50%    97.00%      "
					"0.40us  12000.50us     31.25us ( +-   4.00% )\n"
					"               vintr        100     0.50%     3.00%      "
					"1.00us      2.00us      1.50us ( +-   -nan% )\n"
					"\nTotal Samples:20100, Total events handled "
					"time:625150.75us.\n\n\nLost events: 12\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_int_equal(r.stats->kinds, STATS_PERF);
	assert_string_equal(r.stats->scopes[0].label, "pid(s) 812, all VCPUs");
	assert_int_equal(r.stats->scopes[0].total, 20100);
	assert_int_equal(r.stats->scopes[0].total_time_ns, 625150750);
	assert_int_equal(r.stats->scopes[0].lost, 12);
	assert_string_equal(r.sums[0].halt_name, "hlt");
	assert_int_equal(r.sums[0].halt_samples, 20000);
	assert_int_equal(r.sums[0].halt_mean_ns, 31250);
	assert_int_equal(r.sums[0].halt_min_ns, 400);
	assert_int_equal(r.sums[0].halt_max_ns, 12000500);
	assert_int_equal(r.sums[0].halt_share_ppm, 995000);
	assert_int_equal(r.sums[0].samples, 20100);
	read_done(&r);
}

/* Two reports without "Analyze" and without a total: whose they are nobody says. */
static void test_bare(void **state)
{
	struct read_stats r = read_text(
		HEAD
		"  HLT  500  80.00%  99.00%  0.43us  900000.00us  300.50us ( +-   8.00% )\n"
		"  MSR_WRITE  125  20.00%  1.00%  0.33us  40.00us  1.00us ( +-   1.00% )\n\n" HEAD
		"  MSR_WRITE  900  90.00%  5.00%  0.33us  40.00us  0.44us ( +-   1.00% )\n"
		"  HLT  100  10.00%  95.00%  0.33us  707000.00us  43.00us ( +-  24.00% )\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_scopes, 2);
	assert_int_equal(r.sums[0].halt_samples, 500);
	assert_int_equal(r.sums[1].halt_samples, 100);
	assert_int_equal(r.sums[1].halt_mean_ns, 43000);
	assert_true(r.stats->scopes[0].total == STATS_UNKNOWN);
	assert_string_equal(r.sums[0].longest->name, "HLT");
	read_done(&r);
}

static void test_arm64(void **state)
{
	struct read_stats r = read_text(
		" # perf kvm stat report\n\nAnalyze events for all VMs, all VCPUs:\n\n" HEAD
		"   DABT_LOW   9000    90.00%    40.00%      2.00us   3300.00us      6.00us ( +-   "
		"0.30% )\n"
		"        WFx   1000    10.00%    60.00%      2.20us   3300.00us    110.00us ( +-   "
		"8.00% )\n");
	struct stats_kernel kernel;

	(void)state;
	assert_int_equal(r.error, 0);
	assert_string_equal(r.sums[0].halt_name, "WFx");
	assert_int_equal(r.sums[0].halt_mean_ns, 110000);
	stats_guess_kernel(&kernel, r.stats);
	assert_string_equal(kernel.machine, "arm64");
	read_done(&r);
}

/* The first reports had an average only. */
static void test_oldest(void **state)
{
	struct read_stats r = read_text(
		"             VM-EXIT    Samples  Samples%     Time%         Avg time \n\n"
		"                 HLT        400    50.00%    99.00%     77.00us ( +-   4.00% )\n"
		"              IO_INSTRUCTION 400 50.00% 1.00% 2.00us ( +- 1.00% )\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.sums[0].halt_mean_ns, 77000);
	assert_true(r.sums[0].halt_min_ns == STATS_UNKNOWN);
	assert_int_equal(total(&r, 0, "IO_INSTRUCTION"), 400);
	read_done(&r);
}

/* Since 6.4 there is a layout in ns, the columns in another order. */
static void test_in_ns(void **state)
{
	struct read_stats r = read_text(
		"Event name   Samples   Sample%    Time (ns)     Time%   Max Time (ns)   "
		"Min Time (ns)  Mean Time (ns)\n"
		"HLT              100    50.00%     10000000    99.00%          200000      "
		"       500          100000\n"
		"MSR_WRITE        100    50.00%       100000     1.00%            2000\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.sums[0].halt_samples, 100);
	assert_int_equal(r.sums[0].halt_mean_ns, 100000);
	assert_int_equal(r.sums[0].halt_min_ns, 500);
	assert_int_equal(r.sums[0].halt_max_ns, 200000);
	assert_int_equal(r.sums[0].halt_time_ppm, 990000);
	assert_null(stats_find(r.stats, 0, "MSR_WRITE"));
	assert_reported(&r, "f: line 3: row \"MSR_WRITE\" left out: the row ends too early");
	read_done(&r);
}

/* Mail broke one row in two; a locale has a comma for a point; quoting. */
static void test_dressed(void **state)
{
	struct read_stats r = read_text(
		"> " HEAD ">  HLT  500  80,00%  99,00%  0,43us  900000,00us\n"
		"> 300,50us ( +-   8,00% )\n"
		">  CPUID  125  20,00%  1,00%  0,33us  40,00us  1,00us ( +-\n"
		"> 1,00% )\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_int_equal(r.sums[0].halt_mean_ns, 300500);
	assert_int_equal(stats_find(r.stats, 0, "CPUID")->mean_ns, 1000);
	read_done(&r);
}

static void test_bad_rows(void **state)
{
	static const struct {
		const char *row, *report;
	} rows[] = {
		{" HLT 99999999999999999999 5.00% 1.00% 1.00us 2.00us 1.50us ( +- 1.00% )",
		 "2^64-1"},
		{" HLT 5 5.00% 1.00% 1.00us 2.00us 1.50 ( +- 1.00% )", "a time is none"},
		{" HLT 5 5.00% 1.00% 1.00us 2.00us ( +- 1.00% )", "a time is missing"},
		{" HLT 5 5.00% x 1.00us 2.00us 1.50us ( +- 1.00% )", "percentage"},
		{" HLT 5 5.00% 1.00% 1.00us 99999999999999999999.00us 1.50us ( +- 1.00% )",
		 "a time is none"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[400];
		struct read_stats r;

		snprintf(text, sizeof(text), "%s%s%s\n\n", HEAD, CPUID_ROW, rows[i].row);
		r = read_text(text);
		print_message("# %s\n", rows[i].row);
		assert_int_equal(r.error, 0);
		assert_reported(&r, rows[i].report);
		assert_null(stats_find(r.stats, 0, "HLT"));
		assert_int_equal(r.stats->nr_values, 1);
		read_done(&r);
	}
}

/* perf's remarks about exits it does not know stand between the rows of one table. */
static void test_unknown_exits(void **state)
{
	struct read_stats r = read_text(HEAD CPUID_ROW
					"unknown kvm exit code:131072 on VMX\n"
					" UNKNOWN 5 80.00% 9.00% 1.00us 9.00us 3.50us\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_scopes, 1);
	assert_int_equal(r.stats->nr_values, 2);
	assert_int_equal(r.stats->damaged, 0);
	read_done(&r);
}

/* perf says on its standard error what it lost: above a report, or below it. */
static void test_lost(void **state)
{
	static const struct {
		const char *warning;
		uint64_t events, chunks, ppm;
	} rows[] = {
		{"Processed 12345 events and lost 7 chunks!\n", 0, 7, 0},
		{"Processed 500 samples and lost 12.5%!\n", 0, 0, 125000},
		{"LOST 17 events!\n", 17, 0, 0},
		{"0 0x55 [0x30]: PERF_RECORD_LOST lost 9\n", 9, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const char *warning = rows[i / 2].warning;
		struct read_stats r;
		char text[600];

		snprintf(text, sizeof(text), "%s%s%s\n%s", i % 2 ? "" : warning, HEAD, CPUID_ROW,
			 i % 2 ? warning : "");
		r = read_text(text);
		print_message("# %s", warning);
		assert_int_equal(r.error, 0);
		assert_int_equal(r.stats->nr_scopes, 1);
		assert_int_equal(r.sums[0].lost_events, rows[i / 2].events);
		assert_int_equal(r.sums[0].lost_chunks, rows[i / 2].chunks);
		assert_int_equal(r.sums[0].lost_samples_ppm, rows[i / 2].ppm);
		assert_reported(&r, "perf lost");
		assert_int_equal(r.stats->damaged, 0);
		read_done(&r);
	}
}

/* Words of people about losses are none of perf's. */
static void test_not_lost(void **state)
{
	struct read_stats r = read_text("we lost 3 events there\n" HEAD CPUID_ROW);

	(void)state;
	assert_int_equal(r.sums[0].lost_events, 0);
	assert_int_equal(r.nr_reports, 0);
	read_done(&r);
}

/* A file that ends within a row: where exactly is what decides. */
static void test_cut(void **state)
{
	static const char row[] = " HLT 500 80.00% 99.00% 0.43us 900000.00us 300.50us ( +- 8.00% )";
	size_t whole = (size_t)(strstr(row, "300.50us") - row) + 8;

	(void)state;
	for (size_t nr = 6; nr < sizeof(row); nr++) {
		char text[400];
		struct read_stats r;

		snprintf(text, sizeof(text), "%s%s%.*s", HEAD, CPUID_ROW, (int)nr, row);
		r = read_text(text);
		assert_int_equal(r.error, 0);
		if (nr >= whole)
			assert_int_equal(stats_find(r.stats, 0, "HLT")->mean_ns, 300500);
		else if (stats_find(r.stats, 0, "HLT"))
			fail_msg("\"%.*s\" was taken", (int)nr, row);
		else
			assert_int_equal(r.stats->damaged, 1);
		read_done(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amd),	      cmocka_unit_test(test_bare),
		cmocka_unit_test(test_arm64),	      cmocka_unit_test(test_oldest),
		cmocka_unit_test(test_in_ns),	      cmocka_unit_test(test_dressed),
		cmocka_unit_test(test_bad_rows),      cmocka_unit_test(test_cut),
		cmocka_unit_test(test_unknown_exits), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_not_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

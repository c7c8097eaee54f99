// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Tables and logs of kvm_stat: every generation of the head, none at all, cut and wrong rows.
#include "tests/unit/stats_fixture.h"

#include <errno.h>

/* The head of 2016: totals and a rate, no percentages; blanks at the end of lines. */
static const char *const table_2016 =
	"kvm statistics - summary\n"
	"\n"
	" Event                                        Total Current\n"
	" exits                                       51200377    1044  \n"
	" irq_exits                                   20011002     580  \n"
	" halt_exits                                     90412      77\n"
	" halt_attempted_poll                            60200      50\n"
	" halt_wakeup                                    40100      31\n"
	" halt_successful_poll                           20050      19\n"
	" remote_tlb_flush                                   2       0\n";

static void test_2016(void **state)
{
	struct read_stats r = read_text(table_2016);

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_int_equal(r.stats->kinds, STATS_KVM_STAT);
	assert_int_equal(r.stats->nr_scopes, 1);
	assert_int_equal(r.stats->nr_values, 7);
	assert_int_equal(total(&r, 0, "exits"), 51200377);
	assert_int_equal(stats_find(r.stats, 0, "exits")->rate_milli, 1044000);
	assert_int_equal(stats_find(r.stats, 0, "exits")->place, 4);
	assert_int_equal(r.sums[0].attempted, 60200);
	assert_int_equal(r.sums[0].successful, 20050);
	assert_int_equal(r.sums[0].wakeups, 40100);
	assert_true(r.sums[0].fail_ns == STATS_UNKNOWN);
	assert_true(r.stats->scopes[0].header);
	assert_int_equal(stats_supports(&r.sums[0]), STATS_SAYS_HALTS | STATS_SAYS_HITS);
	read_done(&r);
}

/* Today's rows without the head, children indented, the total at the end. */
static void test_no_banner(void **state)
{
	struct read_stats r = read_text("kvm_timer_update_irq            912345   40.1     6000\n"
					"kvm_exit                        800000   35.2     5000\n"
					"  kvm_exit(WFx)                 700000   87.5     4500\n"
					"  kvm_exit(HVC64)                   18    0.0\n"
					"kvm_vcpu_wakeup                 500000   22.0     4400\n"
					"kvm_halt_poll_ns                 61000    2.7      500\n"
					"Total                          2273345           15900\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_int_equal(r.stats->nr_values, 6);
	assert_int_equal(r.sums[0].ev_halt, 700000);
	assert_int_equal(r.sums[0].ev_wakeup, 500000);
	assert_int_equal(r.sums[0].ev_window, 61000);
	assert_int_equal(r.sums[0].wakeup_rate_milli, 4400000);
	assert_int_equal(stats_find(r.stats, 0, "kvm_exit(WFx)")->share_ppm, 875000);
	/* A blank last column is kvm_stat's zero. */
	assert_int_equal(stats_find(r.stats, 0, "kvm_exit(HVC64)")->rate_milli, 0);
	assert_int_equal(r.stats->scopes[0].total, 2273345);
	assert_int_equal(r.stats->scopes[0].total_rate_milli, 15900000);
	assert_true(r.stats->scopes[0].window_ms == STATS_UNKNOWN);
	assert_false(r.stats->scopes[0].header);
	read_done(&r);
}

/* More in a second than in all: the table covers a fraction of one. */
static void test_rate_above_total(void **state)
{
	struct read_stats r = read_text("kvm statistics - summary\n\n"
					" Event                         Total %Total CurAvg/s\n"
					" kvm_exit                       4000   50.0    16000\n"
					" kvm_vcpu_wakeup                4000   50.0    16000\n"
					" Total                          8000           32000\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_true(r.sums[0].rate_above_total);
	assert_int_equal(r.stats->scopes[0].window_ms, 250);
	read_done(&r);
}

/* Lines as they come through mail and terminals. */
static void test_dressed(void **state)
{
	struct read_stats r = read_text("\xef\xbb\xbf> > kvm statistics - pid 812 (web 1)\r\n"
					"> >\r\n"
					"> > \033[7m Event\t\tTotal %Total CurAvg/s\033[0m\r\n"
					"> >  kvm_exit\t\t100 50.0 7\r\n"
					"> >  kvm_entry\xc2\xa0\t100 50,0 7\r\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_int_equal(r.stats->nr_values, 2);
	assert_int_equal(total(&r, 0, "kvm_exit"), 100);
	assert_int_equal(total(&r, 0, "kvm_entry"), 100);
	assert_string_equal(r.stats->scopes[0].label, "pid 812 (web 1)");
	read_done(&r);
}

static void test_guests(void **state)
{
	struct read_stats r = read_text(" Guest Name                    Total %Total CurAvg/s\n"
					" web 1                          1000   66.7       10\n"
					" db                              500   33.3        5\n"
					" Total                          1500              15\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_values, 2);
	assert_int_equal(total(&r, 0, "web 1"), 1000);
	assert_true(r.stats->scopes[0].by_guest);
	/* A guest called like a counter is no counter. */
	assert_true(r.sums[0].ev_exit == STATS_UNKNOWN);
	assert_int_equal(stats_supports(&r.sums[0]), 0);
	read_done(&r);
}

/* A VM that ended takes its counters along: the rate of the rest is below 0, the total is not. */
static void test_negative_rate(void **state)
{
	struct read_stats r = read_text(" Event Total %Total CurAvg/s\n kvm_exit 700 1.0 -20\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->damaged, 0);
	assert_int_equal(stats_find(r.stats, 0, "kvm_exit")->total, 700);
	assert_true(stats_find(r.stats, 0, "kvm_exit")->rate_milli == STATS_UNKNOWN);
	read_done(&r);
}

static void test_bad_rows(void **state)
{
	static const struct {
		const char *row, *report;
	} rows[] = {
		{"kvm_exit 99999999999999999999 1.0 5", "2^64-1"},
		{"kvm_exit 18446744073709551615 1.0 5", "2^64-1"},
		{"kvm_exit 10 7", "a column is missing"},
		{"kvm_exit 10 20 30", "no percentage"},
		{"kvm_exit 10 130.0 30", "percentage"},
		{"kvm_exit 1 2.0 3 4", "more numbers"},
		{"kvm_exit", "has no numbers"},
		{"kvm_exit -5 1.0 3", "2^64-1"},
		{"kvm_exit 5 -1.0 3", "percentage"},
		{"kvm_exit 0x10 1.0 3", "not a name and numbers"},
		{"kvm_exit 5 1.0 1.5", "rate is no number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[200];
		struct read_stats r;

		snprintf(text, sizeof(text),
			 " Event Total %%Total CurAvg/s\n kvm_entry 7 1.0 2\n %s\n", rows[i].row);
		r = read_text(text);
		print_message("# %s\n", rows[i].row);
		assert_int_equal(r.error, 0);
		assert_reported(&r, rows[i].report);
		assert_reported(&r, "f: line 3: ");
		assert_int_equal(r.stats->damaged, 1);
		assert_int_equal(r.stats->nr_values, 1);
		assert_null(stats_find(r.stats, 0, "kvm_exit"));
		read_done(&r);
	}
}

/* The file ends within a row: what is left of its last number is no number. */
static void test_cut(void **state)
{
	struct read_stats r = read_text(" Event             Total %Total CurAvg/s\n"
					" kvm_exit        4000000   50.0    16000\n"
					" kvm_entry       4000000   50.0    16");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_true(r.stats->unfinished);
	assert_reported(&r, "f: line 3: the file ends within this row: \"16\"");
	/* Total and share are whole: something follows them. */
	assert_int_equal(total(&r, 0, "kvm_entry"), 4000000);
	assert_int_equal(stats_find(r.stats, 0, "kvm_entry")->rate_milli, 0);
	read_done(&r);
	r = read_text(" Event             Total %Total CurAvg/s\n"
		      " kvm_exit        4000000   50.0    16000\n"
		      " kvm_entry       40");
	assert_null(stats_find(r.stats, 0, "kvm_entry"));
	assert_int_equal(r.stats->damaged, 1);
	read_done(&r);
}

static void test_two_screens(void **state)
{
	struct read_stats r = read_text("kvm_exit 10 50.0 1\nkvm_entry 10 50.0 1\n"
					"kvm_exit 30 50.0 1\nkvm_entry 30 50.0 1\n");

	(void)state;
	assert_int_equal(r.stats->nr_scopes, 2);
	assert_int_equal(total(&r, 0, "kvm_exit"), 10);
	assert_int_equal(total(&r, 1, "kvm_exit"), 30);
	read_done(&r);
}

static void test_batch(void **state)
{
	struct read_stats r = read_text(
		"halt_exits                               90412       77\n"
		"halt_wakeup                              40100        0\n");

	(void)state;
	assert_int_equal(r.stats->kinds, STATS_KVM_STAT);
	assert_int_equal(total(&r, 0, "halt_exits"), 90412);
	assert_int_equal(stats_find(r.stats, 0, "halt_exits")->rate_milli, 77000);
	read_done(&r);
}

/* --- logs ------------------------------------------------------------------------------------- */

static void test_log_csv(void **state)
{
	struct read_stats r = read_text("timestamp,halt_exits,halt_wakeup,kvm_exit\n"
					"2021-03-04 12:34:56,10,5,100\n"
					"2021-03-04 12:34:58,12,6,110\n"
					"2021-03-04 12:35:00,14,7\n"
					"2021-03-04 12:35:02,1,2,x\n"
					"2021-03-04 12:35:04,8,9,90\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->kinds, STATS_KVM_STAT_LOG);
	assert_int_equal(r.stats->scopes[0].samples, 3);
	assert_int_equal(total(&r, 0, "halt_exits"), 30);
	assert_int_equal(total(&r, 0, "kvm_exit"), 300);
	assert_reported(&r, "f: line 4: line of a log left out: it has not as many numbers");
	assert_reported(&r, "f: line 5: line of a log left out: \"x\" is no number");
	/* Eight seconds between three lines, so four for each. */
	assert_int_equal(r.stats->scopes[0].window_ms, 12000);
	read_done(&r);
}

/* Columns; the names again after twenty lines; the last line without its end. */
static void test_log_columns(void **state)
{
	struct read_stats r = read_text("halt_exits halt_wakeup kvm_exit \n"
					"        10          5       100 \n"
					"halt_exits halt_wakeup kvm_exit \n"
					"        20          6       110 \n"
					"        20          6       11");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_scopes, 1);
	assert_int_equal(r.stats->scopes[0].samples, 2);
	assert_int_equal(total(&r, 0, "halt_exits"), 30);
	assert_true(r.stats->scopes[0].window_ms == STATS_UNKNOWN);
	assert_reported(&r, "the file ends in it");
	read_done(&r);
}

/* Names of the oldest logs are cut: what they may be is only said where there is one answer. */
static void test_log_short_names(void **state)
{
	struct read_stats r = read_text("  halt_exit  halt_succ  halt_atte  halt_poll\n"
					"          3          4          5          6\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(total(&r, 0, "halt_exits"), 3);
	assert_int_equal(total(&r, 0, "halt_successful_poll"), 4);
	assert_int_equal(total(&r, 0, "halt_attempted_poll"), 5);
	assert_int_equal(total(&r, 0, "halt_poll"), 6);
	assert_true(r.sums[0].invalid == STATS_UNKNOWN);
	read_done(&r);
}

/* --- what is none -------------------------------------------------------------------------------
 */

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"1000\n2000\n",
		"kvm_stat is a tool\n",
		"Event Totals\n",
		"a 1 2\n",
		"exit 5 of 7\n",
		"kvm_exit\n",
		" x-5 [001] d..1 1.5: kvm_exit: vcpu 0 reason HLT rip 0x1 info 0 0\n",
		"5: kvm_halt_poll_ns: vcpu 0: halt_poll_ns 10000 (grow 0)\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct read_stats r = read_text(texts[i]);

		print_message("# \"%s\"\n", texts[i]);
		assert_int_equal(r.error, -EPROTO);
		assert_int_equal(r.nr_reports, 1);
		assert_false(recognised(texts[i], strlen(texts[i])));
	}
	assert_true(recognised(table_2016, strlen(table_2016)));
}

/* A table behind much prose is one; behind a trace, or beyond the limit, it is not looked for. */
static void test_behind_prose(void **state)
{
	static const size_t sizes[] = {1U << 17, 1U << 21, STATS_LOOK_BYTES + 65536U};
	size_t room = STATS_LOOK_BYTES + (1U << 20), used;
	char *text = malloc(room);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t bytes = sizes[i];

		/* Blank lines, as they are read the fastest. */
		memset(text, ' ', bytes);
		for (used = 12000; used < bytes; used += 12000)
			text[used] = '\n';
		memcpy(text, "Dear all,\n", 10);
		memcpy(text + bytes - 1, "\n\n", 2);
		used = bytes + (size_t)snprintf(text + bytes, room - bytes, "%s", table_2016);
		print_message("# %zu bytes of prose\n", bytes);
		assert_int_equal(recognised(text, used), bytes < STATS_LOOK_BYTES);
		if (bytes < STATS_LOOK_BYTES) {
			struct read_stats r = read_bytes(text, used);

			assert_int_equal(r.error, 0);
			assert_true(r.stats->nr_values > 0);
			read_done(&r);
		}
		memcpy(text, "5: kvm_halt_poll_ns: vcpu 0: halt_poll_ns 1 (grow 0)\n", 53);
		assert_false(recognised(text, used));
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_2016),
		cmocka_unit_test(test_no_banner),
		cmocka_unit_test(test_rate_above_total),
		cmocka_unit_test(test_dressed),
		cmocka_unit_test(test_guests),
		cmocka_unit_test(test_bad_rows),
		cmocka_unit_test(test_negative_rate),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_two_screens),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_log_csv),
		cmocka_unit_test(test_log_columns),
		cmocka_unit_test(test_log_short_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_behind_prose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Listings given to vhalt advise beside a recording: of two hosts, none is taken for its own.
#include "tests/unit/command_run.h"

/* The command is not in the library of parts: its files are built in here. */
#include "tool/diagnose_print.c"
#include "tool/advise_sums.c"

/* What is printed of statistics does not matter here. */
void print_stats(const struct stats *stats, const struct diagnose_model *model)
{
	(void)stats;
	(void)model;
}

json_t *json_stats(const struct stats *stats, const struct diagnose_model *model)
{
	(void)stats;
	(void)model;
	return json_object();
}

static const struct replay_model model = {.price = 10, .latency_ns = 10000, .switch_ns = 3000};

/* The parameters a recording without any gets beside these two listings. */
static struct trace_kvm_params beside(const char *one, const char *other)
{
	struct trace_info info = {.nr_vms = 0};
	struct trace_kvm_params params;
	struct advise_sums sums = {.nr = 0};
	char *paths[2];

	memset(&info.params, 0xff, sizeof(info.params));
	paths[0] = strdup(write_file("one", one));
	paths[1] = strdup(write_file("other", other));
	assert_int_equal(advise_sums_take(&sums, paths, 2, &model), 0);
	params = with_params(&sums, &info).params;
	advise_sums_fini(&sums);
	free(paths[0]);
	free(paths[1]);
	return params;
}

static void test_two_listings(void **state)
{
	struct trace_kvm_params p;

	(void)state;
	p = beside("halt_poll_ns: 200000\n", "halt_poll_ns: 200000\nhalt_poll_ns_grow: 2\n");
	assert_int_equal(p.halt_poll_ns, 200000);
	assert_int_equal(p.grow, 2);
	/* Of two hosts: not the last, and not a mixture. */
	p = beside("halt_poll_ns: 200000\nhalt_poll_ns_grow: 2\n", "halt_poll_ns: 5000\n");
	assert_true(p.halt_poll_ns == TRACE_UNKNOWN_U32);
	assert_true(p.grow == TRACE_UNKNOWN_U32);
	/* In one file. */
	p = beside("halt_poll_ns: 200000\nhalt_poll_ns: 5000\n", "halt_exits: 5\n");
	assert_true(p.halt_poll_ns == TRACE_UNKNOWN_U32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_listings),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

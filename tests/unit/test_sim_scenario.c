// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Scenario files, sweeps and studies of the simulator.
#include "tests/unit/sim_rig.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/report.h"

static struct sim_scenario scenario;
static char error[SIM_ERROR_BYTES];

static int read_text(const char *text)
{
	char copy[4096];
	FILE *file;
	int err;

	assert_true(strlen(text) < sizeof(copy));
	memcpy(copy, text, strlen(text) + 1);
	file = fmemopen(copy, strlen(copy), "r");
	assert_non_null(file);
	err = sim_scenario_read(file, "t.ini", &scenario, error);
	fclose(file);
	return err;
}

static void read_shipped(const char *name)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "sim/scenarios/%s.ini", name);
	file = fopen(path, "re");
	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	if (sim_scenario_read(file, path, &scenario, error))
		fail_msg("%s", error);
	fclose(file);
}

static void a_scenario_is_read(void **state)
{
	struct sim_config config;

	(void)state;
	assert_int_equal(read_text("; comment\n"
				   "[scenario]\n"
				   "title = T\n"
				   "seeds = 7\n"
				   "[host]\n"
				   "pcpus = 4 ; another\n"
				   "slice=5ms\n"
				   "policy = kvm:halt_poll_ns=50us\n"
				   "[vm web]\n"
				   "vcpus = 2\n"
				   "workload = rr\n"
				   "[vm hog]\n"
				   "workload = hog\n"
				   "[column one]\n"
				   "vm.hz = 100\n"
				   "[column two]\n"
				   "web.vcpus = 3\n"
				   "[row first]\n"
				   "score = web.latency\n"
				   "hog.count = 9\n"
				   "published.two = 1 us\n"),
			 0);
	assert_string_equal(scenario.title, "T");
	assert_int_equal(scenario.seeds, 7);
	assert_int_equal(scenario.base.host.slice_ns, 5000000);
	assert_int_equal(sim_scenario_cell(&scenario, 0, 0, NULL, 0, &config, error), 0);
	assert_int_equal(config.vm[0].hz, 100);
	assert_int_equal(config.vm[1].hz, 100);
	assert_int_equal(config.vm[1].count, 9);
	assert_int_equal(config.vm[0].vcpus, 2);
	assert_int_equal(sim_scenario_cell(&scenario, 0, 1, NULL, 0, &config, error), 0);
	assert_int_equal(config.vm[0].vcpus, 3);
	assert_int_equal(config.vm[0].hz, 250);
	assert_string_equal(sim_scenario_published(&scenario, 0, 1), "1 us");
	assert_null(sim_scenario_published(&scenario, 0, 0));
}

static void bad_files_are_refused_by_line(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{"[host]\npcpus = 4\n", "t.ini:2: no [vm NAME]"},
		{"[vm a]\nvcpus = 0\n", "t.ini:2: vcpus: \"0\": out of range"},
		{"[vm a]\nvcpus = x\n", "t.ini:2: vcpus: \"x\": not a whole number"},
		{"[vm a]\nvcpus = 99999999999999999999\n", "t.ini:2: vcpus: "},
		{"[vm a]\nwork = 5\n", "t.ini:2: work: \"5\": not a duration"},
		{"[vm a]\n\nworkload = nothing\n",
		 "t.ini:3: workload: \"nothing\": no such workload"},
		{"[vm a]\nboost = best\n", "t.ini:2: boost: \"best\": no such mode"},
		{"[vm a]\nnohz = perhaps\n", "t.ini:2: nohz: \"perhaps\": neither"},
		{"[vm a]\ncolour = red\n", "t.ini:2: \"a.colour\": no such parameter"},
		{"[vm a b]\nvcpus = 1\n", "t.ini:2: more than 8 kinds of VM, or a name"},
		{"[vm host]\nvcpus = 1\n", "t.ini:2: more than 8 kinds of VM, or a name"},
		{"[host]\npolicy = kvm:x=1\n", "t.ini:2: policy: policy kvm has no parameter"},
		{"[planet]\nx = 1\n", "t.ini:2: no such section"},
		{"x = 1\n", "t.ini:1: no such section"},
		{"[vm a]\nnonsense\n", "t.ini:2: neither [section] nor"},
		{"[vm a\nvcpus = 1\n", "t.ini:1: neither [section] nor"},
		{"[vm a]\nvcpus = 1\n continued\n", "t.ini:3: a line that begins with a blank"},
		{"[vm a]\nvcpus = 1\n[scenario]\nseeds = 0\n", "t.ini:4: seeds: "},
		{"[vm a]\nvcpus = 1\n[scenario]\nmood = x\n", "t.ini:4: [scenario] has"},
		{"[vm a]\nvcpus = 1\n[row x]\nscore = a.mood\n", "t.ini:4: score: no such metric"},
		{"[vm a]\nvcpus = 1\n[row x]\nb.vcpus = 1\n", "t.ini:4: \"b.vcpus\": no such"},
		{"[vm a]\nvcpus = 1\n[column x]\na.hz = 1\na.hz = 2\n", "t.ini:5: given twice"},
		{"[vm a]\nvcpus = 1\n[row x]\na.hz = 1\npublished.y = 2\n",
		 "t.ini:5: published: no such column"},
		{"[vm a]\nvcpus = 1\nworkload = ctxsw\n", "ctxsw needs 2 vCPUs"},
		{"[vm a]\nvcpus = 16384\ncount = 65536\n", "1 to 1000000"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(read_text(bad[i].text), -EINVAL);
		if (!strstr(error, bad[i].want))
			fail_msg("\"%s\" instead of \"%s\"", error, bad[i].want);
	}
}

static void long_lines_are_refused(void **state)
{
	char text[600] = "[vm a]\nvcpus = 1 ";

	(void)state;
	memset(text + strlen(text), 'x', 400);
	assert_int_equal(read_text(text), -EINVAL);
	assert_non_null(strstr(error, "t.ini:2: a line of more than"));
}

/* @nr times @format with the numbers from 0 on, as lines after a sound beginning. */
static int read_lines(const char *format, int nr)
{
	char text[4096] = "[vm a]\nvcpus = 1\n";

	for (int i = 0; i < nr; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, format, i);
	}
	return read_text(text);
}

static void as_many_as_there_is_room_for(void **state)
{
	(void)state;
	assert_int_equal(read_lines("[row %d]\na.hz = 1\n", SIM_LINES_MAX), 0);
	assert_int_equal(scenario.nr_rows, SIM_LINES_MAX);
	assert_int_equal(read_lines("[row %d]\na.hz = 1\n", SIM_LINES_MAX + 1), -EINVAL);
	assert_int_equal(read_lines("[column %d]\na.hz = 1\n", SIM_LINES_MAX), 0);
	assert_int_equal(read_lines("[column %d]\na.hz = 1\n", SIM_LINES_MAX + 1), -EINVAL);
	assert_int_equal(read_lines("[vm b%d]\nhz = 1\n", SIM_KINDS_MAX - 1), 0);
	assert_int_equal(read_lines("[vm b%d]\nhz = 1\n", SIM_KINDS_MAX), -EINVAL);
	/* One more value than a column has room for; that no column is called so shows later. */
	assert_int_equal(read_lines("[row x]\npublished.%d = 1\n", SIM_OVERRIDES_MAX), -EINVAL);
	assert_non_null(strstr(error, "no such column"));
	assert_int_equal(read_lines("[row x]\npublished.%d = 1\n", SIM_OVERRIDES_MAX + 1), -EINVAL);
	assert_string_equal(error, "t.ini:52: more than 24 values in a row or column");
}

/* Titles and labels reach terminals and JSON: UTF-8, and nothing that moves a cursor. */
static void only_text_is_read(void **state)
{
	static const char *const bad[] = {"M\xfcnchen",	      "a\x1b[31mb", "a\rb",
					  "\xc2\x9b",	      "\xc0\xaf",   "\xed\xa0\x80",
					  "\xf4\x90\x80\x80", "a\x7f"};
	static const char nul[] = "[vm a]\nvcpus = 1\0x\n[host]\npcpus = 1\n";
	FILE *file = fmemopen(NULL, sizeof(nul), "w+");
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "[vm a]\nvcpus = 1\n[scenario]\ntitle = %s\n", bad[i]);
		assert_int_equal(read_text(text), -EINVAL);
		assert_string_equal(error, "t.ini:4: not text (UTF-8 without control characters)");
	}
	assert_int_equal(read_text("\xef\xbb\xbf[vm a]\r\nvcpus\t= 2\r\n"
				   "[scenario]\r\ntitle = M\xc3\xbcnchen \xf0\x9f\x98\x80"),
			 0);
	assert_string_equal(scenario.title, "M\xc3\xbcnchen \xf0\x9f\x98\x80");
	assert_int_equal(scenario.base.vm[0].vcpus, 2);
	assert_non_null(file);
	fwrite(nul, 1, sizeof(nul) - 1, file);
	rewind(file);
	assert_int_equal(sim_scenario_read(file, "t.ini", &scenario, error), -EINVAL);
	assert_non_null(strstr(error, "t.ini:2: not text"));
	fclose(file);
}

static void sweeps_are_parsed(void **state)
{
	static const char *const bad[] = {"host.slice",		 "host.slice=",
					  "host.slice=5ms..1ms", "host.slice=1..5",
					  "host.moon=1..2",	 "host.slice=1ms..2ms:0",
					  "vm.boost=a..b",	 "host.pcpus=1..99999:1",
					  "host.slice=,",	 "host.slice=1ms..2s:1ms"};
	struct sim_sweep sweep;

	(void)state;
	assert_int_equal(read_text("[vm a]\nvcpus = 1\n"), 0);
	assert_int_equal(sim_sweep_parse(&scenario.base, "host.slice=1ms..8ms:2ms", &sweep, error),
			 0);
	assert_int_equal(sweep.nr, 4);
	assert_string_equal(sweep.key, "host.slice");
	assert_string_equal(sweep.values[3], "7ms");
	assert_int_equal(sim_sweep_parse(&scenario.base, "host.pcpus=8..16", &sweep, error), 0);
	assert_int_equal(sweep.nr, 9);
	assert_int_equal(sim_sweep_parse(&scenario.base, "a.vcpus=3..3", &sweep, error), 0);
	assert_int_equal(sweep.nr, 1);
	assert_int_equal(sim_sweep_parse(&scenario.base, "vm.boost=kernel,holder", &sweep, error),
			 0);
	assert_int_equal(sweep.nr, 2);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!sim_sweep_parse(&scenario.base, bad[i], &sweep, error))
			fail_msg("%s was taken", bad[i]);
}

static void set(struct sim_study *study, const char *key, const char *value)
{
	struct sim_override *o = &study->set[study->nr_set++];

	snprintf(o->key, sizeof(o->key), "%s", key);
	snprintf(o->value, sizeof(o->value), "%s", value);
}

static char *json_of(struct sim_study *study)
{
	json_t *json;
	char *text;
	int err;

	if (sim_study_check(study, error))
		fail_msg("%s", error);
	err = sim_study_run(study);
	assert_int_equal(err, 0);
	json = sim_report_json(study, "t");
	assert_non_null(json);
	text = json_dumps(json, JSON_INDENT(1));
	json_decref(json);
	free(study->results);
	return text;
}

static void threads_do_not_matter(void **state)
{
	static const uint32_t threads[] = {1, 3, 16};
	char *first = NULL;

	(void)state;
	read_shipped("boost-2vm");
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		struct sim_study study = {
			.scenario = &scenario, .seed = 5, .seeds = 2, .threads = threads[i]};
		char *text;

		set(&study, "host.pcpus", "8");
		set(&study, "vm.vcpus", "8");
		set(&study, "bench.groups", "1");
		set(&study, "run.warmup", "2ms");
		set(&study, "run.duration", "5ms");
		text = json_of(&study);
		if (first)
			assert_string_equal(text, first);
		free(i ? text : NULL);
		first = i ? first : text;
	}
	free(first);
}

static void equal_rows_are_run_once(void **state)
{
	(void)state;
	assert_int_equal(
		read_text("[vm a]\nworkload = rr\n[row x]\nscore = a.latency\n"
			  "[row y]\nscore = a.rate\n[row z]\nscore = a.rate\na.hz = 100\n"),
		0);
	assert_int_equal(sim_scenario_twin(&scenario, 1), 0);
	assert_int_equal(sim_scenario_twin(&scenario, 2), 2);
}

/* Every scenario that comes with vhalt, briefly and small, under the invariants. */
static void shipped_scenarios_run(void **state)
{
	static const char *const names[] = {
		"boost-1vm", "boost-2vm",  "boost-3vm", "poll-idle",
		"poll-rr",   "guest-poll", "budget",	"double-poll"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sim_study study = {
			.scenario = &scenario, .seed = 1, .seeds = 1, .check = true};
		char *text;

		read_shipped(names[i]);
		set(&study, "run.warmup", "5ms");
		set(&study, "run.duration", "10ms");
		text = json_of(&study);
		assert_non_null(strstr(text, "\"rate\""));
		free(text);
	}
}

/* One calibration: what describes host and workloads is the same in all three boost scenarios. */
static void boost_scenarios_differ_in_neighbours_only(void **state)
{
	struct sim_config first, other;

	(void)state;
	read_shipped("boost-1vm");
	for (uint32_t n = 2; n <= 3; n++) {
		char name[16];

		snprintf(name, sizeof(name), "boost-%uvm", n);
		for (uint32_t row = 0; row < 3; row++) {
			read_shipped("boost-1vm");
			assert_int_equal(
				sim_scenario_cell(&scenario, row, 1, NULL, 0, &first, error), 0);
			read_shipped(name);
			assert_int_equal(
				sim_scenario_cell(&scenario, row, 1, NULL, 0, &other, error), 0);
			assert_int_equal(other.vm[1].count, n - 1);
			other.vm[1].count = first.vm[1].count;
			other.vm[0].total = first.vm[0].total; /* the published runs' lengths */
			assert_memory_equal(&first.host, &other.host, sizeof(first.host));
			assert_memory_equal(first.vm, other.vm, sizeof(first.vm));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scenario_is_read),
		cmocka_unit_test(bad_files_are_refused_by_line),
		cmocka_unit_test(long_lines_are_refused),
		cmocka_unit_test(as_many_as_there_is_room_for),
		cmocka_unit_test(only_text_is_read),
		cmocka_unit_test(sweeps_are_parsed),
		cmocka_unit_test(threads_do_not_matter),
		cmocka_unit_test(equal_rows_are_run_once),
		cmocka_unit_test(shipped_scenarios_run),
		cmocka_unit_test(boost_scenarios_differ_in_neighbours_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

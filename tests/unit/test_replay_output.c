// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Replay results as JSON and as a table, and the text helpers under them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/defaults.h"
#include "replay/json.h"
#include "replay/table.h"
#include "replay/text.h"
#include "tests/unit/replay_fixture.h"

static struct replay *make_replay(const char *text)
{
	struct replay_options options = {.by = REPLAY_BY_VM, .threads = 1};
	char error[VHALT_SPEC_ERROR_BYTES];
	struct vhalt_spec spec;
	struct replay *replay;
	struct fixture f;

	replay_model_init(&options.model);
	assert_int_equal(replay_create(&replay, &options), 0);
	assert_int_equal(vhalt_spec_parse(text, &spec, error, sizeof(error)), 0);
	replay_spec_adopt(&spec, &options.model);
	assert_int_equal(replay_add_policy(replay, &spec, 0), 0);
	fixture_init(&f, 2);
	strcpy(f.vms[1].name, "\xff\xfe");
	fixture_polled(&f, 0, 5000);
	fixture_blocked(&f, 1, 100000, 7000);
	f.info.duration_ns = 1000000;
	f.info.lost = 7;
	f.info.damaged_frames = 3;
	assert_int_equal(replay_feed(replay, &f.info, f.halts, f.nr), 0);
	replay_end_recording(replay, &f.info, NULL);
	assert_int_equal(replay_finish(replay), 0);
	fixture_fini(&f);
	return replay;
}

static json_int_t integer(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		fail_msg("%s is no integer", key);
	return json_integer_value(value);
}

static void test_json(void **state)
{
	static const char *const keys[] = {
		"name",
		"params",
		"cost_ns",
		"ratio_to_oracle",
		"poll_cpu_pct",
		"poll_useful_pct",
		"poll_wasted_pct",
		"polled_pct",
		"latency_mean_ns",
		"latency_p50_ns",
		"latency_p99_ns",
	};
	struct replay *replay = make_replay("always:max=20us");
	json_t *object = replay_json(replay, true), *policies, *policy, *groups;

	(void)state;
	assert_non_null(object);
	assert_int_equal(integer(object, "halts"), 2);
	assert_int_equal(integer(object, "price"), 10);
	assert_int_equal(integer(object, "lost"), 7);
	assert_int_equal(integer(object, "damaged_frames"), 3);
	assert_int_equal(integer(object, "latency_ns"), 13000);
	policies = json_object_get(object, "policies");
	assert_int_equal(json_array_size(policies), 2);
	policy = json_array_get(policies, 0);
	assert_int_equal(json_object_size(policy), sizeof(keys) / sizeof(*keys));
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		assert_non_null(json_object_get(policy, keys[i]));
	assert_int_equal(integer(policy, "cost_ns"), 5000 + 20000 + 73000);
	assert_true(json_real_value(json_object_get(policy, "poll_cpu_pct")) == 2.5);
	assert_true(json_real_value(json_object_get(policy, "poll_wasted_pct")) == 2.0);
	assert_int_equal(integer(json_object_get(policy, "params"), "max_ns"), 20000);
	policy = json_array_get(policies, 1);
	assert_string_equal(json_string_value(json_object_get(policy, "name")), "oracle");
	groups = json_object_get(object, "groups");
	assert_int_equal(json_array_size(groups), 2);
	/* A name that is not text does not break the JSON. */
	assert_string_equal(json_string_value(json_object_get(json_array_get(groups, 1), "label")),
			    "?? (pid 101)");
	json_decref(object);
	object = replay_json(replay, false);
	assert_null(json_object_get(object, "groups"));
	json_decref(object);
	replay_destroy(replay);
}

static char *table_of(const struct replay *replay, uint32_t group)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	replay_table_group(out, replay, group);
	fclose(out);
	return text;
}

static void test_table(void **state)
{
	struct replay *replay = make_replay(
		"kvm:halt_poll_ns=123456ns,grow=3,grow_start=7us,shrink=4");
	char *text = table_of(replay, 0);
	size_t lines = 0;

	(void)state;
	for (char *line = text; *line; line += strcspn(line, "\n") + 1, lines++)
		assert_true(strcspn(line, "\n") <= REPLAY_TEXT_COLUMNS);
	/* Two lines of head, a label too long for its column, its figures, the oracle. */
	assert_int_equal(lines, 5);
	assert_non_null(
		strstr(text, "\nkvm:halt_poll_ns=123456ns,grow=3,grow_start_ns=7us,shrink=4\n")
			? text
			: strstr(text, "\nkvm:halt_poll_ns=123456ns,grow=3,"
				       "grow_start=7us,shrink=4\n"));
	assert_non_null(strstr(text, "\noracle  "));
	assert_null(strchr(text, '\033'));
	free(text);
	replay_destroy(replay);
	/* What a policy adopted from the cost model is not repeated in its name. */
	replay = make_replay("auto");
	text = table_of(replay, 0);
	assert_non_null(strstr(text, "\nauto  "));
	free(text);
	replay_destroy(replay);
}

static char *wrapped(const char *first, const char *words)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	replay_text_wrap(out, first, "%s", words);
	fclose(out);
	return text;
}

static void test_wrap(void **state)
{
	char words[400], *text;

	(void)state;
	text = wrapped("  - ", "a  b");
	assert_string_equal(text, "  - a b\n");
	free(text);
	text = wrapped("x", "");
	assert_string_equal(text, "x\n");
	free(text);
	/* Exactly full, then one too many. */
	memset(words, 'w', sizeof(words));
	words[97] = ' ';
	words[100] = '\0';
	text = wrapped("", words);
	assert_int_equal(strcspn(text, "\n"), 100);
	free(text);
	words[100] = 'w';
	words[101] = '\0';
	text = wrapped("  ", words);
	assert_int_equal(strcspn(text, "\n"), 99);
	assert_string_equal(text + 100, "  www\n");
	free(text);
	/* A number keeps its percent sign. */
	strcpy(words + 91, " 95 % of");
	text = wrapped("", words);
	assert_int_equal(strcspn(text, "\n"), 99);
	free(text);
	strcpy(words + 96, " 95 % of");
	text = wrapped("", words);
	assert_string_equal(text + 96, "\n95 % of\n");
	free(text);
}

static void expect_missing(uint64_t lost, uint64_t damaged_frames, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	replay_text_missing(out, lost, damaged_frames);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_missing(void **state)
{
	(void)state;
	expect_missing(0, 0, "");
	expect_missing(1, 0, "Missing from these figures: 1 lost event. Rates are too low.\n");
	expect_missing(0, 2, "Missing from these figures: 2 damaged frames. Rates are too low.\n");
	expect_missing(3, 1,
		       "Missing from these figures: 3 lost events, 1 damaged frame. "
		       "Rates are too low.\n");
}

static void test_clean(void **state)
{
	char text[] = "a\tb\033[0m\x7f\xc3\xa4~ ";

	(void)state;
	assert_string_equal(replay_text_clean(text), "a?b?[0m???~ ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),  cmocka_unit_test(test_table),
		cmocka_unit_test(test_wrap),  cmocka_unit_test(test_missing),
		cmocka_unit_test(test_clean),
	};

	return cmocka_run_group_tests_name("replay_output", tests, NULL, NULL);
}

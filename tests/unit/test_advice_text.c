// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The words of an advice, to the letter, and the keys of its JSON.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/advice_text.h"
#include "replay/text.h"
#include "tests/unit/replay_fixture.h"

/* Real rows for the table: the present setting, and a policy that never changes. */
static struct replay *make_replay(const struct replay_model *model,
				  const struct vhalt_spec *present)
{
	struct replay_options options = {*model, REPLAY_BY_VM, 1};
	struct vhalt_spec none = fixture_spec("none");
	struct replay *replay;
	struct fixture f;

	assert_int_equal(replay_create(&replay, &options), 0);
	assert_int_equal(replay_add_policy(replay, present, REPLAY_ROW_PRESENT), 0);
	assert_int_equal(replay_add_policy(replay, &none, 0), 1);
	fixture_init(&f, 2);
	f.info.duration_ns = 10000000000ULL;
	for (int i = 0; i < 1000; i++)
		fixture_blocked(&f, i & 1, i % 10 ? 40000 : 4000000, 12345);
	assert_int_equal(replay_feed(replay, &f.info, f.halts, f.nr), 0);
	replay_end_recording(replay, &f.info, NULL);
	assert_int_equal(replay_finish(replay), 0);
	fixture_fini(&f);
	return replay;
}

static void fill_vms(struct advice *a)
{
	a->nr_vms = 2;
	a->vms = calloc(2, sizeof(*a->vms));
	strcpy(a->vms[0].label, "web (pid 100)");
	a->vms[0].ceiling_ns = TRACE_UNKNOWN_U32;
	a->vms[0].loses = true;
	a->vms[0].present.cost_ns = 1000;
	a->vms[0].recommended.cost_ns = 1100;
	strcpy(a->vms[1].label, "db (pid 101)");
	a->vms[1].ceiling_ns = 20000;
	a->vms[1].differs = true;
	a->vms[1].own_ns = 80000;
	a->vms[1].own = (struct confidence){
		.verdict = CONFIDENCE_SURE, .gain = .25, .low = .2, .high = .3};
	a->curve = calloc(2, sizeof(*a->curve));
	a->nr_curve = 2;
	a->curve[0] = (struct advice_point){0, -.5};
	a->curve[1] = (struct advice_point){50000, .125};
}

static struct advice *make_advice(enum confidence_verdict verdict)
{
	struct advice *a = calloc(1, sizeof(*a));

	replay_model_init(&a->model);
	a->model.latency_ns = 12345;
	a->model.source = REPLAY_LATENCY_MEASURED;
	strcpy(a->survey.host, "Some CPU");
	strcpy(a->survey.kernel, "6.12.1");
	a->survey.vms = 2;
	a->survey.vcpus = 2;
	a->wall_ns = 10000000000ULL;
	a->present_known = true;
	a->present = fixture_spec("kvm");
	a->candidate = fixture_spec("kvm:halt_poll_ns=50us,shrink=0");
	a->recommended = verdict == CONFIDENCE_SURE ? a->candidate : a->present;
	a->sure = (struct confidence){.verdict = verdict,
				      .gain = .125,
				      .low = .1,
				      .high = .15,
				      .half_gain = {.12, .13},
				      .cross_gain = {.11, .115},
				      .blocks = 200};
	a->auto_sure = (struct confidence){
		.verdict = CONFIDENCE_SURE, .gain = .3, .low = .28, .high = .32};
	a->tried = 400;
	a->sample_one_of = 1;
	a->replay = make_replay(&a->model, &a->present);
	a->counts = replay_group(a->replay, 0)->counts;
	replay_metrics(a->replay, 0, 0, &a->m_present);
	a->m_candidate = a->m_auto = a->m_oracle = a->m_present;
	a->m_candidate.cost_ns = a->m_present.cost_ns / 8 * 7;
	a->m_auto.cost_ns = a->m_present.cost_ns / 2;
	fill_vms(a);
	return a;
}

static char *text_of(struct advice *a, struct advice_notes *notes)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	advice_text(out, a, notes);
	fclose(out);
	return text;
}

/*
 * The expected text lies in tests/golden/ (tests run in the root of the tree). GOLDEN_UPDATE=1
 * writes it anew; read the difference before you keep it.
 */
static void compare(const char *got, const char *name)
{
	char path[128], *expected = NULL, *e;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "tests/golden/%s.txt", name);
	if (getenv("GOLDEN_UPDATE")) {
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(got, file);
		fclose(file);
	}
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s: cannot be opened", path);
	assert_true(getdelim(&expected, &size, '\0', file) > 0);
	fclose(file);
	e = expected;
	for (size_t line = 1; *got || *e; line++) {
		size_t n = strcspn(got, "\n"), m = strcspn(e, "\n");

		if (n > REPLAY_TEXT_COLUMNS)
			fail_msg("line %zu is %zu columns wide", line, n);
		if (n != m || strncmp(got, e, n) != 0)
			fail_msg("%s: line %zu is\n%.*s\nand should be\n%.*s", path, line, (int)n,
				 got, (int)m, e);
		got += n + (got[n] != '\0');
		e += m + (e[m] != '\0');
	}
	free(expected);
}

static void test_change(void **state)
{
	struct advice *a = make_advice(CONFIDENCE_SURE);
	struct advice_notes notes = {.nr = 0};
	char *text;

	(void)state;
	advice_note_findings(&notes, a);
	text = text_of(a, &notes);
	compare(text, "advice_change");
	free(text);
	advice_destroy(a);
}

static void test_keep(void **state)
{
	struct advice *a = make_advice(CONFIDENCE_NOISE);
	struct advice_notes notes = {.nr = 0};
	char *text;

	(void)state;
	a->survey.lost = 3;
	a->counts.gaps = 2;
	a->counts.cut_short = 50;
	a->counts.invalid = 7;
	a->counts.unknown_window = 4;
	a->survey.damaged_frames = 1;
	a->survey.params_differ = true;
	a->present_known = false;
	a->model.source = REPLAY_LATENCY_DEFAULT;
	a->sample_one_of = 9;
	a->sample_halts = 500;
	strcpy(a->survey.host, "QEMU Virtual CPU version 2.5+");
	advice_note_findings(&notes, a);
	text = text_of(a, &notes);
	compare(text, "advice_keep");
	free(text);
	advice_destroy(a);
}

static void expect_text(struct advice *a, const char *words, const char *not_these)
{
	struct advice_notes notes = {.nr = 0};
	char *text = text_of(a, &notes), *to = text;

	/* Wherever the lines break. */
	for (const char *from = text; *from; from++)
		if (!strchr(" \n", *from))
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
	if (!strstr(text, words) || strstr(text, not_these))
		fail_msg("%s", text);
	free(text);
}

static void expect(enum confidence_verdict verdict, const char *words, const char *not_these)
{
	struct advice *a = make_advice(verdict);

	expect_text(a, words, not_these);
	advice_destroy(a);
}

static void test_other_verdicts(void **state)
{
	(void)state;
	expect(CONFIDENCE_FEW, "NO ADVICE 1000 halts are too few", "AUTO");
	expect(CONFIDENCE_NO_GAIN, "None of the other 399 settings tried is better", "echo");
	expect(CONFIDENCE_SMALL, "would save 12.5 %: too little", "echo");
}

/* Words for auto claim what the interval holds, and no more. */
static void test_auto_words(void **state)
{
	static const struct {
		double low, high;
		uint32_t of_present; /* auto's cost in % of the present one */
		const char *words;
	} rows[] = {
		{.1, .3, 80, "20.0 % less than now (95 % interval 10.0 to 30.0 %)"},
		{-.3, -.1, 120, "20.0 % more than now (95 % interval 10.0 to 30.0 %)"},
		{-.1, .3, 90, "about as much as now (95 % interval of the saving -10.0 to 30.0 %)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct advice *a = make_advice(CONFIDENCE_NO_GAIN);

		a->auto_sure.low = rows[i].low;
		a->auto_sure.high = rows[i].high;
		a->m_auto.cost_ns = a->m_present.cost_ns / 100 * rows[i].of_present;
		expect_text(a, rows[i].words, "echo");
		advice_destroy(a);
	}
}

/* Neighbours that cost the same share a line of the curve. */
static void test_curve(void **state)
{
	struct advice *a = make_advice(CONFIDENCE_NO_GAIN);

	(void)state;
	free(a->curve);
	a->nr_curve = 5;
	a->curve = calloc(5, sizeof(*a->curve));
	a->curve[0] = (struct advice_point){0, -.5};
	a->curve[1] = (struct advice_point){5000, -.5001};
	a->curve[2] = (struct advice_point){10000, .1};
	a->curve[3] = (struct advice_point){20000, 0.0001};
	a->curve[4] = (struct advice_point){30000, -0.0001};
	expect_text(a, ": 0..5us:+50.0, 10us:-10.0, 20us..30us:+0.0.", "-0.0");
	advice_destroy(a);
}

static void expect_max_note(uint32_t price, uint32_t max_ns, const char *words)
{
	struct advice *a = make_advice(CONFIDENCE_NO_GAIN);
	struct advice_notes notes = {.nr = 0};
	bool found = false;

	a->model.price = price;
	a->model.max_ns = max_ns;
	advice_note_findings(&notes, a);
	for (uint32_t i = 0; i < notes.nr; i++) {
		if (!strstr(notes.text[i], "Blocking costs"))
			continue;
		found = true;
		if (!words || strcmp(notes.text[i], words) != 0)
			fail_msg("%s", notes.text[i]);
	}
	assert_int_equal(found, words != NULL);
	advice_destroy(a);
}

static void test_max_note(void **state)
{
	(void)state;
	expect_max_note(10, 200000, NULL);
	expect_max_note(100, 200000,
			"Blocking costs 1.238ms (price 100 x latency + switch), but windows were "
			"considered only up to 200us, by the clairvoyant minimum too; --max 2ms "
			"would look further.");
	expect_max_note(1000, VHALT_WINDOW_MAX_NS, NULL);
}

static void test_one_halt(void **state)
{
	struct advice *a = make_advice(CONFIDENCE_FEW);

	(void)state;
	a->counts.counted = 1;
	expect_text(a, "1 halt is too few", "1 halts");
	advice_destroy(a);
}

static void test_json_keys(void **state)
{
	static const char *const keys[] = {
		"halts",   "price",	"latency_ns",	  "latency_source", "policies",
		"present", "auto",	"recommendation", "curve",	    "vms",
		"notes",   "cut_short", "invalid",	  "wall_ns",	    "lost",
		"host",	   "kernel",	"damaged_frames",
	};
	static const char *const policy_keys[] = {
		"name",		  "params",	     "cost_ns",	   "ratio_to_oracle",
		"poll_cpu_pct",	  "poll_wasted_pct", "polled_pct", "latency_mean_ns",
		"latency_p50_ns", "latency_p99_ns",
	};
	struct advice *a = make_advice(CONFIDENCE_SURE);
	struct advice_notes notes = {.nr = 0};
	json_t *object, *policy, *set;

	(void)state;
	advice_note(&notes, "a \"quoted\" note");
	object = advice_json(a, &notes);
	assert_non_null(object);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!json_object_get(object, keys[i]))
			fail_msg("no key %s", keys[i]);
	policy = json_array_get(json_object_get(object, "policies"), 0);
	for (size_t i = 0; i < sizeof(policy_keys) / sizeof(*policy_keys); i++)
		if (!json_object_get(policy, policy_keys[i]))
			fail_msg("no key policies[].%s", policy_keys[i]);
	assert_true(json_is_true(json_object_get(policy, "present")));
	set = json_object_get(json_object_get(object, "recommendation"), "set");
	assert_int_equal(json_object_size(set), 2);
	assert_int_equal(json_integer_value(json_object_get(set, "halt_poll_ns")), 50000);
	assert_int_equal(json_integer_value(json_object_get(set, "halt_poll_ns_shrink")), 0);
	assert_int_equal(json_array_size(json_object_get(object, "vms")), 2);
	assert_string_equal(json_string_value(json_array_get(json_object_get(object, "notes"), 0)),
			    "a \"quoted\" note");
	json_decref(object);
	advice_destroy(a);
}

static void test_notes_are_bounded(void **state)
{
	struct advice_notes notes = {.nr = 0};

	(void)state;
	for (int i = 0; i < 2 * ADVICE_NOTES_MAX; i++)
		advice_note(&notes, "%0500d", i);
	assert_int_equal(notes.nr, ADVICE_NOTES_MAX);
	assert_int_equal(strlen(notes.text[3]), ADVICE_NOTE_BYTES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_other_verdicts),
		cmocka_unit_test(test_auto_words),
		cmocka_unit_test(test_curve),
		cmocka_unit_test(test_max_note),
		cmocka_unit_test(test_one_halt),
		cmocka_unit_test(test_json_keys),
		cmocka_unit_test(test_notes_are_bounded),
	};

	return cmocka_run_group_tests_name("advice_text", tests, NULL, NULL);
}

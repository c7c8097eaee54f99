// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt advise: record or read halts, say what the present setting costs and what to set instead.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/advice_text.h"
#include "replay/json.h"
#include "replay/text.h"
#include "tool/advise_apply.h"
#include "tool/advise_record.h"
#include "tool/advise_sums.h"
#include "tool/commands.h"
#include "tool/output_file.h"
#include "tool/replay_args.h"

#define DEFAULT_FOR_NS 10000000000ULL
#define DEMO_RECORDING "demo.vht"
#define DEMO_ADVICE    "advice.json"

/* Where the halts come from; the names are those of the key "source" in JSON. */
enum source { SOURCE_FILES, SOURCE_HOST, SOURCE_DEMO, SOURCE_BUNDLED };
static const char *const source_names[] = {"files", "host", "demo", "bundled"};

static struct replay_args args = REPLAY_ARGS_DEFAULTS;
static uint64_t for_ns = DEFAULT_FOR_NS;
static const char *output, *keep;
static bool demo, json, apply;

static const struct option_row rows[] = {
	{"for", 'f', OPTION_DURATION, &for_ns, "D", "record this long (default 10s)", 100000000,
	 86400000000000ULL, NULL},
	{"demo", 0, OPTION_FLAG, &demo, NULL,
	 "record VMs of our own; leaves demo.vht and advice.json here", 0, 0, NULL},
	{"keep", 'k', OPTION_STRING, &keep, "FILE", "keep the recording in FILE", 0, 0, NULL},
	{"output", 'o', OPTION_STRING, &output, "FILE",
	 "also write the advice as JSON to FILE; - is --json", 0, 0, NULL},
	{"json", 'j', OPTION_FLAG, &json, NULL, "print JSON instead of text", 0, 0, NULL},
	{"apply", 0, OPTION_FLAG, &apply, NULL,
	 "set what is recommended; vhalt ctl restore puts the old values back", 0, 0, NULL},
	REPLAY_ARGS_ROWS(args),
	{0},
};

static const struct option_spec spec = {
	.command = "advise",
	.usage = "[options] [FILE...]",
	.summary = "Records this host's halts, or reads recordings, and says what to set.",
	.rows = rows,
};

struct session {
	enum source source;
	struct advise_recording recording;
	char **paths;
	size_t nr_paths;
	char bundled[PATH_MAX];
	char *one_path;
	char cannot_apply[APPLY_ERROR_BYTES]; /* why --apply will not work; "" as long as it may */
	struct advice_notes notes;
	struct advise_sums sums; /* statistics given, and the diagnosis of the halts */
};

/* --- where the halts come from ------------------------------------------------------------------
 */

static int use_bundled(struct session *s)
{
	int err;

	fprintf(stderr, "vhalt advise: no demo on this machine: %s\n", s->recording.reason);
	if (advise_bundled_find(s->bundled)) {
		fprintf(stderr,
			"vhalt advise: the recording bundled with vhalt was not found either "
			"(VHALT_DEMO can name it)\n");
		return -ENOENT;
	}
	err = advise_copy(s->bundled, DEMO_RECORDING);
	if (err) {
		fprintf(stderr, "vhalt advise: %s: %s\n", DEMO_RECORDING, strerror(-err));
		return err;
	}
	fprintf(stderr, "vhalt advise: reading the bundled recording %s; %s here is a copy of it\n",
		s->bundled, DEMO_RECORDING);
	advice_note(&s->notes,
		    "This is the recording bundled with vhalt, not this machine: no demo "
		    "could be made here, %s.",
		    s->recording.reason);
	s->source = SOURCE_BUNDLED;
	s->one_path = s->bundled;
	return 0;
}

static int record(struct session *s)
{
	int err;

	s->source = demo ? SOURCE_DEMO : SOURCE_HOST;
	s->recording.demo = demo;
	s->recording.for_ns = for_ns;
	s->recording.keep = keep ? keep : demo ? DEMO_RECORDING : NULL;
	err = advise_record(&s->recording);
	s->one_path = s->recording.path;
	s->paths = &s->one_path;
	s->nr_paths = 1;
	if (err && demo)
		return use_bundled(s);
	if (err)
		fprintf(stderr, "vhalt advise: %s\n", s->recording.reason);
	if (!err && s->recording.stopped)
		advice_note(&s->notes, "The recording was ended by a signal before its time.");
	return err;
}

/* --- results ---------------------------------------------------------------------------------- */

static char *json_of(const struct session *s, const struct advice *advice)
{
	json_t *object = advice ? advice_json(advice, &s->notes) : json_object();
	char *text = NULL;

	if (object &&
	    !json_object_set_new(object, "source", json_string(source_names[s->source])) &&
	    !advise_sums_json(&s->sums, object))
		text = replay_json_text(object);
	json_decref(object);
	if (!text)
		fprintf(stderr, "vhalt advise: out of memory\n");
	return text;
}

static int write_output(const char *path, const char *text)
{
	size_t bytes = strlen(text), done = 0;
	struct output_file out;
	int err = output_file_open(&out, path), close_err;

	while (!err && done < bytes) {
		ssize_t n = write(out.fd, text + done, bytes - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			err = -errno;
	}
	if (!err)
		err = output_file_name(&out, NULL);
	close_err = output_file_close(&out);
	return err ? err : close_err;
}

static void print_text(const struct session *s, const struct advice *advice)
{
	if (s->source == SOURCE_BUNDLED)
		printf("EXAMPLE, NOT THIS MACHINE: from the recording bundled with vhalt.\n\n");
	if (advice)
		advice_text(stdout, advice, &s->notes);
	advise_sums_print(&s->sums, !advice);
}

static int show(const struct session *s, const struct advice *advice)
{
	const char *path = output ? output : demo ? DEMO_ADVICE : NULL;
	char *text = json || path ? json_of(s, advice) : NULL;
	int err = 0;

	if ((json || path) && !text)
		return -ENOMEM;
	if (json)
		fputs(text, stdout);
	else
		print_text(s, advice);
	if (path)
		err = write_output(path, text);
	free(text);
	if (fflush(stdout) && !err)
		err = -errno;
	if (err)
		fprintf(stderr, "vhalt advise: %s: %s\n", path ? path : "standard output",
			strerror(-err));
	else if (path && !json)
		printf("\nThe same as JSON: %s%s%s\n", path,
		       s->recording.fd >= 0 && s->recording.keep ? "; the recording: " : "",
		       s->recording.fd >= 0 && s->recording.keep ? s->recording.keep : "");
	return err;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Statistics among the files: sums, from which no halt can be replayed. */
static int take_sums(struct session *s, const struct replay_model *model)
{
	int left = advise_sums_take(&s->sums, s->paths, s->nr_paths, model);

	if (left < 0)
		return left;
	s->nr_paths = (size_t)left;
	return 0;
}

static int advise_from_sums(struct session *s)
{
	int err = advise_sums_judge(&s->sums);

	if (err)
		return err;
	err = show(s, NULL);
	if (!apply)
		return err;
	fprintf(stderr, "vhalt advise: --apply: nothing is set from statistics alone\n");
	return -EINVAL;
}

static int advise(struct session *s)
{
	struct advice_options options = {.threads = (unsigned int)args.threads,
					 .max_given = args.max_ns != REPLAY_ARGS_UNSET};
	const struct replay_input *input;
	struct replay_reading reading;
	struct advice *advice;
	int err, apply_err = 0;

	replay_args_model(&args, &options.model);
	err = take_sums(s, &options.model);
	if (err || (!s->nr_paths && s->sums.nr))
		return err ? err : advise_from_sums(s);
	err = replay_reading_init(&reading, "advise", s->paths, s->nr_paths);
	if (err)
		return err;
	input = advise_sums_listen(&s->sums, &reading.input, s->nr_paths > 1);
	err = input ? advice_make(&advice, input, &options) : -ENOMEM;
	replay_reading_done(&reading);
	if (err == -ENODATA && s->source != SOURCE_FILES)
		fprintf(stderr,
			"vhalt advise: no vCPU halted meanwhile: is a VM running? Record longer "
			"with --for\n");
	else if (err)
		replay_reading_complain(&reading, err);
	if (err)
		return err;
	if (s->source == SOURCE_HOST || s->source == SOURCE_DEMO)
		advise_apply_note(advice, &s->notes);
	advice_note_findings(&s->notes, advice);
	err = advise_sums_judge(&s->sums);
	if (!err)
		err = show(s, advice);
	if (apply)
		apply_err = advise_apply(advice, s->source == SOURCE_BUNDLED, s->cannot_apply);
	advice_destroy(advice);
	return err ? err : apply_err;
}

/* Writing the advice over the recording it came from is never meant. */
static bool is_an_input(const struct session *s, const char *path)
{
	struct stat input, file;

	for (size_t i = 0; !stat(path, &file) && i < s->nr_paths; i++)
		if (!stat(s->paths[i], &input) && input.st_dev == file.st_dev &&
		    input.st_ino == file.st_ino)
			return true;
	return false;
}

static int bad_usage(const char *why)
{
	fprintf(stderr, "vhalt advise: %s (try --help)\n", why);
	return 2;
}

int cmd_advise(int argc, char **argv)
{
	struct session session = {.recording = {.fd = -1}};
	int first = options_parse(&spec, argc, argv), err = 0;

	if (first < 0)
		return options_exit(first);
	if (first < argc && demo)
		return bad_usage("--demo records, it reads no file");
	if (first < argc && (keep || for_ns != DEFAULT_FOR_NS))
		return bad_usage("--for and --keep are for recording, not for reading a file");
	session.paths = &argv[first];
	session.nr_paths = (size_t)(argc - first);
	if (output && !strcmp(output, "-")) {
		json = true;
		output = NULL;
	}
	if (output && is_an_input(&session, output))
		return bad_usage("-o names a file that is read");
	if (apply)
		advise_apply_check(session.cannot_apply);
	if (first == argc)
		err = record(&session);
	if (!err)
		err = advise(&session);
	if (session.recording.fd >= 0)
		close(session.recording.fd);
	advise_sums_fini(&session.sums);
	return err ? 1 : 0;
}

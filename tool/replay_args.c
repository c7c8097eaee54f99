// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What `vhalt replay` and `vhalt advise` share: the cost model's options, and reading their files.
#include "tool/replay_args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"

enum { QUIET_NS = 2000000000, STEP_NS = 200000000 };

void replay_args_model(const struct replay_args *args, struct replay_model *model)
{
	replay_model_init(model);
	model->price = (uint32_t)args->price;
	model->switch_ns = (uint32_t)args->switch_ns;
	if (args->max_ns != REPLAY_ARGS_UNSET)
		model->max_ns = (uint32_t)args->max_ns;
	if (args->latency_ns == REPLAY_ARGS_UNSET)
		return;
	model->latency_ns = (uint32_t)args->latency_ns;
	model->source = REPLAY_LATENCY_GIVEN;
}

static void report(void *context, const char *text)
{
	struct replay_reading *reading = context;

	replay_reading_done(reading);
	reading->findings++;
	fprintf(stderr, "vhalt %s: %s\n", reading->command, text);
}

/* Called for each batch: a line on a terminal once it takes longer than people like to wait. */
static void progress(void *context, uint64_t halts)
{
	struct replay_reading *reading = context;
	uint64_t now = clock_now_ns();

	if (now - reading->began_ns < QUIET_NS || now - reading->shown_ns < STEP_NS ||
	    !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%s: %.1f M halts read ", reading->command, (double)halts / 1e6);
	reading->shown_ns = now;
	reading->shown = true;
}

/* Whatever @path is, it can be read again afterwards. */
static int make_rereadable(struct replay_reading *reading, char **path)
{
	char *copy = reading->copies[reading->nr_copies];
	int result;

	if (!strcmp(*path, "-"))
		return replay_source_rewindable();
	if (reading->nr_copies == REPLAY_ARGS_COPIES)
		return 0;
	result = replay_source_copy(*path, copy);
	if (result <= 0)
		return result;
	reading->nr_copies++;
	*path = copy;
	return 0;
}

int replay_reading_init(struct replay_reading *reading, const char *command, char **paths,
			size_t nr_paths)
{
	memset(reading, 0, sizeof(*reading));
	reading->command = command;
	reading->began_ns = clock_now_ns();
	reading->diag = (struct trace_diag){report, reading};
	reading->files = (struct replay_files){.paths = (const char *const *)paths,
					       .nr_paths = nr_paths,
					       .diag = &reading->diag,
					       .progress = progress,
					       .progress_context = reading};
	reading->input = (struct replay_input){replay_files_read, &reading->files};
	for (size_t i = 0; i < nr_paths; i++) {
		int err = make_rereadable(reading, &paths[i]);

		if (err) {
			fprintf(stderr, "vhalt %s: %s: %s\n", command,
				strcmp(paths[i], "-") ? paths[i] : "standard input",
				strerror(-err));
			return err;
		}
	}
	return 0;
}

void replay_reading_done(struct replay_reading *reading)
{
	if (reading->shown)
		fputs("\r\033[K", stderr);
	reading->shown = false;
}

void replay_reading_complain(struct replay_reading *reading, int err)
{
	replay_reading_done(reading);
	if (err == -EPROTO && !reading->findings)
		fprintf(stderr,
			"vhalt %s: a recording contradicts itself, or changed while it was read\n",
			reading->command);
	else if (err == -ENODATA && !reading->findings)
		fprintf(stderr, "vhalt %s: %s%s: no halts in the recording%s\n", reading->command,
			reading->files.paths[0],
			reading->files.nr_paths > 1 ? " and the others" : "",
			reading->files.nr_paths > 1 ? "s" : "");
	else if (!reading->findings)
		fprintf(stderr, "vhalt %s: %s\n", reading->command, strerror(-err));
}

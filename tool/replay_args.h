/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What `vhalt replay` and `vhalt advise` share: the cost model's options, and reading their files.
 */
#ifndef VHALT_TOOL_REPLAY_ARGS_H
#define VHALT_TOOL_REPLAY_ARGS_H

#include "replay/halt.h"
#include "replay/source.h"
#include "tool/options.h"

/** Values of the options below. */
struct replay_args {
	uint64_t price, latency_ns, switch_ns, max_ns, threads;
};

/** --latency or --max was not given. */
#define REPLAY_ARGS_UNSET UINT64_MAX

#define REPLAY_ARGS_DEFAULTS                                                                       \
	{                                                                                          \
		.price = REPLAY_PRICE, .latency_ns = REPLAY_ARGS_UNSET,                            \
		.switch_ns = REPLAY_SWITCH_NS, .max_ns = REPLAY_ARGS_UNSET,                        \
	}

/** Rows of an option table whose values go to the struct replay_args called @args. */
/* clang-format off */
#define REPLAY_ARGS_ROWS(args)								\
	{"price", 'p', OPTION_U64, &(args).price, "N",					\
	 "ns of CPU one ns of wake-up latency is worth (default 10)", 0,		\
	 REPLAY_PRICE_MAX, NULL},							\
	{"latency", 'l', OPTION_DURATION, &(args).latency_ns, "D",			\
	 "wake-up latency of a blocked vCPU (default: measured, else 13us)", 0,		\
	 REPLAY_LATENCY_MAX_NS, NULL},							\
	{"switch-cost", 0, OPTION_DURATION, &(args).switch_ns, "D",			\
	 "CPU cost of blocking and waking once (default 3us)", 0,			\
	 REPLAY_SWITCH_MAX_NS, NULL},							\
	{"max", 'm', OPTION_DURATION, &(args).max_ns, "D",				\
	 "largest window (default 200us)", 0, VHALT_WINDOW_MAX_NS, NULL},		\
	{"threads", 0, OPTION_U64, &(args).threads, "N",				\
	 "threads to use (default: one per CPU)", 0, 256, NULL}
/* clang-format on */

/** replay_args_model - the cost model, before anything is known of what was measured. */
void replay_args_model(const struct replay_args *args, struct replay_model *model);

/** At most so many of the files may be pipes. */
#define REPLAY_ARGS_COPIES 32

/** Files being read by a command: findings to stderr, a progress line on a terminal. */
struct replay_reading {
	struct replay_input input; /* what to hand to the replay library */
	struct replay_files files;
	struct trace_diag diag;
	const char *command; /* begins every message */
	uint64_t began_ns, shown_ns;
	char copies[REPLAY_ARGS_COPIES][REPLAY_COPY_BYTES];
	uint32_t nr_copies;
	uint32_t findings; /* printed */
	bool shown;
};

/**
 * replay_reading_init - prepare to read @paths; keeps references to all arguments.
 *
 * Standard input ("-") and pipes are made readable more than once: the latter's entries in @paths
 * are replaced by copies. Return: 0, or -errno after saying what failed.
 */
int replay_reading_init(struct replay_reading *reading, const char *command, char **paths,
			size_t nr_paths);

/** replay_reading_done - wipe the progress line. */
void replay_reading_done(struct replay_reading *reading);

/** replay_reading_complain - say what an error of the library means, unless a finding did. */
void replay_reading_complain(struct replay_reading *reading, int err);

#endif

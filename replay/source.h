/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Recordings as something that can be read several times, and what a first reading finds. */
#ifndef VHALT_REPLAY_SOURCE_H
#define VHALT_REPLAY_SOURCE_H

#include "replay/halt.h"
#include "trace/diag.h"

/** Result of a visitor for halts: the rest of this recording, its end included, is not wanted. */
#define REPLAY_SKIP 1

/** Who wants the halts of a recording. A result below 0 ends the reading and is handed on. */
struct replay_visitor {
	int (*halts)(void *context, const struct trace_info *info, const struct trace_halt *halts,
		     size_t n);
	int (*end)(void *context, const struct trace_info *info, const char *path);
	void *context;
};

/** Recordings that can be read over and over, from wherever: one or more, in order. */
struct replay_input {
	/* Hands all halts to @visitor; @again: not the first time, so findings are known already.
	 */
	int (*read)(void *context, const struct replay_visitor *visitor, bool again);
	void *context;
};

/** The input that reads files. */
struct replay_files {
	const char *const *paths; /* "-" only after replay_source_rewindable() */
	size_t nr_paths;
	const struct trace_diag *diag; /* where findings go, the first time; may be NULL */
	/* Called now and then with the halts read in this pass; may be NULL. */
	void (*progress)(void *context, uint64_t halts);
	void *progress_context;
};

/**
 * replay_files_read - the read function of an input whose context is a struct replay_files.
 *
 * Return: 0, what the visitor returned, or an error of trace_reader_open() or _next(), which has
 * been reported.
 */
int replay_files_read(void *context, const struct replay_visitor *visitor, bool again);

/**
 * replay_source_rewindable - make standard input readable more than once.
 *
 * A pipe is copied to an unnamed temporary file ($TMPDIR, else /tmp) which becomes standard input.
 * Return: 0 or -errno.
 */
int replay_source_rewindable(void);

/** Room for the path replay_source_copy() writes. */
#define REPLAY_COPY_BYTES 32

/**
 * replay_source_copy - the same for a pipe with a path: "vhalt replay <(xzcat F)".
 * @copy: receives the path of the unnamed copy, which exists as long as this process
 *
 * Return: 1 if @path is a pipe and @copy is to be read instead, 0 if it is something else (or not
 * there: reading it will say so), -errno.
 */
int replay_source_copy(const char *path, char copy[REPLAY_COPY_BYTES]);

/** What the first reading finds. Zero it, and set @brief if wanted, before. */
struct replay_survey {
	uint64_t halts, measured; /* all; those with their own wake-up latency */
	uint64_t latency_sum_ns;
	uint64_t lost;		 /* events the recorders could not keep */
	uint64_t damaged_frames; /* frames left out */
	uint64_t duration_ns;	 /* as the recordings say; 0 where they do not */
	uint32_t vms, vcpus, recordings;
	uint32_t ceiling_ns; /* the largest of a VM's own, 0: none is recorded */
	bool has_latency;    /* at least one recording measures latency */
	bool params_differ;  /* recordings were made under different kernel parameters */
	bool brief; /* in: for the latency only, recordings that measure none are passed over */
	struct trace_kvm_params params; /* of the first recording that knows any */
	char host[TRACE_NAME_BYTES], kernel[TRACE_NAME_BYTES]; /* of the first recording */
};

/**
 * replay_survey_read - read @input for the first time. Errors as its read function's.
 *
 * A brief survey is read as if again: it reports no findings, the next reading has to.
 */
int replay_survey_read(struct replay_survey *survey, const struct replay_input *input);

/**
 * replay_survey_latency - what @model charges a blocked halt, from what was measured.
 *
 * The mean of the measured latencies becomes the model's, unless the user gave one or nothing was
 * measured.
 */
void replay_survey_latency(const struct replay_survey *survey, struct replay_model *model);

#endif

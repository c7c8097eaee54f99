// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Recordings as something that can be read several times, and what a first reading finds.
#include "replay/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/text.h"
#include "trace/reader.h"

static int read_file(const struct replay_files *files, const char *path, bool again,
		     const struct replay_visitor *visitor, uint64_t *halts_read)
{
	const struct trace_halt *halts;
	struct trace_reader *reader;
	ssize_t n;
	int err;

	if (!strcmp(path, "-") && lseek(STDIN_FILENO, 0, SEEK_SET) < 0)
		return -errno;
	err = trace_reader_open(&reader, path, again ? NULL : files->diag);
	if (err)
		return err;
	while (!err && (n = trace_reader_next(reader, &halts)) != 0) {
		if (n < 0) {
			err = (int)n;
			break;
		}
		err = visitor->halts(visitor->context, trace_reader_info(reader), halts, (size_t)n);
		*halts_read += (uint64_t)n;
		if (files->progress)
			files->progress(files->progress_context, *halts_read);
	}
	if (!err && visitor->end)
		err = visitor->end(visitor->context, trace_reader_info(reader), path);
	trace_reader_close(reader);
	return err == REPLAY_SKIP ? 0 : err;
}

int replay_files_read(void *context, const struct replay_visitor *visitor, bool again)
{
	const struct replay_files *files = context;
	uint64_t halts_read = 0;
	int err = 0;

	for (size_t i = 0; !err && i < files->nr_paths; i++)
		err = read_file(files, files->paths[i], again, visitor, &halts_read);
	return err;
}

static int copy_all(int from, int to)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		for (ssize_t done = 0; done < n;) {
			ssize_t put = write(to, buf + done, (size_t)(n - done));

			if (put < 0 && errno != EINTR)
				return -errno;
			done += put < 0 ? 0 : put;
		}
	}
	return 0;
}

/* An unnamed copy of what is left to read of @from, at its begin; a descriptor or -errno. */
static int spool(int from)
{
	const char *dir = getenv("TMPDIR");
	char name[4096];
	int fd, err;

	if (snprintf(name, sizeof(name), "%s/vhalt-XXXXXX", dir && *dir ? dir : "/tmp") >=
	    (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	err = copy_all(from, fd);
	if (!err && lseek(fd, 0, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int replay_source_rewindable(void)
{
	int fd, err = 0;

	if (lseek(STDIN_FILENO, 0, SEEK_SET) == 0)
		return 0;
	fd = spool(STDIN_FILENO);
	if (fd < 0)
		return fd;
	if (dup2(fd, STDIN_FILENO) < 0)
		err = -errno;
	close(fd);
	return err;
}

int replay_source_copy(const char *path, char copy[REPLAY_COPY_BYTES])
{
	struct stat st;
	int from, fd;

	if (stat(path, &st) || !S_ISFIFO(st.st_mode))
		return 0;
	from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return -errno;
	fd = spool(from);
	close(from);
	if (fd < 0)
		return fd;
	snprintf(copy, REPLAY_COPY_BYTES, "/proc/self/fd/%d", fd);
	return 1;
}

static int survey_halts(void *context, const struct trace_info *info,
			const struct trace_halt *halts, size_t n)
{
	struct replay_survey *survey = context;

	survey->has_latency |= info->has_latency;
	if (survey->brief && !info->has_latency)
		return REPLAY_SKIP;
	survey->halts += n;
	for (size_t i = 0; i < n; i++) {
		if (halts[i].latency_ns == TRACE_UNKNOWN_U32)
			continue;
		survey->measured++;
		survey->latency_sum_ns += halts[i].latency_ns;
	}
	return 0;
}

static bool params_known(const struct trace_kvm_params *params)
{
	return params->halt_poll_ns != TRACE_UNKNOWN_U32;
}

static void take_name(char to[TRACE_NAME_BYTES], const char from[TRACE_NAME_BYTES])
{
	memcpy(to, from, TRACE_NAME_BYTES);
	to[TRACE_NAME_BYTES - 1] = '\0';
	replay_text_clean(to);
}

static int survey_end(void *context, const struct trace_info *info, const char *path)
{
	struct replay_survey *survey = context;
	bool first = !survey->recordings++;

	(void)path;
	survey->lost += info->lost;
	survey->damaged_frames += info->damaged_frames;
	survey->duration_ns += info->duration_ns;
	survey->vms += info->nr_vms;
	survey->vcpus += info->nr_vcpus;
	for (uint32_t vm = 0; vm < info->nr_vms; vm++)
		if (info->vms[vm].ceiling_ns != TRACE_UNKNOWN_U32 &&
		    info->vms[vm].ceiling_ns > survey->ceiling_ns)
			survey->ceiling_ns = info->vms[vm].ceiling_ns;
	if (first) {
		take_name(survey->host, info->host);
		take_name(survey->kernel, info->kernel);
		survey->params = info->params;
	} else if (!params_known(&survey->params)) {
		survey->params = info->params;
	} else if (params_known(&info->params) &&
		   memcmp(&survey->params, &info->params, sizeof(info->params))) {
		survey->params_differ = true;
	}
	return 0;
}

int replay_survey_read(struct replay_survey *survey, const struct replay_input *input)
{
	struct replay_visitor visitor = {survey_halts, survey_end, survey};

	/* A brief one leaves most unread: the reading after it tells what is found. */
	return input->read(input->context, &visitor, survey->brief);
}

void replay_survey_latency(const struct replay_survey *survey, struct replay_model *model)
{
	uint64_t mean_ns;

	if (model->source == REPLAY_LATENCY_GIVEN || !survey->measured)
		return;
	mean_ns = (survey->latency_sum_ns + survey->measured / 2) / survey->measured;
	model->latency_ns = mean_ns > REPLAY_LATENCY_MAX_NS ? REPLAY_LATENCY_MAX_NS
							    : (uint32_t)mean_ns;
	model->source = REPLAY_LATENCY_MEASURED;
}

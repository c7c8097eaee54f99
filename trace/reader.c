// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Opening recordings: the table of formats, and recognising one by content.
#include "trace/reader.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/reader_format.h"
#include "util/returns.h"

/* The first whose probe says yes is taken: strict probes before lenient ones. */
static const struct trace_format *const formats[] = {
	&trace_format_vht,
	&trace_format_tracedat,
	&trace_format_text,
	&trace_format_ns,
};

enum { NR_FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* Passes findings on, until there are too many. */
static void report(void *context, const char *text)
{
	struct trace_reader *reader = context;

	if (!reader->outer || !reader->outer->report)
		return;
	if (reader->nr_reports < READER_REPORTS_MAX)
		reader->outer->report(reader->outer->context, text);
	else if (reader->nr_reports == READER_REPORTS_MAX)
		trace_diag_file(reader->outer, reader->input.name,
				"more than %d findings; further ones are not shown",
				READER_REPORTS_MAX);
	if (reader->nr_reports <= READER_REPORTS_MAX)
		reader->nr_reports++;
}

/* "89 56 48 54" or the text itself: the beginning, as a message can show it. */
static void describe(const uint8_t *bytes, size_t nr, char text[80])
{
	size_t used = 0, i = 0;

	while (i < nr && i < 40 && bytes[i] != '\n' && bytes[i] != '\r' &&
	       (isprint(bytes[i]) || bytes[i] == '\t'))
		i++;
	if (i && (i == nr || i == 40 || bytes[i] == '\n' || bytes[i] == '\r')) {
		snprintf(text, 80, "text \"%.*s\"", (int)i, (const char *)bytes);
		return;
	}
	used = (size_t)snprintf(text, 80, "bytes");
	for (i = 0; i < nr && i < 8; i++)
		used += (size_t)snprintf(text + used, 80 - used, " %02x", bytes[i]);
}

/* What to do with files that are no recordings, but may have one in them. */
static const struct hint {
	const char *magic, *advice;
} hints[] = {
	{"PERFILE2", "a perf.data: hand over what perf script prints"},
	{"\x1f\x8b", "compressed: hand over what gzip -dc prints"},
	{"\xfd" "7zXZ", "compressed: hand over what xz -dc prints"},
	{"\x28\xb5\x2f\xfd", "compressed: hand over what zstd -dc prints"},
	{"\xff\xfe", "UTF-16 text: hand over what iconv -f UTF-16 -t UTF-8 prints"},
	{"\xfe\xff", "UTF-16 text: hand over what iconv -f UTF-16 -t UTF-8 prints"},
	{"BZh", "compressed: hand over what bzip2 -dc prints"},
};

static bool report_hint(struct trace_reader *reader)
{
	const struct reader_input *input = &reader->input;

	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		size_t nr = strlen(hints[i].magic);

		if (input->end - input->begin < nr ||
		    memcmp(reader_input_view(input), hints[i].magic, nr))
			continue;
		trace_diag_file(&reader->diag, input->name, "%s", hints[i].advice);
		return true;
	}
	if (!memchr(reader_input_view(input), '\0', input->end - input->begin) &&
	    returns_end_lines(reader_input_view(input), input->end - input->begin)) {
		trace_diag_file(&reader->diag, input->name,
				"lines that end in carriage returns alone: hand over what tr '\\r' "
				"'\\n' makes of it");
		return true;
	}
	return false;
}

static int report_unknown(struct trace_reader *reader)
{
	const struct reader_input *input = &reader->input;
	char known[400] = "", begin[80];
	const char *nul;
	size_t used = 0;

	if (input->begin == input->end) {
		trace_diag_file(&reader->diag, input->name, "empty: no recording in it");
		return -EPROTO;
	}
	if (report_hint(reader))
		return -EPROTO;
	describe(reader_input_view(input), input->end - input->begin, begin);
	nul = memchr(reader_input_view(input), '\0', input->end - input->begin);
	if (nul && !strncmp(begin, "text", 4)) {
		trace_diag_offset(&reader->diag, input->name,
				  (uint64_t)(nul - (const char *)reader_input_view(input)),
				  "a NUL byte in what begins as %s: damaged; hand over what tr -d "
				  "'\\000' leaves of it",
				  begin);
		return -EPROTO;
	}
	for (int i = 0; i < NR_FORMATS && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s (%s)",
					 i ? ", " : "", formats[i]->name, formats[i]->summary);
	trace_diag_offset(&reader->diag, input->name, 0,
			  "%s: not a recording in a format known here: %s", begin, known);
	return -EPROTO;
}

/* Looks at no more of the beginning than it takes for one format to recognise it. */
static int recognise(struct trace_reader *reader)
{
	struct reader_input *input = &reader->input;

	for (size_t seen = 0, nr;; seen = nr) {
		/* Little by little at first, for pipes; then not again and again all of it. */
		nr = reader_input_fill(input, seen < READER_PROBE_OFTEN ? seen + 1 : seen * 2);
		if (input->error) {
			trace_diag_offset(&reader->diag, input->name, nr, "read: %s",
					  strerror(-input->error));
			return input->error;
		}
		for (int i = 0; i < NR_FORMATS; i++) {
			if (!nr || !formats[i]->probe(reader_input_view(input), nr, input->eof))
				continue;
			reader->format = formats[i];
			return 0;
		}
		if (input->eof || nr >= READER_PROBE_BYTES)
			return report_unknown(reader);
	}
}

int trace_reader_open_fd(struct trace_reader **result, int fd, const char *name,
			 const struct trace_diag *diag)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));
	int err = -ENOMEM;

	if (!reader)
		goto err_close;
	reader->input.fd = fd;
	reader->outer = diag;
	reader->diag = (struct trace_diag){report, reader};
	reader->info.params = (struct trace_kvm_params){TRACE_UNKNOWN_U32, TRACE_UNKNOWN_U32,
							TRACE_UNKNOWN_U32, TRACE_UNKNOWN_U32};
	reader->input.name = strdup(name);
	if (!reader->input.name)
		goto err_free;
	err = recognise(reader);
	if (err)
		goto err_free;
	err = reader->format->open(reader);
	if (err)
		goto err_free;
	*result = reader;
	return 0;

err_free:
	free(reader->input.name);
	free(reader->input.data);
	free(reader);
err_close:
	close(fd);
	return err;
}

int trace_reader_open(struct trace_reader **reader, const char *path, const struct trace_diag *diag)
{
	bool standard = !strcmp(path, "-");
	const char *name = standard ? "standard input" : path;
	struct stat about;
	int err, fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
			       : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &about)) {
		err = -errno;
		goto err_report;
	}
	if (S_ISDIR(about.st_mode)) {
		err = -EISDIR;
		goto err_report;
	}
	return trace_reader_open_fd(reader, fd, name, diag);

err_report:
	trace_diag_file(diag, name, "%s", strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

ssize_t trace_reader_next(struct trace_reader *reader, const struct trace_halt **halts)
{
	return reader->format->next(reader, halts);
}

const struct trace_info *trace_reader_info(const struct trace_reader *reader)
{
	return &reader->info;
}

const struct trace_events *trace_reader_events(const struct trace_reader *reader)
{
	return reader->events;
}

void trace_reader_watch(struct trace_reader *reader, const struct trace_event_watch *watch)
{
	reader->watch = *watch;
}

const char *trace_reader_format(const struct trace_reader *reader)
{
	return reader->format->name;
}

void trace_reader_close(struct trace_reader *reader)
{
	if (!reader)
		return;
	reader->format->close(reader);
	close(reader->input.fd);
	free(reader->input.name);
	free(reader->input.data);
	free(reader);
}

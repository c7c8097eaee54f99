// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Reading a statistics file: binary or text by its first bytes, text line by line.
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats/internal.h"
#include "util/returns.h"

enum {
	CHUNK_BYTES = 65536,
	BINARY_MAX = 4 << 20, /* a vCPU's statistics are some 5 KiB */
};

/* Text being cut into lines: one line at a time is in memory. */
struct lines {
	struct stats_text text;
	char line[STATS_LINE_BYTES];
	size_t nr;
	bool too_long;
};

static void end_line(struct lines *l, bool cut)
{
	size_t nr = stats_line_clean(l->line, l->nr);

	l->text.line++;
	if (l->too_long)
		stats_damaged(&l->text, "longer than %d bytes, left out", STATS_LINE_BYTES);
	else
		stats_text_line(&l->text, l->line, nr, cut);
	l->nr = 0;
	l->too_long = false;
}

static void take_text(struct lines *l, const char *bytes, size_t nr)
{
	const char *end = bytes + nr;

	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t part = (size_t)((newline ? newline : end) - bytes);

		if (part > sizeof(l->line) - l->nr) {
			part = sizeof(l->line) - l->nr;
			l->too_long = true;
		}
		memcpy(l->line + l->nr, bytes, part);
		l->nr += part;
		if (newline)
			end_line(l, false);
		bytes = newline ? newline + 1 : end;
	}
}

static int finish(struct lines *l)
{
	struct stats *stats = l->text.stats;

	if (l->nr || l->too_long) {
		stats->unfinished = true;
		end_line(l, true);
	}
	stats_text_end(&l->text);
	stats->lines = l->text.line;
	free(l->text.log.values);
	l->text.log.values = NULL;
	if (l->text.no_memory)
		return -ENOMEM;
	return stats->nr_values || stats->nr_settings || stats->kinds ? 0 : -EPROTO;
}

static struct lines *lines_create(const char *name, const struct trace_diag *diag)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->text = (struct stats_text){.name = name, .diag = diag, .scope = UINT32_MAX};
	l->text.stats = stats_create();
	if (l->text.stats)
		return l;
	free(l);
	return NULL;
}

static int hand_over(struct lines *l, int err, struct stats **stats)
{
	if (err)
		stats_destroy(l->text.stats);
	else
		*stats = l->text.stats;
	free(l);
	return err;
}

static int refuse(const char *name, const struct trace_diag *diag, size_t nr)
{
	if (!nr)
		trace_diag_file(diag, name, "empty: no statistics in it");
	else
		trace_diag_file(
			diag, name,
			"no statistics or parameters in a layout known here (kvm_stat, perf "
			"kvm stat report, debugfs, virsh domstats, KVM binary statistics, "
			"parameters)");
	return -EPROTO;
}

int stats_read_bytes(struct stats **stats, const void *bytes, size_t nr, const char *name,
		     const struct trace_diag *diag)
{
	struct lines *l = lines_create(name, diag);
	int err;

	if (!l)
		return -ENOMEM;
	if (stats_binary_recognised(bytes, nr)) {
		err = stats_binary_read(&l->text, bytes, nr);
	} else if (memchr(bytes, '\0', nr < CHUNK_BYTES ? nr : CHUNK_BYTES)) {
		err = refuse(name, diag, nr);
	} else {
		take_text(l, bytes, nr);
		err = finish(l);
		if (err == -EPROTO)
			refuse(name, diag, nr);
	}
	return hand_over(l, err, stats);
}

/* As much of @bytes as there is from @at on; @at -1: from where the file stands, moving it on. */
static ssize_t read_some(int fd, void *to, size_t bytes, off_t at)
{
	size_t got = 0;

	while (got < bytes) {
		char *next = (char *)to + got;
		ssize_t n = at < 0 ? read(fd, next, bytes - got)
				   : pread(fd, next, bytes - got, at + (off_t)got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

/* The rest of a binary file behind the @nr bytes of its head. */
static int read_binary(struct stats **stats, int fd, const uint8_t *head, size_t nr,
		       const char *name, const struct trace_diag *diag)
{
	uint8_t *all = malloc(BINARY_MAX);
	ssize_t more;
	int err;

	if (!all)
		return -ENOMEM;
	memcpy(all, head, nr);
	more = read_some(fd, all + nr, BINARY_MAX - nr, -1);
	err = more < 0 ? (int)more : stats_read_bytes(stats, all, nr + (size_t)more, name, diag);
	free(all);
	return err;
}

static int read_text(struct stats **stats, int fd, char *buffer, size_t nr, const char *name,
		     const struct trace_diag *diag)
{
	struct lines *l = lines_create(name, diag);
	ssize_t n = (ssize_t)nr;
	int err;

	if (!l)
		return -ENOMEM;
	while (n > 0) {
		take_text(l, buffer, (size_t)n);
		n = read_some(fd, buffer, CHUNK_BYTES, -1);
	}
	err = finish(l);
	if (n < 0)
		err = (int)n;
	else if (err == -EPROTO)
		refuse(name, diag, nr);
	return hand_over(l, err, stats);
}

static int read_fd(struct stats **stats, int fd, const char *name, const struct trace_diag *diag)
{
	char *buffer = malloc(CHUNK_BYTES);
	ssize_t nr;
	int err;

	if (!buffer)
		return -ENOMEM;
	nr = read_some(fd, buffer, CHUNK_BYTES, -1);
	if (nr < 0)
		err = (int)nr;
	else if (stats_binary_recognised((uint8_t *)buffer, (size_t)nr))
		err = read_binary(stats, fd, (uint8_t *)buffer, (size_t)nr, name, diag);
	else if (memchr(buffer, '\0', (size_t)nr))
		err = refuse(name, diag, (size_t)nr);
	else
		err = read_text(stats, fd, buffer, (size_t)nr, name, diag);
	free(buffer);
	if (err < 0 && err != -EPROTO)
		trace_diag_file(diag, name, "%s", strerror(-err));
	return err;
}

int stats_read(struct stats **stats, const char *path, const struct trace_diag *diag)
{
	bool standard = !strcmp(path, "-");
	const char *name = standard ? "standard input" : path;
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
			  : open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	int err;

	if (fd < 0 || fstat(fd, &about)) {
		err = -errno;
		trace_diag_file(diag, name, "%s", strerror(-err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	/* A copy of a pipe stands where its writing ended; a pipe itself cannot be moved. */
	if (standard)
		lseek(fd, 0, SEEK_SET);
	if (S_ISDIR(about.st_mode)) {
		trace_diag_file(diag, name, "%s", strerror(EISDIR));
		close(fd);
		return -EISDIR;
	}
	err = read_fd(stats, fd, name, diag);
	close(fd);
	return err;
}

/* 1: statistics, 0: a trace, whatever else is in it, -EAGAIN: nothing known so far. */
static int verdict(const struct stats *stats)
{
	if (stats->events)
		return 0;
	return stats->nr_values || stats->nr_settings || stats->kinds ? 1 : -EAGAIN;
}

/* Every layout has names: a list of numbers alone is none, however long. */
static bool has_letters(const char *text, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (isalpha((unsigned char)text[i]))
			return true;
	return false;
}

static int look_through(int fd, struct lines *l, char *chunk)
{
	ssize_t n = CHUNK_BYTES;
	off_t at = 0;
	int found = -EAGAIN;

	for (; found == -EAGAIN && n == CHUNK_BYTES && at < STATS_LOOK_BYTES; at += n) {
		n = read_some(fd, chunk, CHUNK_BYTES, at);
		if (n < 0)
			return (int)n;
		if (!at && stats_binary_recognised((uint8_t *)chunk, (size_t)n))
			return 1;
		if (memchr(chunk, '\0', (size_t)n) ||
		    (!at &&
		     (!has_letters(chunk, (size_t)n) || returns_end_lines(chunk, (size_t)n))))
			return 0;
		take_text(l, chunk, (size_t)n);
		if (n < CHUNK_BYTES && finish(l) == -ENOMEM)
			return -ENOMEM;
		found = verdict(l->text.stats);
	}
	return found == 1;
}

int stats_recognise(int fd)
{
	struct lines *l = lines_create("", NULL);
	char *chunk = malloc(CHUNK_BYTES);
	int found = l && chunk ? look_through(fd, l, chunk) : -ENOMEM;

	free(chunk);
	if (l) {
		free(l->text.log.values);
		stats_destroy(l->text.stats);
	}
	free(l);
	return found;
}

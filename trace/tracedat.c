// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Reading trace.dat, the files of trace-cmd: libtracecmd reads them, in a process of its own.
#include "trace/tracedat.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/event_say.h"
#include "trace/event_track.h"

static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

int tracedat_patience_ms = 20000;

enum { IN_MESSAGES = 256, BAD_SHOWN = 20 };

struct tracedat_reader {
	struct event_track *track;
	struct trace_events *events;
	pid_t child; /* 0: none any more */
	int pipe;
	_Alignas(8) char in[IN_MESSAGES * sizeof(struct tracedat_message)];
	size_t in_begin, in_end;
	bool sound;    /* it told that it had read all */
	bool finished; /* it tells no more */
	bool told;
};

static bool probe(const uint8_t *bytes, size_t nr, bool whole)
{
	(void)whole;
	return nr >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

/* --- the file, for a library that seeks ------------------------------------------------------- */

/* All of @input to an unnamed file; a descriptor or -errno. */
static int spool(struct reader_input *input)
{
	const char *dir = getenv("TMPDIR");
	char name[4096];
	size_t view;
	int fd;

	if (snprintf(name, sizeof(name), "%s/vhalt-XXXXXX", dir && *dir ? dir : "/tmp") >=
	    (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = mkstemp(name);
	if (fd < 0)
		return -errno;
	unlink(name);
	while ((view = reader_input_fill(input, 1))) {
		ssize_t nr = write(fd, reader_input_view(input), view);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0) {
			int err = -errno;

			close(fd);
			return err;
		}
		reader_input_consume(input, (size_t)nr);
	}
	if (!input->error)
		return fd;
	close(fd);
	return input->error;
}

/* A descriptor the library can seek on, which is the input's own where that can be. */
static int seekable(struct reader_input *input)
{
	int fd;

	if (lseek(input->fd, 0, SEEK_SET) == 0)
		return 0;
	fd = spool(input);
	if (fd < 0)
		return fd;
	close(input->fd);
	input->fd = fd;
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

/* --- the process ------------------------------------------------------------------------------ */

static int start(struct tracedat_reader *r, int file)
{
	int ends[2];

	if (pipe(ends))
		return -errno;
	r->child = fork();
	if (r->child < 0) {
		int err = -errno;

		r->child = 0;
		close(ends[0]);
		close(ends[1]);
		return err;
	}
	if (!r->child) {
		close(ends[0]);
		tracedat_child(file, ends[1]);
	}
	close(ends[1]);
	r->pipe = ends[0];
	return 0;
}

/* Ends the process, if need be by force. Return: as waitpid() tells it. */
static int stop(struct tracedat_reader *r, bool by_force)
{
	int status = 0;

	if (!r->child)
		return 0;
	if (by_force)
		kill(r->child, SIGKILL);
	while (waitpid(r->child, &status, 0) < 0 && errno == EINTR)
		;
	r->child = 0;
	close(r->pipe);
	return status;
}

/* It will tell no more; was that all? */
static void finish_process(struct trace_reader *reader, bool silent)
{
	struct tracedat_reader *r = reader->state;
	int status = stop(r, silent);
	char how[80] = "ended";

	r->finished = true;
	if (r->sound)
		return;
	if (silent)
		snprintf(how, sizeof(how), "made no progress for %d s",
			 tracedat_patience_ms / 1000);
	else if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was ended by signal %d", WTERMSIG(status));
	if (r->events->lines)
		event_say_at(reader, r->events->lines,
			     "the file is damaged: libtracecmd %s behind this record; what came "
			     "before it is kept",
			     how);
	else
		trace_diag_file(&reader->diag, reader->input.name,
				"the file is damaged: libtracecmd %s before the first record", how);
	r->events->unreadable++;
	if (!r->events->unreadable_place)
		r->events->unreadable_place = r->events->lines;
}

/* The next message; NULL when there are no more. */
static const struct tracedat_message *receive(struct trace_reader *reader)
{
	struct tracedat_reader *r = reader->state;
	const struct tracedat_message *m;

	while (r->in_end - r->in_begin < sizeof(*m)) {
		struct pollfd poll_fd = {r->pipe, POLLIN, 0};
		int ready = poll(&poll_fd, 1, tracedat_patience_ms);
		ssize_t nr;

		if (ready < 0 && errno == EINTR)
			continue;
		memmove(r->in, r->in + r->in_begin, r->in_end - r->in_begin);
		r->in_end -= r->in_begin;
		r->in_begin = 0;
		nr = ready > 0 ? read(r->pipe, r->in + r->in_end, sizeof(r->in) - r->in_end) : -1;
		if (nr < 0 && errno == EINTR && ready > 0)
			continue;
		if (nr <= 0) {
			finish_process(reader, ready == 0);
			return NULL;
		}
		r->in_end += (size_t)nr;
	}
	/* Aligned: the buffer is only ever filled and emptied by whole messages from its front. */
	m = (const void *)(r->in + r->in_begin);
	r->in_begin += sizeof(*m);
	return m;
}

/* --- what it tells ---------------------------------------------------------------------------- */

/* A hostile file may have taken over the process: nothing it says is trusted. */
static void check_event(struct trace_event *e)
{
	e->name[sizeof(e->name) - 1] = '\0';
	for (char *c = e->name; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	if (e->time_ns > INT64_MAX)
		e->time_ns = VHALT_UNKNOWN_NS;
}

static void leave_out(struct trace_reader *reader, uint64_t place, const char *why)
{
	struct tracedat_reader *r = reader->state;

	if (!r->events->unreadable++)
		r->events->unreadable_place = place;
	if (r->events->unreadable <= BAD_SHOWN)
		event_say_at(reader, place, "%s; left out", why);
}

static int take_event(struct trace_reader *reader, const struct tracedat_message *m)
{
	struct tracedat_reader *r = reader->state;
	struct trace_event e = m->event;

	check_event(&e);
	if (e.kind >= TRACE_EVENT_OTHER || e.ns > INT64_MAX) {
		leave_out(reader, e.place, "a halt of more than 2^63 ns");
		return 0;
	}
	r->events->hints |= m->hints;
	return event_track_add(r->track, &e);
}

static void take_progress(struct tracedat_reader *r, const struct tracedat_message *m)
{
	r->events->lines = m->records;
	r->events->count[TRACE_EVENT_OTHER] = m->others;
}

/* Return: 0, -ENOMEM, -EPROTO. */
static int take(struct trace_reader *reader, const struct tracedat_message *m)
{
	struct tracedat_reader *r = reader->state;

	take_progress(r, m);
	switch (m->type) {
	case TRACEDAT_EVENT: return take_event(reader, m);
	case TRACEDAT_BAD:
		leave_out(reader, m->event.place,
			  "an event of KVM's without the fields it should "
			  "have, or cut off");
		return 0;
	case TRACEDAT_UNSOUND:
		trace_diag_file(
			&reader->diag, reader->input.name,
			"a trace.dat whose headers are damaged or too new: libtracecmd does not "
			"open it");
		r->sound = r->told = true;
		return -ENODATA;
	case TRACEDAT_END: r->sound = true; break;
	default: break;
	}
	return 0;
}

static int read_messages(struct trace_reader *reader)
{
	struct tracedat_reader *r = reader->state;
	const struct tracedat_message *m;
	int err = 0;

	while (!err && !event_track_full(r->track)) {
		m = receive(reader);
		if (!m)
			return 0;
		err = take(reader, m);
	}
	return err;
}

/* --- the format ------------------------------------------------------------------------------- */

static ssize_t next(struct trace_reader *reader, const struct trace_halt **halts)
{
	struct tracedat_reader *r = reader->state;
	ssize_t nr;
	int err = 0;

	if (!r->finished)
		err = read_messages(reader);
	if (!err && r->finished)
		err = event_track_end(r->track);
	if (err < 0)
		return err;
	nr = event_track_take(r->track, halts);
	if (nr || r->told)
		return nr;
	r->told = true;
	return event_track_report(r->track);
}

static void close_tracedat(struct trace_reader *reader)
{
	struct tracedat_reader *r = reader->state;

	stop(r, true);
	event_track_destroy(r->track);
	free(r);
}

static int open_tracedat(struct trace_reader *reader)
{
	struct tracedat_reader *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	reader->state = r;
	if (!r)
		return err;
	r->track = event_track_create(reader);
	if (!r->track)
		goto err_free;
	r->events = event_track_events(r->track);
	r->events->layout = "trace.dat";
	err = seekable(&reader->input);
	if (!err)
		err = start(r, reader->input.fd);
	if (!err)
		return 0;
	trace_diag_file(&reader->diag, reader->input.name, "%s", strerror(-err));
	event_track_destroy(r->track);
err_free:
	free(r);
	return err;
}

const struct trace_format trace_format_tracedat = {
	.name = "trace.dat",
	.summary = "trace-cmd record",
	.probe = probe,
	.open = open_tracedat,
	.next = next,
	.close = close_tracedat,
};

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Inside the reader: buffered input, and what a format must provide to become a row of its table.
 */
#ifndef VHALT_TRACE_READER_FORMAT_H
#define VHALT_TRACE_READER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/reader.h"

enum {
	/* Bytes a format may have in view at a time; a frame of .vht fits. */
	READER_VIEW_MAX = (2 << 20) + (1 << 18),
	/* Bytes of the beginning that must do to recognise a format: a kernel log may be long. */
	READER_PROBE_BYTES = 1 << 20,
	/* Up to here the beginning is looked at whenever there is more of it. */
	READER_PROBE_OFTEN = 1 << 16,
};

/** Input that can be looked at before it is consumed. Works on pipes: never seeks. */
struct reader_input {
	int fd;
	char *name; /* for messages */
	uint8_t *data;
	size_t size;	   /* of @data: grows with what formats want to see */
	size_t begin, end; /* of what is in view, in @data */
	uint64_t offset;   /* in the file, of @begin */
	bool eof;
	bool midline; /* the rest of a line that was too long is still to be stepped over */
	int error; /* 0, -errno of read() or -ENOMEM; then @eof is set too */
};

/**
 * reader_input_fill - bring at least @wanted bytes (at most READER_VIEW_MAX) into view.
 *
 * What was in view may move in memory. Return: number of bytes in view; fewer than @wanted only at
 * the end of the file or after an error.
 */
size_t reader_input_fill(struct reader_input *input, size_t wanted);

/** reader_input_view - the first byte not yet consumed. */
static inline const uint8_t *reader_input_view(const struct reader_input *input)
{
	return input->data + input->begin;
}

/** reader_input_consume - step over @nr bytes, all in view. */
static inline void reader_input_consume(struct reader_input *input, size_t nr)
{
	input->begin += nr;
	input->offset += nr;
}

/**
 * reader_input_line - the next line of a text, without its newline; consumed, valid until the next
 * call on @input.
 * @limit: a longer line is given cut to @limit + 1 bytes; the next call steps over its rest
 * @nr:    receives its length
 * @whole: receives whether a newline ended it: false for a last line without one; may be NULL
 *
 * Return: the line, NULL at the end of the file or after an error.
 */
const char *reader_input_line(struct reader_input *input, size_t limit, size_t *nr, bool *whole);

/** A file format. */
struct trace_format {
	const char *name;
	const char *summary; /* for the message that nothing was recognised */
	/**
	 * Is this the format? @nr bytes of the beginning are in view, more may follow unless
	 * @whole; called again with more (up to READER_PROBE_BYTES) while nobody says yes.
	 */
	bool (*probe)(const uint8_t *bytes, size_t nr, bool whole);
	/** Set up @reader->state. Return: 0, -ENOMEM, -EPROTO (reported). Cleans up on failure. */
	int (*open)(struct trace_reader *reader);
	/** As trace_reader_next(). */
	ssize_t (*next)(struct trace_reader *reader, const struct trace_halt **halts);
	/** Free @reader->state and the tables in @reader->info. */
	void (*close)(struct trace_reader *reader);
};

extern const struct trace_format trace_format_vht, trace_format_tracedat, trace_format_text,
	trace_format_ns;

struct trace_reader {
	struct reader_input input;
	const struct trace_format *format;
	struct trace_info info;
	struct trace_event_watch watch;
	const struct trace_events *events; /* set by formats that are event traces */
	void *state;		/* the format's own */
	struct trace_diag diag; /* where formats report; passes on the first READER_REPORTS_MAX */
	const struct trace_diag *outer; /* the caller's */
	unsigned nr_reports;
};

/** Findings passed on; a hostile file could cause one every few bytes. */
enum { READER_REPORTS_MAX = 50 };

/**
 * trace_reader_open_fd - as trace_reader_open(), on an open descriptor, which the reader then owns
 * (also on failure).
 * @name:  for messages
 */
int trace_reader_open_fd(struct trace_reader **reader, int fd, const char *name,
			 const struct trace_diag *diag);

#endif

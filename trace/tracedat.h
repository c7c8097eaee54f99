/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Between the reader of trace.dat and the process in which libtracecmd reads it. */
#ifndef VHALT_TRACE_TRACEDAT_H
#define VHALT_TRACE_TRACEDAT_H

#include "trace/event.h"

/*
 * libtracecmd is written for files one trusts: a damaged one can make it crash, run wild or wait
 * for ever. It is therefore given a process of its own, which writes what it reads into a pipe; the
 * worst that can happen is that this process is killed, and what it told before is kept.
 */

enum tracedat_type {
	TRACEDAT_EVENT = 1, /* @event */
	TRACEDAT_PROGRESS,  /* @records and @others so far, time of the last in @event.time_ns */
	TRACEDAT_BAD,	    /* an event of ours whose fields do not fit; @event.place */
	TRACEDAT_UNSOUND,   /* libtracecmd does not open the file */
	TRACEDAT_END,	    /* all was read */
};

/** What goes through the pipe; smaller than PIPE_BUF. */
struct tracedat_message {
	uint32_t type;	/* enum tracedat_type */
	uint32_t hints; /* enum trace_event_hints, of EVENT */
	struct trace_event event;
	uint64_t records, others;
};

enum {
	/* Records after which progress is told at the latest. */
	TRACEDAT_PROGRESS_RECORDS = 4096,
	/* Most the process may take: the file itself is mapped a page at a time. */
	TRACEDAT_MEMORY_BYTES = 1 << 30,
};

/** How long the process may be silent before it is given up, in ms. Tests shorten it. */
extern int tracedat_patience_ms;

/**
 * tracedat_child - read the trace.dat @file through and write messages to @pipe. Does not return.
 *
 * For a process forked for this: limits its memory, closes its standard error and ends it.
 */
_Noreturn void tracedat_child(int file, int pipe);

#endif

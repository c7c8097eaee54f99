/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Reading halts from any file vhalt understands; the format is chosen by content, not by name. */
#ifndef VHALT_TRACE_READER_H
#define VHALT_TRACE_READER_H

#include <stddef.h>
#include <sys/types.h>

#include "trace/diag.h"
#include "trace/event.h"
#include "trace/halt.h"

struct trace_reader;

/**
 * trace_reader_open - open a recording and recognise its format.
 * @reader:  receives the reader; the caller closes it with trace_reader_close()
 * @path:    a file, or "-" for standard input
 * @diag:    where findings go; kept by reference until close
 *
 * Reads only what is needed to recognise the format. Memory stays bounded (some MiB plus the table
 * of VMs and vCPUs) however long or hostile the input is.
 * Return: 0, -errno of opening, -EISDIR for a directory, -EPROTO when the content is no format
 * vhalt knows or an empty file; the reason has then been reported.
 */
int trace_reader_open(struct trace_reader **reader, const char *path,
		      const struct trace_diag *diag);

/**
 * trace_reader_next - the next batch of halts.
 * @halts:  receives a pointer to the reader's own array, valid until the next call
 *
 * Halts of one vCPU come in time order. Halts of different vCPUs are grouped, not merged: within a
 * batch (a frame of .vht) all halts of one vCPU come together.
 *
 * Damage costs its frame or line, is reported, and counted in damaged_frames. The first halt of
 * each vCPU after a loss has TRACE_HALT_GAP; its run_ns is then unknown unless it is a list's.
 * A list of T values ("ns") has one vCPU whose halts were met by polling: not TRACE_HALT_WAITED,
 * halt_ns = T, and latency_ns and window_ns unknown; start_ns adds up T and run times, and
 * duration_ns is their sum.
 * In an event trace start_ns is on the trace's own clock, so that a halt can be found in it.
 *
 * Return: number of halts, 0 at the end, -EIO when reading failed, -ENOMEM, -ENODATA at the end of
 * a file in which nothing sound was found (reported).
 */
ssize_t trace_reader_next(struct trace_reader *reader, const struct trace_halt **halts);

/**
 * trace_reader_info - what is known so far; owned by the reader, valid until close.
 *
 * Its tables grow, and may move, in trace_reader_next(). A VM or vCPU whose definition is damaged,
 * or is yet to come, has pid or tid 0 where no halt told it, and the name "?".
 */
const struct trace_info *trace_reader_info(const struct trace_reader *reader);

/**
 * trace_reader_events - what an event trace holds beside its halts: what `vhalt inspect` tells.
 *
 * Owned by the reader, valid until close; grows in trace_reader_next() and is complete when that
 * has given 0 or -ENODATA: a trace that holds no halts is recognised all the same, says by its
 * finding why, and this tells what it does hold. NULL for formats that are no event traces.
 */
const struct trace_events *trace_reader_events(const struct trace_reader *reader);

/**
 * trace_reader_watch - see every event of an event trace but those of kind TRACE_EVENT_OTHER.
 * @watch:  copied; its function is called within trace_reader_next(), in the order of time as far
 *          as the reader could restore it
 *
 * Call before the first trace_reader_next(). Without effect for formats that are no event traces.
 */
void trace_reader_watch(struct trace_reader *reader, const struct trace_event_watch *watch);

/** trace_reader_format - the name of the recognised format: "vht", "trace.dat", "text", "ns". */
const char *trace_reader_format(const struct trace_reader *reader);

/** trace_reader_close - close; NULL is allowed. */
void trace_reader_close(struct trace_reader *reader);

#endif

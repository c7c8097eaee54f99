/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Inside the .vht reader: its state, and how it gets over damage. */
#ifndef VHALT_TRACE_VHT_READER_H
#define VHALT_TRACE_VHT_READER_H

#include <stdbool.h>
#include <zstd.h>

#include "trace/reader_format.h"
#include "trace/vht_halts.h"
#include "trace/vht_records.h"

/** What is left out and not yet reported: how much that was, the next sound header tells. */
struct vht_damage {
	bool pending;
	bool counted;	/* a sound header says that it has ... */
	uint32_t halts; /* ... so many halts */
	uint64_t offset;
	char why[96];
};

struct vht_reader {
	bool started;		      /* a sound header was seen: @recording is known */
	bool ended;		      /* the end frame was read, or its absence said */
	bool sound;		      /* some frame was */
	bool over;		      /* another recording begins: nothing more is read */
	uint32_t recording, sequence; /* of the frame expected next */
	uint64_t halts_before;	      /* likewise */
	uint32_t halts_frames;	      /* read so far */
	struct vht_damage damage;
	struct vht_directory directory;
	struct vht_decoded decoded;
	struct vht_buffer raw; /* the payload, and VHT_NUMBERS_SLACK behind it */
	ZSTD_DCtx *zstd;
};

/**
 * vht_damage_note - what is in view cannot be used; the first cause of a stretch is kept.
 * @frame:  its sound header, or NULL
 */
__attribute__((format(printf, 3, 4))) void vht_damage_note(struct trace_reader *reader,
							   const struct vht_frame *frame,
							   const char *format, ...);

/**
 * vht_damage_settle - report and count what was left out before what is in view.
 * @next:  the sound header in view, or NULL at the end of the file
 */
void vht_damage_settle(struct trace_reader *reader, const struct vht_frame *next);

/** vht_skip_bytes - step over @nr bytes, and on to the next sound header or the end of the file. */
void vht_skip_bytes(struct reader_input *input, size_t nr);

/** vht_skip_frame - step from the sound header in view, whose payload is of no use, to the next. */
void vht_skip_frame(struct reader_input *input, const struct vht_frame *frame);

#endif

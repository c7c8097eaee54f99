// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How the .vht reader gets over damage: finding the next sound frame, and saying what is missing.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "trace/vht_reader.h"

void vht_damage_note(struct trace_reader *reader, const struct vht_frame *frame, const char *format,
		     ...)
{
	struct vht_reader *r = reader->state;
	struct vht_damage *damage = &r->damage;
	va_list args;

	if (damage->pending)
		return;
	damage->pending = true;
	damage->counted = frame;
	damage->halts = frame ? frame->halts : 0;
	damage->offset = reader->input.offset;
	va_start(args, format);
	vsnprintf(damage->why, sizeof(damage->why), format, args);
	va_end(args);
}

/* The file ends in damage. */
static void settle_end(struct trace_reader *reader)
{
	struct vht_reader *r = reader->state;
	const struct vht_damage *damage = &r->damage;
	char halts[64] = "how many halts that were is not known";

	if (damage->counted)
		snprintf(halts, sizeof(halts), "a frame with %" PRIu32 " halts is lost",
			 damage->halts);
	if (r->ended)
		snprintf(halts, sizeof(halts), "nothing of the recording is missing");
	else
		reader->info.damaged_frames++;
	trace_diag_offset(&reader->diag, reader->input.name, damage->offset,
			  "%s: %" PRIu64 " bytes to the end of the file left out, %s", damage->why,
			  reader->input.offset - damage->offset, halts);
}

/* The file goes on: the counters in the next header tell how much there was in between. */
static void settle_between(struct trace_reader *reader, const struct vht_frame *next)
{
	struct vht_reader *r = reader->state;
	const struct vht_damage *damage = &r->damage;
	uint32_t frames = next->sequence - r->sequence;
	uint64_t halts = next->halts_before - r->halts_before;
	uint64_t here = reader->input.offset;
	char lost[80] = "nothing of the recording is missing";

	if (frames)
		snprintf(lost, sizeof(lost), "%" PRIu32 " frame%s with %" PRIu64 " halts lost",
			 frames, frames == 1 ? "" : "s", halts);
	reader->info.damaged_frames += frames;
	if (damage->pending)
		trace_diag_offset(&reader->diag, reader->input.name, damage->offset,
				  "%s: %" PRIu64 " bytes left out, %s", damage->why,
				  here - damage->offset, lost);
	else
		trace_diag_offset(&reader->diag, reader->input.name, here,
				  "frames are missing before this one: %s", lost);
}

void vht_damage_settle(struct trace_reader *reader, const struct vht_frame *next)
{
	struct vht_reader *r = reader->state;

	if (!next && r->damage.pending)
		settle_end(reader);
	else if (next && (r->damage.pending || next->sequence != r->sequence))
		settle_between(reader, next);
	r->damage.pending = false;
}

void vht_skip_bytes(struct reader_input *input, size_t skip)
{
	size_t nr, at;

	reader_input_consume(input, skip);
	while ((nr = reader_input_fill(input, VHT_HEADER_BYTES)) >= VHT_HEADER_BYTES) {
		at = vht_frame_find(reader_input_view(input), nr);
		reader_input_consume(input, at < nr ? at : nr - VHT_HEADER_BYTES + 1);
		if (at < nr)
			return;
	}
	reader_input_consume(input, nr);
}

void vht_skip_frame(struct reader_input *input, const struct vht_frame *frame)
{
	size_t bytes = VHT_HEADER_BYTES + (size_t)frame->stored_bytes;
	struct vht_frame next;

	if (frame->stored_bytes <= VHT_STORED_MAX &&
	    reader_input_fill(input, bytes + VHT_HEADER_BYTES) >= bytes + VHT_HEADER_BYTES &&
	    !vht_frame_decode(&next, reader_input_view(input) + bytes)) {
		reader_input_consume(input, bytes);
		return;
	}
	/* The length may be wrong, or bytes are missing: some sound frame may be in between. */
	vht_skip_bytes(input, VHT_HEADER_BYTES);
}

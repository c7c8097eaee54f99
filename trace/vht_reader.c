// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Reading .vht recordings: frame after frame, over damage to the next sound one.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "trace/vht_reader.h"

static bool probe(const uint8_t *bytes, size_t nr, bool whole)
{
	(void)whole;
	/* Also when the first frame is damaged: any sound header will do. */
	return (nr >= VHT_MAGIC_BYTES && !memcmp(bytes, VHT_MAGIC, VHT_MAGIC_BYTES)) ||
	       vht_frame_find(bytes, nr) < nr;
}

/* What forbids to read on in this frame's payload, or NULL. */
static const char *refusal(const struct vht_frame *f, char why[96])
{
	if (f->major != VHT_MAJOR)
		snprintf(why, 96, "format version %u.%u, this vhalt reads %u.x", f->major, f->minor,
			 VHT_MAJOR);
	else if (f->flags & ~VHT_FRAME_ZSTD)
		snprintf(why, 96, "frame with unknown flags 0x%02x", f->flags);
	else if (f->stored_bytes > VHT_STORED_MAX || f->raw_bytes > VHT_RAW_MAX)
		snprintf(why, 96,
			 "frame claims %" PRIu32 " bytes, unpacked %" PRIu32 " (at most %d)",
			 f->stored_bytes, f->raw_bytes, VHT_RAW_MAX);
	else if (f->halts > VHT_HALTS_MAX || (f->type != VHT_FRAME_HALTS && f->halts))
		snprintf(why, 96, "frame of type %u claims %" PRIu32 " halts (at most %d)", f->type,
			 f->halts, f->type == VHT_FRAME_HALTS ? VHT_HALTS_MAX : 0);
	else
		return NULL;
	return why;
}

/* Brings the payload into @r->raw; the reason if it cannot. */
static const char *unpack(struct vht_reader *r, const struct vht_frame *f, const uint8_t *stored)
{
	uint8_t *raw;
	size_t nr;

	if (vht_crc32(stored, f->stored_bytes) != f->payload_crc)
		return "payload checksum mismatch";
	raw = vht_buffer_reserve(&r->raw, f->raw_bytes + (size_t)VHT_NUMBERS_SLACK);
	if (!raw)
		return "no memory for the payload";
	if (!(f->flags & VHT_FRAME_ZSTD)) {
		if (f->stored_bytes != f->raw_bytes)
			return "payload of two lengths";
		memcpy(raw, stored, f->stored_bytes);
		return NULL;
	}
	nr = ZSTD_decompressDCtx(r->zstd, raw, f->raw_bytes, stored, f->stored_bytes);
	return nr == f->raw_bytes ? NULL : "payload does not decompress";
}

static bool streams_repeat(struct vht_reader *r)
{
	r->halts_frames++;
	for (uint32_t i = 0; i < r->decoded.nr_streams; i++) {
		struct vht_trail *trail = &r->directory.trails[r->decoded.streams[i].vcpu];

		if (trail->frame == r->halts_frames)
			return true;
		trail->frame = r->halts_frames;
	}
	return false;
}

/* The halts are decoded: tie them to those of earlier frames. Return: 0, -EBADMSG, -ENOMEM. */
static int take_halts(struct vht_reader *r)
{
	struct trace_halt *h = r->decoded.halts;
	int err = 0;

	for (uint32_t i = 0; !err && i < r->decoded.nr_streams; i++) {
		const struct vht_stream *s = &r->decoded.streams[i];

		err = vht_directory_name(&r->directory, s->vcpu, s->vm, s->tid);
	}
	if (err)
		return err;
	if (streams_repeat(r))
		return -EBADMSG;
	for (uint32_t i = 0; i < r->decoded.nr_streams; i++) {
		const struct vht_stream *s = &r->decoded.streams[i];
		struct vht_trail *trail = &r->directory.trails[s->vcpu];

		if (trail->end_ns != s->prev_end_ns) {
			h->flags |= TRACE_HALT_GAP;
			h->run_ns = VHALT_UNKNOWN_NS;
		}
		h += s->nr;
		trail->end_ns = h[-1].start_ns + h[-1].halt_ns;
	}
	return 0;
}

/* Reads a payload in @r->raw. Return: halts in it, -EBADMSG, -ENOMEM. */
static ssize_t take_payload(struct trace_reader *reader, const struct vht_frame *f)
{
	struct vht_reader *r = reader->state;
	struct vht_cursor payload = {r->raw.data, r->raw.data + f->raw_bytes, false};
	int err;

	switch (f->type) {
	case VHT_FRAME_HALTS:
		err = vht_halts_decode(&r->decoded, r->raw.data, f->raw_bytes, f->halts);
		if (!err)
			err = take_halts(r);
		return err ? err : (ssize_t)f->halts;
	case VHT_FRAME_INFO:
	case VHT_FRAME_VMS:
	case VHT_FRAME_VCPUS:
	case VHT_FRAME_END:
		err = vht_directory_read(&r->directory, f->type, payload);
		r->ended |= f->type == VHT_FRAME_END && !err;
		return err;
	default:
		trace_diag_offset(&reader->diag, reader->input.name, reader->input.offset,
				  "frame of unknown type %u (format version %u.%u) left out",
				  f->type, f->major, f->minor);
		return 0;
	}
}

/* Does the frame with this sound header continue the recording? If not that is noted. */
static bool continues(struct trace_reader *reader, const struct vht_frame *f)
{
	struct vht_reader *r = reader->state;

	if (!r->started)
		r->recording = f->recording;
	r->started = true;
	/* Only by its first frame is a recording of the same origin told from this one. */
	r->over |= f->type == VHT_FRAME_INFO && !f->sequence && r->sequence;
	if (f->recording != r->recording || r->over) {
		vht_damage_note(reader, NULL, "frames of another recording");
		return false;
	}
	if (f->sequence < r->sequence || f->halts_before < r->halts_before) {
		vht_damage_note(reader, NULL, "frame %" PRIu32 " again", f->sequence);
		return false;
	}
	return true;
}

/* Reads the frame whose header is in view. Return: halts in it, -EBADMSG (noted), -ENOMEM. */
static ssize_t read_frame(struct trace_reader *reader, const struct vht_frame *f)
{
	size_t nr, bytes = VHT_HEADER_BYTES + (size_t)f->stored_bytes;
	char refused[96];
	const char *why = refusal(f, refused);
	ssize_t halts = -EBADMSG;

	if (!why) {
		nr = reader_input_fill(&reader->input, bytes);
		if (nr < bytes) {
			vht_damage_note(reader, f,
					"cut short, %zu of %zu bytes of a frame are there", nr,
					bytes);
			return -EBADMSG;
		}
		why = unpack(reader->state, f,
			     reader_input_view(&reader->input) + VHT_HEADER_BYTES);
	}
	if (!why) {
		halts = take_payload(reader, f);
		if (halts == -EBADMSG)
			why = "payload breaks the rules of the format";
	}
	if (why)
		vht_damage_note(reader, f, "%s", why);
	return halts;
}

/* Reads the frame whose header is in view, if it can, and steps over it. As read_frame(). */
static ssize_t use_frame(struct trace_reader *reader, const struct vht_frame *f)
{
	struct vht_reader *r = reader->state;
	ssize_t halts = -EBADMSG;

	if (continues(reader, f)) {
		vht_damage_settle(reader, f);
		r->sequence = f->sequence;
		r->halts_before = f->halts_before;
		halts = read_frame(reader, f);
	}
	if (halts == -EBADMSG) {
		vht_skip_frame(&reader->input, f);
		return halts;
	}
	r->sound = true;
	r->sequence++;
	r->halts_before += f->halts;
	reader_input_consume(&reader->input, VHT_HEADER_BYTES + (size_t)f->stored_bytes);
	return halts;
}

static int finish(struct trace_reader *reader)
{
	struct vht_reader *r = reader->state;
	struct reader_input *input = &reader->input;
	bool damage = r->damage.pending;

	vht_damage_settle(reader, NULL);
	if (input->error) {
		trace_diag_offset(&reader->diag, input->name, input->offset, "read: %s",
				  strerror(-input->error));
		return -EIO;
	}
	if (!r->sound) {
		trace_diag_file(&reader->diag, input->name,
				"no sound frame in it: nothing to read");
		return -ENODATA;
	}
	if (!damage && !r->ended)
		trace_diag_offset(&reader->diag, input->name, input->offset,
				  "no end frame: the recording was cut short here");
	r->ended = true; /* said once */
	return 0;
}

static ssize_t next(struct trace_reader *reader, const struct trace_halt **halts)
{
	struct vht_reader *r = reader->state;
	struct reader_input *input = &reader->input;
	struct vht_frame frame;
	ssize_t got;

	for (;;) {
		size_t nr = reader_input_fill(input, VHT_HEADER_BYTES);

		if (!nr)
			return finish(reader);
		if (nr < VHT_HEADER_BYTES) {
			vht_damage_note(reader, NULL, "cut short within a frame header");
			reader_input_consume(input, nr);
			continue;
		}
		if (vht_frame_decode(&frame, reader_input_view(input))) {
			vht_damage_note(reader, NULL, "no sound frame header");
			vht_skip_bytes(input, 1);
			continue;
		}
		got = use_frame(reader, &frame);
		*halts = r->decoded.halts;
		if (got && got != -EBADMSG)
			return got;
	}
}

static void close_vht(struct trace_reader *reader)
{
	struct vht_reader *r = reader->state;

	vht_directory_fini(&r->directory);
	vht_decoded_fini(&r->decoded);
	vht_buffer_fini(&r->raw);
	ZSTD_freeDCtx(r->zstd);
	free(r);
}

/* A first frame of a version this reader does not know ends it here. */
static int check_version(struct trace_reader *reader)
{
	struct reader_input *input = &reader->input;
	struct vht_frame first;

	if (reader_input_fill(input, VHT_HEADER_BYTES) < VHT_HEADER_BYTES ||
	    vht_frame_decode(&first, reader_input_view(input)) || first.major == VHT_MAJOR)
		return 0;
	trace_diag_offset(&reader->diag, input->name, 0,
			  "format version %u.%u: this vhalt reads %u.x; use a newer one",
			  first.major, first.minor, VHT_MAJOR);
	return -EPROTO;
}

static int open_vht(struct trace_reader *reader)
{
	struct vht_reader *r;

	if (check_version(reader))
		return -EPROTO;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	reader->state = r;
	r->directory.info = &reader->info;
	r->zstd = ZSTD_createDCtx();
	if (r->zstd)
		return 0;
	close_vht(reader);
	return -ENOMEM;
}

const struct trace_format trace_format_vht = {
	.name = "vht",
	.summary = "recordings made by vhalt record",
	.probe = probe,
	.open = open_vht,
	.next = next,
	.close = close_vht,
};

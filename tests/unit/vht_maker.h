/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* For tests of the file format: .vht files made by hand, byte by byte, right or wrong. */
#ifndef TESTS_VHT_MAKER_H
#define TESTS_VHT_MAKER_H

#include "tests/unit/vht_file.h"

#include "trace/vht_halts.h"
#include "trace/vht_records.h"

/** A file being made by hand; frames get right checksums and counters. */
struct maker {
	struct vht_buffer file, body;
	struct vht_frame frame; /* of the next frame; tests change what they want to be wrong */
};

static inline void put(struct maker *m, unsigned type, uint32_t halts,
		       const struct vht_buffer *payload)
{
	uint8_t header[VHT_HEADER_BYTES];
	struct vht_frame f = m->frame;

	f.type = (uint8_t)type;
	f.halts = halts;
	f.stored_bytes = f.raw_bytes = (uint32_t)payload->used;
	f.payload_crc = vht_crc32(payload->data, payload->used);
	vht_frame_encode(&f, header);
	vht_put_bytes(&m->file, header, sizeof(header));
	vht_put_bytes(&m->file, payload->data, payload->used);
	m->frame.sequence++;
	m->frame.halts_before += halts;
}

static inline struct maker begin_file(void)
{
	struct maker m = {.frame = {.major = VHT_MAJOR, .minor = VHT_MINOR, .recording = 7}};
	struct vht_buffer info = {0};

	vht_put_info(&info, &m.body, &test_info);
	put(&m, VHT_FRAME_INFO, 0, &info);
	vht_buffer_fini(&info);
	return m;
}

static inline struct reading *end_file(struct maker *m)
{
	struct vht_buffer end = {0};
	struct reading *r;

	m->frame.major = VHT_MAJOR;
	m->frame.flags = 0;
	vht_put_end(&end, &m->body, 1, 0);
	put(m, VHT_FRAME_END, 0, &end);
	r = read_bytes(m->file.data, m->file.used);
	vht_buffer_fini(&end);
	vht_buffer_fini(&m->file);
	vht_buffer_fini(&m->body);
	return r;
}

/** A stream of the hand-made payload. */
struct lane {
	uint64_t vcpu, vm, tid, nr, prev_end_ns;
};

static inline void put_section(struct vht_buffer *out, unsigned id, const struct vht_buffer *body)
{
	vht_put_u8(out, (uint8_t)id);
	vht_put_u32(out, (uint32_t)body->used);
	vht_put_bytes(out, body->data, body->used);
}

static inline void put_lanes(struct vht_buffer *out, const struct lane *lanes, unsigned nr)
{
	struct vht_buffer body = {0};

	vht_put_varint(&body, 2);
	vht_put_varint(&body, 10000);
	vht_put_varint(&body, 2);
	vht_put_varint(&body, 1);
	vht_put_varint(&body, nr);
	for (unsigned i = 0; i < nr; i++) {
		vht_put_varint(&body, lanes[i].vcpu);
		vht_put_varint(&body, lanes[i].vm);
		vht_put_varint(&body, lanes[i].tid);
		vht_put_varint(&body, lanes[i].nr);
		vht_put_varint(&body, lanes[i].prev_end_ns);
		vht_put_varint(&body, 0);
		vht_put_varint(&body, 0);
	}
	put_section(out, VHT_SECTION_STREAMS, &body);
	vht_buffer_fini(&body);
}

/* @nr numbers, all @value, in one bin of no width. */
static inline void put_constant(struct vht_buffer *out, unsigned id, uint64_t value, unsigned nr)
{
	struct vht_buffer body = {0};

	vht_put_u8(&body, 0);
	vht_put_varint(&body, value);
	vht_put_u8(&body, 0);
	vht_put_u8(&body, 0);
	for (unsigned i = 0; i < nr; i++)
		vht_put_u8(&body, 0);
	vht_put_u32(&body, 0);
	put_section(out, id, &body);
	vht_buffer_fini(&body);
}

static inline void put_ops(struct vht_buffer *out, const uint8_t *ops, unsigned nr)
{
	struct vht_buffer body = {0};

	vht_put_bytes(&body, ops, nr);
	put_section(out, VHT_SECTION_OPS, &body);
	vht_buffer_fini(&body);
}

enum { HALTS = 4 };

static const uint8_t no_ops[HALTS] = {0};

/* The payload of a sound frame: HALTS halts of 100 ns after 10 ns each. */
static inline void put_sound_payload(struct vht_buffer *out, uint64_t vcpu, uint64_t prev_end_ns)
{
	const struct lane lane = {vcpu, 1, 500 + vcpu, HALTS, prev_end_ns};

	put_lanes(out, &lane, 1);
	put_ops(out, no_ops, HALTS);
	put_constant(out, VHT_SECTION_RUN, 10, HALTS);
	put_constant(out, VHT_SECTION_HALT, 100, HALTS);
}

static inline void put_sound_frame(struct maker *m, uint64_t vcpu, uint64_t prev_end_ns)
{
	struct vht_buffer payload = {0};

	put_sound_payload(&payload, vcpu, prev_end_ns);
	put(m, VHT_FRAME_HALTS, HALTS, &payload);
	vht_buffer_fini(&payload);
}

#endif

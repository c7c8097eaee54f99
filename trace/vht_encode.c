// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Encoding the payload of a halts frame.
#include <errno.h>
#include <stdlib.h>

#include "trace/vht_halts.h"

enum apart { APART_RUN, APART_WINDOW, APART_DECISION, NR_APART };

/* Where the length of the section begun last stands. */
static size_t section_begin(struct vht_encoder *e, enum vht_section id)
{
	vht_put_u8(&e->payload, id);
	vht_put_u32(&e->payload, 0);
	return e->payload.used;
}

static void section_end(struct vht_encoder *e, size_t begin)
{
	if (!e->payload.failed)
		vht_store_u32(e->payload.data + begin - 4, (uint32_t)(e->payload.used - begin));
}

static uint32_t group_streams(const struct vht_batch *b, uint32_t first)
{
	return first < b->nr_alone ? 1 : b->nr_streams - first;
}

static void put_streams(struct vht_encoder *e, const struct vht_batch *b)
{
	struct vht_buffer *out = &e->payload;
	uint32_t in_group = 0;
	size_t begin = section_begin(e, VHT_SECTION_STREAMS);

	vht_put_varint(out, b->growth.grow);
	vht_put_varint(out, b->growth.grow_start_ns);
	vht_put_varint(out, b->growth.shrink);
	vht_put_varint(out, b->nr_alone + (b->nr_streams > b->nr_alone));
	for (uint32_t i = 0; i < b->nr_streams; i++, in_group--) {
		const struct vht_stream *s = &b->streams[i];

		if (!in_group) {
			in_group = group_streams(b, i);
			vht_put_varint(out, in_group);
		}
		vht_put_varint(out, s->vcpu);
		vht_put_varint(out, s->vm);
		vht_put_varint(out, s->tid);
		vht_put_varint(out, s->nr);
		vht_put_varint(out, s->prev_end_ns);
		vht_put_varint(out, s->window_ns + 1U);
		vht_put_varint(out, s->ceiling_ns + 1U);
	}
	section_end(e, begin);
}

/* Notes what does not follow from the halts before; returns the operation byte. */
static uint8_t put_op(struct vht_encoder *e, const struct vht_growth *growth, struct vht_stream *s,
		      const struct trace_halt *h)
{
	uint8_t op = h->flags & VHT_OP_FLAGS;

	if (h->run_ns != h->start_ns - s->prev_end_ns) {
		op |= VHT_OP_RUN_APART;
		vht_put_varint(&e->apart[APART_RUN], h->run_ns + 1);
	}
	if (h->window_ns != trace_window_capped(s->window_ns, s->ceiling_ns)) {
		op |= VHT_OP_WINDOW_APART;
		vht_put_varint(&e->apart[APART_WINDOW], h->window_ns + 1U);
		s->ceiling_ns = vht_window_learn(s->ceiling_ns, s->window_ns, h->window_ns);
	}
	if (op & TRACE_HALT_WINDOW &&
	    (h->old_ns != h->window_ns ||
	     h->new_ns != vht_window_foretell(growth, h->old_ns, op & TRACE_HALT_GROW))) {
		op |= VHT_OP_DECISION_APART;
		vht_put_varint(&e->apart[APART_DECISION], h->old_ns);
		vht_put_varint(&e->apart[APART_DECISION], h->new_ns);
	}
	s->window_ns = op & TRACE_HALT_WINDOW ? h->new_ns : h->window_ns;
	s->prev_end_ns = h->start_ns + h->halt_ns;
	return op;
}

static void put_ops(struct vht_encoder *e, const struct vht_batch *b)
{
	const struct trace_halt *halts = b->halts;
	size_t begin = section_begin(e, VHT_SECTION_OPS);
	uint8_t *ops = vht_buffer_reserve(&e->payload, b->nr);

	vht_pieces_cut(&e->pieces, e->payload.used, false);
	for (uint32_t i = 0; ops && i < b->nr_streams; i++) {
		struct vht_stream s = b->streams[i];

		for (uint32_t left = s.nr; left; left--)
			*ops++ = put_op(e, &b->growth, &s, halts++);
		b->streams[i].window_ns = s.window_ns;
		b->streams[i].ceiling_ns = s.ceiling_ns;
	}
	e->payload.used += ops ? b->nr : 0;
	section_end(e, begin);
	vht_pieces_cut(&e->pieces, e->payload.used, false);
}

typedef void column_fill(uint64_t *to, const struct vht_stream *s, const struct trace_halt *halts);

static void fill_run(uint64_t *to, const struct vht_stream *s, const struct trace_halt *halts)
{
	uint64_t end_ns = s->prev_end_ns;

	for (uint32_t i = 0; i < s->nr; i++) {
		to[i] = halts[i].start_ns - end_ns;
		end_ns = halts[i].start_ns + halts[i].halt_ns;
	}
}

static void fill_halt(uint64_t *to, const struct vht_stream *s, const struct trace_halt *halts)
{
	for (uint32_t i = 0; i < s->nr; i++)
		to[i] = halts[i].halt_ns;
}

static void fill_latency(uint64_t *to, const struct vht_stream *s, const struct trace_halt *halts)
{
	for (uint32_t i = 0; i < s->nr; i++)
		to[i] = halts[i].latency_ns == TRACE_UNKNOWN_U32 ?
				0 :
				(uint64_t)halts[i].latency_ns + VHT_LATENCY_KNOWN;
}

static void fill_deadline(uint64_t *to, const struct vht_stream *s, const struct trace_halt *halts)
{
	for (uint32_t i = 0; i < s->nr; i++)
		to[i] = halts[i].deadline_ns + 1;
}

static void put_column(struct vht_encoder *e, const struct vht_batch *b, enum vht_section id,
		       column_fill *fill)
{
	const struct trace_halt *halts = b->halts;
	size_t begin = section_begin(e, id);

	for (uint32_t i = 0; i < b->nr_streams;) {
		uint32_t last = i + group_streams(b, i);
		size_t nr = 0;

		for (; i < last; i++) {
			fill(e->numbers + nr, &b->streams[i], halts);
			nr += b->streams[i].nr;
			halts += b->streams[i].nr;
		}
		vht_numbers_encode(&e->payload, &e->pieces, e->numbers, nr,
				   e->numbers + VHT_HALTS_MAX);
	}
	section_end(e, begin);
}

static void put_apart(struct vht_encoder *e, enum apart which)
{
	const struct vht_buffer *from = &e->apart[which];
	size_t begin;

	if (!from->used)
		return;
	begin = section_begin(e, VHT_SECTION_RUN_APART + which);
	vht_put_bytes(&e->payload, from->data, from->used);
	section_end(e, begin);
	vht_pieces_cut(&e->pieces, e->payload.used, false);
}

static void put_known_columns(struct vht_encoder *e, const struct vht_batch *b)
{
	bool latency = false, deadline = false;

	for (uint32_t i = 0; i < b->nr; i++) {
		latency |= b->halts[i].latency_ns != TRACE_UNKNOWN_U32;
		deadline |= b->halts[i].deadline_ns != VHALT_NO_DEADLINE_NS;
	}
	if (latency)
		put_column(e, b, VHT_SECTION_LATENCY, fill_latency);
	if (deadline)
		put_column(e, b, VHT_SECTION_DEADLINE, fill_deadline);
}

int vht_halts_encode(struct vht_encoder *e, const struct vht_batch *b)
{
	struct vht_buffer *out = &e->payload;

	if (!e->numbers)
		e->numbers = malloc(3 * VHT_HALTS_MAX * sizeof(*e->numbers));
	if (!e->numbers)
		return -ENOMEM;
	out->used = 0;
	e->pieces.nr = 0;
	for (int i = 0; i < NR_APART; i++)
		e->apart[i].used = 0;

	put_streams(e, b);
	put_ops(e, b);
	put_column(e, b, VHT_SECTION_RUN, fill_run);
	put_column(e, b, VHT_SECTION_HALT, fill_halt);
	for (enum apart i = 0; i < NR_APART; i++) {
		put_apart(e, i);
		out->failed |= e->apart[i].failed;
	}
	put_known_columns(e, b);
	return out->failed ? -ENOMEM : 0;
}

void vht_encoder_fini(struct vht_encoder *e)
{
	vht_buffer_fini(&e->payload);
	for (int i = 0; i < NR_APART; i++)
		vht_buffer_fini(&e->apart[i]);
	free(e->numbers);
	*e = (struct vht_encoder){0};
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Decoding the payload of a halts frame.
#include <errno.h>
#include <stdlib.h>

#include "trace/vht_halts.h"

/* Sections by id; one that is absent is an empty cursor at NULL. */
struct sections {
	struct vht_cursor of[VHT_NR_SECTIONS];
};

static int split_sections(struct sections *sections, const uint8_t *payload, size_t bytes)
{
	struct vht_cursor all = {payload, payload + bytes, false};
	unsigned last = 0;

	*sections = (struct sections){0};
	while (vht_cursor_left(&all)) {
		unsigned id = vht_get_u8(&all);
		struct vht_cursor section = vht_get_slice(&all, vht_get_u32(&all));

		if (all.bad || id <= last)
			return -EBADMSG;
		last = id;
		if (id < VHT_NR_SECTIONS)
			sections->of[id] = section;
	}
	return 0;
}

/* A section must hold what was read from it and no more. */
static int exhausted(const struct vht_cursor *section)
{
	return section->bad || section->at != section->end ? -EBADMSG : 0;
}

static int read_stream(struct vht_stream *s, struct vht_cursor *from)
{
	s->vcpu = vht_get_varint_below(from, VHT_INDEX_MAX);
	s->vm = vht_get_varint_below(from, VHT_INDEX_MAX);
	s->tid = vht_get_varint_below(from, 1ULL << 32);
	s->nr = vht_get_varint_below(from, VHT_HALTS_MAX + 1);
	s->prev_end_ns = vht_get_varint(from);
	s->window_ns = vht_get_varint_below(from, 1ULL << 32) - 1U;
	s->ceiling_ns = vht_get_varint_below(from, 1ULL << 32) - 1U;
	return from->bad || !s->nr ? -EBADMSG : 0;
}

static int read_streams(struct vht_decoded *d, struct vht_growth *growth, struct vht_cursor *from,
			uint32_t nr)
{
	uint32_t halts = 0;

	growth->grow = vht_get_varint_below(from, 1ULL << 32);
	growth->grow_start_ns = vht_get_varint_below(from, 1ULL << 32);
	growth->shrink = vht_get_varint_below(from, 1ULL << 32);
	d->nr_groups = vht_get_varint_below(from, nr + 1ULL);
	d->nr_streams = 0;
	for (uint32_t g = 0; g < d->nr_groups; g++) {
		uint32_t before = halts, in_group = vht_get_varint_below(from, nr + 1ULL);

		if (!in_group || in_group > nr - d->nr_streams)
			return -EBADMSG;
		while (in_group--) {
			struct vht_stream *s = &d->streams[d->nr_streams++];

			if (read_stream(s, from) || s->nr > nr - halts)
				return -EBADMSG;
			halts += s->nr;
		}
		d->groups[g] = halts - before;
	}
	return halts == nr ? exhausted(from) : -EBADMSG;
}

/* Reads a column of numbers, group after group, into @to. */
static int read_column(const struct vht_decoded *d, struct vht_cursor *from, uint64_t *to)
{
	for (uint32_t g = 0; g < d->nr_groups; g++) {
		if (vht_numbers_decode(from, to, d->groups[g]))
			return -EBADMSG;
		to += d->groups[g];
	}
	return exhausted(from);
}

/* What the halts are put together from. */
struct assembly {
	struct vht_growth growth;
	uint32_t ceiling_ns; /* of the stream's windows, as known so far */
	const uint8_t *ops;
	const uint64_t *run, *halt;
	struct vht_cursor *run_apart, *window_apart, *decision_apart;
};

/* The rarer parts of a halt, before which the window was left at @before_ns; where it leaves it. */
static uint32_t add_rest(struct trace_halt *h, struct assembly *a, uint8_t op, uint32_t before_ns)
{
	if (op & VHT_OP_RUN_APART)
		h->run_ns = vht_get_varint(a->run_apart) - 1;
	if (op & VHT_OP_WINDOW_APART) {
		h->window_ns = vht_get_varint_below(a->window_apart, 1ULL << 32) - 1U;
		a->ceiling_ns = vht_window_learn(a->ceiling_ns, before_ns, h->window_ns);
	}
	if (!(op & TRACE_HALT_WINDOW)) {
		a->decision_apart->bad |= !!(op & VHT_OP_DECISION_APART);
		return h->window_ns;
	}
	if (op & VHT_OP_DECISION_APART) {
		h->old_ns = vht_get_varint_below(a->decision_apart, 1ULL << 32);
		h->new_ns = vht_get_varint_below(a->decision_apart, 1ULL << 32);
	} else {
		h->old_ns = h->window_ns;
		h->new_ns = vht_window_foretell(&a->growth, h->old_ns, op & TRACE_HALT_GROW);
	}
	return h->new_ns;
}

static void assemble(struct trace_halt *halts, const struct vht_stream *s, struct assembly *a)
{
	const uint8_t rest = TRACE_HALT_WINDOW | VHT_OP_RUN_APART | VHT_OP_WINDOW_APART |
			     VHT_OP_DECISION_APART;
	uint64_t end_ns = s->prev_end_ns;
	uint32_t after_ns = s->window_ns; /* as the halt before left it */
	uint32_t window_ns = trace_window_capped(after_ns, s->ceiling_ns);

	a->ceiling_ns = s->ceiling_ns;
	for (uint32_t i = 0; i < s->nr; i++) {
		uint8_t op = a->ops[i];
		uint64_t start_ns = end_ns + a->run[i];

		end_ns = start_ns + a->halt[i];
		halts[i] = (struct trace_halt){
			.start_ns = start_ns,
			.halt_ns = a->halt[i],
			.run_ns = a->run[i],
			.deadline_ns = VHALT_NO_DEADLINE_NS,
			.latency_ns = TRACE_UNKNOWN_U32,
			.window_ns = window_ns,
			.vcpu = s->vcpu,
			.flags = op & VHT_OP_FLAGS,
		};
		if (op & rest)
			after_ns = add_rest(&halts[i], a, op, after_ns);
		else
			after_ns = window_ns;
		window_ns = trace_window_capped(after_ns, a->ceiling_ns);
	}
	a->ops += s->nr;
	a->run += s->nr;
	a->halt += s->nr;
}

static int assemble_all(struct vht_decoded *d, struct assembly *a)
{
	struct trace_halt *halts = d->halts;

	for (uint32_t i = 0; i < d->nr_streams; i++) {
		assemble(halts, &d->streams[i], a);
		halts += d->streams[i].nr;
	}
	if (exhausted(a->run_apart) || exhausted(a->window_apart))
		return -EBADMSG;
	return exhausted(a->decision_apart);
}

static int set_latency(struct trace_halt *halt, uint64_t number)
{
	if (number && (number < VHT_LATENCY_KNOWN || number - VHT_LATENCY_KNOWN >= TRACE_UNKNOWN_U32))
		return -EBADMSG;
	halt->latency_ns = number ? (uint32_t)(number - VHT_LATENCY_KNOWN) : TRACE_UNKNOWN_U32;
	return 0;
}

/* The columns that only some recordings have. */
static int add_known(struct vht_decoded *d, struct sections *sections, uint32_t nr)
{
	struct vht_cursor *latency = &sections->of[VHT_SECTION_LATENCY];
	struct vht_cursor *deadline = &sections->of[VHT_SECTION_DEADLINE];
	uint64_t *latencies = d->columns + 2 * (size_t)d->size;
	uint64_t *deadlines = d->columns + 3 * (size_t)d->size;

	if (latency->at) {
		if (read_column(d, latency, latencies))
			return -EBADMSG;
		for (uint32_t i = 0; i < nr; i++)
			if (set_latency(&d->halts[i], latencies[i]))
				return -EBADMSG;
	}
	if (deadline->at) {
		if (read_column(d, deadline, deadlines))
			return -EBADMSG;
		for (uint32_t i = 0; i < nr; i++)
			d->halts[i].deadline_ns = deadlines[i] - 1;
	}
	return 0;
}

void vht_decoded_fini(struct vht_decoded *d)
{
	free(d->halts);
	free(d->streams);
	free(d->groups);
	free(d->columns);
	*d = (struct vht_decoded){0};
}

/* Room for @nr halts; what was decoded before is gone. */
static int make_room(struct vht_decoded *d, uint32_t nr)
{
	if (nr <= d->size)
		return 0;
	vht_decoded_fini(d);
	d->halts = malloc(nr * sizeof(*d->halts));
	d->streams = malloc(nr * sizeof(*d->streams));
	d->groups = malloc(nr * sizeof(*d->groups));
	d->columns = malloc(4 * nr * sizeof(*d->columns));
	if (!d->halts || !d->streams || !d->groups || !d->columns)
		return -ENOMEM;
	d->size = nr;
	return 0;
}

int vht_halts_decode(struct vht_decoded *d, const uint8_t *payload, size_t bytes, uint32_t nr)
{
	uint64_t *run, *halt;
	struct sections sections;
	struct vht_cursor *of = sections.of;
	struct assembly a = {0};

	if (!nr || nr > VHT_HALTS_MAX || split_sections(&sections, payload, bytes))
		return -EBADMSG;
	if (make_room(d, nr))
		return -ENOMEM;
	a.run = run = d->columns;
	a.halt = halt = d->columns + d->size;
	if (read_streams(d, &a.growth, &of[VHT_SECTION_STREAMS], nr))
		return -EBADMSG;
	a.ops = vht_get_bytes(&of[VHT_SECTION_OPS], nr);
	if (!a.ops || exhausted(&of[VHT_SECTION_OPS]) ||
	    read_column(d, &of[VHT_SECTION_RUN], run) ||
	    read_column(d, &of[VHT_SECTION_HALT], halt))
		return -EBADMSG;
	a.run_apart = &of[VHT_SECTION_RUN_APART];
	a.window_apart = &of[VHT_SECTION_WINDOW_APART];
	a.decision_apart = &of[VHT_SECTION_DECISION_APART];
	if (assemble_all(d, &a))
		return -EBADMSG;
	return add_known(d, &sections, nr);
}

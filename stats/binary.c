// SPDX-License-Identifier: GPL-2.0-only OR MIT
// KVM's binary statistics as read from KVM_GET_STATS_FD: every offset is checked against the file.
#include <errno.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/internal.h"

enum { MAX_DESCRIPTORS = 4096, MAX_NAME_BYTES = 256, DESC_BYTES = 16, HEADER_BYTES = 24 };

struct binary {
	struct stats_text *text;
	const uint8_t *bytes;
	size_t nr;
	bool swapped;
	uint32_t name_size, num_desc, id_offset, desc_offset, data_offset;
	uint64_t end; /* of the last value */
};

static uint32_t u32_at(const struct binary *b, size_t at)
{
	uint32_t v;

	memcpy(&v, b->bytes + at, sizeof(v));
	return b->swapped ? __builtin_bswap32(v) : v;
}

static uint16_t u16_at(const struct binary *b, size_t at)
{
	uint16_t v;

	memcpy(&v, b->bytes + at, sizeof(v));
	return b->swapped ? __builtin_bswap16(v) : v;
}

static uint64_t u64_at(const struct binary *b, size_t at)
{
	uint64_t v;

	memcpy(&v, b->bytes + at, sizeof(v));
	return b->swapped ? __builtin_bswap64(v) : v;
}

static void read_header(struct binary *b)
{
	b->name_size = u32_at(b, 4);
	b->num_desc = u32_at(b, 8);
	b->id_offset = u32_at(b, 12);
	b->desc_offset = u32_at(b, 16);
	b->data_offset = u32_at(b, 20);
}

/* The header's numbers hang together: nothing else begins so. */
static bool plausible(const struct binary *b)
{
	return !u32_at(b, 0) && b->name_size && b->name_size <= MAX_NAME_BYTES && b->num_desc &&
	       b->num_desc <= MAX_DESCRIPTORS && b->id_offset >= HEADER_BYTES &&
	       b->desc_offset >= HEADER_BYTES && b->data_offset >= HEADER_BYTES &&
	       b->id_offset < 1 << 20 && b->desc_offset < 1 << 20 && b->data_offset < 4 << 20;
}

static bool open_binary(struct binary *b, const uint8_t *bytes, size_t nr)
{
	if (nr < HEADER_BYTES)
		return false;
	*b = (struct binary){.bytes = bytes, .nr = nr};
	read_header(b);
	if (plausible(b))
		return true;
	b->swapped = true;
	read_header(b);
	return plausible(b);
}

bool stats_binary_recognised(const uint8_t *bytes, size_t nr)
{
	struct binary b;

	return open_binary(&b, bytes, nr);
}

static void damaged(struct binary *b, uint64_t offset, const char *what, const char *name)
{
	struct stats_text *t = b->text;

	t->stats->damaged++;
	if (t->reports > STATS_REPORTS_MAX)
		return;
	if (t->reports++ == STATS_REPORTS_MAX)
		trace_diag_file(t->diag, t->name,
				"more than %d findings; further ones are not shown",
				STATS_REPORTS_MAX);
	else
		trace_diag_offset(t->diag, t->name, offset, "%s%s\"%.64s\"", what,
				  *what ? ": " : "", name);
}

static enum stats_unit unit_of(uint32_t flags)
{
	switch (flags & KVM_STATS_UNIT_MASK) {
	case KVM_STATS_UNIT_BYTES: return STATS_BYTES;
	case KVM_STATS_UNIT_SECONDS: return STATS_NS;
	case KVM_STATS_UNIT_CYCLES: return STATS_CYCLES;
	case 4 << KVM_STATS_UNIT_SHIFT: return STATS_BOOLEAN;
	default: return STATS_COUNT;
	}
}

/*
 * Seconds come with a base and an exponent: 10^-9 is ns. What is no whole number of ns, and what is
 * scaled in any other way, keeps its raw number under another unit than it claims: left out.
 */
static bool scale_of(uint32_t flags, int16_t exponent, uint64_t *scale)
{
	bool seconds = (flags & KVM_STATS_UNIT_MASK) == KVM_STATS_UNIT_SECONDS;
	bool decimal = (flags & KVM_STATS_BASE_MASK) == KVM_STATS_BASE_POW10;
	int power = seconds ? exponent + 9 : exponent;

	*scale = 1;
	if (!decimal && (seconds ? exponent != 0 : exponent < 0 || exponent > 40))
		return false;
	if (!decimal && !seconds) {
		*scale = (uint64_t)1 << exponent;
		return true;
	}
	if (!decimal)
		power = 9;
	if (power < 0 || power > 18)
		return false;
	while (power-- > 0)
		*scale *= 10;
	return true;
}

static void read_hist(struct binary *b, struct stats_value *v, uint32_t type, uint64_t at,
		      uint32_t size, uint32_t bucket_size)
{
	uint32_t index;
	struct stats_hist *h = stats_add_hist(b->text->stats, &index);

	if (!h)
		return;
	h->nr = size;
	h->log2 = type == KVM_STATS_TYPE_LOG_HIST;
	h->bucket_size = h->log2 ? 0 : bucket_size;
	for (uint32_t i = 0; i < size; i++)
		h->bucket[i] = u64_at(b, at + 8ULL * i);
	v->hist = index;
}

static void read_value(struct binary *b, uint64_t desc, const char *name)
{
	uint32_t flags = u32_at(b, desc), type = flags & KVM_STATS_TYPE_MASK;
	uint32_t size = u16_at(b, desc + 6), bucket_size = u32_at(b, desc + 12);
	uint64_t at = (uint64_t)b->data_offset + u32_at(b, desc + 8), scale, value = 0;
	uint64_t end = at + 8ULL * size;
	struct stats_value *v;
	bool hist = type == KVM_STATS_TYPE_LINEAR_HIST || type == KVM_STATS_TYPE_LOG_HIST;

	b->end = end > b->end ? end : b->end;
	if (!size || size > STATS_BUCKETS || (size > 1 && !hist))
		damaged(b, desc, "number of values not understood", name);
	else if (at > b->nr || 8ULL * size > b->nr - at)
		damaged(b, at, "the file ends before this counter's value", name);
	else if (!scale_of(flags, (int16_t)u16_at(b, desc + 4), &scale))
		damaged(b, desc, "unit not understood", name);
	else if (!hist && __builtin_mul_overflow(u64_at(b, at), scale, &value))
		damaged(b, at, "value beyond 2^64-1 ns", name);
	else if ((v = stats_add_value(b->text->stats, b->text->scope, name, strlen(name)))) {
		v->unit = unit_of(flags);
		v->instant = type == KVM_STATS_TYPE_INSTANT || type == KVM_STATS_TYPE_PEAK;
		v->place = at;
		if (hist)
			read_hist(b, v, type, at, size, bucket_size);
		else
			v->total = value;
	}
}

static void read_id(struct binary *b, char id[STATS_LABEL_BYTES])
{
	size_t room = b->name_size < STATS_LABEL_BYTES - 1 ? b->name_size : STATS_LABEL_BYTES - 1;
	size_t nr = 0;

	if (b->id_offset < b->nr)
		while (nr < room && b->id_offset + nr < b->nr && b->bytes[b->id_offset + nr])
			nr++;
	memcpy(id, b->bytes + (nr ? b->id_offset : 0), nr);
	id[nr] = '\0';
	if (!nr)
		memcpy(id, "unnamed", 8);
}

/* --- parts that overlap ----------------------------------------------------------------------- */

enum { NR_FIXED = 3 }; /* the head, the name of the whole, the descriptors; then each value */

struct part {
	uint64_t from, to;
	uint32_t index; /* of NR_FIXED and the descriptors */
};

static int by_offset(const void *a, const void *b)
{
	const struct part *one = a, *other = b;

	return one->from != other->from ? (one->from > other->from) - (one->from < other->from)
					: (one->to > other->to) - (one->to < other->to);
}

/* What a message calls a part. */
static void name_part(const struct binary *b, uint32_t index, char text[STATS_LABEL_BYTES])
{
	static const char *const fixed[NR_FIXED] = {"the header", "the id",
						    "the table of descriptors"};
	size_t room = b->name_size < STATS_NAME_BYTES - 1 ? b->name_size : STATS_NAME_BYTES - 1;
	char name[STATS_NAME_BYTES] = "";
	uint64_t at;

	if (index < NR_FIXED) {
		snprintf(text, STATS_LABEL_BYTES, "%s", fixed[index]);
		return;
	}
	at = b->desc_offset + (index - NR_FIXED) * (uint64_t)(DESC_BYTES + b->name_size);
	memcpy(name, b->bytes + at + DESC_BYTES, room);
	stats_printable(name);
	snprintf(text, STATS_LABEL_BYTES, "the value of \"%s\"", name);
}

/* Where everything is that the file says to be in it. Return: how many parts. */
static uint32_t list_parts(const struct binary *b, struct part *parts)
{
	uint64_t one = DESC_BYTES + b->name_size, id_end = b->id_offset;
	uint32_t n = NR_FIXED;

	while (id_end < b->nr && id_end < (uint64_t)b->id_offset + b->name_size && b->bytes[id_end])
		id_end++;
	parts[0] = (struct part){0, HEADER_BYTES, 0};
	parts[1] = (struct part){b->id_offset, id_end, 1};
	parts[2] = (struct part){b->desc_offset, b->desc_offset + b->num_desc * one, 2};
	for (uint32_t i = 0; i < b->num_desc; i++) {
		uint64_t at = b->desc_offset + i * one, from;

		if (at + one > b->nr)
			break;
		from = (uint64_t)b->data_offset + u32_at(b, at + 8);
		/* What lies behind the end is reported when it is read. */
		if (from < b->nr && u16_at(b, at + 6))
			parts[n++] = (struct part){from, from + 8ULL * u16_at(b, at + 6),
						   NR_FIXED + i};
	}
	return n;
}

/* No byte can be two things: then the numbers of the descriptors are not to be believed. */
static int refuse_overlaps(const struct binary *b)
{
	struct part *parts = calloc(NR_FIXED + (size_t)b->num_desc, sizeof(*parts));
	char one[STATS_LABEL_BYTES], other[STATS_LABEL_BYTES];
	uint32_t n, last = 0;
	int err = 0;

	if (!parts)
		return -ENOMEM;
	n = list_parts(b, parts);
	qsort(parts, n, sizeof(*parts), by_offset);
	for (uint32_t i = 1; i < n && !err; i++) {
		if (parts[i].from < parts[last].to && parts[i].from < parts[i].to) {
			name_part(b, parts[last].index, one);
			name_part(b, parts[i].index, other);
			trace_diag_offset(b->text->diag, b->text->name, parts[i].from,
					  "refused: %s begins here, but %s reaches from offset "
					  "%" PRIu64 " to %" PRIu64 ": they overlap",
					  other, one, parts[last].from, parts[last].to);
			err = -EPROTO;
		}
		last = parts[i].to > parts[last].to ? i : last;
	}
	free(parts);
	return err;
}

int stats_binary_read(struct stats_text *text, const uint8_t *bytes, size_t nr)
{
	char id[STATS_LABEL_BYTES], name[MAX_NAME_BYTES + 1];
	struct binary b;
	size_t one;
	int err;

	if (!open_binary(&b, bytes, nr))
		return -EPROTO;
	b.text = text;
	err = refuse_overlaps(&b);
	if (err)
		return err;
	one = DESC_BYTES + b.name_size;
	read_id(&b, id);
	text->stats->kinds |= STATS_BINARY;
	text->stats->lines = nr;
	text->stats->swapped = b.swapped;
	text->scope = stats_add_scope(text->stats, STATS_BINARY, 0, "%s", id);
	if (text->scope == UINT32_MAX)
		return -ENOMEM;
	for (uint32_t i = 0; i < b.num_desc; i++) {
		uint64_t at = b.desc_offset + (uint64_t)i * one;

		if (at + one > nr) {
			snprintf(name, sizeof(name), "%" PRIu32 " of %" PRIu32, i + 1, b.num_desc);
			damaged(&b, at, "the file ends before this descriptor and those behind it",
				name);
			break;
		}
		memcpy(name, bytes + at + DESC_BYTES, b.name_size);
		name[b.name_size] = '\0';
		stats_printable(name);
		if (!name[0])
			damaged(&b, at, "a counter without a name", "");
		else
			read_value(&b, at, name);
	}
	if (b.end && b.end < nr) {
		snprintf(name, sizeof(name), "%zu bytes", (size_t)(nr - b.end));
		damaged(&b, b.end,
			"behind the last value; of files put together only the first is read",
			name);
	}
	return 0;
}

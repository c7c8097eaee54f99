// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Little-endian numbers, varints and strings, into a growing buffer and out of bounded bytes.
#include "trace/vht_bytes.h"

#include <stdlib.h>

#include "util/utf8.h"

uint8_t *vht_buffer_reserve(struct vht_buffer *buffer, size_t bytes)
{
	size_t size = buffer->size ? buffer->size : 256;
	uint8_t *data;

	if (buffer->failed)
		return NULL;
	while (size - buffer->used < bytes)
		size *= 2;
	if (size != buffer->size) {
		data = realloc(buffer->data, size);
		if (!data) {
			buffer->failed = true;
			return NULL;
		}
		buffer->data = data;
		buffer->size = size;
	}
	return buffer->data + buffer->used;
}

void vht_buffer_fini(struct vht_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct vht_buffer){0};
}

void vht_put_bytes(struct vht_buffer *buffer, const void *bytes, size_t nr)
{
	uint8_t *to = vht_buffer_reserve(buffer, nr);

	if (!to || !nr)
		return;
	memcpy(to, bytes, nr);
	buffer->used += nr;
}

void vht_put_u8(struct vht_buffer *buffer, uint8_t value)
{
	vht_put_bytes(buffer, &value, 1);
}

void vht_put_u32(struct vht_buffer *buffer, uint32_t value)
{
	uint8_t bytes[4];

	vht_store_u32(bytes, value);
	vht_put_bytes(buffer, bytes, sizeof(bytes));
}

void vht_put_u64(struct vht_buffer *buffer, uint64_t value)
{
	uint8_t bytes[8];

	vht_store_u64(bytes, value);
	vht_put_bytes(buffer, bytes, sizeof(bytes));
}

void vht_put_varint(struct vht_buffer *buffer, uint64_t value)
{
	uint8_t bytes[10];
	size_t nr = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[nr++] = (uint8_t)(value | 0x80);
	bytes[nr++] = (uint8_t)value;
	vht_put_bytes(buffer, bytes, nr);
}

void vht_put_string(struct vht_buffer *buffer, const char *text, size_t most)
{
	size_t nr = strnlen(text, most);

	vht_put_varint(buffer, nr);
	vht_put_bytes(buffer, text, nr);
}

const uint8_t *vht_get_bytes(struct vht_cursor *cursor, size_t nr)
{
	const uint8_t *at = cursor->at;

	if (cursor->bad || vht_cursor_left(cursor) < nr) {
		cursor->bad = true;
		return NULL;
	}
	cursor->at += nr;
	return at;
}

uint8_t vht_get_u8(struct vht_cursor *cursor)
{
	const uint8_t *p = vht_get_bytes(cursor, 1);

	return p ? *p : 0;
}

uint32_t vht_get_u32(struct vht_cursor *cursor)
{
	const uint8_t *p = vht_get_bytes(cursor, 4);

	return p ? vht_load_u32(p) : 0;
}

uint64_t vht_get_u64(struct vht_cursor *cursor)
{
	const uint8_t *p = vht_get_bytes(cursor, 8);

	return p ? vht_load_u64(p) : 0;
}

uint64_t vht_get_varint(struct vht_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = vht_get_u8(cursor);

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->bad = true;
	return 0;
}

uint32_t vht_get_varint_below(struct vht_cursor *cursor, uint64_t bound)
{
	uint64_t value = vht_get_varint(cursor);

	if (value < bound)
		return (uint32_t)value;
	cursor->bad = true;
	return 0;
}

void vht_get_string(struct vht_cursor *cursor, char *text, size_t size)
{
	uint64_t nr = vht_get_varint(cursor);
	const uint8_t *from = vht_get_bytes(cursor, nr);
	size_t left, used = 0;

	for (left = !from ? 0 : nr < size ? nr : size - 1; left;) {
		size_t step = utf8_printable(from, left);

		if (step)
			memcpy(text + used, from, step);
		else
			text[used] = '?';
		step += !step;
		used += step;
		from += step;
		left -= step;
	}
	text[used] = '\0';
}

struct vht_cursor vht_get_slice(struct vht_cursor *cursor, size_t nr)
{
	const uint8_t *from = vht_get_bytes(cursor, nr);

	return from ? (struct vht_cursor){from, from + nr, false}
		    : (struct vht_cursor){cursor->end, cursor->end, false};
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Little-endian numbers, varints and strings, into a growing buffer and out of bounded bytes. */
#ifndef VHALT_TRACE_VHT_BYTES_H
#define VHALT_TRACE_VHT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * Bytes that grow as they are written. Zeroed it is empty; vht_buffer_fini() frees. After a failed
 * allocation nothing more is written and @failed stays set, so that one test at the end is enough.
 */
struct vht_buffer {
	uint8_t *data;
	size_t used, size;
	bool failed;
};

/** vht_buffer_reserve - room for @bytes more; NULL (and @failed) without memory. Does not write. */
uint8_t *vht_buffer_reserve(struct vht_buffer *buffer, size_t bytes);

/** vht_buffer_fini - free; the buffer is empty again. */
void vht_buffer_fini(struct vht_buffer *buffer);

/** vht_put_* - append. Cannot fail beyond setting @failed. */
void vht_put_bytes(struct vht_buffer *buffer, const void *bytes, size_t nr);
void vht_put_u8(struct vht_buffer *buffer, uint8_t value);
void vht_put_u32(struct vht_buffer *buffer, uint32_t value);
void vht_put_u64(struct vht_buffer *buffer, uint64_t value);
void vht_put_varint(struct vht_buffer *buffer, uint64_t value);
/** vht_put_string - @text up to its NUL or @most bytes, behind its length. */
void vht_put_string(struct vht_buffer *buffer, const char *text, size_t most);

/** Bytes being read. A read beyond the end gives 0 and sets @bad, which stays set. */
struct vht_cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline size_t vht_cursor_left(const struct vht_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/** vht_get_bytes - the next @nr bytes, in place; NULL when there are fewer. */
const uint8_t *vht_get_bytes(struct vht_cursor *cursor, size_t nr);
uint8_t vht_get_u8(struct vht_cursor *cursor);
uint32_t vht_get_u32(struct vht_cursor *cursor);
uint64_t vht_get_u64(struct vht_cursor *cursor);
/** vht_get_varint - a varint of at most 64 bits; a longer one is bad. */
uint64_t vht_get_varint(struct vht_cursor *cursor);
/** vht_get_varint_below - a varint below @bound; any other is bad and reads as 0. */
uint32_t vht_get_varint_below(struct vht_cursor *cursor, uint64_t bound);
/**
 * vht_get_string - a string into @text, cut to @size - 1 bytes.
 *
 * What is not printable UTF-8 becomes '?', so that nothing read from a file can drive a terminal.
 */
void vht_get_string(struct vht_cursor *cursor, char *text, size_t size);
/** vht_get_slice - the next @nr bytes as a cursor of their own; empty when there are fewer. */
struct vht_cursor vht_get_slice(struct vht_cursor *cursor, size_t nr);

/* Unaligned little-endian loads and stores; the compiler makes one instruction of each. */
static inline uint32_t vht_load_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t vht_load_u64(const uint8_t *p)
{
	return vht_load_u32(p) | (uint64_t)vht_load_u32(p + 4) << 32;
}

static inline void vht_store_u32(uint8_t *p, uint32_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
	p[2] = (uint8_t)(value >> 16);
	p[3] = (uint8_t)(value >> 24);
}

static inline void vht_store_u64(uint8_t *p, uint64_t value)
{
	vht_store_u32(p, (uint32_t)value);
	vht_store_u32(p + 4, (uint32_t)(value >> 32));
}

#endif

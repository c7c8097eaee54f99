/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The frame header of .vht files, and the limits that keep a hostile one harmless: see vht(5). */
#ifndef VHALT_TRACE_VHT_FRAME_H
#define VHALT_TRACE_VHT_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define VHT_MAJOR 1
#define VHT_MINOR 0

/** The four bytes every frame begins with; the first cannot occur in text. */
#define VHT_MAGIC	"\x89VHT"
#define VHT_MAGIC_BYTES 4

enum vht_frame_type {
	VHT_FRAME_INFO = 1,
	VHT_FRAME_VMS = 2,
	VHT_FRAME_VCPUS = 3,
	VHT_FRAME_HALTS = 4,
	VHT_FRAME_END = 5,
};

enum vht_frame_flags {
	VHT_FRAME_ZSTD = 1 << 0, /* the payload is compressed */
};

enum {
	VHT_HEADER_BYTES = 44,
	VHT_HALTS_MAX = 16384,	  /* in a frame, for readers */
	VHT_HALTS_WRITTEN = 4096, /* in a frame, by writers: what one flipped bit can cost */
	VHT_RAW_MAX = 2 << 20,	  /* bytes of a payload before compression ... */
	VHT_STORED_MAX = VHT_RAW_MAX + 65536, /* ... and after: what zstd may add */
	VHT_INDEX_MAX = 65536,		      /* VMs and vCPUs in a recording */
};

/** A frame header in the machine's own form. */
struct vht_frame {
	uint8_t type, flags, major, minor;
	uint32_t recording;    /* tells the frames of one recording from another's */
	uint32_t sequence;     /* frames before this one */
	uint64_t halts_before; /* halts in them */
	uint32_t halts;
	uint32_t stored_bytes, raw_bytes;
	uint32_t payload_crc;
};

/** vht_frame_encode - write @frame and its checksum. Cannot fail. */
void vht_frame_encode(const struct vht_frame *frame, uint8_t bytes[VHT_HEADER_BYTES]);

/**
 * vht_frame_decode - read a header whose magic and checksum are right.
 *
 * Limits are not checked here: a header may be sound and still ask for too much.
 * Return: 0, -EBADMSG.
 */
int vht_frame_decode(struct vht_frame *frame, const uint8_t bytes[VHT_HEADER_BYTES]);

/** vht_frame_find - offset of the first sound header in @bytes, or @nr if there is none. */
size_t vht_frame_find(const uint8_t *bytes, size_t nr);

/** vht_crc32 - CRC-32 as zlib has it. */
uint32_t vht_crc32(const void *bytes, size_t nr);

#endif

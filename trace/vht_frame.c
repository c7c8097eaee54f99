// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The frame header of .vht files: encoding, checking, and finding the next sound one.
#include "trace/vht_frame.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "trace/vht_bytes.h"

enum { CRC_OFFSET = VHT_HEADER_BYTES - 4 };

uint32_t vht_crc32(const void *bytes, size_t nr)
{
	return (uint32_t)crc32_z(0, bytes, nr);
}

void vht_frame_encode(const struct vht_frame *frame, uint8_t bytes[VHT_HEADER_BYTES])
{
	memcpy(bytes, VHT_MAGIC, VHT_MAGIC_BYTES);
	bytes[4] = frame->type;
	bytes[5] = frame->flags;
	bytes[6] = frame->major;
	bytes[7] = frame->minor;
	vht_store_u32(bytes + 8, frame->recording);
	vht_store_u32(bytes + 12, frame->sequence);
	vht_store_u64(bytes + 16, frame->halts_before);
	vht_store_u32(bytes + 24, frame->halts);
	vht_store_u32(bytes + 28, frame->stored_bytes);
	vht_store_u32(bytes + 32, frame->raw_bytes);
	vht_store_u32(bytes + 36, frame->payload_crc);
	vht_store_u32(bytes + CRC_OFFSET, vht_crc32(bytes, CRC_OFFSET));
}

int vht_frame_decode(struct vht_frame *frame, const uint8_t bytes[VHT_HEADER_BYTES])
{
	if (memcmp(bytes, VHT_MAGIC, VHT_MAGIC_BYTES) ||
	    vht_load_u32(bytes + CRC_OFFSET) != vht_crc32(bytes, CRC_OFFSET))
		return -EBADMSG;
	*frame = (struct vht_frame){
		.type = bytes[4],
		.flags = bytes[5],
		.major = bytes[6],
		.minor = bytes[7],
		.recording = vht_load_u32(bytes + 8),
		.sequence = vht_load_u32(bytes + 12),
		.halts_before = vht_load_u64(bytes + 16),
		.halts = vht_load_u32(bytes + 24),
		.stored_bytes = vht_load_u32(bytes + 28),
		.raw_bytes = vht_load_u32(bytes + 32),
		.payload_crc = vht_load_u32(bytes + 36),
	};
	return 0;
}

size_t vht_frame_find(const uint8_t *bytes, size_t nr)
{
	struct vht_frame frame;
	size_t at = 0;

	while (nr - at >= VHT_HEADER_BYTES) {
		const uint8_t *hit = memchr(bytes + at, VHT_MAGIC[0] & 0xff,
					    nr - at - VHT_HEADER_BYTES + 1);

		if (!hit)
			break;
		at = (size_t)(hit - bytes);
		if (!vht_frame_decode(&frame, hit))
			return at;
		at++;
	}
	return nr;
}

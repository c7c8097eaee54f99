// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Frames on their way into a .vht file: compression, header, write().
#include "trace/vht_output.h"

#include <errno.h>
#include <unistd.h>

enum {
	LEVEL = 1,	   /* zstd's: higher ones look for more repetitions, and there are none */
	LEVEL_NOISE = -50, /* finds out fastest that noise is noise */
	/*
	 * Shortest repetition worth a reference. In columns of indices short ones are chance, and
	 * cost more than the entropy coder needs: 7, the most there is, saves 2 % over the default.
	 */
	MIN_MATCH = 7,
};

int vht_output_init(struct vht_output *o, int fd, uint32_t recording)
{
	*o = (struct vht_output){.fd = fd};
	o->frame.major = VHT_MAJOR;
	o->frame.minor = VHT_MINOR;
	o->frame.recording = recording;
	o->zstd = ZSTD_createCCtx();
	if (!o->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_minMatch, MIN_MATCH)))
		return -ENOMEM;
	return 0;
}

void vht_output_fini(struct vht_output *o)
{
	ZSTD_freeCCtx(o->zstd);
	o->zstd = NULL;
	vht_buffer_fini(&o->stored);
}

static int write_all(int fd, const uint8_t *bytes, size_t nr)
{
	while (nr) {
		ssize_t done = write(fd, bytes, nr);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		bytes += done;
		nr -= (size_t)done;
	}
	return 0;
}

/* Compresses pieces[] and what is left behind them; the stored size, or 0 if that does not pay. */
static size_t compress(ZSTD_CCtx *zstd, uint8_t *to, size_t room, const struct vht_buffer *raw,
		       const struct vht_pieces *pieces)
{
	unsigned nr_pieces = pieces ? pieces->nr : 0;
	size_t used = 0, begin = 0;

	for (unsigned i = 0; begin < raw->used; i++) {
		bool last = i == nr_pieces;
		size_t end = last ? raw->used : pieces->piece[i].end;
		int level = !last && pieces->piece[i].noise ? LEVEL_NOISE : LEVEL;
		size_t done;

		ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);
		done = ZSTD_compress2(zstd, to + used, room - used, raw->data + begin, end - begin);
		if (ZSTD_isError(done))
			return 0;
		used += done;
		begin = end;
	}
	return used < raw->used ? used : 0;
}

int vht_output_put(struct vht_output *o, enum vht_frame_type type, uint32_t halts,
		   const struct vht_buffer *raw, const struct vht_pieces *pieces)
{
	/* More than ZSTD_compressBound() of all pieces; too little would only mean no compression.
	 */
	size_t stored, room = raw->used + raw->used / 64 + 16384;
	struct vht_frame *frame = &o->frame;
	uint8_t *to, *payload;

	if (o->error)
		return o->error;
	to = raw->failed ? NULL : vht_buffer_reserve(&o->stored, VHT_HEADER_BYTES + room);
	if (!to)
		return o->error = -ENOMEM;
	payload = to + VHT_HEADER_BYTES;
	stored = compress(o->zstd, payload, room, raw, pieces);
	frame->flags = stored ? VHT_FRAME_ZSTD : 0;
	if (!stored) {
		memcpy(payload, raw->data, raw->used);
		stored = raw->used;
	}
	frame->type = (uint8_t)type;
	frame->halts = halts;
	frame->raw_bytes = (uint32_t)raw->used;
	frame->stored_bytes = (uint32_t)stored;
	frame->payload_crc = vht_crc32(payload, stored);
	vht_frame_encode(frame, to);
	o->error = write_all(o->fd, to, VHT_HEADER_BYTES + stored);
	frame->sequence++;
	frame->halts_before += halts;
	return o->error;
}

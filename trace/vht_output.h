/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Frames on their way into a .vht file: compression, header, write(). */
#ifndef VHALT_TRACE_VHT_OUTPUT_H
#define VHALT_TRACE_VHT_OUTPUT_H

#include <zstd.h>

#include "trace/vht_bytes.h"
#include "trace/vht_frame.h"
#include "trace/vht_numbers.h"

/** Once in error nothing more is written: behind half a frame no other must follow. */
struct vht_output {
	int fd;			/* the caller's */
	int error;		/* the first one met */
	struct vht_frame frame; /* what the next header takes over */
	struct vht_buffer stored;
	ZSTD_CCtx *zstd;
};

/** vht_output_init - begin a file. @recording: see vht(5). Return: 0, -ENOMEM. */
int vht_output_init(struct vht_output *output, int fd, uint32_t recording);

/** vht_output_fini - free; zeroed or half initialised is fine. */
void vht_output_fini(struct vht_output *output);

/**
 * vht_output_put - write one frame.
 * @halts:   in it
 * @raw:     its payload
 * @pieces:  stretches of the payload to compress apart, or NULL
 *
 * Return: 0; -ENOMEM, -errno of write(): then, and from then on, also @output->error.
 */
int vht_output_put(struct vht_output *output, enum vht_frame_type type, uint32_t halts,
		   const struct vht_buffer *raw, const struct vht_pieces *pieces);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Records of .vht files: what a recording says beside its halts; see vht(5). */
#ifndef VHALT_TRACE_VHT_RECORDS_H
#define VHALT_TRACE_VHT_RECORDS_H

#include "trace/halt.h"
#include "trace/vht_bytes.h"

/** vht_put_info/vm/vcpu/end - append one record. @body is empty memory to work in. */
void vht_put_info(struct vht_buffer *out, struct vht_buffer *body, const struct trace_info *info);
void vht_put_vm(struct vht_buffer *out, struct vht_buffer *body, uint32_t index,
		const struct trace_vm *vm);
void vht_put_vcpu(struct vht_buffer *out, struct vht_buffer *body, uint32_t index,
		  const struct trace_vcpu *vcpu);
void vht_put_end(struct vht_buffer *out, struct vht_buffer *body, uint64_t duration_ns,
		 uint64_t lost);

/** What a reader keeps of a vCPU from frame to frame. */
struct vht_trail {
	uint64_t end_ns; /* end of its last halt read, 0 before the first */
	uint32_t frame;	 /* number of the halts frame that held it */
};

/**
 * The VMs and vCPUs read so far, in @info. Those that nothing has defined yet, but which a halt or
 * another definition names, have pid or tid 0 and the name "?".
 */
struct vht_directory {
	struct trace_info *info;
	struct vht_trail *trails; /* one per vCPU */
	uint32_t vms_size, vcpus_size;
};

/**
 * vht_directory_read - take in the records of a frame that does not hold halts.
 * @type:  enum vht_frame_type: info, VMs, vCPUs or end
 *
 * Return: 0, -EBADMSG (a record breaks the rules; those before it hold), -ENOMEM.
 */
int vht_directory_read(struct vht_directory *directory, unsigned type, struct vht_cursor payload);

/**
 * vht_directory_name - make sure that vCPU @index is there.
 * @index:    below VHT_INDEX_MAX
 * @vm, @tid: what it gets if it was not, or was only a placeholder
 *
 * Return: 0, -ENOMEM.
 */
int vht_directory_name(struct vht_directory *directory, uint32_t index, uint32_t vm, uint32_t tid);

/** vht_directory_fini - free the tables, those in @info too. */
void vht_directory_fini(struct vht_directory *directory);

#endif

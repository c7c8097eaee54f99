/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Writing .vht recordings: append-only, checksummed frames; man/vht.5 describes every byte. */
#ifndef VHALT_TRACE_VHT_H
#define VHALT_TRACE_VHT_H

#include "trace/halt.h"

struct vht_writer;

/**
 * vht_writer_create - begin a recording.
 * @writer:  receives the writer; ended by vht_writer_close()
 * @fd:      an open, empty file; stays the caller's
 * @info:    params, host, kernel, origin_unix_ns and has_latency are written to the first frame;
 *           vms and vcpus are ignored here
 *
 * Return: 0, -ENOMEM, -errno of write().
 */
int vht_writer_create(struct vht_writer **writer, int fd, const struct trace_info *info);

/**
 * vht_writer_add_vm - name the next VM; its index is the number of VMs added before.
 * Return: 0, -E2BIG (65536 are the most), -ENOMEM, -errno of write().
 */
int vht_writer_add_vm(struct vht_writer *writer, const struct trace_vm *vm);

/** vht_writer_add_vcpu - name the next vCPU, after its VM. 0 or -errno. */
int vht_writer_add_vcpu(struct vht_writer *writer, const struct trace_vcpu *vcpu);

/** vht_writer_update_vcpu - a vCPU's number or name became known later. 0 or -errno. */
int vht_writer_update_vcpu(struct vht_writer *writer, uint32_t index,
			   const struct trace_vcpu *vcpu);

/**
 * vht_writer_add - append one halt. Halts of one vCPU must come in time order.
 *
 * Frames are cut and written when they hold enough halts; nothing is written per halt.
 * Return: 0, -EINVAL (no such vCPU, or a flag the format does not have), -ENOMEM, -errno of
 * write().
 */
int vht_writer_add(struct vht_writer *writer, const struct trace_halt *halt);

/** vht_writer_flush - cut the frame now, so that a reader sees all that was added. 0 or -errno. */
int vht_writer_flush(struct vht_writer *writer);

/**
 * vht_writer_close - flush, write the closing frame (duration, lost events), free the writer.
 * Return: 0 or the first error the writer met.
 */
int vht_writer_close(struct vht_writer *writer, uint64_t duration_ns, uint64_t lost);

#endif

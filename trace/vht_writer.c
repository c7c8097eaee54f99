// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Writing .vht recordings: gathering halts into frames, and frames into the file.
#include "trace/vht.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/vht_halts.h"
#include "trace/vht_output.h"
#include "trace/vht_records.h"
#include "util/room.h"

enum {
	ALONE_LEAST = 1024,    /* a vCPU with so many in a frame pays for bins of its own */
	RECORDS_BYTES = 65536, /* of definitions gathered before a frame is cut */
};

struct writer_vcpu {
	struct trace_vcpu about;
	uint64_t end_ns;     /* of its last halt in a frame */
	uint32_t window_ns;  /* in force after it */
	uint32_t ceiling_ns; /* what capped windows last, TRACE_UNKNOWN_U32 for nothing */
	uint32_t nr, place;  /* in the frame being gathered: halts; where they go */
};

struct vht_writer {
	struct vht_output output;
	struct vht_growth growth;
	uint32_t ceiling_ns; /* the module's, for VMs without one of their own */
	struct trace_vm *vms;
	struct writer_vcpu *vcpus;
	uint32_t nr_vms, vms_size, nr_vcpus, vcpus_size;
	struct vht_buffer new_vms, new_vcpus, body; /* records not yet written; room for one */
	uint32_t nr_halts, nr_active;
	uint32_t *active; /* vCPUs with halts in the frame being gathered */
	struct trace_halt *halts, *ordered;
	struct vht_stream *streams;
	struct vht_encoder encoder;
};

static int put_records(struct vht_writer *w, enum vht_frame_type type, struct vht_buffer *records)
{
	int err = w->output.error;

	if (records->used || records->failed)
		err = vht_output_put(&w->output, type, 0, records, NULL);
	records->used = 0;
	return err;
}

static int put_definitions(struct vht_writer *w)
{
	int err = put_records(w, VHT_FRAME_VMS, &w->new_vms);

	return err ? err : put_records(w, VHT_FRAME_VCPUS, &w->new_vcpus);
}

/* Most halts first, so that the streams with bins of their own are in front. */
static int by_halts(const void *a, const void *b)
{
	const struct vht_stream *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? 1 : -1;
	return x->vcpu < y->vcpu ? -1 : x->vcpu > y->vcpu;
}

static void gather_streams(struct vht_writer *w)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < w->nr_active; i++) {
		const struct writer_vcpu *v = &w->vcpus[w->active[i]];

		w->streams[i] = (struct vht_stream){
			.vcpu = w->active[i],
			.vm = v->about.vm,
			.tid = v->about.tid,
			.nr = v->nr,
			.prev_end_ns = v->end_ns,
			.window_ns = v->window_ns,
			.ceiling_ns = v->ceiling_ns,
		};
	}
	qsort(w->streams, w->nr_active, sizeof(*w->streams), by_halts);
	for (uint32_t i = 0; i < w->nr_active; i++) {
		w->vcpus[w->streams[i].vcpu].place = place;
		place += w->streams[i].nr;
	}
	for (uint32_t i = 0; i < w->nr_halts; i++)
		w->ordered[w->vcpus[w->halts[i].vcpu].place++] = w->halts[i];
}

/* The frame is in the file: remember how each of its vCPUs left it. */
static void leave_frame(struct vht_writer *w)
{
	const struct trace_halt *last = w->ordered;

	for (uint32_t i = 0; i < w->nr_active; i++) {
		struct writer_vcpu *v = &w->vcpus[w->streams[i].vcpu];

		last += w->streams[i].nr;
		v->end_ns = last[-1].start_ns + last[-1].halt_ns;
		v->window_ns = w->streams[i].window_ns;
		v->ceiling_ns = w->streams[i].ceiling_ns;
		v->nr = 0;
	}
	w->nr_halts = 0;
	w->nr_active = 0;
}

static int put_halts(struct vht_writer *w)
{
	struct vht_batch batch = {w->growth, w->streams, w->nr_active, 0, w->ordered, w->nr_halts};
	int err;

	gather_streams(w);
	while (batch.nr_alone < w->nr_active && w->streams[batch.nr_alone].nr >= ALONE_LEAST)
		batch.nr_alone++;
	err = vht_halts_encode(&w->encoder, &batch);
	if (err)
		return w->output.error = err;
	err = vht_output_put(&w->output, VHT_FRAME_HALTS, w->nr_halts, &w->encoder.payload,
			     &w->encoder.pieces);
	leave_frame(w);
	return err;
}

int vht_writer_flush(struct vht_writer *w)
{
	int err = put_definitions(w);

	if (!err && w->nr_halts)
		err = put_halts(w);
	return err;
}

int vht_writer_add(struct vht_writer *w, const struct trace_halt *halt)
{
	struct writer_vcpu *v;

	if (w->output.error)
		return w->output.error;
	if (halt->vcpu >= w->nr_vcpus || halt->flags & ~(uint32_t)VHT_OP_FLAGS)
		return -EINVAL;
	v = &w->vcpus[halt->vcpu];
	if (!v->nr++)
		w->active[w->nr_active++] = halt->vcpu;
	w->halts[w->nr_halts++] = *halt;
	return w->nr_halts < VHT_HALTS_WRITTEN ? 0 : vht_writer_flush(w);
}

/* Room for one more element of a table; at most VHT_INDEX_MAX. */
static int make_room(void **table, uint32_t *size, uint32_t nr, size_t each)
{
	return nr < VHT_INDEX_MAX ? room_make(table, nr, size, each) : -E2BIG;
}

/* Cuts a frame of records before it grows large. */
static int cut_definitions(struct vht_writer *w)
{
	if (w->new_vms.used < RECORDS_BYTES && w->new_vcpus.used < RECORDS_BYTES)
		return w->output.error;
	return put_definitions(w);
}

static uint32_t known_or(uint32_t value, uint32_t otherwise)
{
	return value != TRACE_UNKNOWN_U32 ? value : otherwise;
}

int vht_writer_add_vm(struct vht_writer *w, const struct trace_vm *vm)
{
	void *vms = w->vms;
	int err = make_room(&vms, &w->vms_size, w->nr_vms, sizeof(*w->vms));

	w->vms = vms;
	if (err)
		return err;
	w->vms[w->nr_vms] = *vm;
	vht_put_vm(&w->new_vms, &w->body, w->nr_vms++, vm);
	return cut_definitions(w);
}

int vht_writer_add_vcpu(struct vht_writer *w, const struct trace_vcpu *vcpu)
{
	void *vcpus = w->vcpus;
	int err;

	if (vcpu->vm >= w->nr_vms)
		return -EINVAL;
	err = make_room(&vcpus, &w->vcpus_size, w->nr_vcpus, sizeof(*w->vcpus));
	w->vcpus = vcpus;
	if (err)
		return err;
	w->vcpus[w->nr_vcpus] = (struct writer_vcpu){
		.about = *vcpu,
		.window_ns = TRACE_UNKNOWN_U32,
		.ceiling_ns = known_or(w->vms[vcpu->vm].ceiling_ns, w->ceiling_ns),
	};
	vht_put_vcpu(&w->new_vcpus, &w->body, w->nr_vcpus++, vcpu);
	return cut_definitions(w);
}

int vht_writer_update_vcpu(struct vht_writer *w, uint32_t index, const struct trace_vcpu *vcpu)
{
	if (index >= w->nr_vcpus || vcpu->vm >= w->nr_vms)
		return -EINVAL;
	w->vcpus[index].about = *vcpu;
	vht_put_vcpu(&w->new_vcpus, &w->body, index, vcpu);
	return cut_definitions(w);
}

static void writer_free(struct vht_writer *w)
{
	free(w->vms);
	free(w->vcpus);
	free(w->active);
	free(w->halts);
	free(w->ordered);
	free(w->streams);
	vht_buffer_fini(&w->new_vms);
	vht_buffer_fini(&w->new_vcpus);
	vht_buffer_fini(&w->body);
	vht_encoder_fini(&w->encoder);
	vht_output_fini(&w->output);
	free(w);
}

int vht_writer_create(struct vht_writer **writer, int fd, const struct trace_info *info)
{
	struct vht_writer *w = calloc(1, sizeof(*w));
	struct vht_buffer first = {0};
	int err = -ENOMEM;

	if (!w)
		return err;
	w->growth.grow = known_or(info->params.grow, 2);
	w->growth.grow_start_ns = known_or(info->params.grow_start_ns, 10000);
	w->growth.shrink = known_or(info->params.shrink, 2);
	w->ceiling_ns = info->params.halt_poll_ns;
	w->active = calloc(VHT_HALTS_WRITTEN, sizeof(*w->active));
	w->halts = calloc(VHT_HALTS_WRITTEN, sizeof(*w->halts));
	w->ordered = calloc(VHT_HALTS_WRITTEN, sizeof(*w->ordered));
	w->streams = calloc(VHT_HALTS_WRITTEN, sizeof(*w->streams));
	vht_put_info(&first, &w->body, info);
	if (!w->active || !w->halts || !w->ordered || !w->streams || first.failed)
		goto err_free;
	err = vht_output_init(&w->output, fd, vht_crc32(first.data, first.used));
	if (!err)
		err = vht_output_put(&w->output, VHT_FRAME_INFO, 0, &first, NULL);
	if (err)
		goto err_free;
	vht_buffer_fini(&first);
	*writer = w;
	return 0;

err_free:
	vht_buffer_fini(&first);
	writer_free(w);
	return err;
}

/* Defines everything once more, so that a definition lost to damage is known in the end. */
static int put_all_definitions(struct vht_writer *w)
{
	int err = w->output.error;

	for (uint32_t i = 0; !err && i < w->nr_vms; i++) {
		vht_put_vm(&w->new_vms, &w->body, i, &w->vms[i]);
		err = cut_definitions(w);
	}
	for (uint32_t i = 0; !err && i < w->nr_vcpus; i++) {
		vht_put_vcpu(&w->new_vcpus, &w->body, i, &w->vcpus[i].about);
		err = cut_definitions(w);
	}
	return err ? err : put_definitions(w);
}

int vht_writer_close(struct vht_writer *w, uint64_t duration_ns, uint64_t lost)
{
	struct vht_buffer end = {0};
	int err = vht_writer_flush(w);

	if (!err)
		err = put_all_definitions(w);
	if (!err) {
		vht_put_end(&end, &w->body, duration_ns, lost);
		err = vht_output_put(&w->output, VHT_FRAME_END, 0, &end, NULL);
	}
	vht_buffer_fini(&end);
	writer_free(w);
	return err;
}

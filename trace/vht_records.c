// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Records of .vht files: writing them, and keeping the table of VMs and vCPUs they make up.
#include "trace/vht_records.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/vht_frame.h"

enum { INFO_HAS_LATENCY = 1 << 0 };

/* Moves what was gathered in @body behind its length into @out. */
static void put_record(struct vht_buffer *out, struct vht_buffer *body)
{
	vht_put_varint(out, body->used);
	vht_put_bytes(out, body->data, body->used);
	out->failed |= body->failed;
	body->used = 0;
}

void vht_put_info(struct vht_buffer *out, struct vht_buffer *body, const struct trace_info *info)
{
	vht_put_u32(body, info->params.halt_poll_ns);
	vht_put_u32(body, info->params.grow);
	vht_put_u32(body, info->params.grow_start_ns);
	vht_put_u32(body, info->params.shrink);
	vht_put_u64(body, info->origin_unix_ns);
	vht_put_u8(body, info->has_latency ? INFO_HAS_LATENCY : 0);
	vht_put_string(body, info->host, sizeof(info->host) - 1);
	vht_put_string(body, info->kernel, sizeof(info->kernel) - 1);
	put_record(out, body);
}

void vht_put_vm(struct vht_buffer *out, struct vht_buffer *body, uint32_t index,
		const struct trace_vm *vm)
{
	vht_put_varint(body, index);
	vht_put_u32(body, vm->pid);
	vht_put_u32(body, vm->ceiling_ns);
	vht_put_string(body, vm->name, sizeof(vm->name) - 1);
	put_record(out, body);
}

void vht_put_vcpu(struct vht_buffer *out, struct vht_buffer *body, uint32_t index,
		  const struct trace_vcpu *vcpu)
{
	vht_put_varint(body, index);
	vht_put_varint(body, vcpu->vm);
	vht_put_u32(body, vcpu->tid);
	vht_put_u32(body, vcpu->number);
	vht_put_string(body, vcpu->name, sizeof(vcpu->name) - 1);
	put_record(out, body);
}

void vht_put_end(struct vht_buffer *out, struct vht_buffer *body, uint64_t duration_ns,
		 uint64_t lost)
{
	vht_put_varint(body, duration_ns);
	vht_put_varint(body, lost);
	put_record(out, body);
}

/* Room for element @index of a table of @each bytes; the table at least doubles. */
static int grow_table(void **table, uint32_t *size, uint32_t index, size_t each)
{
	uint32_t wanted = *size ? *size : 16;
	void *grown;

	if (index < *size)
		return 0;
	while (wanted <= index)
		wanted *= 2;
	grown = reallocarray(*table, wanted, each);
	if (!grown)
		return -ENOMEM;
	*table = grown;
	*size = wanted;
	return 0;
}

static int have_vm(struct vht_directory *d, uint32_t index)
{
	struct trace_info *info = d->info;
	void *vms = info->vms;
	int err = grow_table(&vms, &d->vms_size, index, sizeof(*info->vms));

	info->vms = vms;
	for (; !err && info->nr_vms <= index; info->nr_vms++)
		info->vms[info->nr_vms] = (struct trace_vm){0, TRACE_UNKNOWN_U32, "?"};
	return err;
}

static int have_vcpu(struct vht_directory *d, uint32_t index)
{
	struct trace_info *info = d->info;
	uint32_t trails_size = d->vcpus_size;
	void *vcpus = info->vcpus, *trails = d->trails;
	int err = grow_table(&trails, &trails_size, index, sizeof(*d->trails));

	d->trails = trails;
	if (!err)
		err = grow_table(&vcpus, &d->vcpus_size, index, sizeof(*info->vcpus));
	info->vcpus = vcpus;
	if (!err)
		err = have_vm(d, 0); /* a placeholder must belong to some VM */
	for (; !err && info->nr_vcpus <= index; info->nr_vcpus++) {
		info->vcpus[info->nr_vcpus] = (struct trace_vcpu){0, 0, TRACE_UNKNOWN_U32, "?"};
		d->trails[info->nr_vcpus] = (struct vht_trail){0};
	}
	return err;
}

int vht_directory_name(struct vht_directory *d, uint32_t index, uint32_t vm, uint32_t tid)
{
	int err = have_vcpu(d, index);

	if (err || d->info->vcpus[index].tid)
		return err;
	err = have_vm(d, vm);
	if (err)
		return err;
	d->info->vcpus[index].vm = vm;
	d->info->vcpus[index].tid = tid;
	return 0;
}

static int read_info(struct vht_directory *d, struct vht_cursor *from)
{
	struct trace_info *info = d->info;

	info->params.halt_poll_ns = vht_get_u32(from);
	info->params.grow = vht_get_u32(from);
	info->params.grow_start_ns = vht_get_u32(from);
	info->params.shrink = vht_get_u32(from);
	info->origin_unix_ns = vht_get_u64(from);
	info->has_latency = vht_get_u8(from) & INFO_HAS_LATENCY;
	vht_get_string(from, info->host, sizeof(info->host));
	vht_get_string(from, info->kernel, sizeof(info->kernel));
	return 0;
}

static int read_vm(struct vht_directory *d, struct vht_cursor *from)
{
	uint32_t index = vht_get_varint_below(from, VHT_INDEX_MAX);
	struct trace_vm vm = {0};
	int err;

	vm.pid = vht_get_u32(from);
	vm.ceiling_ns = vht_get_u32(from);
	vht_get_string(from, vm.name, sizeof(vm.name));
	if (from->bad)
		return 0;
	err = have_vm(d, index);
	if (!err)
		d->info->vms[index] = vm;
	return err;
}

static int read_vcpu(struct vht_directory *d, struct vht_cursor *from)
{
	uint32_t index = vht_get_varint_below(from, VHT_INDEX_MAX);
	struct trace_vcpu vcpu = {0};
	int err;

	vcpu.vm = vht_get_varint_below(from, VHT_INDEX_MAX);
	vcpu.tid = vht_get_u32(from);
	vcpu.number = vht_get_u32(from);
	vht_get_string(from, vcpu.name, sizeof(vcpu.name));
	if (from->bad)
		return 0;
	err = have_vcpu(d, index);
	if (!err)
		err = have_vm(d, vcpu.vm);
	if (!err)
		d->info->vcpus[index] = vcpu;
	return err;
}

static int read_end(struct vht_directory *d, struct vht_cursor *from)
{
	d->info->duration_ns = vht_get_varint(from);
	d->info->lost = vht_get_varint(from);
	return 0;
}

int vht_directory_read(struct vht_directory *d, unsigned type, struct vht_cursor payload)
{
	static int (*const read_record[])(struct vht_directory *, struct vht_cursor *) = {
		[VHT_FRAME_INFO] = read_info,
		[VHT_FRAME_VMS] = read_vm,
		[VHT_FRAME_VCPUS] = read_vcpu,
		[VHT_FRAME_END] = read_end,
	};
	int err = 0;

	while (!err && vht_cursor_left(&payload)) {
		struct vht_cursor record = vht_get_slice(&payload, vht_get_varint(&payload));

		if (payload.bad)
			return -EBADMSG;
		err = read_record[type](d, &record);
		if (!err && record.bad)
			err = -EBADMSG;
	}
	return err;
}

void vht_directory_fini(struct vht_directory *d)
{
	free(d->info->vms);
	free(d->info->vcpus);
	free(d->trails);
	d->info->vms = NULL;
	d->info->vcpus = NULL;
	d->info->nr_vms = d->info->nr_vcpus = 0;
	d->trails = NULL;
}

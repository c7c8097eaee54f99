// SPDX-License-Identifier: GPL-2.0-only OR MIT
// KVM's binary statistics of one vCPU, read through KVM_GET_STATS_FD.
#include "vmm/stats.h"

#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A vCPU has about 50 descriptors with names of 48 bytes; the bounds only keep nonsense out. */
enum { MAX_DESCRIPTORS = 4096, MAX_NAME_BYTES = 256 };

struct counter {
	const char *name;
	size_t field; /* offset in struct vmm_kvm_stats */
};

static const struct counter counters[VMM_STATS_NR] = {
	{"halt_exits", offsetof(struct vmm_kvm_stats, halt_exits)},
	{"halt_successful_poll", offsetof(struct vmm_kvm_stats, halt_successful_poll)},
	{"halt_attempted_poll", offsetof(struct vmm_kvm_stats, halt_attempted_poll)},
	{"halt_poll_invalid", offsetof(struct vmm_kvm_stats, halt_poll_invalid)},
	{"halt_wakeup", offsetof(struct vmm_kvm_stats, halt_wakeup)},
	{"halt_poll_success_ns", offsetof(struct vmm_kvm_stats, halt_poll_success_ns)},
	{"halt_poll_fail_ns", offsetof(struct vmm_kvm_stats, halt_poll_fail_ns)},
	{"halt_wait_ns", offsetof(struct vmm_kvm_stats, halt_wait_ns)},
};

static int read_exactly(int fd, void *buf, size_t bytes, off_t at)
{
	ssize_t n = pread(fd, buf, bytes, at);

	if (n < 0)
		return -errno;
	return (size_t)n == bytes ? 0 : -EPROTO;
}

/* @one is name_size bytes longer than the fixed part, the name not necessarily terminated. */
static void note_descriptor(struct vmm_stats *stats, const struct kvm_stats_header *h,
			    const unsigned char *one)
{
	const char *name = (const char *)one + sizeof(struct kvm_stats_desc);
	struct kvm_stats_desc d;

	memcpy(&d, one, sizeof(d));
	for (size_t i = 0; i < VMM_STATS_NR; i++)
		if (!strncmp(name, counters[i].name, h->name_size) && d.size == 1)
			stats->at[i] = (off_t)h->data_offset + (off_t)d.offset;
}

static int read_layout(struct vmm_stats *stats)
{
	struct kvm_stats_header h;
	unsigned char *all;
	size_t one_bytes;
	int err = read_exactly(stats->fd, &h, sizeof(h), 0);

	if (err)
		return err;
	if (!h.num_desc || h.num_desc > MAX_DESCRIPTORS || h.name_size > MAX_NAME_BYTES)
		return -EPROTO;
	one_bytes = sizeof(struct kvm_stats_desc) + h.name_size;
	all = malloc(h.num_desc * one_bytes);
	if (!all)
		return -ENOMEM;
	err = read_exactly(stats->fd, all, h.num_desc * one_bytes, (off_t)h.desc_offset);
	for (size_t i = 0; !err && i < h.num_desc; i++)
		note_descriptor(stats, &h, all + i * one_bytes);
	free(all);
	return err;
}

int vmm_stats_init(struct vmm_stats *stats, int fd)
{
	int err;

	*stats = (struct vmm_stats){.fd = fd};
	err = read_layout(stats);
	if (err)
		vmm_stats_fini(stats);
	return err;
}

void vmm_stats_fini(struct vmm_stats *stats)
{
	if (stats->fd >= 0)
		close(stats->fd);
	stats->fd = -1;
}

int vmm_stats_read(const struct vmm_stats *stats, struct vmm_kvm_stats *kvm)
{
	*kvm = (struct vmm_kvm_stats){.valid = false};
	if (stats->fd < 0)
		return -ENODATA;
	for (size_t i = 0; i < VMM_STATS_NR; i++) {
		uint64_t value;
		int err;

		if (!stats->at[i])
			continue;
		err = read_exactly(stats->fd, &value, sizeof(value), stats->at[i]);
		if (err)
			return err;
		memcpy((char *)kvm + counters[i].field, &value, sizeof(value));
	}
	kvm->valid = true;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* For tests of the file format: recordings in memory, drawn halts, and reading them back whole. */
#ifndef TESTS_VHT_FILE_H
#define TESTS_VHT_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/reader_format.h"
#include "trace/vht.h"
#include "trace/vht_frame.h"

/** xorshift64: the tests' only source of chance. */
struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	rng->state ^= rng->state << 13;
	rng->state ^= rng->state >> 7;
	rng->state ^= rng->state << 17;
	return rng->state;
}

static inline uint64_t rng_below(struct rng *rng, uint64_t bound)
{
	return rng_next(rng) % bound;
}

/** A file's content. */
struct bytes {
	uint8_t *data;
	size_t nr;
};

static inline int memory_file(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static inline struct bytes bytes_of(int fd)
{
	struct bytes b = {NULL, (size_t)lseek(fd, 0, SEEK_END)};

	b.data = malloc(b.nr + 1);
	assert_non_null(b.data);
	assert_int_equal(pread(fd, b.data, b.nr, 0), b.nr);
	return b;
}

static inline struct bytes bytes_copy(const struct bytes *from)
{
	struct bytes b = {malloc(from->nr + 1), from->nr};

	assert_non_null(b.data);
	memcpy(b.data, from->data, from->nr);
	return b;
}

enum { READ_BATCHES = 256, READ_TEXT = 16384 };

/** All that a reader made of a file. */
struct reading {
	struct trace_halt *halts;
	size_t nr;
	size_t batch_end[READ_BATCHES]; /* index behind the last halt of each batch */
	unsigned nr_batches;
	int open_error;
	ssize_t last; /* result of the last trace_reader_next() */
	char format[16];
	struct trace_info info; /* vms and vcpus are copies */
	unsigned nr_reports;
	char text[READ_TEXT]; /* reports, a line each */
};

static inline void reading_report(void *context, const char *text)
{
	struct reading *r = context;
	size_t used = strlen(r->text);

	r->nr_reports++;
	snprintf(r->text + used, sizeof(r->text) - used, "%s\n", text);
}

static inline void *copy_of(const void *from, size_t bytes)
{
	void *to = malloc(bytes + 1);

	assert_non_null(to);
	if (bytes)
		memcpy(to, from, bytes);
	return to;
}

/** Reads @fd, which is closed, through from its beginning, as a file called "file". */
static inline struct reading *read_fd(int fd)
{
	struct reading *r = calloc(1, sizeof(*r));
	const struct trace_diag diag = {reading_report, r};
	const struct trace_halt *batch;
	struct trace_reader *reader;

	assert_non_null(r);
	(void)lseek(fd, 0, SEEK_SET); /* pipes stand at theirs */
	r->open_error = trace_reader_open_fd(&reader, fd, "file", &diag);
	if (r->open_error)
		return r;
	while ((r->last = trace_reader_next(reader, &batch)) > 0) {
		size_t nr = (size_t)r->last;

		r->halts = realloc(r->halts, (r->nr + nr) * sizeof(*batch));
		assert_non_null(r->halts);
		memcpy(r->halts + r->nr, batch, nr * sizeof(*batch));
		r->nr += nr;
		if (r->nr_batches < READ_BATCHES)
			r->batch_end[r->nr_batches++] = r->nr;
	}
	snprintf(r->format, sizeof(r->format), "%s", trace_reader_format(reader));
	r->info = *trace_reader_info(reader);
	r->info.vms = copy_of(r->info.vms, r->info.nr_vms * sizeof(*r->info.vms));
	r->info.vcpus = copy_of(r->info.vcpus, r->info.nr_vcpus * sizeof(*r->info.vcpus));
	trace_reader_close(reader);
	return r;
}

static inline struct reading *read_bytes(const void *data, size_t nr)
{
	int fd = memory_file();

	assert_int_equal(pwrite(fd, data, nr, 0), nr);
	return read_fd(fd);
}

static inline void reading_free(struct reading *r)
{
	free(r->halts);
	free(r->info.vms);
	free(r->info.vcpus);
	free(r);
}

/** Fails unless both halts are equal in all that the format keeps. */
static inline void assert_halt_equal(const struct trace_halt *a, const struct trace_halt *b)
{
	assert_int_equal(a->vcpu, b->vcpu);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->halt_ns, b->halt_ns);
	assert_int_equal(a->run_ns, b->run_ns);
	assert_int_equal(a->deadline_ns, b->deadline_ns);
	assert_int_equal(a->latency_ns, b->latency_ns);
	assert_int_equal(a->window_ns, b->window_ns);
	assert_int_equal(a->flags, b->flags);
	if (a->flags & TRACE_HALT_WINDOW) {
		assert_int_equal(a->old_ns, b->old_ns);
		assert_int_equal(a->new_ns, b->new_ns);
	}
}

static const struct trace_info test_info = {
	.params = {200000, 2, 10000, 2},
	.host = "Test CPU @ 3 GHz",
	.kernel = "6.1.0-test",
	.origin_unix_ns = 1700000000123456789ULL,
};

/** A writer with @nr_vms VMs of @per_vm vCPUs each: vCPU i of VM v has index v * per_vm + i. */
static inline struct vht_writer *begin_recording(int fd, const struct trace_info *info,
						 uint32_t nr_vms, uint32_t per_vm)
{
	struct vht_writer *w;

	assert_int_equal(vht_writer_create(&w, fd, info), 0);
	for (uint32_t v = 0; v < nr_vms; v++) {
		struct trace_vm vm = {1000 + v, v % 2 ? 100000 : TRACE_UNKNOWN_U32, ""};

		snprintf(vm.name, sizeof(vm.name), "vm%u", v);
		assert_int_equal(vht_writer_add_vm(w, &vm), 0);
		for (uint32_t i = 0; i < per_vm; i++) {
			struct trace_vcpu vcpu = {v, 2000 + v * per_vm + i, i, ""};

			snprintf(vcpu.name, sizeof(vcpu.name), "CPU %u/KVM", i);
			assert_int_equal(vht_writer_add_vcpu(w, &vcpu), 0);
		}
	}
	return w;
}

/** One vCPU of a host whose kernel decides by KVM's rules: what real recordings look like. */
struct kvm_vcpu {
	uint64_t end_ns;
	uint32_t window_ns, ceiling_ns;
};

/** The next halt of @vcpu (index @index): @run_ns, then a wake-up after @t_ns. */
static inline struct trace_halt kvm_halt(struct kvm_vcpu *vcpu, uint32_t index, uint64_t run_ns,
					 uint64_t t_ns)
{
	uint32_t in_force = vcpu->window_ns < vcpu->ceiling_ns ? vcpu->window_ns : vcpu->ceiling_ns;
	uint32_t next = in_force;
	struct trace_halt h = {.start_ns = vcpu->end_ns + run_ns,
			       .halt_ns = t_ns,
			       .run_ns = run_ns,
			       .deadline_ns = VHALT_NO_DEADLINE_NS,
			       .latency_ns = TRACE_UNKNOWN_U32,
			       .window_ns = in_force,
			       .vcpu = index};

	if (t_ns > in_force) {
		h.flags |= TRACE_HALT_WAITED;
		h.halt_ns += 12000;
	}
	if (h.halt_ns > in_force && in_force && h.halt_ns > vcpu->ceiling_ns)
		next = in_force / 2 < 10000 ? 0 : in_force / 2;
	else if (h.halt_ns > in_force && h.halt_ns < vcpu->ceiling_ns)
		next = in_force * 2 < 10000 ? 10000 : in_force * 2;
	if (next != in_force) {
		h.flags |= TRACE_HALT_WINDOW | (next > in_force ? TRACE_HALT_GROW : 0);
		h.old_ns = in_force;
		h.new_ns = next;
	}
	vcpu->window_ns = next;
	vcpu->end_ns = h.start_ns + h.halt_ns;
	return h;
}

#endif

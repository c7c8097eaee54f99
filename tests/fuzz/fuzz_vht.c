// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fuzz target: .vht files whose checksums are right, so that what is behind them gets tested.
#include "tests/fuzz/fuzz_file.h"

#include "trace/vht.h"
#include "trace/vht_bytes.h"
#include "trace/vht_frame.h"

/*
 * The input is taken for frames, one behind the other; headers are mended so that a reader accepts
 * them: checksums, counters and a length that ends within the input. What is read is then written
 * by our writer and read again, and must be the same.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr);

enum { VCPUS = 64, HALTS = 4 * VHT_HALTS_MAX };

static struct trace_halt *first, *second;
static size_t nr_first, nr_second;
static uint32_t nr_vcpus;

static void mend(uint8_t *data, size_t nr)
{
	uint32_t sequence = 0;
	uint64_t halts = 0;

	while (nr >= VHT_HEADER_BYTES) {
		size_t left = nr - VHT_HEADER_BYTES;
		uint32_t stored = vht_load_u32(data + 28);
		struct vht_frame f = {
			.type = data[4],
			.flags = data[5],
			.major = data[6],
			.minor = data[7],
			.recording = 1,
			.sequence = sequence++,
			.halts_before = halts,
			.halts = vht_load_u32(data + 24),
			.stored_bytes = stored < left ? stored : (uint32_t)left,
			.raw_bytes = vht_load_u32(data + 32),
		};

		if (!(f.flags & VHT_FRAME_ZSTD))
			f.raw_bytes = f.stored_bytes;
		f.payload_crc = vht_crc32(data + VHT_HEADER_BYTES, f.stored_bytes);
		vht_frame_encode(&f, data);
		halts += f.halts;
		data += VHT_HEADER_BYTES + f.stored_bytes;
		nr = left - f.stored_bytes;
	}
}

static void keep_first(const struct trace_info *info, const struct trace_halt *halts, size_t nr)
{
	nr_vcpus = info->nr_vcpus;
	if (nr_first + nr <= HALTS)
		memcpy(first + nr_first, halts, nr * sizeof(*halts));
	nr_first += nr;
}

static void keep_second(const struct trace_info *info, const struct trace_halt *halts, size_t nr)
{
	(void)info;
	if (nr_second + nr <= HALTS)
		memcpy(second + nr_second, halts, nr * sizeof(*halts));
	nr_second += nr;
}

static int write_again(void)
{
	static const struct trace_info info = {.params = {200000, 2, 10000, 2}};
	int fd = fuzz_file(NULL, 0);
	struct vht_writer *w;
	int err = vht_writer_create(&w, fd, &info);

	if (err)
		abort();
	err = vht_writer_add_vm(w, &(struct trace_vm){1, TRACE_UNKNOWN_U32, "fuzz"});
	for (uint32_t i = 0; i < nr_vcpus && !err; i++)
		err = vht_writer_add_vcpu(w, &(struct trace_vcpu){0, i, i, "fuzz"});
	for (size_t i = 0; i < nr_first && !err; i++)
		err = vht_writer_add(w, &first[i]);
	if (err || vht_writer_close(w, 1, 0) || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

/* The writer keeps the order of each vCPU, not that between them. */
static void compare(void)
{
	if (nr_first != nr_second)
		abort();
	for (uint32_t vcpu = 0; vcpu < nr_vcpus; vcpu++) {
		size_t at = 0;

		for (size_t i = 0; i < nr_first; i++) {
			if (first[i].vcpu != vcpu)
				continue;
			while (second[at].vcpu != vcpu)
				at++;
			if (memcmp(&first[i], &second[at++], sizeof(*first)))
				abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr)
{
	uint8_t *copy = malloc(nr ? nr : 1);

	first = first ? first : calloc(HALTS, sizeof(*first));
	second = second ? second : calloc(HALTS, sizeof(*second));
	if (!copy || !first || !second)
		abort();
	memcpy(copy, data, nr);
	mend(copy, nr);
	nr_first = nr_second = 0;
	fuzz_read(fuzz_file(copy, nr), keep_first);
	free(copy);
	if (!nr_first || nr_first > HALTS || nr_vcpus > VCPUS)
		return 0;
	fuzz_read(write_again(), keep_second);
	compare();
	return 0;
}

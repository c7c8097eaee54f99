// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Writes the inputs that fuzzing starts from: small sound files of every kind the readers know.

/*
 * Usage: seeds TARGET FOLDER       TARGET is fuzz_vht, fuzz_ns or fuzz_reader
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/vht.h"
#include "trace/vht_bytes.h"
#include "trace/vht_frame.h"

static const char *const lists[] = {
	"1000\n2000\n3000\n",
	"# T run deadline\n1000 10 -\n\n2000 20 5000\n3000\n",
	"1000 10\r\n-5\r\n1.5 2\r\n7 8 9 10\r\n",
	"9223372036854775807\n9223372036854775807\n1\n99999999999999999999\n",
};

static int create(const char *folder, const char *name, int number)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s-%d", folder, name, number);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		fprintf(stderr, "seeds: %s: %s\n", path, strerror(errno));
	return fd;
}

static int write_lists(const char *folder)
{
	int err = 0;

	for (int i = 0; i < (int)(sizeof(lists) / sizeof(lists[0])) && !err; i++) {
		int fd = create(folder, "list", i);

		err = fd < 0 || write(fd, lists[i], strlen(lists[i])) != (ssize_t)strlen(lists[i]);
		close(fd);
	}
	return err;
}

/* Every field of a halt takes some other value than the usual one now and then. */
static struct trace_halt draw(unsigned i, uint64_t *end_ns)
{
	struct trace_halt h = {
		.run_ns = 4000 + i * 37 % 1000,
		.halt_ns = i % 5 ? 20000 + i * 7919 % 20000 : 4000000,
		.deadline_ns = i % 7 ? VHALT_NO_DEADLINE_NS : 4000000,
		.latency_ns = i % 3 ? TRACE_UNKNOWN_U32 : 12000 + i,
		.window_ns = i % 11 ? 20000 : TRACE_UNKNOWN_U32,
		.flags = i % 32,
		.old_ns = 20000,
		.new_ns = i % 2 ? 40000 : 10000,
		.vcpu = i % 3,
	};

	h.start_ns = end_ns[h.vcpu] + h.run_ns;
	end_ns[h.vcpu] = h.start_ns + h.halt_ns;
	if (!(i % 13))
		h.run_ns = VHALT_UNKNOWN_NS;
	return h;
}

static int write_recording(int fd, unsigned halts)
{
	const struct trace_info info = {
		.params = {200000, 2, 10000, 2}, .host = "host", .kernel = "6.1.0"};
	uint64_t end_ns[3] = {0};
	struct vht_writer *w;
	int err = vht_writer_create(&w, fd, &info), end;

	if (err)
		return err;
	err = vht_writer_add_vm(w, &(struct trace_vm){100, 200000, "vm"});
	for (uint32_t i = 0; i < 3 && !err; i++)
		err = vht_writer_add_vcpu(w, &(struct trace_vcpu){0, 101 + i, i, "CPU"});
	for (unsigned i = 0; i < halts && !err; i++) {
		struct trace_halt h = draw(i, end_ns);

		err = vht_writer_add(w, &h);
		if (!err && i % 40 == 39)
			err = vht_writer_flush(w);
	}
	end = vht_writer_close(w, 1000000, 3);
	return err ? err : end;
}

/* The same file with its payloads unpacked: what a fuzzer changes is then not lost in zstd. */
static int unpack(int from, int to)
{
	static uint8_t stored[VHT_STORED_MAX], raw[VHT_RAW_MAX];
	uint8_t header[VHT_HEADER_BYTES];
	struct vht_frame f;

	if (lseek(from, 0, SEEK_SET))
		return -errno;
	while (read(from, header, sizeof(header)) == sizeof(header)) {
		const uint8_t *payload = stored;

		if (vht_frame_decode(&f, header) ||
		    read(from, stored, f.stored_bytes) != (ssize_t)f.stored_bytes)
			return -EBADMSG;
		if (f.flags & VHT_FRAME_ZSTD) {
			payload = raw;
			if (ZSTD_decompress(raw, sizeof(raw), stored, f.stored_bytes) !=
			    f.raw_bytes)
				return -EBADMSG;
		}
		f.flags = 0;
		f.stored_bytes = f.raw_bytes;
		f.payload_crc = vht_crc32(payload, f.raw_bytes);
		vht_frame_encode(&f, header);
		if (write(to, header, sizeof(header)) != sizeof(header) ||
		    write(to, payload, f.raw_bytes) != (ssize_t)f.raw_bytes)
			return -EIO;
	}
	return 0;
}

static int write_recordings(const char *folder)
{
	static const unsigned halts[] = {0, 1, 30, 100};
	int err = 0;

	for (int i = 0; i < 4 && !err; i++) {
		int packed = create(folder, "packed", i), plain = create(folder, "plain", i);

		err = packed < 0 || plain < 0 || write_recording(packed, halts[i]) ||
		      unpack(packed, plain);
		close(packed);
		close(plain);
	}
	return err;
}

int main(int argc, char **argv)
{
	bool vht, ns;

	if (argc != 3) {
		fprintf(stderr, "usage: seeds TARGET FOLDER\n");
		return 2;
	}
	vht = !strcmp(argv[1], "fuzz_vht") || !strcmp(argv[1], "fuzz_reader");
	ns = !strcmp(argv[1], "fuzz_ns") || !strcmp(argv[1], "fuzz_reader");
	return (vht && write_recordings(argv[2])) || (ns && write_lists(argv[2]));
}

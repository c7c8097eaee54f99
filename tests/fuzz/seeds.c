// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Writes the inputs that fuzzing starts from: small sound files of every kind the readers know.

/*
 * Usage: seeds TARGET FOLDER       TARGET is a fuzz target's name; those without seeds get none
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "sim/scenario.h"
#include "tests/unit/tracedat_maker.h"
#include "trace/vht.h"
#include "trace/vht_bytes.h"
#include "trace/vht_frame.h"

static const char *const lists[] = {
	"1000\n2000\n3000\n",
	"# T run deadline\n1000 10 -\n\n2000 20 5000\n3000\n",
	"1000 10\r\n-5\r\n1.5 2\r\n7 8 9 10\r\n",
	"9223372036854775807\n9223372036854775807\n1\n99999999999999999999\n",
};

/* The first byte chooses what fuzz_text makes of the rest; for fuzz_reader it is left out. */
static const char *const traces[] = {
	"0# tracer: nop\n  CPU 0/KVM-41  [001] d..1.  12.000345: kvm_vcpu_wakeup: wait time 9 ns, "
	"polling valid\nCPU:1 [LOST 7 EVENTS]\n  x-42  [000] .... 12.000350: kvm_halt_poll_ns: "
	"vcpu 0: halt_poll_ns 10000 (grow 0)\n",
	"0> qemu 83/84 [090] 10892345.982869:\n> kvm:kvm_exit: reason HLT rip 0x1 info 0 0\n",
	"0[  10.834143] x-70  1dNh3. 9211us : kvm_vcpu_wakeup: poll time 45 ns\n",
	"0cpus=2\n a b-5 [000] 1.5: kvm_exit:   vcpu 0 reason HLT rip 0x1 info1 0x0\n"
	" a b-5 [000] 1.6: kvm_userspace_exit:   reason KVM_EXIT_HLT (5)\n"
	"CPU 1 [9 EVENTS DROPPED]\n",
	"0 c-1 [000] d... 1.7: sched_waking: comm=a b pid=5 prio=120 target_cpu=001\n"
	" ... kvm:kvm_halt_poll_ns: vcpu 0: halt_poll_ns -1 (shrink 10000)\n"
	"5: kvm_vcpu_wakeup: ns=5 waited=1 valid=0\n",
	"1abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz",
};

/* The first byte has fuzz_stats take the rest as it is. */
static const char *const statistics[] = {
	"5kvm statistics - summary\n\n Event            Total %Total CurAvg/s\n"
	" kvm_exit          100   50.0       4\n  kvm_exit(HLT)     90   90.0\n Total  200   8\n",
	"5timestamp,halt_exits,halt_wakeup\n2021-03-04 12:34:56,1,2\n2021-03-04 12:34:57,3,4\n",
	"5Analyze events for pid(s) 6, all VCPUs:\n\n VM-EXIT Samples Samples% Time% Min Time Max Time "
	"Avg time\n hlt 4 9.00% 8.00% 0.32us 9.58us 2.19us ( +- 5.93% )\nTotal Samples:4, Total "
	"events handled time:9.92us.\n",
	"5==> /sys/module/kvm/parameters/halt_poll_ns <==\n200000\n\n/sys/kernel/debug/kvm/1-2/"
	"halt_exits:5\nhalt_poll_fail_hist: 0 1 2\noptions kvm halt_poll_ns=4\nCONFIG_HZ=1000\n",
	"5{\"name\": \"halt_exits\", \"value\": [1, 2]}\nname: kvm_vcpu_wakeup\nID: 4\n"
	"\tfield:__u64 ns;\toffset:8;\tsize:8;\tsigned:0;\n",
};

/* A whole table, and what is refused late. */
static const char *const scenarios[] = {
	"; comment\n[scenario]\ntitle = T\nnote = N\nseeds = 7\n[run]\nduration = 10ms\n[host]\n"
	"pcpus = 4 ; another\npolicy = kvm:halt_poll_ns=50us,shrink=0\n[vm web]\nvcpus = 2\n"
	"workload = rr\n[vm hog]\nworkload = hog\nboost = holder\n[column one]\nvm.hz = 100\n"
	"[column two]\nweb.vcpus = 3\nhost.smt = yes\n[row first]\nscore = web.latency\n"
	"hog.count = 9\npublished.two = 1 us\n[row second]\nscore = host.busy\n",
	"[vm a]\nworkload = ctxsw\nvcpus = 2\n[row x]\na.vcpus = 1\n",
	"\xef\xbb\xbf[vm a]\r\nvcpus = 16384\r\ncount = 65536\r\n",
};

#define NR_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

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

static int write_statistics(const char *folder)
{
	int err = 0;

	for (int i = 0; i < (int)(sizeof(statistics) / sizeof(statistics[0])) && !err; i++) {
		int fd = create(folder, "statistics", i);
		size_t nr = strlen(statistics[i]);

		err = fd < 0 || write(fd, statistics[i], nr) != (ssize_t)nr;
		close(fd);
	}
	return err;
}

static void put_params(FILE *file, const char *section, const struct sim_param *params)
{
	fprintf(file, "[%s]\n", section);
	for (const struct sim_param *p = params; p->name; p++)
		if (p->type == SIM_PARAM_NS)
			fprintf(file, "%s = %" PRIu64 "ns\n", p->name, p->dflt);
		else if (p->type == SIM_PARAM_NUMBER || p->type == SIM_PARAM_BOOL)
			fprintf(file, "%s = %" PRIu64 "\n", p->name, p->dflt);
		else
			fprintf(file, "%s = %s\n", p->name,
				p->type == SIM_PARAM_WORKLOAD ? "idle"
				: p->type == SIM_PARAM_BOOST  ? "kernel"
							      : "auto");
}

/* Every parameter there is. */
static void put_all_params(FILE *file)
{
	put_params(file, "run", sim_run_params);
	put_params(file, "host", sim_host_params);
	put_params(file, "vm a", sim_vm_params);
}

/* As many and as long as possible: one more, and it is too much. */
static void put_limits(FILE *file)
{
	fprintf(file, "[scenario]\nseeds = 1000\ntitle = %0159d\nnote = %0159d\n", 0, 0);
	for (int i = 0; i < SIM_KINDS_MAX; i++)
		fprintf(file, "[vm kind-%018d]\nhz = 1\n", i);
	for (int i = 0; i < SIM_LINES_MAX; i++)
		fprintf(file, "[column %038d]\nvm.hz = 9\n[row %038d]\nhost.scan = 9\n", i, i);
	fprintf(file, "[row %038d]\n", 0);
	for (int i = 0; i < SIM_OVERRIDES_MAX; i++)
		fprintf(file, "published.%038d = 1\n", i);
	fprintf(file, "[column %038d]\n", 0);
	for (int i = 0; i < SIM_OVERRIDES_MAX - 1; i++)
		fprintf(file, "host.%s = 1%s\n", sim_host_params[i].name,
			sim_host_params[i].type == SIM_PARAM_NS ? "ms" : "");
}

static void put_scenario(FILE *file, size_t index)
{
	if (index < NR_SCENARIOS)
		fputs(scenarios[index], file);
	else if (index == NR_SCENARIOS)
		put_all_params(file);
	else
		put_limits(file);
}

static int write_scenarios(const char *folder)
{
	int err = 0;

	for (int i = 0; i < (int)NR_SCENARIOS + 2 && !err; i++) {
		int fd = create(folder, "scenario", i);
		FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

		if (!file)
			return -EIO;
		put_scenario(file, (size_t)i);
		err = ferror(file) ? -EIO : 0;
		if (fclose(file))
			err = -EIO;
	}
	return err;
}

static int write_traces(const char *folder, size_t skip)
{
	int err = 0;

	for (int i = 0; i < (int)(sizeof(traces) / sizeof(traces[0])) && !err; i++) {
		int fd = create(folder, "trace", i);
		size_t nr = strlen(traces[i] + skip);

		err = fd < 0 || write(fd, traces[i] + skip, nr) != (ssize_t)nr;
		close(fd);
	}
	return err;
}

/* A whole trace.dat; for fuzz_tracedat a page's content and changes to a file of its own. */
static int write_tracedat(const char *folder, bool whole)
{
	static const struct made_name names[] = {{5, "CPU 0/KVM"}, {0, NULL}};
	static const struct made_event events[] = {
		{.time_ns = 900, .kind = TRACE_EVENT_WINDOW, .tid = 5, .new_ns = 10000},
		{.time_ns = 1000, .kind = TRACE_EVENT_WAKEUP, .tid = 5, .ns = 500, .flags = 1},
	};
	struct tracedat_page page = {.used = 0};
	int fd = create(folder, "tracedat", 0), err;
	uint8_t record[64];
	struct made m = {0};

	if (whole) {
		made_tracedat(&m, events, 2, names, 1);
	} else {
		made_bytes(&m, "\1", 1);
		for (int i = 0; i < 2; i++) {
			uint32_t nr = (uint32_t)tracedat_record(record, &events[i]);

			nr = nr / 4;
			tracedat_put(&page, &nr, 4);
			tracedat_put(&page, record, nr * 4);
		}
		made_bytes(&m, page.data, page.used);
	}
	err = fd < 0 || write(fd, m.data, m.nr) != (ssize_t)m.nr;
	close(fd);
	free(m.data);
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
	const char *target;
	bool all;

	if (argc != 3) {
		fprintf(stderr, "usage: seeds TARGET FOLDER\n");
		return 2;
	}
	target = argv[1];
	all = !strcmp(target, "fuzz_reader");
	if ((all || !strcmp(target, "fuzz_vht")) && write_recordings(argv[2]))
		return 1;
	if ((all || !strcmp(target, "fuzz_ns")) && write_lists(argv[2]))
		return 1;
	if ((all || !strcmp(target, "fuzz_text")) && write_traces(argv[2], all))
		return 1;
	if (!strcmp(target, "fuzz_stats") && write_statistics(argv[2]))
		return 1;
	if (!strcmp(target, "fuzz_scenario") && write_scenarios(argv[2]))
		return 1;
	if ((all || !strcmp(target, "fuzz_tracedat")) && write_tracedat(argv[2], all))
		return 1;
	return 0;
}

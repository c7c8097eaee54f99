// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What recording a halt costs: in the vCPU's thread by the kernel's BPF statistics, and in our
// process.

/*
 * In the kernel: the recorder's own programs and their peers (recorder_peer.bpf.c) are run in turns
 * by BPF_PROG_TEST_RUN, so that what else the machine does hits all alike. Each figure is the
 * median of the batches, beside it the best one. They contain what the statistics themselves cost
 * ("empty"). One system call lies between two runs: caches and, with page-table isolation, TLBs are
 * as cold as after a vCPU's exit; a loop inside the kernel would flatter. The share of a CPU is
 * without the statistics, which are off while one records in earnest.
 *
 * In our process: rings filled here as the programs fill them, with halts such as a bursty guest
 * makes them, are merged, tracked and written to a file in memory by the recorder's parts. CPU time
 * of this thread, the filling left out.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "bench/recorder_peer.skel.h"
#pragma GCC diagnostic pop
#include "bench/draw.h"
#include "trace/recorder.h"
#include "trace/recorder_internal.h"
#include "trace/recorder_ring.h"
#include "trace/recorder_track.h"
#include "trace/vht.h"
#include "util/clock.h"

enum { BATCHES = 101, BATCH_RUNS = 200 };
enum { CPUS = 4, SLOTS = 8192, VCPUS = 16, ROUNDS = 100, ROUND_HALTS = 10000 };

/* Of 100 halts, those after which the kernel changes the window: a mixed load. */
enum { DECIDED_PERCENT = 25 };

#define REGION_BYTES (sizeof(struct recorder_region) + SLOTS * sizeof(struct recorder_slot))

/* --- in the kernel -----------------------------------------------------------------------------
 */

enum { WAKEUP, DECISION, PEER_WAKEUP, PEER_DECISION, CLOCK, EMPTY, NR_PROGRAMS };

static const char *const names[NR_PROGRAMS] = {
	[WAKEUP] = "wakeup",
	[DECISION] = "decision",
	[PEER_WAKEUP] = "peer_wakeup",
	[PEER_DECISION] = "peer_decision",
	[CLOCK] = "clock",
	[EMPTY] = "empty",
};

struct program {
	int fd;
	double batch_ns[BATCHES];
};

static uint64_t args_wakeup[] = {50000, 1, 1};
static uint64_t args_decision[] = {1, 0, 20000, 10000};

static int run_batch(struct program *p, bool is_decision, int batch)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args_wakeup,
		    .ctx_size_in = sizeof(args_wakeup));
	struct bpf_prog_info before = {0}, after = {0};
	uint32_t bytes = sizeof(before);

	if (is_decision) {
		opts.ctx_in = args_decision;
		opts.ctx_size_in = sizeof(args_decision);
	}
	if (bpf_obj_get_info_by_fd(p->fd, &before, &bytes))
		return -1;
	for (int i = 0; i < BATCH_RUNS; i++)
		if (bpf_prog_test_run_opts(p->fd, &opts))
			return -1;
	bytes = sizeof(after);
	if (bpf_obj_get_info_by_fd(p->fd, &after, &bytes) || after.run_cnt == before.run_cnt)
		return -1;
	p->batch_ns[batch] = (double)(after.run_time_ns - before.run_time_ns) /
			     (double)(after.run_cnt - before.run_cnt);
	return 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(const struct program *p)
{
	return p->batch_ns[BATCHES / 2];
}

static int measure(struct program *programs, struct recorder *recorder,
		   struct ring_buffer *peer_ring)
{
	for (int batch = 0; batch < BATCHES; batch++) {
		for (int i = 0; i < NR_PROGRAMS; i++)
			if (run_batch(&programs[i], i == DECISION || i == PEER_DECISION, batch))
				return -1;
		ring_buffer__consume(peer_ring);
		if (recorder_drain(recorder))
			return -1;
	}
	for (int i = 0; i < NR_PROGRAMS; i++)
		qsort(programs[i].batch_ns, BATCHES, sizeof(double), compare_doubles);
	return 0;
}

static int ignore_event(void *context, void *data, size_t bytes)
{
	(void)context;
	(void)data;
	(void)bytes;
	return 0;
}

/* What a halt costs by two programs, of which the second runs after some halts only. */
static double per_halt(double wakeup_ns, double decision_ns)
{
	return wakeup_ns + DECIDED_PERCENT / 100.0 * decision_ns;
}

/* Prints the figures. Return: ns of a halt, without what the statistics add. */
static double print_programs(const struct program *p, int nr)
{
	double ours_ns = per_halt(median(&p[WAKEUP]), median(&p[DECISION]));
	double peer_ns = per_halt(median(&p[PEER_WAKEUP]), median(&p[PEER_DECISION]));

	for (int i = 0; i < nr; i++)
		printf("\"%s_ns\":%.1f,\"%s_best_ns\":%.1f,", names[i], median(&p[i]), names[i],
		       p[i].batch_ns[0]);
	printf("\"decided_percent\":%d,\"ns_per_halt\":%.1f,\"peer_ns_per_halt\":%.1f,",
	       DECIDED_PERCENT, ours_ns, peer_ns);
	return ours_ns - per_halt(median(&p[EMPTY]), median(&p[EMPTY]));
}

/* Prints the programs' figures; *@ns_per_halt: see print_programs(). Return: 0, -1 (said). */
static int bench_programs(double *ns_per_halt)
{
	const struct recorder_config config = {.fd = memfd_create("recorder_bench", MFD_CLOEXEC),
					       .statistics = true};
	struct recorder_peer_bpf *peer = recorder_peer_bpf__open_and_load();
	char error[512] = "the peer's programs did not load";
	struct recorder *recorder = NULL;
	struct ring_buffer *ring = NULL;
	int err = -1;

	if (peer)
		ring = ring_buffer__new(bpf_map__fd(peer->maps.events), ignore_event, NULL, NULL);
	if (ring && !recorder_create(&recorder, &config, error, sizeof(error))) {
		struct program programs[NR_PROGRAMS] = {
			[WAKEUP].fd = recorder_program_fd(recorder, RECORDER_WAKEUP),
			[DECISION].fd = recorder_program_fd(recorder, RECORDER_DECISION),
			[PEER_WAKEUP].fd = bpf_program__fd(peer->progs.peer_wakeup),
			[PEER_DECISION].fd = bpf_program__fd(peer->progs.peer_decision),
			[CLOCK].fd = bpf_program__fd(peer->progs.peer_clock),
			[EMPTY].fd = bpf_program__fd(peer->progs.peer_empty),
		};

		snprintf(error, sizeof(error), "a program could not be run");
		err = measure(programs, recorder, ring);
		if (!err)
			*ns_per_halt = print_programs(programs, NR_PROGRAMS);
	}
	if (err)
		fprintf(stderr, "recorder_bench: %s\n", error);
	recorder_destroy(recorder);
	ring_buffer__free(ring);
	recorder_peer_bpf__destroy(peer);
	close(config.fd);
	return err;
}

/* --- in our process ----------------------------------------------------------------------------
 */

struct vcpu {
	uint64_t end_ns; /* of its next halt */
	uint64_t halt_ns;
	uint32_t window_ns;
};

/* Mostly short halts, one in 16 long; 3 to 13 us of work between them. */
static void next_halt(struct vcpu *v)
{
	v->halt_ns = draw(16) ? 5000 + draw(60000) : 300000 + draw(4000000);
	v->end_ns += 3000 + draw(10000) + v->halt_ns;
}

/* The halts of all vCPUs as they end, each into the ring of the CPU its vCPU has. */
static void fill(unsigned char *memory, struct vcpu *vcpus, int nr_halts)
{
	for (int n = 0; n < nr_halts; n++) {
		struct recorder_region *region;
		struct recorder_slot *slot;
		uint32_t first = 0;

		for (uint32_t i = 1; i < VCPUS; i++)
			if (vcpus[i].end_ns < vcpus[first].end_ns)
				first = i;
		region = (struct recorder_region *)(void *)(memory + first % CPUS * REGION_BYTES);
		slot = &region->slots[region->head % SLOTS];
		*slot = (struct recorder_slot){
			.time_ns = vcpus[first].end_ns,
			.halt_ns = vcpus[first].halt_ns,
			.tid = 1000 + first,
			.pid = 1000,
			.latency_ns = RECORDER_NO_LATENCY,
			.flags = RECORDER_VALID | RECORDER_WAITED,
		};
		if (draw(100) < DECIDED_PERCENT) {
			slot->flags |= RECORDER_DECIDED;
			slot->old_ns = vcpus[first].window_ns;
			slot->new_ns = slot->old_ns ? 0 : 10000;
			slot->number = first;
			vcpus[first].window_ns = slot->new_ns;
		}
		slot->seq = (uint32_t)++region->head;
		next_halt(&vcpus[first]);
	}
}

static void name_task(void *context, uint32_t pid, uint32_t tid, struct recorder_task *task)
{
	(void)context;
	memset(task, 0, sizeof(*task));
	snprintf(task->vm_name, sizeof(task->vm_name), "vm %" PRIu32, pid);
	snprintf(task->thread_name, sizeof(task->thread_name), "CPU %" PRIu32 "/KVM", tid - 1000);
}

/* The user side of a recorder, over rings of ours. */
struct drainer {
	unsigned char *memory;
	struct recorder_rings rings;
	struct recorder_track track;
	struct vht_writer *writer;
	uint32_t nr_named;
	int fd;
};

static int start(struct drainer *d)
{
	const struct trace_info info = {.params = {200000, 2, 10000, 2}};

	*d = (struct drainer){.fd = memfd_create("recorder_bench", MFD_CLOEXEC)};
	d->memory = aligned_alloc(64, CPUS * REGION_BYTES);
	if (!d->memory)
		return -1;
	memset(d->memory, 0, CPUS * REGION_BYTES);
	return recorder_rings_init(&d->rings, d->memory, REGION_BYTES, CPUS, SLOTS) ||
	       recorder_track_init(&d->track, 0, 200000, name_task, NULL) ||
	       vht_writer_create(&d->writer, d->fd, &info);
}

/* What recorder_drain() does with what it finds in the rings. */
static int drain(struct drainer *d)
{
	const struct recorder_slot *slot;
	struct trace_halt halt;
	uint64_t epoch;
	int err = 0;

	recorder_rings_begin(&d->rings, UINT64_MAX, false);
	while (!err && (slot = recorder_rings_next(&d->rings, &epoch)) != NULL) {
		int steps = recorder_track_slot(&d->track, slot, epoch, &halt);

		if (!d->nr_named)
			err = vht_writer_add_vm(d->writer, recorder_track_vm(&d->track, 0));
		for (; !err && d->nr_named < d->track.nr_vcpus; d->nr_named++)
			err = vht_writer_add_vcpu(d->writer,
						  recorder_track_vcpu(&d->track, d->nr_named));
		if (!err && steps & RECORDER_STEP_HALT)
			err = vht_writer_add(d->writer, &halt);
	}
	return err;
}

/* Return: ns per halt of our process, negative on failure; *@bytes_per_halt of the file. */
static double bench_drain(double *bytes_per_halt)
{
	struct vcpu vcpus[VCPUS] = {0};
	uint64_t spent_ns = 0, began_ns;
	struct drainer d;
	int err = start(&d);

	for (int i = 0; i < VCPUS; i++)
		next_halt(&vcpus[i]);
	for (int round = 0; !err && round < ROUNDS; round++) {
		fill(d.memory, vcpus, ROUND_HALTS);
		began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		err = drain(&d);
		spent_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	}
	began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	if (d.writer && vht_writer_close(d.writer, vcpus[0].end_ns, 0))
		err = -1;
	spent_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	*bytes_per_halt = (double)lseek(d.fd, 0, SEEK_END) / (double)(ROUNDS * ROUND_HALTS);
	recorder_track_fini(&d.track);
	recorder_rings_fini(&d.rings);
	free(d.memory);
	close(d.fd);
	return err ? -1 : (double)spent_ns / (double)(ROUNDS * ROUND_HALTS);
}

int main(void)
{
	double ns_per_halt = 0, drain_ns, bytes_per_halt;
	int failed;

	printf("{\"name\":\"recorder\",");
	failed = bench_programs(&ns_per_halt);
	drain_ns = bench_drain(&bytes_per_halt);
	if (failed)
		printf("\"skipped\":\"the programs; the reason is on stderr\",");
	else
		printf("\"cpu_percent_at_100000_halts_per_s\":%.2f,",
		       (ns_per_halt + drain_ns) * 100000 / 1e9 * 100);
	printf("\"drain_ns_per_halt\":%.1f,\"bytes_per_halt\":%.2f}\n", drain_ns, bytes_per_halt);
	return drain_ns < 0;
}

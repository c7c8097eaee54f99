/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Recordings made on this kernel by running the recorder's programs without KVM, and read back. */
#ifndef VHALT_TESTS_RECORDER_FIXTURE_H
#define VHALT_TESTS_RECORDER_FIXTURE_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "trace/reader.h"
#include "trace/recorder.h"
#include "trace/recorder_internal.h"
#include "trace/recorder_names.h"

enum { RING_BYTES = RECORDER_RING_MIN, RING_SLOTS = RING_BYTES / 64, MAX_HALTS = 100000 };

/* A recording and, once it was read back, its halts. */
struct recording {
	struct recorder *recorder;
	int fd;
	struct trace_reader *reader;
	const struct trace_info *info;
	struct trace_halt *halts;
	uint32_t nr_halts;
};

/* What keeps this machine from recording, as the recorder itself says it; NULL: nothing. */
static inline const char *find_skip_reason(void)
{
	static char error[512];
	const struct recorder_config config = {.fd = memfd_create("probe", MFD_CLOEXEC)};
	struct recorder *recorder;
	int err = recorder_create(&recorder, &config, error, sizeof(error));

	recorder_destroy(recorder);
	close(config.fd);
	if (err == -EPERM || err == -ENOTSUP || err == -ENOENT)
		return error;
	return recorder_in_host_pids() ? NULL : "process ids are not the host's here";
}

/* Set by main() to find_skip_reason(). */
static const char *skip_reason;

static inline bool can_record(void)
{
	if (skip_reason)
		print_message("skipped: %s\n", skip_reason);
	return !skip_reason;
}

static inline void begin_with(struct recording *r, struct recorder_config config)
{
	char error[512] = "";

	*r = (struct recording){.fd = memfd_create("recording", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
	assert_true(r->fd >= 0);
	config.fd = r->fd;
	if (recorder_create(&r->recorder, &config, error, sizeof(error)))
		fail_msg("%s", error);
}

/* Records this process alone: on a machine with VMs theirs would come in between. */
static inline void begin(struct recording *r, uint32_t ring_bytes)
{
	const uint32_t pid = (uint32_t)getpid();

	begin_with(r,
		   (struct recorder_config){.pids = &pid, .nr_pids = 1, .ring_bytes = ring_bytes});
}

static inline void report(void *context, const char *text)
{
	(void)context;
	print_message("%s\n", text);
}

static inline int compare_halts(const void *a, const void *b)
{
	const struct trace_halt *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Ends the recording and reads it back, all vCPUs' halts merged by time. */
static inline void finish(struct recording *r)
{
	static const struct trace_diag diag = {.report = report};
	const struct trace_halt *batch;
	char path[64];
	ssize_t n;

	assert_int_equal(recorder_destroy(r->recorder), 0);
	r->recorder = NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", r->fd);
	assert_int_equal(trace_reader_open(&r->reader, path, &diag), 0);
	r->halts = calloc(MAX_HALTS, sizeof(*r->halts));
	while ((n = trace_reader_next(r->reader, &batch)) > 0) {
		assert_true(r->nr_halts + (uint32_t)n <= MAX_HALTS);
		memcpy(&r->halts[r->nr_halts], batch, (size_t)n * sizeof(*batch));
		r->nr_halts += (uint32_t)n;
	}
	assert_int_equal(n, 0);
	qsort(r->halts, r->nr_halts, sizeof(*r->halts), compare_halts);
	r->info = trace_reader_info(r->reader);
}

static inline void release(struct recording *r)
{
	trace_reader_close(r->reader);
	free(r->halts);
	close(r->fd);
}

static inline int run_program(const struct recorder *recorder, enum recorder_program program,
			      uint64_t *args, uint32_t nr_args)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args,
		    .ctx_size_in = nr_args * (uint32_t)sizeof(*args));

	return bpf_prog_test_run_opts(recorder_program_fd(recorder, program), &opts);
}

/* What KVM's tracepoints do at the end of a halt of the calling thread. */
static inline int fire_wakeup(const struct recorder *recorder, uint64_t halt_ns, bool waited,
			      bool valid)
{
	uint64_t args[] = {halt_ns, waited, valid};

	return run_program(recorder, RECORDER_WAKEUP, args, 3);
}

static inline int fire_decision(const struct recorder *recorder, uint32_t number, uint32_t new_ns,
				uint32_t old_ns)
{
	uint64_t args[] = {new_ns > old_ns, number, new_ns, old_ns};

	return run_program(recorder, RECORDER_DECISION, args, 4);
}

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static inline void wait_until(uint64_t time_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(time_ns / 1000000000),
			      .tv_nsec = (long)(time_ns % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

/* A drain leaves the last millisecond to the next one; this waits until it would not. */
static inline void drain_all(struct recording *r)
{
	wait_until(now_ns() + 2000000);
	assert_int_equal(recorder_drain(r->recorder), 0);
}

static inline void move_to(uint32_t cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How fast event traces are read: MB/s of ftrace text and of perf's, and the memory that takes.

/*
 * Usage: text_bench [GIB]	GIB: length of the trace that measures memory (default 1)
 *
 * Texts of 64 MiB, drawn (seeded) as a host's would be: "halts" holds halts and window changes
 * only, "mixed" eight scheduler events to each, "others" scheduler events alone. Rates are of CPU
 * time of this thread, the best of PASSES. Memory is that of a process of its own which reads GIB
 * through a pipe; the writer moves the time of every line on with each repetition.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/reader_format.h"
#include "util/clock.h"

enum { TEXT_BYTES = 64 << 20, PASSES = 3, LINE_ROOM = 256, VCPUS = 8, SECONDS_DIGITS = 7 };

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % below;
}

struct text {
	char *data;
	size_t nr, halts;
	uint64_t now_us;
	/* Where each line has the digits of its seconds. */
	uint32_t *times;
	size_t nr_times;
};

static void print_line(struct text *t, bool perf, const char *system, const char *event)
{
	char *at = t->data + t->nr;
	uint32_t vcpu = draw(VCPUS);
	int nr;

	t->now_us += 1 + draw(5);
	nr = perf ? sprintf(at, "       CPU %u/KVM  4000/400%u [%03u] ", vcpu, vcpu, vcpu)
		  : sprintf(at, "       CPU %u/KVM-400%u    [%03u] d..1. ", vcpu, vcpu, vcpu);
	t->times[t->nr_times++] = (uint32_t)(t->nr + (size_t)nr);
	nr += sprintf(at + nr, "%0*" PRIu64 ".%06" PRIu64 ": %s%s", SECONDS_DIGITS,
		      t->now_us / 1000000, t->now_us % 1000000, perf ? system : "", event);
	t->nr += (size_t)nr;
}

static void print_halt(struct text *t, bool perf)
{
	static const char *const ends[] = {"wait", "poll"};
	uint32_t ns = 1000 + draw(3000);
	char event[120];

	if (!draw(3)) {
		snprintf(event, sizeof(event),
			 "kvm_halt_poll_ns: vcpu 0: halt_poll_ns %u (grow %u)\n", ns * 2, ns);
		print_line(t, perf, "kvm:", event);
	}
	snprintf(event, sizeof(event), "kvm_vcpu_wakeup: %s time %u ns, polling valid\n",
		 ends[draw(2)], ns);
	print_line(t, perf, "kvm:", event);
	t->halts++;
}

static void print_other(struct text *t, bool perf)
{
	print_line(t, perf, "sched:",
		   "sched_switch: prev_comm=CPU 0/KVM prev_pid=4001 prev_prio=120 prev_state=S ==> "
		   "next_comm=swapper/3 next_pid=0 next_prio=120\n");
}

static int make(struct text *t, bool perf, unsigned others, bool halts)
{
	seed = 20260909;
	*t = (struct text){.now_us = 1000000,
			   .data = malloc(TEXT_BYTES + LINE_ROOM * 16),
			   .times = calloc(TEXT_BYTES / 64, sizeof(uint32_t))};
	if (!t->data || !t->times)
		return -1;
	while (t->nr < TEXT_BYTES) {
		if (halts)
			print_halt(t, perf);
		for (unsigned i = 0; i < others; i++)
			print_other(t, perf);
	}
	return 0;
}

static void discard(struct text *t)
{
	free(t->data);
	free(t->times);
}

/* Reads @fd, which is closed, through; the number of halts in it. */
static uint64_t read_all(int fd)
{
	const struct trace_halt *batch;
	struct trace_reader *reader;
	uint64_t halts = 0;
	ssize_t nr;

	if (trace_reader_open_fd(&reader, fd, "bench", NULL))
		return 0;
	while ((nr = trace_reader_next(reader, &batch)) > 0)
		halts += (uint64_t)nr;
	trace_reader_close(reader);
	return halts;
}

static int measure(const char *name, bool perf, unsigned others, bool halts)
{
	double best_ns = 1e30;
	struct text t;

	if (make(&t, perf, others, halts))
		return -1;
	for (int pass = 0; pass < PASSES; pass++) {
		int fd = memfd_create("text_bench", 0);
		uint64_t began_ns;

		if (fd < 0 || write(fd, t.data, t.nr) != (ssize_t)t.nr || lseek(fd, 0, SEEK_SET))
			return -1;
		began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		if (read_all(fd) != t.halts)
			return -1;
		best_ns = fmin(best_ns,
			       (double)(clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns));
	}
	printf("\"%s_mb_per_s\":%.0f,", name, (double)t.nr * 1e3 / best_ns);
	fflush(stdout);
	discard(&t);
	return 0;
}

/* Writes the text again and again, each time later than before. */
static void write_on(struct text *t, int fd, uint64_t bytes)
{
	uint64_t step_s = t->now_us / 1000000 + 1;

	for (uint64_t written = 0, pass = 0; written < bytes; written += t->nr, pass++) {
		for (size_t i = 0; pass && i < t->nr_times; i++) {
			char *digits = t->data + t->times[i], old[SECONDS_DIGITS + 1];

			memcpy(old, digits, SECONDS_DIGITS);
			old[SECONDS_DIGITS] = '\0';
			snprintf(old, sizeof(old), "%0*" PRIu64, SECONDS_DIGITS,
				 (uint64_t)strtoull(old, NULL, 10) + step_s);
			memcpy(digits, old, SECONDS_DIGITS);
		}
		for (size_t done = 0; done < t->nr;) {
			ssize_t nr = write(fd, t->data + done, t->nr - done);

			if (nr < 0)
				_exit(1);
			done += (size_t)nr;
		}
	}
	_exit(0);
}

/* In a process of its own: nothing but the reader, and its peak of memory. */
static int measure_memory(double gib)
{
	int ends[2], status;
	struct rusage usage;
	struct text t;
	pid_t writer, reader;

	if (pipe(ends))
		return -1;
	reader = fork();
	if (!reader) {
		close(ends[1]);
		status = read_all(ends[0]) == 0;
		_exit(status);
	}
	close(ends[0]);
	if (make(&t, false, 8, true))
		return -1;
	writer = fork();
	if (!writer)
		write_on(&t, ends[1], (uint64_t)(gib * (1 << 30)));
	close(ends[1]);
	discard(&t);
	if (writer < 0 || reader < 0 || waitpid(writer, &status, 0) != writer || status ||
	    wait4(reader, &status, 0, &usage) != reader || status)
		return -1;
	printf("\"stream_gib\":%.2f,\"stream_peak_kib\":%ld,\"stream_cpu_s\":%.2f,", gib,
	       usage.ru_maxrss,
	       (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	double gib = argc > 1 ? strtod(argv[1], NULL) : 1;

	printf("{\"name\":\"text\",\"threads\":1,");
	fflush(stdout);
	/* First of all, while this process is small: a child begins with what its parent has. */
	if (measure_memory(gib > 0 ? gib : 1) || measure("ftrace_halts", false, 0, true) ||
	    measure("ftrace_mixed", false, 8, true) || measure("ftrace_others", false, 8, false) ||
	    measure("perf_mixed", true, 8, true)) {
		fprintf(stderr, "text_bench: failed\n");
		return 1;
	}
	printf("\"passes\":%d}\n", PASSES);
	return 0;
}

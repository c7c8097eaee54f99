// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What a halt takes in a .vht file: bytes, ns of CPU to write and to read, by kind of guest.

/*
 * The halts are drawn (seeded) as a host's would be: run times and lengths as in the guests of
 * vhalt vm, windows by KVM's rules, a flush every second of recorded time. Sizes include every byte
 * of the file. Times are the best of PASSES: the best is what the code can do, the rest is what
 * else the machine did.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "trace/reader_format.h"
#include "trace/vht.h"
#include "util/clock.h"

enum { HALTS = 1 << 21, VCPUS = 2, PASSES = 3, CEILING_NS = 200000, GROW_START_NS = 10000 };

static uint64_t seed;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979 * uniform());
}

static double lognormal(double median, double sd)
{
	return median * exp(sd * normal());
}

static double tick(void)
{
	return 4e6 + 1e4 * normal();
}

static double rr(void)
{
	return lognormal(27e3, .25);
}

static double burst(void)
{
	static int left, is_long;

	if (left-- <= 0) {
		is_long = !is_long;
		left = is_long ? 2 : 12;
	}
	return is_long ? lognormal(1e6, .7) : lognormal(30e3, .5);
}

static double noise(void)
{
	return exp(log(1e3) + uniform() * log(1e5));
}

static double mixed(void)
{
	double which = uniform();

	return which < .7 ? rr() : which < .9 ? burst() : tick();
}

static const struct guest {
	const char *name;
	double (*t_ns)(void);
	bool latency;
} guests[] = {
	{"tick", tick, false},		{"rr", rr, false},
	{"burst", burst, false},	{"mixed", mixed, false},
	{"burst+latency", burst, true}, {"noise", noise, false},
};

/* KVM's decision after a halt, with its default parameters. */
static void decide(struct trace_halt *h, uint32_t *window_ns)
{
	uint32_t old = h->window_ns, new = old;

	if (h->halt_ns <= old)
		return;
	if (old && h->halt_ns > CEILING_NS)
		new = old / 2 < GROW_START_NS ? 0 : old / 2;
	else if (old < CEILING_NS && h->halt_ns < CEILING_NS)
		new = old * 2 > GROW_START_NS ? old * 2 : GROW_START_NS;
	else
		return;
	h->flags |= TRACE_HALT_WINDOW | (new > old ? TRACE_HALT_GROW : 0);
	h->old_ns = old;
	*window_ns = h->new_ns = new;
}

/* As the recorder keeps starts and latencies. */
static uint64_t to_unit(double ns)
{
	return (uint64_t)ns / 64 * 64;
}

static void draw(struct trace_halt *halts, const struct guest *guest)
{
	uint64_t end_ns[VCPUS] = {0};
	uint32_t window_ns[VCPUS] = {0};

	seed = 20260101;
	for (uint32_t i = 0; i < HALTS; i++) {
		struct trace_halt *h = &halts[i];
		uint32_t vcpu = i % VCPUS;
		uint64_t t_ns = (uint64_t)guest->t_ns();

		memset(h, 0, sizeof(*h));
		h->vcpu = vcpu;
		h->run_ns = to_unit(lognormal(5e3, .3));
		h->start_ns = end_ns[vcpu] + h->run_ns;
		h->window_ns = window_ns[vcpu] < CEILING_NS ? window_ns[vcpu] : CEILING_NS;
		h->latency_ns = TRACE_UNKNOWN_U32;
		h->deadline_ns = VHALT_NO_DEADLINE_NS;
		h->halt_ns = t_ns;
		if (t_ns > h->window_ns) {
			double latency_ns = lognormal(12e3, .35);

			h->flags = TRACE_HALT_WAITED;
			h->halt_ns += (uint64_t)latency_ns;
			if (guest->latency)
				h->latency_ns = (uint32_t)to_unit(latency_ns);
		}
		decide(h, &window_ns[vcpu]);
		end_ns[vcpu] = h->start_ns + h->halt_ns;
	}
}

static int write_all(int fd, const struct trace_halt *halts, const struct guest *guest)
{
	struct trace_info info = {.params = {CEILING_NS, 2, GROW_START_NS, 2},
				  .host = "bench",
				  .kernel = "bench",
				  .has_latency = guest->latency};
	struct trace_vm vm = {1000, CEILING_NS, "bench"};
	struct vht_writer *w;
	uint64_t flushed_ns = 0;
	int err = vht_writer_create(&w, fd, &info);

	if (err)
		return err;
	err = vht_writer_add_vm(w, &vm);
	for (uint32_t i = 0; i < VCPUS && !err; i++)
		err = vht_writer_add_vcpu(w, &(struct trace_vcpu){0, 1001 + i, i, "bench"});
	for (uint32_t i = 0; i < HALTS && !err; i++) {
		err = vht_writer_add(w, &halts[i]);
		if (!err && halts[i].start_ns - flushed_ns > 1000000000 && !halts[i].vcpu) {
			flushed_ns = halts[i].start_ns;
			err = vht_writer_flush(w);
		}
	}
	if (err) {
		vht_writer_close(w, 0, 0);
		return err;
	}
	return vht_writer_close(w, halts[HALTS - 1].start_ns, 0);
}

static void complain(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "vht_bench: %s\n", text);
}

/* Reads the file through; the number of halts in it. */
static uint64_t read_all(int fd)
{
	const struct trace_diag diag = {complain, NULL};
	const struct trace_halt *batch;
	struct trace_reader *reader;
	uint64_t halts = 0;
	ssize_t nr;

	if (lseek(fd, 0, SEEK_SET) < 0 || trace_reader_open_fd(&reader, dup(fd), "bench", &diag))
		return 0;
	while ((nr = trace_reader_next(reader, &batch)) > 0)
		halts += (uint64_t)nr;
	trace_reader_close(reader);
	return nr < 0 ? 0 : halts;
}

static int measure(const struct guest *guest, struct trace_halt *halts, bool first)
{
	double write_ns = 1e30, read_ns = 1e30;
	off_t bytes = 0;
	int fd = memfd_create("vht_bench", 0);

	draw(halts, guest);
	for (int pass = 0; pass < PASSES; pass++) {
		uint64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), written_ns;

		if (fd < 0 || ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) ||
		    write_all(fd, halts, guest))
			return -1;
		written_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		bytes = lseek(fd, 0, SEEK_END);
		write_ns = fmin(write_ns, (double)(written_ns - began_ns));
		began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		if (read_all(fd) != HALTS)
			return -1;
		read_ns = fmin(read_ns,
			       (double)(clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns));
	}
	close(fd);
	printf("%s\"%s\":{\"bytes_per_halt\":%.3f,\"write_ns\":%.1f,\"read_ns\":%.1f}",
	       first ? "" : ",", guest->name, (double)bytes / HALTS, write_ns / HALTS,
	       read_ns / HALTS);
	fflush(stdout);
	return 0;
}

int main(void)
{
	struct trace_halt *halts = calloc(HALTS, sizeof(*halts));

	if (!halts)
		return 1;
	printf("{\"name\":\"vht\",\"threads\":1,\"halts\":%d,\"guests\":{", HALTS);
	for (size_t i = 0; i < sizeof(guests) / sizeof(guests[0]); i++) {
		if (measure(&guests[i], halts, !i)) {
			fprintf(stderr, "vht_bench: %s failed\n", guests[i].name);
			return 1;
		}
	}
	printf("}}\n");
	free(halts);
	return 0;
}

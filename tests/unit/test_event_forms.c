// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The same events as a trace.dat, its report, ftrace's text and perf's: the same halts.
#include "tests/unit/vht_file.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/wait.h>

#include "tests/unit/tracedat_maker.h"

enum { EVENTS = 6000, CPUS = 3, THREADS = 5, PID = 4000 };

static const struct made_name names[] = {
	{4001, "CPU 0/KVM"}, {4002, "CPU 1/KVM"}, {4003, "CPU 2/KVM"}, {4004, "fc_vcpu 0"},
	{4005, "CPU 0/KVM"}, {17, "kworker/0:1"}, {0, NULL},
};

static struct made_event events[EVENTS];
static size_t nr_events;

static struct made_event *add(uint64_t time_ns, uint32_t kind, uint32_t tid, uint32_t cpu)
{
	struct made_event *e = &events[nr_events++];

	*e = (struct made_event){.time_ns = time_ns, .kind = kind, .tid = tid, .cpu = cpu};
	return e;
}

/*
 * Threads that halt and move about, with decisions, wake-ups by others, exits, and losses. Times
 * are whole microseconds, for ftrace prints no more.
 */
static void make_events(void)
{
	struct rng rng = {20260909};
	uint64_t now_ns = 5000000000000000ULL; /* beyond 32 bits in microseconds */
	uint32_t window_ns[THREADS] = {0};

	nr_events = 0;
	while (nr_events + 6 < EVENTS) {
		uint32_t i = (uint32_t)rng_below(&rng, THREADS),
			 cpu = (uint32_t)rng_below(&rng, CPUS);
		uint64_t halt_ns = 1000 + rng_below(&rng, 300000);
		bool waited = halt_ns > window_ns[i];
		struct made_event *e = add(now_ns, TRACE_EVENT_HLT, names[i].tid, cpu);

		e->vcpu = i;
		if (!rng_below(&rng, 300))
			e->lost = rng_below(&rng, 2) ? 1 + rng_below(&rng, 900) : UINT64_MAX;
		now_ns += halt_ns / 1000 * 1000;
		if (waited && rng_below(&rng, 2))
			add(now_ns - 1000, TRACE_EVENT_WAKING, 17, (cpu + 1) % CPUS)->vcpu =
				names[i].tid;
		if (waited && rng_below(&rng, 3)) {
			e = add(now_ns, TRACE_EVENT_WINDOW, names[i].tid, cpu);
			e->vcpu = i;
			e->old_ns = window_ns[i];
			e->new_ns = window_ns[i] = window_ns[i] > 100000 ? 0 : window_ns[i] + 10000;
			e->flags = e->new_ns ? TRACE_EVENT_GROW : 0;
		}
		now_ns += 1000;
		e = add(now_ns, TRACE_EVENT_WAKEUP, names[i].tid, cpu);
		e->ns = halt_ns;
		e->flags = (waited ? TRACE_EVENT_WAITED : 0) |
			   (rng_below(&rng, 20) ? 0 : TRACE_EVENT_INVALID);
		now_ns += 1000 + rng_below(&rng, 50) * 1000;
		/* Now and then more than the ring buffer's small time steps hold. */
		if (!rng_below(&rng, 100))
			now_ns += 500000000;
		add(now_ns, TRACE_EVENT_ENTRY, names[i].tid, cpu)->vcpu = i;
		now_ns += 2000;
	}
}

static struct reading *read_made(const struct made *m)
{
	struct reading *r = read_bytes(m->data, m->nr);

	assert_int_equal(r->open_error, 0);
	assert_int_equal(r->last, 0);
	return r;
}

/* The same halts of each thread; VMs may be told apart differently, names are not compared. */
static void assert_same_halts(const struct reading *a, const struct reading *b)
{
	assert_int_equal(a->nr, b->nr);
	assert_true(a->nr > 1000);
	assert_int_equal(a->info.nr_vcpus, THREADS);
	assert_int_equal(b->info.nr_vcpus, THREADS);
	assert_int_equal(a->info.lost, b->info.lost);
	assert_int_equal(a->info.has_latency, b->info.has_latency);
	assert_int_equal(a->info.duration_ns, b->info.duration_ns);
	for (size_t i = 0; i < a->nr; i++)
		assert_halt_equal(&a->halts[i], &b->halts[i]);
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(a->info.vcpus[i].tid, b->info.vcpus[i].tid);
		assert_int_equal(a->info.vcpus[i].number, b->info.vcpus[i].number);
		assert_string_equal(a->info.vcpus[i].name, b->info.vcpus[i].name);
	}
}

static void test_forms(void **state)
{
	struct made dat = {0}, ftrace = {0}, perf = {0};
	struct reading *a, *b, *c;

	(void)state;
	make_events();
	made_tracedat(&dat, events, nr_events, names, CPUS);
	made_ftrace(&ftrace, events, nr_events, names);
	made_perf(&perf, events, nr_events, names, PID);
	a = read_made(&dat);
	b = read_made(&ftrace);
	assert_string_equal(a->format, "trace.dat");
	assert_string_equal(b->format, "text");
	assert_same_halts(a, b);
	assert_int_equal(a->info.nr_vms, THREADS);
	/* perf knows the process. It counts no unknown losses, so these say something else. */
	c = read_made(&perf);
	assert_int_equal(c->info.nr_vms, 1);
	assert_int_equal(c->info.vms[0].pid, PID);
	c->info.lost = a->info.lost;
	assert_same_halts(a, c);
	reading_free(a);
	reading_free(b);
	reading_free(c);
	free(dat.data);
	free(ftrace.data);
	free(perf.data);
}

/* What a command prints, with the given file as its argument; no data where it cannot run. */
static struct made output_of(const char *command, const struct made *file)
{
	char path[] = "/tmp/vhalt-forms-XXXXXX", line[200], buf[65536];
	int fd = mkstemp(path);
	struct made out = {0};
	FILE *pipe;
	size_t nr;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file->data, file->nr), file->nr);
	close(fd);
	snprintf(line, sizeof(line), "%s %s 2>/dev/null", command, path);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	while ((nr = fread(buf, 1, sizeof(buf), pipe)) > 0)
		made_bytes(&out, buf, nr);
	pclose(pipe);
	unlink(path);
	return out;
}

static void test_report(void **state)
{
	struct made dat = {0}, report, precise;
	struct reading *a, *b;

	(void)state;
	make_events();
	made_tracedat(&dat, events, nr_events, names, CPUS);
	/* Without plugins: those print fields that these records do not have. */
	report = output_of("trace-cmd report -N", &dat);
	if (!report.nr) {
		print_message("no trace-cmd here: its report is not compared\n");
		free(dat.data);
		skip();
	}
	precise = output_of("trace-cmd report -N -t", &dat);
	a = read_made(&dat);
	b = read_made(&report);
	assert_same_halts(a, b);
	reading_free(b);
	b = read_made(&precise);
	assert_same_halts(a, b);
	reading_free(a);
	reading_free(b);
	free(dat.data);
	free(report.data);
	free(precise.data);
}

/* A trace.dat comes from a pipe as well, though libtracecmd has to seek in it. */
static void test_pipe(void **state)
{
	struct made dat = {0};
	int ends[2], status;
	struct reading *r;
	pid_t child;

	(void)state;
	make_events();
	made_tracedat(&dat, events, nr_events, names, CPUS);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(ends[0]);
		_exit(write(ends[1], dat.data, dat.nr) != (ssize_t)dat.nr);
	}
	close(ends[1]);
	r = read_fd(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(r->last, 0);
	assert_true(r->nr > 1000);
	reading_free(r);
	free(dat.data);
}

/* Cut anywhere and changed anywhere: what is sound is kept, and the reader lives. */
static void test_damaged(void **state)
{
	struct rng rng = {77};
	struct made dat = {0};
	size_t kept = 0;

	(void)state;
	make_events();
	made_tracedat(&dat, events, nr_events / 20, names, CPUS);
	for (int round = 0; round < 60; round++) {
		size_t nr = dat.nr;
		char *copy = copy_of(dat.data, nr);
		struct reading *r;

		if (round % 2)
			nr = 20 + rng_below(&rng, nr - 20);
		else
			for (int i = 0; i < 20; i++)
				copy[12 + rng_below(&rng, nr - 12)] ^= (char)(1 +
									      rng_below(&rng, 255));
		r = read_bytes(copy, nr);
		assert_int_equal(r->open_error, 0);
		assert_true(r->last == 0 || r->last == -ENODATA);
		assert_true(r->last == 0 || r->nr_reports > 0);
		kept += r->nr > 0;
		reading_free(r);
		free(copy);
	}
	assert_true(kept > 5);
	free(dat.data);
}

static void test_headers_damaged(void **state)
{
	static const char bytes[] = "\x17\x08\x44tracing6\0\0\x08 and then nothing of use";
	struct reading *r = read_bytes(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(r->open_error, 0);
	assert_int_equal(r->last, -ENODATA);
	assert_non_null(strstr(r->text, "file: a trace.dat whose headers are damaged"));
	reading_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_headers_damaged),
	};

	return cmocka_run_group_tests_name("event_forms", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How can a thread that polls know that another task needs its CPU? Candidates, side by side.

/*
 * A thread polls for a second at a time on a CPU that is its own (alone), or that a thread shares
 * which always runs (hog), or which wakes every millisecond for 50 us of work (guest). Without and
 * with an offer of the CPU by sched_yield() every 50 us. What the kernel counted as involuntary
 * switches (getrusage) is the truth; beside it what each candidate saw, and what it did for the
 * other: the share the hog got, how late the other one ran.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "lib/wait_polite.h"
#include "measure/clock.h"
#include "measure/machine.h"
#include "util/clock.h"

enum { POLL_NS = 1000000000, CALLS = 100000, PERIOD_NS = 1000000, WORK_NS = 50000 };

enum other { ALONE, HOG, GUEST, NR_OTHERS };

static const char *const other_names[NR_OTHERS] = {"alone", "hog", "guest"};

static unsigned int cpus[2];
static uint32_t stop;

struct other_thread {
	enum other kind;
	uint64_t cpu_ns, wakeups, late_ns, latest_ns;
};

static void work_as_guest(struct other_thread *o)
{
	uint64_t due_ns = clock_now_ns();

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t now_ns, late_ns;

		due_ns += PERIOD_NS;
		measure_sleep_until(due_ns);
		now_ns = clock_now_ns();
		late_ns = now_ns - due_ns;
		o->wakeups++;
		o->late_ns += late_ns;
		o->latest_ns = late_ns > o->latest_ns ? late_ns : o->latest_ns;
		while (clock_now_ns() - now_ns < WORK_NS)
			;
		if (late_ns > PERIOD_NS)
			due_ns = clock_now_ns();
	}
}

static void *other_main(void *arg)
{
	struct other_thread *o = arg;

	prctl(PR_SET_TIMERSLACK, 1UL);
	if (o->kind == GUEST)
		work_as_guest(o);
	else
		while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
			;
	o->cpu_ns = measure_cpu_ns();
	return NULL;
}

static uint64_t involuntary_switches(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : (uint64_t)usage.ru_nivcsw;
}

struct seen {
	uint64_t switches;	    /* the truth */
	uint64_t rseq;		    /* the flag was cleared */
	uint64_t gap_2us, gap_50us; /* two looks at the clock so far apart */
	uint64_t cpu_ns;
	bool has_rseq;
};

static void poll_for(uint64_t for_ns, bool yields, struct seen *seen)
{
	uint64_t began_cpu_ns = measure_cpu_ns(), switches = involuntary_switches();
	uint64_t now_ns = clock_now_ns(), last_ns = now_ns, end_ns = now_ns + for_ns;
	uint64_t yield_ns = now_ns + WAIT_POLITE_YIELD_NS;
	struct wait_polite polite;

	*seen = (struct seen){0};
	wait_polite_begin(&polite, now_ns);
	seen->has_rseq = polite.flag;
	while (now_ns < end_ns) {
		uint64_t gap_ns;

		wait_polite_pause();
		if (yields && now_ns >= yield_ns) {
			sched_yield();
			yield_ns = now_ns + WAIT_POLITE_YIELD_NS;
		}
		now_ns = clock_now_ns();
		gap_ns = now_ns - last_ns;
		last_ns = now_ns;
		seen->gap_2us += gap_ns > 2000;
		seen->gap_50us += gap_ns > 50000;
		if (polite.flag && !*(volatile uint64_t *)polite.flag) {
			seen->rseq++;
			wait_polite_begin(&polite, now_ns);
		}
	}
	wait_polite_end(&polite);
	seen->switches = involuntary_switches() - switches;
	seen->cpu_ns = measure_cpu_ns() - began_cpu_ns;
}

struct poller {
	bool yields;
	struct seen seen;
};

static void *poller_main(void *arg)
{
	struct poller *p = arg;

	poll_for(POLL_NS, p->yields, &p->seen);
	return NULL;
}

static int run(enum other kind, bool yields, const char *separator)
{
	struct other_thread other = {.kind = kind};
	struct poller poller = {.yields = yields};
	pthread_t threads[2];

	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	if (kind != ALONE && measure_thread_start(&threads[1], cpus[1], other_main, &other))
		return -1;
	if (measure_thread_start(&threads[0], cpus[1], poller_main, &poller))
		return -1;
	pthread_join(threads[0], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	if (kind != ALONE)
		pthread_join(threads[1], NULL);
	printf("%s{\"other\":\"%s\",\"yields\":%s,\"switches\":%" PRIu64 ",\"rseq\":%" PRIu64
	       ",\"gap_2us\":%" PRIu64 ",\"gap_50us\":%" PRIu64
	       ",\"poller_cpu_pct\":%.1f,\"other_cpu_pct\":%.1f,\"other_late_mean_us\":%.1f,"
	       "\"other_late_max_us\":%.1f}",
	       separator, other_names[kind], yields ? "true" : "false", poller.seen.switches,
	       poller.seen.rseq, poller.seen.gap_2us, poller.seen.gap_50us,
	       100.0 * (double)poller.seen.cpu_ns / POLL_NS, 100.0 * (double)other.cpu_ns / POLL_NS,
	       other.wakeups ? (double)other.late_ns / (double)other.wakeups / 1000 : 0,
	       (double)other.latest_ns / 1000);
	return 0;
}

static double cost_ns(void (*call)(void))
{
	uint64_t began_ns = measure_cpu_ns();

	for (int i = 0; i < CALLS; i++)
		call();
	return (double)(measure_cpu_ns() - began_ns) / CALLS;
}

static void call_clock(void)
{
	(void)clock_now_ns();
}

static void call_cpu_clock(void)
{
	(void)measure_cpu_ns();
}

static void call_rusage(void)
{
	(void)involuntary_switches();
}

static void call_yield(void)
{
	sched_yield();
}

int main(void)
{
	const char *separator = "";
	int err = measure_cpus_pick(cpus);

	if (err) {
		fputs("polite_bench: needs two CPUs\n", stderr);
		return 1;
	}
	printf("{\"name\":\"polite\",\"cost_ns\":{\"clock\":%.0f,\"thread_cpu_clock\":%.0f,"
	       "\"getrusage\":%.0f,\"sched_yield\":%.0f},\"runs\":[",
	       cost_ns(call_clock), cost_ns(call_cpu_clock), cost_ns(call_rusage),
	       cost_ns(call_yield));
	for (int kind = ALONE; kind < NR_OTHERS; kind++)
		for (int yields = 0; yields < 2; yields++, separator = ",")
			if (run((enum other)kind, yields, separator))
				return 1;
	puts("]}");
	return 0;
}

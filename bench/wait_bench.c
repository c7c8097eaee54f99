// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The waiter by itself: what a kick costs, polling and blocked, beside a bare futex; idle waiters;
// ticks with and without sleeping first.

/*
 * Whatever is compared runs in turns (batch after batch, A B A B), on two CPUs picked once. A kick
 * is timed one by one: the waiting thread says that it is about to wait, the kicker gives it time
 * to get there (SETTLE_..._NS), then reads the clock before and after the kick. The clock's own
 * cost is measured the same way and taken off.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <vhalt/wait.h>
#include "lib/wait_internal.h"
#include "measure/clock.h"
#include "measure/futex.h"
#include "measure/machine.h"
#include "measure/summary.h"
#include "util/clock.h"

enum { BATCHES = 21, KICKS = 200, SETTLE_NS = 60000, SETTLE_POLL_NS = 3000 };
enum { IDLE_WAITERS = 10000, IDLE_NS = 2000000000 };
enum { TICK_NS = 4000000, TICKS = 100, TICK_ROUNDS = 7, PENDING = 1000000 };

static unsigned int cpus[2];

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values, int nr)
{
	qsort(values, (size_t)nr, sizeof(*values), compare);
	return values[nr / 2];
}

static void spin_ns(uint64_t ns)
{
	uint64_t end_ns = clock_now_ns() + ns;

	while (clock_now_ns() < end_ns)
		;
}

static double clock_cost_ns(void)
{
	static double costs[KICKS];

	for (int i = 0; i < KICKS; i++) {
		uint64_t before_ns = clock_now_ns();

		costs[i] = (double)(clock_now_ns() - before_ns);
	}
	return median(costs, KICKS);
}

/* --- kicks, one by one --- */

struct target {
	struct vhalt_engine engine;
	struct vhalt_waiter waiter;
	bool bare, polls;
	uint32_t word __attribute__((aligned(64)));
	uint32_t about_to_wait __attribute__((aligned(64)));
	uint64_t woken_at_ns;
	uint32_t woken;
};

static void *target_main(void *arg)
{
	struct target *t = arg;

	for (uint32_t i = 1; i <= KICKS; i++) {
		__atomic_store_n(&t->about_to_wait, i, __ATOMIC_RELEASE);
		if (t->bare)
			measure_futex_wait(&t->word);
		else
			vhalt_waiter_wait(&t->waiter, VHALT_NO_DEADLINE_NS);
		t->woken_at_ns = clock_now_ns();
		__atomic_store_n(&t->woken, i, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* A median of each batch; a polling waiter's kicks before and after it has turned fast. */
struct kicks {
	struct measure_samples kick_ns[2], latency_ns[2];
};

static uint64_t met_by_polling(const struct target *t)
{
	struct vhalt_waiter_stats stats;

	vhalt_waiter_stats(&t->waiter, &stats);
	return stats.halt_successful_poll;
}

static bool is_fast(struct target *t)
{
	return __atomic_load_n(&wait_waiter_of(&t->waiter)->mode, __ATOMIC_RELAXED) == MODE_FAST;
}

static int kick_batch(struct target *t, double clock_ns, struct kicks *kicks)
{
	static double cost[2][KICKS], latency[2][KICKS];
	uint64_t met = met_by_polling(t);
	pthread_t thread;
	int nr[2] = {0, 0};

	t->about_to_wait = t->woken = 0;
	if (measure_thread_start(&thread, cpus[1], target_main, t))
		return -1;
	for (uint32_t i = 1; i <= KICKS; i++) {
		uint64_t before_ns, after_ns;
		int fast;

		while (__atomic_load_n(&t->about_to_wait, __ATOMIC_ACQUIRE) < i)
			;
		spin_ns(t->polls ? SETTLE_POLL_NS : SETTLE_NS);
		fast = is_fast(t);
		before_ns = clock_now_ns();
		if (t->bare)
			measure_futex_wake(&t->word);
		else
			vhalt_waiter_kick(&t->waiter);
		after_ns = clock_now_ns();
		while (__atomic_load_n(&t->woken, __ATOMIC_ACQUIRE) < i)
			;
		/* On a busy machine the poll may have been cut, and the kick found it blocked. */
		if (t->polls && met_by_polling(t) == met)
			continue;
		met = met_by_polling(t);
		cost[fast][nr[fast]] = (double)(after_ns - before_ns) - clock_ns;
		latency[fast][nr[fast]++] = (double)(t->woken_at_ns - before_ns);
	}
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		if (!nr[i])
			continue;
		measure_samples_add(&kicks->kick_ns[i], median(cost[i], nr[i]));
		measure_samples_add(&kicks->latency_ns[i], median(latency[i], nr[i]));
	}
	return 0;
}

static void init_target(struct target *t, const char *policy)
{
	struct vhalt_config config;

	t->bare = !policy;
	if (vhalt_config_parse(policy ? policy : "none", &config, NULL, 0))
		abort();
	vhalt_engine_init(&t->engine, &config);
	vhalt_waiter_init(&t->waiter, &t->engine);
}

static double middle(const struct measure_samples *samples)
{
	return measure_summarize(samples).median;
}

static int bench_kicks(void)
{
	static struct target polling, blocked, bare;
	static struct kicks of_polling, of_blocked, of_bare;
	double clock_ns = clock_cost_ns();

	init_target(&polling, "always:max=1s");
	polling.polls = true;
	init_target(&blocked, "none");
	init_target(&bare, NULL);
	for (int i = 0; i < BATCHES; i++)
		if (kick_batch(&polling, clock_ns, &of_polling) ||
		    kick_batch(&blocked, clock_ns, &of_blocked) ||
		    kick_batch(&bare, clock_ns, &of_bare))
			return -1;
	printf("\"clock_ns\":%.0f,\"kick_polling_ns\":%.0f,\"polling_latency_ns\":%.0f,"
	       "\"kick_polling_at_first_ns\":%.0f,\"polling_at_first_latency_ns\":%.0f,",
	       clock_ns, middle(&of_polling.kick_ns[1]), middle(&of_polling.latency_ns[1]),
	       middle(&of_polling.kick_ns[0]), middle(&of_polling.latency_ns[0]));
	printf("\"kick_blocked_ns\":%.0f,\"bare_wake_ns\":%.0f,\"kick_to_bare\":%.3f,"
	       "\"blocked_latency_ns\":%.0f,\"bare_latency_ns\":%.0f,\"latency_to_bare\":%.3f,",
	       middle(&of_blocked.kick_ns[0]), middle(&of_bare.kick_ns[0]),
	       measure_ratio(&of_blocked.kick_ns[0], &of_bare.kick_ns[0]),
	       middle(&of_blocked.latency_ns[0]), middle(&of_bare.latency_ns[0]),
	       measure_ratio(&of_blocked.latency_ns[0], &of_bare.latency_ns[0]));
	return 0;
}

/* Kick and wait in one thread: all bookkeeping of the way that finds a kick, no other CPU. */
static void bench_pending(void)
{
	static struct target t;
	uint64_t began_ns;

	init_target(&t, "auto");
	began_ns = measure_cpu_ns();
	for (int i = 0; i < PENDING; i++) {
		vhalt_waiter_kick(&t.waiter);
		vhalt_waiter_wait(&t.waiter, VHALT_NO_DEADLINE_NS);
	}
	printf("\"kick_and_wait_pending_ns\":%.1f,",
	       (double)(measure_cpu_ns() - began_ns) / PENDING);
}

/* --- many that do nothing --- */

static void *idle_main(void *arg)
{
	struct vhalt_waiter *waiter = arg;

	vhalt_waiter_wait(waiter, VHALT_NO_DEADLINE_NS);
	return NULL;
}

static bool is_blocked(struct vhalt_waiter *waiter)
{
	return __atomic_load_n(&wait_waiter_of(waiter)->sleeping, __ATOMIC_RELAXED);
}

static int start_idle(pthread_t *thread, struct vhalt_waiter *waiter)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (!err)
		err = pthread_attr_setstacksize(&attr, 64 * 1024);
	if (!err)
		err = pthread_create(thread, &attr, idle_main, waiter);
	pthread_attr_destroy(&attr);
	return err;
}

/*
 * CPU time of this process between two calls, less what asking costs: with ten thousand threads the
 * kernel adds up ten thousand figures, for milliseconds.
 */
static uint64_t process_cpu_since(uint64_t *last_ns)
{
	uint64_t first_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t second_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t asking_ns = second_ns - first_ns, used_ns = first_ns - *last_ns;

	*last_ns = second_ns;
	return used_ns > asking_ns ? used_ns - asking_ns : 0;
}

/* Until this process uses no CPU to speak of, or for five seconds. */
static void await_quiet(uint64_t *cpu_ns)
{
	for (int i = 0; i < 50; i++) {
		measure_sleep_until(clock_now_ns() + 100000000);
		if (process_cpu_since(cpu_ns) < 100000)
			return;
	}
}

static int bench_idle(void)
{
	static pthread_t threads[IDLE_WAITERS];
	static struct vhalt_waiter waiters[IDLE_WAITERS];
	static struct vhalt_engine engine;
	struct vhalt_config config;
	uint64_t cpu_ns = 0, used_ns, began_ns, elapsed_ns;
	uint32_t nr = 0;

	if (vhalt_config_parse("auto", &config, NULL, 0))
		return -1;
	vhalt_engine_init(&engine, &config);
	for (; nr < IDLE_WAITERS; nr++) {
		vhalt_waiter_init(&waiters[nr], &engine);
		if (start_idle(&threads[nr], &waiters[nr]))
			break;
	}
	/* A new waiter polls once, for a moment; then its thread has to get to sleep. */
	for (uint32_t i = 0; i < nr; i++)
		while (!is_blocked(&waiters[i]))
			usleep(1000);
	await_quiet(&cpu_ns);
	process_cpu_since(&cpu_ns);
	began_ns = clock_now_ns();
	measure_sleep_until(began_ns + IDLE_NS);
	used_ns = process_cpu_since(&cpu_ns);
	elapsed_ns = clock_now_ns() - began_ns;
	for (uint32_t i = 0; i < nr; i++)
		vhalt_waiter_kick(&waiters[i]);
	for (uint32_t i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("\"idle\":{\"waiters\":%" PRIu32 ",\"cpu_pct\":%.4f,\"bytes_each\":%zu},", nr,
	       100.0 * (double)used_ns / (double)elapsed_ns, sizeof(struct vhalt_waiter));
	return 0;
}

/* --- ticks --- */

struct ticker {
	const char *policy;
	struct vhalt_engine engine;
	struct vhalt_waiter waiter;
	struct measure_samples late_ns, cpu_ns; /* per tick, a mean of each round */
};

static void *ticker_main(void *arg)
{
	struct ticker *t = arg;
	uint64_t next_ns = clock_now_ns(), cpu_ns = measure_cpu_ns(), late_ns = 0;

	vhalt_thread_prepare();
	for (int i = 0; i < TICKS; i++) {
		next_ns += TICK_NS;
		while (vhalt_waiter_wait(&t->waiter, next_ns) != VHALT_WAKE_DEADLINE)
			;
		late_ns += clock_now_ns() - next_ns;
	}
	measure_samples_add(&t->late_ns, (double)late_ns / TICKS);
	measure_samples_add(&t->cpu_ns, (double)(measure_cpu_ns() - cpu_ns) / TICKS);
	return NULL;
}

static int bench_ticks(void)
{
	static struct ticker tickers[] = {
		{.policy = "none"}, {.policy = "auto"}, {.policy = "auto:sleep=2"}};
	enum { NR = sizeof(tickers) / sizeof(tickers[0]) };

	for (int i = 0; i < NR; i++) {
		struct vhalt_config config;

		if (vhalt_config_parse(tickers[i].policy, &config, NULL, 0))
			return -1;
		vhalt_engine_init(&tickers[i].engine, &config);
		vhalt_waiter_init(&tickers[i].waiter, &tickers[i].engine);
	}
	/* The first round, in which they learn, does not count. */
	for (int round = 0; round <= TICK_ROUNDS; round++)
		for (int i = 0; i < NR; i++) {
			pthread_t thread;

			if (measure_thread_start(&thread, cpus[1], ticker_main, &tickers[i]))
				return -1;
			pthread_join(thread, NULL);
			if (!round)
				tickers[i].late_ns.nr = tickers[i].cpu_ns.nr = 0;
		}
	printf("\"ticks_250hz\":[");
	for (int i = 0; i < NR; i++)
		printf("%s{\"policy\":\"%s\",\"late_ns\":%.0f,\"cpu_ns\":%.0f,"
		       "\"late_to_none\":%.3f,\"cpu_to_none\":%.3f}",
		       i ? "," : "", tickers[i].policy,
		       measure_summarize(&tickers[i].late_ns).median,
		       measure_summarize(&tickers[i].cpu_ns).median,
		       measure_ratio(&tickers[i].late_ns, &tickers[0].late_ns),
		       measure_ratio(&tickers[i].cpu_ns, &tickers[0].cpu_ns));
	printf("],");
	return 0;
}

int main(void)
{
	cpu_set_t set;

	if (measure_cpus_pick(cpus)) {
		fputs("wait_bench: needs two CPUs\n", stderr);
		return 1;
	}
	CPU_ZERO(&set);
	CPU_SET(cpus[0], &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		return 1;
	printf("{\"name\":\"wait\",");
	if (bench_kicks())
		return 1;
	bench_pending();
	if (bench_ticks() || bench_idle())
		return 1;
	printf("\"unit\":\"ns; kicks and latencies are medians\"}\n");
	return 0;
}

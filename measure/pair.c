// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Two threads on two CPUs that wake each other: what a switch from one to the other costs.

/*
 * The first thread leads: it makes the round trips (or the lone wake-ups), looks at the phase the
 * main thread sets, and takes the figures when it changes. Its last wake-up tells the second thread
 * to leave, so nobody has to be cancelled.
 */
#include "measure/pair.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "measure/clock.h"
#include "measure/futex.h"
#include "util/clock.h"

enum phase { PHASE_WARM, PHASE_MEASURE, PHASE_LEAVE };

/* Threads share this and nothing else; the words lie on lines of their own. */
struct run {
	struct measure_pair *pair;
	enum measure_load load;
	uint64_t gap_ns;
	int pipes[2][2];
	uint32_t phase __attribute__((aligned(64))); /* enum phase */
	uint32_t second_phase;			     /* as the first thread tells the second */
	struct {
		uint32_t word;
	} __attribute__((aligned(64))) futex[2];
	uint64_t switches, began_ns, ended_ns, cpu_began_ns[2], cpu_ended_ns[2];
	int err[2];
};

static void wake(struct run *r, int who)
{
	char byte = 0;

	switch (r->pair->channel) {
	case MEASURE_FUTEX: measure_futex_wake(&r->futex[who].word); break;
	case MEASURE_WAITER: vhalt_waiter_kick(&r->pair->waiters[who]); break;
	case MEASURE_PIPE:
		if (write(r->pipes[who][1], &byte, 1) != 1)
			r->err[!who] = -EIO;
		break;
	}
}

static void await(struct run *r, int who)
{
	char byte;

	switch (r->pair->channel) {
	case MEASURE_FUTEX: measure_futex_wait(&r->futex[who].word); break;
	case MEASURE_WAITER: vhalt_waiter_wait(&r->pair->waiters[who], VHALT_NO_DEADLINE_NS); break;
	case MEASURE_PIPE:
		if (read(r->pipes[who][0], &byte, 1) != 1)
			r->err[who] = -EIO;
		break;
	}
}

/* The second thread's CPU time is its own to read: it does so when a phase begins. */
static void *second_main(void *arg)
{
	struct run *r = arg;
	uint32_t seen = PHASE_WARM;

	vhalt_thread_prepare();
	while (seen != PHASE_LEAVE && !r->err[1]) {
		uint32_t phase;

		await(r, 1);
		phase = __atomic_load_n(&r->second_phase, __ATOMIC_ACQUIRE);
		if (phase != seen && phase == PHASE_MEASURE)
			r->cpu_began_ns[1] = measure_cpu_ns();
		else if (phase != seen)
			r->cpu_ended_ns[1] = measure_cpu_ns();
		seen = phase;
		if (r->load == MEASURE_NEAR)
			wake(r, 0);
	}
	return NULL;
}

/* Tells the second thread too, with the wake-up that follows. */
static void enter_phase(struct run *r, uint32_t phase)
{
	if (phase == PHASE_MEASURE) {
		r->began_ns = clock_now_ns();
		r->cpu_began_ns[0] = measure_cpu_ns();
		r->switches = 0;
	} else {
		r->cpu_ended_ns[0] = measure_cpu_ns();
		r->ended_ns = clock_now_ns();
	}
	__atomic_store_n(&r->second_phase, phase, __ATOMIC_RELEASE);
}

static void *first_main(void *arg)
{
	struct run *r = arg;
	uint32_t seen = PHASE_WARM;
	uint64_t next_ns = clock_now_ns();

	vhalt_thread_prepare();
	while (seen != PHASE_LEAVE && !r->err[0]) {
		uint32_t phase = __atomic_load_n(&r->phase, __ATOMIC_ACQUIRE);

		if (r->load == MEASURE_FAR) {
			next_ns += r->gap_ns;
			measure_sleep_until(next_ns);
		}
		if (phase != seen)
			enter_phase(r, phase);
		seen = phase;
		wake(r, 1);
		if (r->load == MEASURE_NEAR)
			await(r, 0);
		r->switches += r->load == MEASURE_NEAR ? 2 : 1;
	}
	return NULL;
}

void measure_pair_init(struct measure_pair *pair, enum measure_channel channel,
		       const struct vhalt_config *config, const unsigned int cpus[2])
{
	pair->channel = channel;
	memcpy(pair->cpus, cpus, sizeof(pair->cpus));
	if (channel != MEASURE_WAITER)
		return;
	vhalt_engine_init(&pair->engine, config);
	for (int i = 0; i < 2; i++)
		vhalt_waiter_init(&pair->waiters[i], &pair->engine);
}

/* Adds the waiters' counters so far to @result, or takes them off it. */
static void count_halts(const struct measure_pair *pair, int sign,
			struct measure_pair_result *result)
{
	for (int i = 0; i < 2 && pair->channel == MEASURE_WAITER; i++) {
		struct vhalt_waiter_stats stats;

		vhalt_waiter_stats(&pair->waiters[i], &stats);
		result->halts += (uint64_t)sign * stats.halts;
		result->successful += (uint64_t)sign * stats.halt_successful_poll;
	}
}

static int start_and_join(struct run *r, uint64_t for_ns)
{
	pthread_t first, second;
	int err = measure_thread_start(&second, r->pair->cpus[1], second_main, r);

	if (err)
		return err;
	err = measure_thread_start(&first, r->pair->cpus[0], first_main, r);
	if (err) {
		__atomic_store_n(&r->second_phase, PHASE_LEAVE, __ATOMIC_RELEASE);
		wake(r, 1);
	} else {
		uint64_t begin_ns = clock_now_ns() + for_ns / 10;

		measure_sleep_until(begin_ns);
		__atomic_store_n(&r->phase, PHASE_MEASURE, __ATOMIC_RELEASE);
		measure_sleep_until(begin_ns + for_ns);
		__atomic_store_n(&r->phase, PHASE_LEAVE, __ATOMIC_RELEASE);
		pthread_join(first, NULL);
	}
	pthread_join(second, NULL);
	return err ? err : r->err[0] ? r->err[0] : r->err[1];
}

static int open_pipes(struct run *r)
{
	if (pipe2(r->pipes[0], O_CLOEXEC))
		return -errno;
	if (pipe2(r->pipes[1], O_CLOEXEC)) {
		int err = -errno;

		close(r->pipes[0][0]);
		close(r->pipes[0][1]);
		return err;
	}
	return 0;
}

int measure_pair_run(struct measure_pair *pair, enum measure_load load, uint64_t for_ns,
		     uint64_t gap_ns, struct measure_pair_result *result)
{
	struct run r = {.pair = pair, .load = load, .gap_ns = gap_ns};
	int err = pair->channel == MEASURE_PIPE ? open_pipes(&r) : 0;

	if (err)
		return err;
	memset(result, 0, sizeof(*result));
	count_halts(pair, -1, result);
	err = start_and_join(&r, for_ns);
	count_halts(pair, 1, result);
	for (int i = 0; i < 2 && pair->channel == MEASURE_PIPE; i++) {
		close(r.pipes[i][0]);
		close(r.pipes[i][1]);
	}
	/* On a machine so busy that a thread slept through all of it, nothing was measured. */
	if (!r.cpu_began_ns[0] || !r.cpu_began_ns[1])
		return err;
	for (int i = 0; i < 2; i++)
		result->cpu_ns[i] = r.cpu_ended_ns[i] - r.cpu_began_ns[i];
	result->switches = r.switches;
	result->elapsed_ns = r.ended_ns - r.began_ns;
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Runs numbered jobs on all cores; what a job computes must depend on its number alone.
#include "suite/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum { THREADS_MOST = 256 };

struct work {
	atomic_uint next, done;
	atomic_int error;
	uint32_t nr;
	int (*job)(void *context, uint32_t i);
	void *context;
};

static void take_jobs(struct work *work, void (*progress)(uint32_t done, uint32_t nr))
{
	uint32_t i;

	while (!atomic_load(&work->error) && (i = atomic_fetch_add(&work->next, 1)) < work->nr) {
		int err = work->job(work->context, i);
		uint32_t done = atomic_fetch_add(&work->done, 1) + 1;

		if (err)
			atomic_store(&work->error, err);
		if (progress)
			progress(done, work->nr);
	}
}

static void *run(void *arg)
{
	take_jobs(arg, NULL);
	return NULL;
}

static uint32_t usable_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (uint32_t)CPU_COUNT(&set);
}

int suite_parallel(uint32_t threads, uint32_t nr, int (*job)(void *context, uint32_t i),
		   void *context, void (*progress)(uint32_t done, uint32_t nr))
{
	struct work work = {.nr = nr, .job = job, .context = context};
	pthread_t helpers[THREADS_MOST];
	uint32_t started = 0;

	if (!threads)
		threads = usable_cpus();
	if (threads > THREADS_MOST)
		threads = THREADS_MOST;
	/* A helper that cannot be had is not missed: this thread works too. */
	while (started + 1 < threads && !pthread_create(&helpers[started], NULL, run, &work))
		started++;
	take_jobs(&work, progress);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(helpers[i], NULL);
	return atomic_load(&work.error);
}

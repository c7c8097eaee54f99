// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Threads that share numbered tasks: the caller starts a round, may do other work, then waits.
#include "replay/pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct replay_pool {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	unsigned long round; /* counts up; under lock */
	size_t busy;	     /* threads inside the round; under lock */
	bool quit;	     /* under lock */
	void (*run)(void *context, size_t task);
	void *context;
	size_t tasks;
	atomic_size_t next; /* first task nobody took */
	unsigned int nr_threads;
	pthread_t threads[REPLAY_POOL_MAX];
};

/* CPUs this process may use, 1..REPLAY_POOL_MAX. */
static unsigned int usable_cpus(void)
{
	cpu_set_t set;
	int n;

	/* Fails where there are more CPUs than a cpu_set_t holds; then use as many as we can. */
	if (sched_getaffinity(0, sizeof(set), &set))
		return REPLAY_POOL_MAX;
	n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > REPLAY_POOL_MAX ? REPLAY_POOL_MAX : (unsigned int)n;
}

static void run_tasks(struct replay_pool *pool)
{
	size_t task;

	while ((task = atomic_fetch_add(&pool->next, 1)) < pool->tasks)
		pool->run(pool->context, task);
}

static void *worker(void *argument)
{
	struct replay_pool *pool = argument;
	unsigned long seen = 0;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (pool->round == seen && !pool->quit)
			pthread_cond_wait(&pool->work, &pool->lock);
		if (pool->quit)
			break;
		seen = pool->round;
		pool->busy++;
		pthread_mutex_unlock(&pool->lock);
		run_tasks(pool);
		pthread_mutex_lock(&pool->lock);
		if (!--pool->busy)
			pthread_cond_signal(&pool->done);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

int replay_pool_create(struct replay_pool **out, unsigned int threads)
{
	struct replay_pool *pool = calloc(1, sizeof(*pool));
	sigset_t all, old;

	if (!pool)
		return -ENOMEM;
	if (!threads)
		threads = usable_cpus();
	if (threads > REPLAY_POOL_MAX)
		threads = REPLAY_POOL_MAX;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->done, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (pool->nr_threads + 1 < threads &&
	       !pthread_create(&pool->threads[pool->nr_threads], NULL, worker, pool))
		pool->nr_threads++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	*out = pool;
	return 0;
}

unsigned int replay_pool_threads(const struct replay_pool *pool)
{
	return pool->nr_threads + 1;
}

void replay_pool_start(struct replay_pool *pool, void (*run)(void *context, size_t task),
		       void *context, size_t tasks)
{
	pthread_mutex_lock(&pool->lock);
	/* A thread that woke up late for the last round must not see this one's tasks half set. */
	while (pool->busy)
		pthread_cond_wait(&pool->done, &pool->lock);
	pool->run = run;
	pool->context = context;
	pool->tasks = tasks;
	atomic_store(&pool->next, 0);
	pool->round++;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

void replay_pool_wait(struct replay_pool *pool)
{
	run_tasks(pool);
	pthread_mutex_lock(&pool->lock);
	while (pool->busy)
		pthread_cond_wait(&pool->done, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
}

void replay_pool_destroy(struct replay_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->quit = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned int i = 0; i < pool->nr_threads; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->done);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

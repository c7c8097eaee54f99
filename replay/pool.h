/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Threads that share numbered tasks: the caller starts a round, may do other work, then waits. */
#ifndef VHALT_REPLAY_POOL_H
#define VHALT_REPLAY_POOL_H

#include <stddef.h>

struct replay_pool;

/** Most threads a pool has, the caller included. */
#define REPLAY_POOL_MAX 256

/**
 * replay_pool_create - start a pool.
 * @threads:  how many run tasks, the waiting caller included; 0: one per usable CPU
 *
 * Its threads block all signals. Fewer threads than asked for are not an error: the caller alone
 * can do all the work. Return: 0 or -ENOMEM.
 */
int replay_pool_create(struct replay_pool **pool, unsigned int threads);

/** replay_pool_threads - threads that run tasks, the caller included. */
unsigned int replay_pool_threads(const struct replay_pool *pool);

/**
 * replay_pool_start - begin a round: run(context, 0) ... run(context, tasks - 1), each once, in any
 * order and on any thread. The previous round must have been waited for. Cannot fail.
 */
void replay_pool_start(struct replay_pool *pool, void (*run)(void *context, size_t task),
		       void *context, size_t tasks);

/** replay_pool_wait - help with the round, return when all its tasks are done. */
void replay_pool_wait(struct replay_pool *pool);

/** replay_pool_destroy - wait for the round, end the threads. NULL is allowed. */
void replay_pool_destroy(struct replay_pool *pool);

#endif

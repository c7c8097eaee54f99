/* SPDX-License-Identifier: GPL-2.0-only */
/* Spare objects for probes, which must not allocate: filled by a worker, emptied by probes. */
#ifndef VHALT_KMOD_POOL_H
#define VHALT_KMOD_POOL_H

#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

/**
 * struct host_pool - one kind of object. All fields are private to pool.c.
 *
 * Probes run with preemption off, on PREEMPT_RT kernels too, where even an atomic allocation may
 * sleep. So a probe takes a spare, and a worker refills. When a burst of new vCPUs empties the pool
 * the probe gets NULL and tries again at that vCPU's next halt.
 */
struct host_pool {
	struct kmem_cache *cache;
	size_t bytes; /* of an object */
	raw_spinlock_t lock;
	struct list_head spares;
	unsigned int nr_spares;
	unsigned int want; /* spares to keep */
	struct work_struct refill;
};

/**
 * host_pool_init - make a pool and fill it.
 * @name:  of the slab cache, as /proc/slabinfo shows it
 * @bytes: size of an object, at least that of a struct list_head
 * @want:  spares to keep, 1 and up
 *
 * Process context. Return: 0 or -ENOMEM. Ended by host_pool_fini().
 */
int host_pool_init(struct host_pool *pool, const char *name, size_t bytes, unsigned int want);

/** host_pool_fini - free the spares and the cache; complains if an object was never given back. */
void host_pool_fini(struct host_pool *pool);

/** host_pool_take - a zeroed object, or NULL when the pool is empty. Any context but NMI. */
void *host_pool_take(struct host_pool *pool);

/** host_pool_put_back - undo host_pool_take(): @object was never shown to anybody. Same contexts. */
void host_pool_put_back(struct host_pool *pool, void *object);

/** host_pool_give - free an object that nobody can see any more. Process or softirq context. */
void host_pool_give(struct host_pool *pool, void *object);

#endif

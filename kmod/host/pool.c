// SPDX-License-Identifier: GPL-2.0-only
// Spare objects for probes: a list under a raw lock, refilled by a worker.

#include "host/pool.h"

#include <linux/sched.h>
#include <linux/string.h>

/*
 * A cache with a constructor is never merged with others of its size, so destroying it tells
 * whether all objects came back.
 */
static void construct(void *object)
{
	INIT_LIST_HEAD(object);
}

static bool add_spare(struct host_pool *pool)
{
	void *object = kmem_cache_alloc(pool->cache, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);

	if (object)
		host_pool_put_back(pool, object);
	return object;
}

static void refill(struct work_struct *work)
{
	struct host_pool *pool = container_of(work, struct host_pool, refill);

	/* Short of memory: the next probe that finds too few spares asks again. */
	while (READ_ONCE(pool->nr_spares) < pool->want && add_spare(pool))
		cond_resched();
}

int host_pool_init(struct host_pool *pool, const char *name, size_t bytes, unsigned int want)
{
	raw_spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->spares);
	INIT_WORK(&pool->refill, refill);
	pool->nr_spares = 0;
	pool->want = want;
	pool->bytes = bytes;
	pool->cache = kmem_cache_create(name, bytes, 0, SLAB_HWCACHE_ALIGN, construct);
	if (!pool->cache)
		return -ENOMEM;
	refill(&pool->refill);
	if (pool->nr_spares < want) {
		host_pool_fini(pool);
		return -ENOMEM;
	}
	return 0;
}

void host_pool_fini(struct host_pool *pool)
{
	struct list_head *object, *next;

	cancel_work_sync(&pool->refill);
	list_for_each_safe (object, next, &pool->spares)
		kmem_cache_free(pool->cache, object);
	kmem_cache_destroy(pool->cache);
}

void *host_pool_take(struct host_pool *pool)
{
	struct list_head *object = NULL;
	unsigned long flags;
	bool low;

	raw_spin_lock_irqsave(&pool->lock, flags);
	if (!list_empty(&pool->spares)) {
		object = pool->spares.next;
		list_del(object);
		pool->nr_spares--;
	}
	low = pool->nr_spares < pool->want / 2 + 1;
	raw_spin_unlock_irqrestore(&pool->lock, flags);
	if (low)
		schedule_work(&pool->refill);
	return object ? memset(object, 0, pool->bytes) : NULL;
}

void host_pool_put_back(struct host_pool *pool, void *object)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pool->lock, flags);
	list_add(object, &pool->spares);
	pool->nr_spares++;
	raw_spin_unlock_irqrestore(&pool->lock, flags);
}

void host_pool_give(struct host_pool *pool, void *object)
{
	/* As the constructor left it: the allocator hands it out again without constructing. */
	INIT_LIST_HEAD(object);
	kmem_cache_free(pool->cache, object);
}

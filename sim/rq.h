/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A run queue: entities ordered by a key, the least first; the nodes live in the entities. */
#ifndef VHALT_SIM_RQ_H
#define VHALT_SIM_RQ_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A pairing heap over an array of nodes: insert and look at the first in constant time, take one
 * out in logarithmic time on average, no memory beyond the nodes. Among equal keys the order is
 * fixed by the sequence of calls, not by addresses.
 */

/** No entity. */
#define SIM_NONE 0xffffffffU

/** Embedded in an array element of the owner; zeroed memory is not a valid node. */
struct sim_rq_node {
	uint64_t key;
	uint32_t child, next, prev; /* prev: elder sibling, or the parent of the eldest child */
};

/** A queue of indices into one array of nodes that lie @stride bytes apart. */
struct sim_rq {
	uint32_t root, nr;
};

/** Where the nodes are: node i is at base + i * stride. */
struct sim_rq_nodes {
	char *base;
	uint32_t stride;
};

/** sim_rq_init - an empty queue. */
static inline void sim_rq_init(struct sim_rq *rq)
{
	rq->root = SIM_NONE;
	rq->nr = 0;
}

/** sim_rq_add - add entity @i, in no queue now, under @key. */
void sim_rq_add(struct sim_rq *rq, struct sim_rq_nodes nodes, uint32_t i, uint64_t key);

/** sim_rq_remove - take out entity @i, which is in this queue. */
void sim_rq_remove(struct sim_rq *rq, struct sim_rq_nodes nodes, uint32_t i);

/** sim_rq_first - the entity of the least key, or SIM_NONE. */
static inline uint32_t sim_rq_first(const struct sim_rq *rq)
{
	return rq->root;
}

/** sim_rq_node - the node of entity @i. */
static inline struct sim_rq_node *sim_rq_node(struct sim_rq_nodes nodes, uint32_t i)
{
	return (struct sim_rq_node *)(void *)(nodes.base + (uint64_t)i * nodes.stride);
}

/**
 * sim_rq_second - an entity that would be first if the first were gone, or SIM_NONE.
 *
 * Walks the first one's children: constant time on average, linear at worst.
 */
uint32_t sim_rq_second(const struct sim_rq *rq, struct sim_rq_nodes nodes);

#endif

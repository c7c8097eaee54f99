// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A run queue: entities ordered by a key, the least first; the nodes live in the entities.
#include "sim/rq.h"

/* Both are roots, or SIM_NONE; on equal keys @a stays on top. */
static uint32_t meld(struct sim_rq_nodes nodes, uint32_t a, uint32_t b)
{
	struct sim_rq_node *top, *below;
	uint32_t child;

	if (a == SIM_NONE || b == SIM_NONE)
		return a == SIM_NONE ? b : a;
	if (sim_rq_node(nodes, b)->key < sim_rq_node(nodes, a)->key) {
		uint32_t swap = a;

		a = b;
		b = swap;
	}
	top = sim_rq_node(nodes, a);
	below = sim_rq_node(nodes, b);
	child = top->child;
	below->next = child;
	below->prev = a;
	if (child != SIM_NONE)
		sim_rq_node(nodes, child)->prev = b;
	top->child = b;
	top->next = top->prev = SIM_NONE;
	return a;
}

/* Takes the next pair off @list and melds it. */
static uint32_t meld_pair(struct sim_rq_nodes nodes, uint32_t *list)
{
	uint32_t a = *list, b = sim_rq_node(nodes, a)->next;

	*list = b == SIM_NONE ? SIM_NONE : sim_rq_node(nodes, b)->next;
	sim_rq_node(nodes, a)->next = SIM_NONE;
	if (b != SIM_NONE)
		sim_rq_node(nodes, b)->next = SIM_NONE;
	return meld(nodes, a, b);
}

/* The two passes of a pairing heap, without recursion: melded pairs are stacked by their next. */
static uint32_t meld_children(struct sim_rq_nodes nodes, uint32_t first)
{
	uint32_t stack = SIM_NONE, root = SIM_NONE;

	while (first != SIM_NONE) {
		uint32_t pair = meld_pair(nodes, &first);

		sim_rq_node(nodes, pair)->next = stack;
		stack = pair;
	}
	while (stack != SIM_NONE) {
		uint32_t next = sim_rq_node(nodes, stack)->next;

		sim_rq_node(nodes, stack)->next = SIM_NONE;
		root = meld(nodes, root, stack);
		stack = next;
	}
	if (root != SIM_NONE)
		sim_rq_node(nodes, root)->prev = SIM_NONE;
	return root;
}

void sim_rq_add(struct sim_rq *rq, struct sim_rq_nodes nodes, uint32_t i, uint64_t key)
{
	*sim_rq_node(nodes, i) = (struct sim_rq_node){key, SIM_NONE, SIM_NONE, SIM_NONE};
	rq->root = meld(nodes, rq->root, i);
	rq->nr++;
}

void sim_rq_remove(struct sim_rq *rq, struct sim_rq_nodes nodes, uint32_t i)
{
	struct sim_rq_node *node = sim_rq_node(nodes, i);
	uint32_t below = meld_children(nodes, node->child);

	rq->nr--;
	if (i == rq->root) {
		rq->root = below;
		return;
	}
	if (sim_rq_node(nodes, node->prev)->child == i)
		sim_rq_node(nodes, node->prev)->child = node->next;
	else
		sim_rq_node(nodes, node->prev)->next = node->next;
	if (node->next != SIM_NONE)
		sim_rq_node(nodes, node->next)->prev = node->prev;
	rq->root = meld(nodes, rq->root, below);
}

uint32_t sim_rq_second(const struct sim_rq *rq, struct sim_rq_nodes nodes)
{
	uint32_t best = SIM_NONE;

	if (rq->root == SIM_NONE)
		return SIM_NONE;
	for (uint32_t i = sim_rq_node(nodes, rq->root)->child; i != SIM_NONE;
	     i = sim_rq_node(nodes, i)->next)
		if (best == SIM_NONE || sim_rq_node(nodes, i)->key < sim_rq_node(nodes, best)->key)
			best = i;
	return best;
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the files that make advice share. */
#ifndef VHALT_REPLAY_ADVICE_INTERNAL_H
#define VHALT_REPLAY_ADVICE_INTERNAL_H

#include "replay/advice.h"

/** What is needed while advice is being made. */
struct advice_work {
	struct advice *advice;
	const struct replay_input *input;
	struct replay_pool *pool;
	struct replay_sample sample;
	struct replay_search search;
	uint32_t global;       /* candidate of the search that holds the recommended setting */
	uint8_t *half;	       /* [block] */
	uint64_t *present;     /* cost of each block: present setting, */
	uint64_t *recommended; /* recommended setting */
};

/** advice_judge_vms - for each VM: which halt_poll_ns suits it alone, and is that sure? 0, -ENOMEM.
 */
int advice_judge_vms(struct advice_work *work);

/**
 * advice_measure - replay the candidate, and each VM's own setting, on all halts.
 *
 * Fills m_candidate and the VMs' metrics. Return: as advice_make().
 */
int advice_measure(struct advice_work *work);

#endif

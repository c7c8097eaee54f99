/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Is a saving real, or would the next recording show another one? */
#ifndef VHALT_REPLAY_CONFIDENCE_H
#define VHALT_REPLAY_CONFIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Fewer halts than this say nothing: no advice. */
#define CONFIDENCE_HALTS_MIN 1000U

/** A saving below this share of the present cost is not worth a change of the host. */
#define CONFIDENCE_GAIN_MIN 0.03

/** Nor is one below this share of one CPU (latency counted at its price). */
#define CONFIDENCE_CPU_MIN 0.001

/** Resamples of the blocks, and their seed: the same recordings give the same interval. */
#define CONFIDENCE_RESAMPLES 1000U
#define CONFIDENCE_SEED	     0x76686c74ULL

enum confidence_verdict {
	CONFIDENCE_SURE,    /* change it */
	CONFIDENCE_NO_GAIN, /* the present setting is the best, or ties with it */
	CONFIDENCE_SMALL,   /* it saves too little to be worth it */
	CONFIDENCE_NOISE,   /* it saves in this recording, but might not in the next */
	CONFIDENCE_FEW,	    /* too few halts to say anything */
};

/** confidence_verdict_name - "sure", "no gain", "small", "noise", "few": stable, used in JSON. */
const char *confidence_verdict_name(enum confidence_verdict verdict);

/** Gains are shares of the present cost: 0.1 saves 10 %. */
struct confidence {
	enum confidence_verdict verdict;
	double gain;
	double low, high;     /* 95 % interval by block bootstrap */
	double half_gain[2];  /* over each half of the blocks */
	double cross_gain[2]; /* as given */
	uint32_t blocks;      /* compared */
};

/** Two settings over the same blocks. */
struct confidence_costs {
	const uint64_t *present, *other; /* ns, @nr of each */
	const uint8_t *half;		 /* 0 or 1 for each block */
	uint32_t nr;
	uint64_t counted; /* halts in the blocks */
	double wall_ns; /* time the blocks stand for; 0: not known, then the CPU share is not asked
			 */
	/*
	 * When the other setting is the winner of a search it has been favoured by chance: then the
	 * gains, over each half, of what a search of the opposite half alone would pick.
	 */
	bool searched;
	double cross_gain[2];
};

/**
 * confidence_judge - compare and decide.
 *
 * Sure means all of: at least CONFIDENCE_HALTS_MIN halts; a gain of CONFIDENCE_GAIN_MIN and
 * CONFIDENCE_CPU_MIN; a gain in both halves, which are interleaved blocks of each vCPU, also across
 * them where there was a search; and a lower bound of the interval above 0. Return: 0 or -ENOMEM.
 */
int confidence_judge(struct confidence *result, const struct confidence_costs *costs);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From a recorded halt to a replayable one: when the wake event came, and what blocking would cost.
 */
#ifndef VHALT_REPLAY_HALT_H
#define VHALT_REPLAY_HALT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vhalt/policy.h>
#include "trace/halt.h"

/** Defaults of the cost model (vhalt/cost.h) and the bounds the command line accepts. */
#define REPLAY_PRICE	      10U
#define REPLAY_PRICE_MAX      1000U
#define REPLAY_LATENCY_NS     13000U /* mean wake-up latency of a blocked vCPU on a quiet host */
#define REPLAY_LATENCY_MAX_NS 10000000U
#define REPLAY_SWITCH_NS      3000U /* CPU time of one block/wake pair */
#define REPLAY_SWITCH_MAX_NS  10000000U
#define REPLAY_MAX_NS	      200000U /* KVM's default halt_poll_ns on x86 */

/** Where the wake-up latency charged for a blocked halt comes from. */
enum replay_latency_source {
	REPLAY_LATENCY_DEFAULT,	 /* nobody knows: REPLAY_LATENCY_NS */
	REPLAY_LATENCY_MEASURED, /* each halt's own where recorded, else their mean */
	REPLAY_LATENCY_GIVEN,	 /* the user's figure, for every halt */
};

/** replay_latency_source_name - "default", "measured", "given": stable, used in JSON. */
const char *replay_latency_source_name(enum replay_latency_source source);

/** The cost model's constants. Plain data. */
struct replay_model {
	uint32_t price;	     /* ns of CPU per ns of latency, 0..REPLAY_PRICE_MAX */
	uint32_t latency_ns; /* charged where no halt has its own; <= REPLAY_LATENCY_MAX_NS */
	uint32_t switch_ns;  /* <= REPLAY_SWITCH_MAX_NS */
	uint32_t max_ns;     /* largest window of policies and of the oracle */
	enum replay_latency_source source;
	bool stamped; /* the recording measures latency: policies are told T where it is exact */
};

/** replay_model_init - the defaults above. */
void replay_model_init(struct replay_model *model);

/** Flags of a replayable halt: the three that policies see share their bits with the outcome's. */
enum replay_halt_flags {
	REPLAY_HALT_INVALID = VHALT_OUTCOME_INVALID,	 /* counted apart, not in the cost */
	REPLAY_HALT_OWN_TIMER = VHALT_OUTCOME_OWN_TIMER, /* T is the vCPU's own deadline */
	REPLAY_HALT_CUT = VHALT_OUTCOME_CUT,		 /* counted apart, not in the cost */
	REPLAY_HALT_APART = REPLAY_HALT_INVALID | REPLAY_HALT_CUT,
	REPLAY_HALT_OUTCOME = REPLAY_HALT_APART | REPLAY_HALT_OWN_TIMER,
	REPLAY_HALT_STAMPED = 1 << 16, /* T is exact in a recording that stamps wake events */
};

/** A replayable halt. Its vCPU is known from where it stands. */
struct replay_halt {
	uint64_t t_ns;	      /* T, at least 1; of a cut halt its whole length as recorded */
	uint64_t run_ns;      /* as recorded, or VHALT_UNKNOWN_NS */
	uint64_t deadline_ns; /* as recorded, or VHALT_NO_DEADLINE_NS */
	uint32_t latency_ns;  /* what blocking costs in latency */
	uint32_t flags;	      /* enum replay_halt_flags */
};

/** What a recording holds, independent of any policy. */
struct replay_counts {
	uint64_t halts;	    /* all */
	uint64_t counted;   /* those in the cost: all but invalid and cut short */
	uint64_t invalid;   /* invalid wake-ups */
	uint64_t cut_short; /* blocked before their window was over: another task wanted the CPU */
	uint64_t unknown_window; /* blocked under a window nobody recorded: a cut would not be seen
				  */
	uint64_t gaps;		 /* came after lost events */
	uint64_t measured;	 /* carry their own wake-up latency */
};

/** replay_counts_add - @sum += @part. */
void replay_counts_add(struct replay_counts *sum, const struct replay_counts *part);

/**
 * replay_halts_from_trace - make @out of @n recorded halts and count them.
 *
 * A polled halt has T = halt_ns. A blocked one has T = halt_ns - L, with L its measured latency,
 * else the model's; never less than the window in force + 1 where that is known, since the poll
 * did not see the event. A blocked halt shorter than its window was cut short. Cannot fail.
 */
void replay_halts_from_trace(struct replay_halt *out, const struct trace_halt *in, size_t n,
			     const struct replay_model *model, struct replay_counts *counts);

#endif

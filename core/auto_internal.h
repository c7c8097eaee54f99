/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the files of policy `auto` share: its memory, its prices and the steps of a decision. */
#ifndef VHALT_CORE_AUTO_INTERNAL_H
#define VHALT_CORE_AUTO_INTERNAL_H

#include "core/policy_internal.h"

/* Start with the essay at the top of auto.c: the words and constants below are explained there. */

enum {
	AUTO_BUCKETS = 16,
	AUTO_WINDOWS = 15, /* one at the upper edge of each bucket but the last */
	AUTO_CELLS = 16,   /* parts of a bucket that auto_state.places tells apart */

	AUTO_RUN_MOST = 7,	/* longest run of like halts told apart */
	AUTO_CONTEXT_ALL = 0,	/* every halt */
	AUTO_CONTEXT_RUN = 1,	/* 16 of them: last halt long? x run length 0..7 */
	AUTO_CONTEXT_BUSY = 17, /* 8 of them: last halt long? x run time class 0..3 */
	AUTO_CONTEXTS = 25,

	AUTO_THIN = 32,		  /* a context with fewer halts than this asks its parent */
	AUTO_LATENCY_SURE = 32,	  /* so many measured latencies replace the given one */
	AUTO_FACTOR_SHIFT = 16,	  /* fixed point of auto_config.scale */
	AUTO_PRICE_SHIFT = 12,	  /* fixed point of auto_config.price */
	AUTO_COST_SHIFT = 4,	  /* fixed point of auto_state.scheme_cost */
	AUTO_LATENCY_SHIFT = 4,	  /* fixed point of auto_state.latency */
	AUTO_B_MOST_NS = 1 << 26, /* 67 ms: keeps debts and weights within their integers */
};

/** Values of the parameter `sleep`. */
enum auto_sleep {
	AUTO_SLEEP_OFF,
	AUTO_SLEEP_BOTH,
	AUTO_SLEEP_DEADLINE,
	AUTO_SLEEP_LEARNT,
	AUTO_SLEEP_VALUES,
};

/** Sixteen byte counters, also seen as two words so that all can be halved at once. */
union auto_row {
	uint8_t count[AUTO_BUCKETS];
	uint64_t word[2];
};

/** The three ways to look at the past; the one that was cheapest lately plays. */
enum auto_scheme { AUTO_SCHEME_RUN, AUTO_SCHEME_BUSY, AUTO_SCHEME_SLOW, AUTO_SCHEMES };

/** Per vCPU. All zero is a vCPU that never halted. */
struct auto_state {
	union auto_row row[AUTO_CONTEXTS];
	uint64_t places;		    /* where in each bucket halts lie, see auto_place() */
	uint8_t filled[AUTO_CONTEXTS];	    /* sum of each row */
	uint8_t known[AUTO_CONTEXTS / 2];   /* window last found for each but ALL, four bits */
	uint8_t window[AUTO_SCHEMES];	    /* what each scheme would poll, as an index */
	uint8_t was_long : 1;		    /* the last halt was longer than B */
	uint8_t run : 3;		    /* halts before it of the same kind */
	uint8_t busy_class : 2;		    /* of the halt that is being decided */
	uint8_t scheme : 2;		    /* enum auto_scheme that plays */
	uint8_t guard : 1;		    /* the debt was too high: play ski rental */
	uint8_t awaits_timer : 1;	    /* the plan was to poll until the vCPU's own timer */
	uint8_t latency_samples : 6;	    /* up to AUTO_LATENCY_SURE */
	uint8_t slow_wait : 4;		    /* wraps to 0 when the slow histogram is to be asked */
	uint8_t slow_ready : 1;		    /* it has been */
	uint16_t slow[AUTO_BUCKETS];	    /* every halt, with the longest memory */
	uint32_t scheme_cost[AUTO_SCHEMES]; /* smoothed cost of a halt under each */
	int32_t debt_ns;		    /* paid beyond 17/16 of ski rental */
	uint32_t latency;		    /* learnt L */
	uint32_t plan_sleep_ns, plan_window_ns;
} CORE_OVERLAY;
CORE_ASSERT_STATE(struct auto_state);
_Static_assert(sizeof(struct auto_state) <= 512, "what docs/auto.md promises");

/** Per VM or host. */
struct auto_config {
	uint64_t price;	     /* ns of CPU per ns of latency, fixed point */
	uint32_t latency_ns; /* L as given */
	uint32_t switch_ns;  /* C */
	uint32_t max_ns;
	uint32_t scale;	    /* 1 / the budget's price factor, fixed point; written at run time */
	uint8_t nr_windows; /* windows up to max_ns, the partial one included */
	uint8_t partial; /* cells of the bucket that max_ns cuts, 0 if there is no partial window */
	uint8_t sleep;	 /* enum auto_sleep */
	uint8_t learn;	 /* learn L from time stamps */
} CORE_OVERLAY;
CORE_ASSERT_CONFIG(struct auto_config);

/** What this halt is worth: the config seen through the learnt latency and the budget. */
struct auto_prices {
	uint32_t b_ns;	     /* B, break-even cost of blocking */
	uint32_t ski_ns;     /* min(B, max): the ski-rental window */
	uint32_t latency_ns; /* L */
	uint32_t switch_ns;  /* C */
	uint32_t max_ns;
	uint32_t nr_short;   /* buckets up to the one that holds ski_ns */
	uint32_t nr_grace;   /* windows up to ski_ns */
	uint32_t nr_windows; /* as in struct auto_config */
	uint32_t partial;
};

/**
 * How likely each bucket is: weight i is count[i] halts of 256 each, and base[i] beside them. The
 * base is the parent's opinion where the context is thin, and a floor.
 */
struct auto_belief {
	const uint8_t *count;
	const uint16_t *base;
	uint64_t places; /* auto_state.places */
	uint32_t total;	 /* sum of the weights, below 2^19 */
};

static inline uint32_t auto_weight(const struct auto_belief *belief, uint32_t bucket)
{
	return ((uint32_t)belief->count[bucket] << 8) + belief->base[bucket];
}

/** Room for a base that has to be computed. */
struct auto_base {
	uint16_t weight[AUTO_BUCKETS];
	uint32_t total;
};

/** An action and its expected cost times the total weight of the belief. */
struct auto_choice {
	uint64_t cost;
	uint32_t sleep_ns, window_ns;
};

/** The contexts the next halt belongs to. */
static inline uint32_t auto_run_context(const struct auto_state *s)
{
	return AUTO_CONTEXT_RUN + s->was_long * (AUTO_RUN_MOST + 1U) + s->run;
}

static inline uint32_t auto_busy_context(const struct auto_state *s)
{
	return AUTO_CONTEXT_BUSY + s->was_long * 4U + s->busy_class;
}

/** auto_latency_ns - L: learnt if it is, else given, the larger of both in between. */
static inline uint32_t auto_latency_ns(const struct auto_state *s, const struct auto_config *c)
{
	uint32_t learnt = s->latency >> AUTO_LATENCY_SHIFT;

	if (!c->learn || !s->latency_samples)
		return c->latency_ns;
	return s->latency_samples < AUTO_LATENCY_SURE ? core_max32(learnt, c->latency_ns) : learnt;
}

/** auto_b_ns - B: price * L + C by what is known of L, divided by the budget's factor. */
static inline uint32_t auto_b_ns(const struct auto_state *s, const struct auto_config *c)
{
	uint64_t b_ns = (c->price * auto_latency_ns(s, c) >> AUTO_PRICE_SHIFT) + c->switch_ns;

	b_ns = core_min64(b_ns, AUTO_B_MOST_NS);
	return (uint32_t)(b_ns * __atomic_load_n(&c->scale, __ATOMIC_RELAXED) >> AUTO_FACTOR_SHIFT);
}

/* --- auto_memory.c: histograms and beliefs --- */

/** Window i in ns, and so the edges of the buckets: bucket i is (window i, window i + 1]. */
extern const uint32_t auto_window_ns[AUTO_BUCKETS];

/** Width of the cells of each bucket that has an upper edge; always a power of two. */
extern const uint32_t auto_cell_ns[AUTO_WINDOWS];

/**
 * Places are four bits a bucket, the lowest first: the cell, 0 to 15, in which its halts lie. They
 * are kept with the highest bit of each inverted, so that 0, a new vCPU's, means the middle.
 */
#define AUTO_PLACES_MIDDLE 0x8888888888888888ULL

static inline uint32_t auto_place(uint64_t places, uint32_t bucket)
{
	return (places ^ AUTO_PLACES_MIDDLE) >> 4 * bucket & 0xf;
}

/** auto_mid_ns - length to expect of a halt in @bucket, below AUTO_WINDOWS: its cell's middle. */
static inline uint32_t auto_mid_ns(const struct auto_belief *belief, uint32_t bucket)
{
	uint32_t half_cells = 2 * auto_place(belief->places, bucket) + 1;

	return auto_window_ns[bucket] + auto_cell_ns[bucket] / 2 * half_cells;
}

/** auto_bucket - the bucket that holds a halt of @t_ns: the number of windows below @t_ns. */
static inline uint32_t auto_bucket(uint32_t t_ns)
{
	uint32_t units, octave, half;

	if (t_ns <= 4096)
		return 0;
	if (t_ns > 262144)
		return t_ns <= 524288 ? 13 : t_ns <= 1048576 ? 14 : 15;
	units = (t_ns - 1) >> 11;
	octave = core_fls64(units) - 1;
	half = units >> (octave - 1) & 1;
	return 2 * (octave - 1) + half + 1;
}

/** auto_count - add @by to @bucket of @context, halving the row when it is full. */
void auto_count(struct auto_state *s, uint32_t context, uint32_t bucket, uint32_t by);

/** auto_note_place - a halt of @t_ns was in @bucket: its place moves a cell towards it. */
void auto_note_place(struct auto_state *s, uint32_t bucket, uint32_t t_ns);

/** auto_count_slow - add one halt to the slow histogram. */
void auto_count_slow(struct auto_state *s, uint32_t bucket);

/** auto_parent - the base of every thin context: AUTO_CONTEXT_ALL and the prior as some halts. */
void auto_parent(const struct auto_state *s, const struct auto_prices *p, struct auto_base *parent);

/**
 * auto_believe - what @context expects of the next halt.
 * @parent:  as auto_parent() made it; read, and kept by reference, only if the context is thin
 */
struct auto_belief auto_believe(const struct auto_state *s, const struct auto_prices *p,
				uint32_t context, const struct auto_base *parent);

/** auto_believe_slow - what the slow histogram expects; @base is room that the belief refers to. */
struct auto_belief auto_believe_slow(const struct auto_state *s, const struct auto_prices *p,
				     struct auto_base *base);

/* --- auto_choose.c: the window --- */

/** auto_cheapest - index of the cheapest of the first @nr_windows windows; its cost in @cost. */
uint32_t auto_cheapest(const struct auto_belief *belief, const struct auto_prices *p,
		       uint32_t nr_windows, uint64_t *cost);

/** auto_propose - set what each scheme would poll, if only @nr_windows windows made sense. */
void auto_propose(struct auto_state *s, const struct auto_prices *p, uint32_t nr_windows);

/** auto_playing_belief - the belief of the scheme that plays; @base is room for it. */
struct auto_belief auto_playing_belief(const struct auto_state *s, const struct auto_prices *p,
				       struct auto_base *base);

/** auto_timer_cost - expected cost of polling until a timer @deadline_ns away. */
uint64_t auto_timer_cost(const struct auto_belief *belief, uint64_t deadline_ns);

/** auto_await_timer - is polling until a timer @deadline_ns (<= max_ns) away the cheapest? */
bool auto_await_timer(const struct auto_state *s, const struct auto_prices *p, uint64_t deadline_ns,
		      uint32_t nr_windows);

/** auto_timer_window_ns - window for such a timer. */
uint32_t auto_timer_window_ns(const struct auto_prices *p, uint64_t deadline_ns);

/* --- auto_sleep.c: sleep first, then poll --- */

/**
 * auto_sleep_first - a plan that sleeps first, if one is clearly cheaper than polling from the
 * start.
 * @deadline_ns:  to the vCPU's own timer, or VHALT_NO_DEADLINE_NS
 * @nr_windows:   as for auto_propose()
 *
 * Return: the plan; sleep_ns is 0 if there is none.
 */
struct vhalt_plan auto_sleep_first(const struct auto_state *s, const struct auto_config *c,
				   const struct auto_prices *p, uint64_t deadline_ns,
				   uint32_t nr_windows);

/* --- auto_learn.c: after the halt --- */

/** auto_learn - the policy's update(). */
void auto_learn(struct auto_state *s, const struct auto_config *c,
		const struct vhalt_outcome *outcome);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The window of policy `auto`: the one of least expected cost under each scheme's belief.

#include "core/auto_internal.h"

enum {
	TIE_SHIFT = 7,	   /* a longer window may cost 1/128 more */
	NO_TIE_SHIFT = 63, /* none may */
	KNOWN_EVERY = 8,   /* visits of a context to a new look at its window, a power of two */
	TIMER_SLACK_NS =
		4096, /* poll a timer so much beyond its time: timers fire late, not early */
};

/* Where the search for a window stands. */
struct search {
	uint64_t best;	  /* least cost so far */
	uint64_t limit;	  /* a window must cost less than this */
	uint64_t certain; /* cost of the halts met, and the window for the rest: never falls */
	uint64_t rest;	  /* weight of the halts not met */
	uint64_t places;  /* of the buckets not met */
	uint32_t next;	  /* bucket to go on with */
	uint32_t found;	  /* index of the best window */
};

/*
 * From edge to edge the rest shrinks by the bucket's weight; the halts met pay up to where in the
 * bucket they lie, the rest its width. Returns false once what is certain is too much: no later
 * window can win.
 */
static inline bool search_to(struct search *at, const struct auto_belief *belief, uint32_t b_ns,
			     uint32_t to, uint32_t tie_shift)
{
	for (; at->next < to; at->next++) {
		uint32_t weight = auto_weight(belief, at->next), cell_ns = auto_cell_ns[at->next];
		uint32_t half_cells = 2 * (at->places & 0xf) + 1;
		uint64_t cost;

		at->places >>= 4;
		at->rest -= weight;
		at->certain += (uint64_t)weight * (cell_ns / 2 * half_cells) +
			       at->rest * cell_ns * AUTO_CELLS;
		cost = at->certain + at->rest * b_ns;
		if (cost < at->limit) {
			at->best = core_min64(at->best, cost);
			at->limit = at->best + (at->best >> tie_shift);
			at->found = at->next + 1;
		} else if (at->certain >= at->limit) {
			return false;
		}
	}
	return true;
}

/*
 * The window that ends within a bucket, at max_ns. It meets the bucket's halts if their place lies
 * below: no more is known of them.
 */
static void search_partial(struct search *at, const struct auto_belief *belief,
			   const struct auto_prices *p)
{
	uint32_t bucket = p->nr_windows - 1, weight = auto_weight(belief, bucket);
	uint64_t cost;

	if (auto_place(belief->places, bucket) >= p->partial)
		return;
	at->rest -= weight;
	cost = at->certain +
	       (uint64_t)weight * (auto_mid_ns(belief, bucket) - auto_window_ns[bucket]) +
	       at->rest * (p->max_ns - auto_window_ns[bucket] + (uint64_t)p->b_ns);
	if (cost >= at->limit)
		return;
	at->best = core_min64(at->best, cost);
	at->found = p->nr_windows;
}

/*
 * Ties go to the longer window, by 1/128 and up to ski_ns: a bucket's true mass is blurred by the
 * grid and by L, and too short a window loses B where too long a one loses the difference. Against
 * blocking at once there is no such grace.
 */
uint32_t auto_cheapest(const struct auto_belief *belief, const struct auto_prices *p,
		       uint32_t nr_windows, uint64_t *cost)
{
	uint64_t blocking = (uint64_t)belief->total * p->b_ns;
	struct search at = {
		.best = blocking,
		.limit = blocking,
		.rest = belief->total,
		.places = belief->places ^ AUTO_PLACES_MIDDLE,
	};
	bool partial = p->partial && nr_windows == p->nr_windows;
	uint32_t nr_whole = nr_windows - partial;
	uint32_t nr_grace = core_min32(nr_whole, p->nr_grace);

	if (search_to(&at, belief, p->b_ns, nr_grace, TIE_SHIFT)) {
		if (p->ski_ns < p->max_ns)
			at.limit = at.best;
		if (search_to(&at, belief, p->b_ns, nr_whole, NO_TIE_SHIFT) && partial)
			search_partial(&at, belief, p);
	}
	*cost = at.best;
	return at.found;
}

static uint32_t known_window(const struct auto_state *s, uint32_t context)
{
	return s->known[(context - 1) / 2] >> context % 2 * 4 & 0xf;
}

static void know_window(struct auto_state *s, uint32_t context, uint32_t window)
{
	uint32_t shift = context % 2 * 4;
	uint32_t other = s->known[(context - 1) / 2] & ~(0xfU << shift);

	s->known[(context - 1) / 2] = (uint8_t)(other | window << shift);
}

static uint32_t search_context(struct auto_state *s, const struct auto_prices *p, uint32_t context,
			       uint32_t nr_windows, const struct auto_base *parent)
{
	struct auto_belief belief = auto_believe(s, p, context, parent);
	uint64_t cost;

	if (s->filled[context] >= AUTO_THIN) {
		uint32_t window = auto_cheapest(&belief, p, p->nr_windows, &cost);

		know_window(s, context, window);
		if (window <= nr_windows)
			return window;
	}
	return auto_cheapest(&belief, p, nr_windows, &cost);
}

/*
 * A full context changes little from halt to halt: its window is searched every eighth visit and
 * remembered. So after a change of B or max up to seven visits may still use the old one, cut to
 * the windows there are.
 */
static inline uint32_t context_window(struct auto_state *s, const struct auto_prices *p,
				      uint32_t context, uint32_t nr_windows,
				      const struct auto_base *parent)
{
	uint32_t filled = s->filled[context], window = known_window(s, context);

	if (filled >= AUTO_THIN && filled % KNOWN_EVERY && window <= nr_windows)
		return window;
	return search_context(s, p, context, nr_windows, parent);
}

/* The slow histogram moves slowly: it is asked every 16 halts, and without regard to a deadline. */
static uint32_t slow_window(struct auto_state *s, const struct auto_prices *p)
{
	struct auto_belief belief;
	struct auto_base base;
	uint64_t cost;

	s->slow_wait++;
	if (s->slow_wait)
		return s->window[s->slow_ready ? AUTO_SCHEME_SLOW : AUTO_SCHEME_RUN];
	s->slow_ready = 1;
	belief = auto_believe_slow(s, p, &base);
	return auto_cheapest(&belief, p, p->nr_windows, &cost);
}

void auto_propose(struct auto_state *s, const struct auto_prices *p, uint32_t nr_windows)
{
	uint32_t run = auto_run_context(s), busy = auto_busy_context(s);
	struct auto_base parent;

	if (s->filled[run] < AUTO_THIN || s->filled[busy] < AUTO_THIN)
		auto_parent(s, p, &parent);
	s->window[AUTO_SCHEME_RUN] = (uint8_t)context_window(s, p, run, nr_windows, &parent);
	s->window[AUTO_SCHEME_BUSY] = (uint8_t)context_window(s, p, busy, nr_windows, &parent);
	s->window[AUTO_SCHEME_SLOW] = (uint8_t)slow_window(s, p);
}

struct auto_belief auto_playing_belief(const struct auto_state *s, const struct auto_prices *p,
				       struct auto_base *base)
{
	bool busy = s->scheme == AUTO_SCHEME_BUSY;

	if (s->scheme == AUTO_SCHEME_SLOW && s->slow_ready)
		return auto_believe_slow(s, p, base);
	auto_parent(s, p, base);
	return auto_believe(s, p, busy ? auto_busy_context(s) : auto_run_context(s), base);
}

/* Events before the timer end the poll, the others pay all of it, and nobody pays B. */
uint64_t auto_timer_cost(const struct auto_belief *belief, uint64_t deadline_ns)
{
	uint64_t cost = 0, rest = belief->total;

	for (uint32_t i = 0; i < AUTO_WINDOWS && auto_window_ns[i + 1] <= deadline_ns; i++) {
		cost += (uint64_t)auto_weight(belief, i) * auto_mid_ns(belief, i);
		rest -= auto_weight(belief, i);
	}
	return cost + rest * deadline_ns;
}

bool auto_await_timer(const struct auto_state *s, const struct auto_prices *p, uint64_t deadline_ns,
		      uint32_t nr_windows)
{
	struct auto_belief belief;
	struct auto_base base;
	uint64_t cost;

	if (deadline_ns <= p->ski_ns)
		return true;
	belief = auto_playing_belief(s, p, &base);
	auto_cheapest(&belief, p, nr_windows, &cost);
	return auto_timer_cost(&belief, deadline_ns) <= cost;
}

uint32_t auto_timer_window_ns(const struct auto_prices *p, uint64_t deadline_ns)
{
	uint64_t most_ns = deadline_ns <= p->ski_ns ? p->ski_ns : p->max_ns;

	return (uint32_t)core_min64(deadline_ns + TIMER_SLACK_NS, most_ns);
}

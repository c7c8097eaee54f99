// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The waiter: decide, sleep, poll, block, learn.

/*
 * One halt, as vhalt/policy.h wants it driven:
 *
 *	pending?  ->  decide  ->  [sleep until plan.sleep_ns]  ->  poll  ->  block  ->  learn
 *
 * each arrow unless the wake event came. All blocking goes through block(), all polling through
 * poll_until(). What the halt waits for is a kick, or a source of the caller's.
 */
#include <errno.h>
#include <sys/prctl.h>

#include "lib/wait_futex.h"
#include "lib/wait_internal.h"
#include "lib/wait_polite.h"
#include "util/clock.h"

enum {
	PAUSES_PER_CLOCK = 4,	    /* looks for a kick between two at the clock */
	FAST_STREAK = 64,	    /* polls in a row that were met, then kicks become cheap */
	BACKOFF_ONCE_NS = 1,	    /* after one cut: as good as none */
	BACKOFF_FIRST_NS = 1000000, /* no polling after the second cut in a row ... */
	BACKOFF_MOST_NS = 64000000, /* ... doubled by each further one, up to this */
};

/* How a stretch of polling or blocking ended. */
enum ended { ENDED_READY, ENDED_TIME, ENDED_CUT };

/* A halt under way. */
struct halt {
	struct wait_waiter *w;
	const struct vhalt_source *source; /* NULL: kicks */
	uint64_t began_ns, deadline_ns;	   /* CLOCK_MONOTONIC */
	uint64_t now_ns;		   /* the clock, last read */
	struct vhalt_plan plan;
	uint32_t window_ns; /* really in force */
	uint32_t flags;	    /* enum vhalt_outcome_flags */
	uint64_t polled_ns, blocked_ns;
	uint64_t stamped_ns; /* when the wake event came, or VHALT_UNKNOWN_NS */
};

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* --- kicks: see the protocol in wait_internal.h --- */

static bool kicked(const struct wait_waiter *w)
{
	return __atomic_load_n(&w->kick, __ATOMIC_ACQUIRE);
}

/* Takes the pending kick; its time. Acquires what every kicker so far has released. */
static uint64_t consume(struct wait_waiter *w)
{
	return __atomic_exchange_n(&w->kick, 0, __ATOMIC_ACQ_REL);
}

static bool is_fast(const struct wait_waiter *w)
{
	return __atomic_load_n(&w->mode, __ATOMIC_RELAXED) == MODE_FAST;
}

/* The wake event was the first kick: its time is put back over a later one. */
static void post_slowly(struct wait_waiter *w, uint64_t mine)
{
	uint64_t was = __atomic_exchange_n(&w->kick, mine, __ATOMIC_ACQ_REL);

	if (was)
		__atomic_compare_exchange_n(&w->kick, &mine, was, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED);
}

void vhalt_waiter_kick(struct vhalt_waiter *waiter)
{
	struct wait_waiter *w = wait_waiter_of(waiter);
	uint64_t mine;

	/* The line is on its way while the clock is read. */
	__builtin_prefetch(&w->kick, 1);
	mine = clock_now_ns() | 1;
	if (is_fast(w)) {
		__atomic_store_n(&w->kick, mine, __ATOMIC_RELEASE);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		/* Still fast, after the store: wait_internal.h says why that is enough. */
		if (is_fast(w))
			return;
	} else {
		post_slowly(w, mine);
	}
	if (__atomic_exchange_n(&w->sleeping, 0, __ATOMIC_ACQ_REL))
		wait_futex_wake(&w->sleeping);
}

bool vhalt_waiter_kicked(const struct vhalt_waiter *waiter)
{
	return kicked((const struct wait_waiter *)waiter->opaque);
}

/* Should the membarrier fail that worked before: what is in flight lands well within this. */
enum { LANDING_NS = 1000000 };

/* Before it may sleep. Return: until when it may sleep before it looks for a kick again. */
static uint64_t leave_fast(struct wait_waiter *w, uint64_t until_ns)
{
	w->streak = 0;
	if (!is_fast(w))
		return until_ns;
	__atomic_store_n(&w->mode, MODE_SLOW, __ATOMIC_RELAXED);
	if (wait_barrier())
		return until_ns;
	__atomic_store_n(&w->engine->fast, 0, __ATOMIC_RELAXED);
	return min64(until_ns, clock_now_ns() + LANDING_NS);
}

static void enter_fast(struct wait_waiter *w)
{
	if (++w->streak == FAST_STREAK && __atomic_load_n(&w->engine->fast, __ATOMIC_RELAXED))
		__atomic_store_n(&w->mode, MODE_FAST, __ATOMIC_RELAXED);
}

/* --- the halt's parts --- */

/* Not asked whether it is ready first: where that is a system call, blocking would cost two. */
static enum ended block_on_source(struct halt *h, uint64_t until_ns)
{
	while (!h->source->block(h->source->arg, until_ns))
		if (clock_now_ns() >= until_ns)
			return h->source->ready(h->source->arg) ? ENDED_READY : ENDED_TIME;
	return ENDED_READY;
}

/* Being woken is no proof of a kick: a kicker of long ago may have taken its time. */
static enum ended block_on_kick(struct halt *h, uint64_t until_ns)
{
	struct wait_waiter *w = h->w;
	uint64_t look_ns = leave_fast(w, until_ns);

	for (;;) {
		bool up = false;

		__atomic_exchange_n(&w->sleeping, 1, __ATOMIC_ACQ_REL);
		if (!kicked(w))
			up = wait_futex_sleep(&w->sleeping, look_ns);
		if (!kicked(w) && !up)
			continue;
		__atomic_exchange_n(&w->sleeping, 0, __ATOMIC_ACQ_REL);
		if (kicked(w))
			return ENDED_READY;
		if (look_ns == until_ns)
			return ENDED_TIME;
		look_ns = until_ns;
	}
}

static enum ended block(struct halt *h, uint64_t until_ns)
{
	uint64_t from_ns = h->now_ns;
	enum ended ended = h->source ? block_on_source(h, until_ns) : block_on_kick(h, until_ns);

	h->now_ns = clock_now_ns();
	h->blocked_ns += h->now_ns - from_ns;
	return ended;
}

/* A source's ready() may be a system call: then one look at the clock each. */
static bool ready_soon(const struct halt *h)
{
	for (int i = 0; i < PAUSES_PER_CLOCK && !h->source; i++) {
		wait_polite_pause();
		if (kicked(h->w))
			return true;
	}
	return h->source && h->source->ready(h->source->arg);
}

static enum ended poll_until(struct halt *h, uint64_t until_ns)
{
	const uint64_t from_ns = h->now_ns;
	struct wait_polite polite;
	enum ended ended;

	wait_polite_begin(&polite, from_ns);
	for (;;) {
		bool is_ready = ready_soon(h);

		h->now_ns = clock_now_ns();
		ended = ENDED_READY;
		if (is_ready)
			break;
		ended = ENDED_TIME;
		if (h->now_ns >= until_ns)
			break;
		ended = ENDED_CUT;
		if (wait_polite_yielded(&polite, h->now_ns))
			break;
	}
	wait_polite_end(&polite);
	h->polled_ns += h->now_ns - from_ns;
	return ended;
}

/*
 * The poll was cut: this CPU is wanted. One cut may be a moment's work of the kernel's; if the next
 * poll is cut too, the CPU is shared, and a thread that polls and yields waits longer for it than
 * one that blocks and is woken. Then look again only now and then.
 */
static void note_cut(struct halt *h)
{
	struct wait_waiter *w = h->w;

	h->flags |= VHALT_OUTCOME_CUT;
	h->window_ns = (uint32_t)min64(h->polled_ns, h->window_ns);
	wait_add32(&w->cuts, 1);
	w->backoff_ns = !w->backoff_ns			   ? BACKOFF_ONCE_NS
			: w->backoff_ns == BACKOFF_ONCE_NS ? BACKOFF_FIRST_NS
							   : 2 * w->backoff_ns;
	w->backoff_ns = (uint32_t)min64(w->backoff_ns, BACKOFF_MOST_NS);
	w->last_cut_ns = h->now_ns;
}

static void decide(struct halt *h)
{
	struct wait_waiter *w = h->w;
	struct vhalt_hint hint = {
		.run_ns = w->last_end_ns == VHALT_UNKNOWN_NS ? VHALT_UNKNOWN_NS
							     : h->began_ns - w->last_end_ns,
		.deadline_ns = h->deadline_ns == VHALT_NO_DEADLINE_NS
				       ? VHALT_NO_DEADLINE_NS
				       : h->deadline_ns - h->began_ns,
		.must_block = h->began_ns < w->last_cut_ns + w->backoff_ns,
	};

	if (w->engine->cpus && wait_budget_gated(w->engine, h->began_ns))
		hint.must_block = true;
	if (hint.must_block) {
		h->flags |= VHALT_OUTCOME_FORCED;
		wait_add32(&w->forced, 1);
	}
	h->plan = vhalt_decide(&w->state, &w->engine->config, &hint);
	h->window_ns = h->plan.window_ns;
	__atomic_store_n(&w->window_ns, h->plan.window_ns, __ATOMIC_RELAXED);
}

/* Sleep, poll, block: as far as it takes. */
static enum ended run(struct halt *h)
{
	const uint64_t wake_ns = h->began_ns + h->plan.sleep_ns;
	enum ended ended = ENDED_TIME;

	if (h->plan.sleep_ns) {
		wait_add32(&h->w->sleeps, 1);
		ended = block(h, min64(wake_ns, h->deadline_ns));
		if (ended == ENDED_READY || h->now_ns >= h->deadline_ns)
			return ended;
	}
	if (h->plan.window_ns) {
		wait_add(&h->w->attempted, 1);
		ended = poll_until(h, min64(wake_ns + h->plan.window_ns, h->deadline_ns));
		/* Kickers read this line: written only when it changes. */
		if (ended != ENDED_CUT && h->w->backoff_ns)
			h->w->backoff_ns = 0;
		if (ended == ENDED_READY || h->now_ns >= h->deadline_ns) {
			h->flags |= VHALT_OUTCOME_POLLED;
			return ended == ENDED_READY ? ended : ENDED_TIME;
		}
		if (ended == ENDED_CUT)
			note_cut(h);
	}
	return block(h, h->deadline_ns);
}

/* Clocks of two CPUs may disagree by little: the event lies within the halt. */
static uint64_t time_of_event(const struct halt *h, uint64_t kick_ns)
{
	return kick_ns < h->began_ns ? h->began_ns : min64(kick_ns, h->now_ns);
}

static void count(struct halt *h)
{
	struct wait_waiter *w = h->w;
	bool polled = h->flags & VHALT_OUTCOME_POLLED;

	wait_add(&w->halts, 1);
	if (h->flags & VHALT_OUTCOME_OWN_TIMER)
		wait_add(&w->deadlines, 1);
	if (h->plan.window_ns && h->polled_ns) {
		wait_add(polled ? &w->success_ns : &w->fail_ns, h->polled_ns);
		wait_hist_add(w, polled ? HIST_POLL_SUCCESS : HIST_POLL_FAIL, h->polled_ns);
		wait_budget_charge(w->engine, h->polled_ns);
	}
	if (h->blocked_ns) {
		wait_add(&w->wait_ns, h->blocked_ns);
		wait_hist_add(w, HIST_WAIT, h->blocked_ns);
	}
	if (polled)
		wait_add(&w->successful, 1);
	else if (h->stamped_ns != VHALT_UNKNOWN_NS)
		wait_add(&w->latency_ns, h->now_ns - h->stamped_ns);
}

static void learn(struct halt *h)
{
	struct vhalt_outcome outcome = {
		.halt_ns = h->now_ns - h->began_ns,
		.wake_ns = h->stamped_ns == VHALT_UNKNOWN_NS ? VHALT_UNKNOWN_NS
							     : h->stamped_ns - h->began_ns,
		.window_ns = h->window_ns,
		.flags = h->flags,
	};

	vhalt_update(&h->w->state, &h->w->engine->config, &outcome);
	h->w->last_end_ns = h->now_ns;
}

static enum vhalt_wake halt(struct halt *h)
{
	enum ended ended;

	decide(h);
	ended = run(h);
	if (ended == ENDED_TIME) {
		h->flags |= VHALT_OUTCOME_OWN_TIMER;
		h->stamped_ns = h->deadline_ns;
	} else if (!h->source) {
		h->stamped_ns = time_of_event(h, consume(h->w));
	}
	count(h);
	learn(h);
	if (ended == ENDED_READY && h->flags & VHALT_OUTCOME_POLLED && !h->source)
		enter_fast(h->w);
	if (ended == ENDED_TIME)
		return VHALT_WAKE_DEADLINE;
	return h->source ? VHALT_WAKE_READY : VHALT_WAKE_KICK;
}

/* --- the interface --- */

enum vhalt_wake vhalt_waiter_wait(struct vhalt_waiter *waiter, uint64_t deadline_ns)
{
	struct wait_waiter *w = wait_waiter_of(waiter);
	struct halt h = {.w = w, .deadline_ns = deadline_ns, .stamped_ns = VHALT_UNKNOWN_NS};

	if (kicked(w)) {
		consume(w);
		wait_add(&w->immediate, 1);
		return VHALT_WAKE_KICK;
	}
	h.began_ns = h.now_ns = clock_now_ns();
	if (deadline_ns <= h.began_ns) {
		wait_add(&w->immediate, 1);
		return VHALT_WAKE_DEADLINE;
	}
	return halt(&h);
}

enum vhalt_wake vhalt_waiter_wait_on(struct vhalt_waiter *waiter, const struct vhalt_source *source,
				     uint64_t deadline_ns)
{
	struct wait_waiter *w = wait_waiter_of(waiter);
	struct halt h = {.w = w,
			 .source = source,
			 .deadline_ns = deadline_ns,
			 .stamped_ns = VHALT_UNKNOWN_NS};

	if (source->ready(source->arg)) {
		wait_add(&w->immediate, 1);
		return VHALT_WAKE_READY;
	}
	h.began_ns = h.now_ns = clock_now_ns();
	if (deadline_ns <= h.began_ns) {
		wait_add(&w->immediate, 1);
		return VHALT_WAKE_DEADLINE;
	}
	return halt(&h);
}

void vhalt_waiter_init(struct vhalt_waiter *waiter, struct vhalt_engine *engine)
{
	struct wait_waiter *w = wait_waiter_of(waiter);

	*w = (struct wait_waiter){
		.engine = wait_engine_of(engine),
		.last_end_ns = VHALT_UNKNOWN_NS,
	};
	vhalt_state_init(&w->state, &w->engine->config);
}

int vhalt_thread_prepare(void)
{
	return prctl(PR_SET_TIMERSLACK, 1UL) ? -errno : 0;
}

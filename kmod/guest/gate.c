// SPDX-License-Identifier: GPL-2.0-only
// When to stop polling because the host is crowded, and when to try again.

#include "guest/gate.h"

#include <linux/minmax.h>
#include <linux/time64.h>

/*
 * The kernel adds up steal time at ticks, 1 to 10 ms apart: a period holds at least two of them.
 */
#define PERIOD_NS (20ULL * NSEC_PER_MSEC)

/*
 * One part in eight of the time a CPU wanted to run. Less is what a host's own threads and
 * interrupts take without anybody waiting for long; a second runnable thread takes a half.
 */
#define CROWDED_SHIFT 3

/* Below this in a period it is noise, however little the CPU ran. */
#define LEAST_STOLEN_NS (500ULL * NSEC_PER_USEC)

/*
 * Shut for 0.25 s at first, 8 s at last: one period in 400 is polled then. A neighbour that goes
 * away is noticed after 8 s at the latest.
 */
#define SHUT_NS	     (250ULL * NSEC_PER_MSEC)
#define BACKOFF_MOST 5

/* So many calm periods in a row (5 s of them, if the CPU is never idle) and the past is forgiven.
 */
#define CALM_PERIODS 256

static void begin_period(struct guest_gate *gate, u64 now_ns, u64 stolen_ns)
{
	gate->since_ns = now_ns;
	gate->stolen_ns = stolen_ns;
	gate->blocked_ns = 0;
}

void guest_gate_init(struct guest_gate *gate, u64 now_ns, u64 stolen_ns)
{
	*gate = (struct guest_gate){};
	begin_period(gate, now_ns, stolen_ns);
}

/* Was too much stolen in the period that ends now? */
static bool was_crowded(const struct guest_gate *gate, u64 now_ns, u64 stolen_ns)
{
	u64 elapsed_ns = now_ns - gate->since_ns;
	u64 wanted_ns = elapsed_ns > gate->blocked_ns ? elapsed_ns - gate->blocked_ns : 0;
	u64 lost_ns = stolen_ns - gate->stolen_ns;

	return lost_ns >= LEAST_STOLEN_NS && lost_ns > wanted_ns >> CROWDED_SHIFT;
}

static void shut(struct guest_gate *gate, u64 now_ns)
{
	gate->shut = true;
	gate->open_ns = now_ns + (SHUT_NS << gate->backoff);
	if (gate->backoff < BACKOFF_MOST)
		gate->backoff++;
	gate->calm = 0;
}

static void end_period(struct guest_gate *gate, u64 now_ns, u64 stolen_ns)
{
	bool crowded = was_crowded(gate, now_ns, stolen_ns);

	/* Shut, it watches on: a crowd seen without polling is no reason to try polling. */
	if (crowded && gate->shut)
		gate->open_ns = max(gate->open_ns, now_ns + SHUT_NS);
	else if (crowded)
		shut(gate, now_ns);
	else if (!gate->shut && ++gate->calm == CALM_PERIODS)
		gate->backoff = 0;
	begin_period(gate, now_ns, stolen_ns);
}

bool guest_gate_is_shut(struct guest_gate *gate, u64 now_ns, u64 stolen_ns)
{
	if (now_ns - gate->since_ns >= PERIOD_NS)
		end_period(gate, now_ns, stolen_ns);
	if (gate->shut && now_ns >= gate->open_ns) {
		gate->shut = false;
		begin_period(gate, now_ns, stolen_ns);
	}
	return gate->shut;
}

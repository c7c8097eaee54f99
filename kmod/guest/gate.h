/* SPDX-License-Identifier: GPL-2.0-only */
/* The steal gate: a CPU whose host has others to run does not poll. */
#ifndef VHALT_GUEST_GATE_H
#define VHALT_GUEST_GATE_H

#include <linux/types.h>

/*
 * A guest cannot see who waits for its host CPU, but it can see what it lost to them: steal time.
 * Time is cut into periods. When too much of the time a CPU wanted to run in a period was stolen,
 * the gate shuts; it opens again after a while for one period, and each time that turns out wrong
 * the next while is twice as long. A host that is crowded for good thus sees one period of polling
 * every few seconds.
 */

struct guest_gate {
	u64 since_ns;	/* begin of this period */
	u64 stolen_ns;	/* the CPU's steal time then */
	u64 blocked_ns; /* halted in this period without polling: it did not want to run */
	u64 open_ns;	/* shut: when to try again */
	u32 calm;	/* periods since it last opened */
	u8 backoff;	/* the next while is the shortest one << backoff */
	bool shut;
};

/** guest_gate_init - an open gate, at time @now_ns with steal time @stolen_ns. */
void guest_gate_init(struct guest_gate *gate, u64 now_ns, u64 stolen_ns);

/** guest_gate_blocked - the CPU has been halted for @ns. */
static inline void guest_gate_blocked(struct guest_gate *gate, u64 ns)
{
	gate->blocked_ns += ns;
}

/**
 * guest_gate_is_shut - may this CPU poll now?
 * @now_ns:     any clock that never goes back, the same at every call
 * @stolen_ns:  steal time of this CPU since whenever
 *
 * At each halt entry, on the CPU itself. A few comparisons, no clock, no lock.
 */
bool guest_gate_is_shut(struct guest_gate *gate, u64 now_ns, u64 stolen_ns);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// From a recorded halt to a replayable one: when the wake event came, and what blocking would cost.
#include "replay/halt.h"

const char *replay_latency_source_name(enum replay_latency_source source)
{
	static const char *const names[] = {"default", "measured", "given"};

	return names[source];
}

void replay_model_init(struct replay_model *model)
{
	*model = (struct replay_model){REPLAY_PRICE,  REPLAY_LATENCY_NS,      REPLAY_SWITCH_NS,
				       REPLAY_MAX_NS, REPLAY_LATENCY_DEFAULT, false};
}

void replay_counts_add(struct replay_counts *sum, const struct replay_counts *part)
{
	sum->halts += part->halts;
	sum->counted += part->counted;
	sum->invalid += part->invalid;
	sum->cut_short += part->cut_short;
	sum->unknown_window += part->unknown_window;
	sum->gaps += part->gaps;
	sum->measured += part->measured;
}

/*
 * Did the vCPU's own timer end the halt? A timer that is due ends it at once, so nothing later than
 * the deadline can have; how much earlier T may seem to be depends on how T is known.
 */
static bool ended_by_own_timer(const struct trace_halt *in, uint64_t t_ns, uint32_t doubt_ns)
{
	return in->deadline_ns != VHALT_NO_DEADLINE_NS && t_ns + doubt_ns >= in->deadline_ns;
}

/* T and the flags of one halt; @own_ns is its latency, measured or not. */
static inline uint32_t find_t(const struct trace_halt *in, uint32_t own_ns, bool stamped,
			      uint64_t *t_ns)
{
	enum { EXACT_DOUBT_NS = 1000 }; /* clock reads and the timer interrupt itself */
	bool waited = in->flags & TRACE_HALT_WAITED;
	bool known = in->window_ns != TRACE_UNKNOWN_U32;
	uint32_t flags = in->flags & TRACE_HALT_INVALID ? REPLAY_HALT_INVALID : 0;
	uint32_t doubt_ns = EXACT_DOUBT_NS;
	uint64_t least_ns = 1;

	*t_ns = in->halt_ns;
	if (waited && known && in->halt_ns < in->window_ns) {
		flags |= REPLAY_HALT_CUT;
	} else if (waited) {
		*t_ns = *t_ns > own_ns ? *t_ns - own_ns : 0;
		if (known)
			least_ns += in->window_ns;
	}
	if (*t_ns < least_ns)
		*t_ns = least_ns;
	if (waited && in->latency_ns == TRACE_UNKNOWN_U32)
		doubt_ns += own_ns;
	else if (stamped)
		flags |= REPLAY_HALT_STAMPED;
	if (ended_by_own_timer(in, *t_ns, doubt_ns))
		flags |= REPLAY_HALT_OWN_TIMER;
	return flags;
}

void replay_halts_from_trace(struct replay_halt *out, const struct trace_halt *in, size_t n,
			     const struct replay_model *model, struct replay_counts *counts)
{
	bool given = model->source == REPLAY_LATENCY_GIVEN;
	struct replay_counts sum = {.halts = n};

	for (size_t i = 0; i < n; i++) {
		bool measured = in[i].latency_ns != TRACE_UNKNOWN_U32;
		bool gap = in[i].flags & TRACE_HALT_GAP;
		uint32_t own_ns = measured ? in[i].latency_ns : model->latency_ns;
		uint64_t t_ns;
		uint32_t flags = find_t(&in[i], own_ns, model->stamped, &t_ns);

		out[i].t_ns = t_ns;
		out[i].run_ns = gap ? VHALT_UNKNOWN_NS : in[i].run_ns;
		out[i].deadline_ns = in[i].deadline_ns;
		out[i].latency_ns = given ? model->latency_ns : own_ns;
		out[i].flags = flags;

		sum.invalid += !!(flags & REPLAY_HALT_INVALID);
		sum.cut_short += (flags & REPLAY_HALT_APART) == REPLAY_HALT_CUT;
		sum.counted += !(flags & REPLAY_HALT_APART);
		sum.unknown_window += in[i].flags & TRACE_HALT_WAITED &&
				      in[i].window_ns == TRACE_UNKNOWN_U32;
		sum.gaps += gap;
		sum.measured += measured;
	}
	replay_counts_add(counts, &sum);
}

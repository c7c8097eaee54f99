/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Advice: what the present setting costs, what to set instead, and how sure that is. */
#ifndef VHALT_REPLAY_ADVICE_H
#define VHALT_REPLAY_ADVICE_H

#include "replay/confidence.h"
#include "replay/engine.h"
#include "replay/search.h"
#include "replay/source.h"

struct advice_options {
	struct replay_model model; /* source says whether the latency was given */
	unsigned int threads;	   /* 0: one per usable CPU */
	bool max_given; /* else model.max_ns is raised to the largest ceiling now in force */
};

/** One point of the cost curve: a halt_poll_ns with the other parameters as recommended. */
struct advice_point {
	uint64_t halt_poll_ns;
	double gain; /* share of the present cost saved; negative: costs more */
};

/** What advice says of one VM. */
struct advice_vm {
	char label[REPLAY_LABEL_BYTES];
	uint32_t ceiling_ns; /* its own (KVM_CAP_HALT_POLL), or TRACE_UNKNOWN_U32 */
	struct replay_counts counts;
	struct replay_metrics present, recommended, automatic;
	uint64_t own_ns;       /* halt_poll_ns that suits this VM alone */
	struct confidence own; /* own_ns against what it gets from the recommended setting */
	bool differs;	       /* own.verdict is sure */
	struct replay_metrics own_metrics; /* under own_ns, when it differs */
	bool loses;			   /* it pays more under a recommended change than now */
};

/** A VM is said to lose from ADVICE_LOSS more cost than now on. */
#define ADVICE_LOSS 0.02

/** Everything advice is made of. Freed by advice_destroy(). */
struct advice {
	struct replay_model model; /* as used, with the latency filled in */
	struct replay_survey survey;
	struct replay_counts counts;
	uint64_t wall_ns;
	bool present_known;			/* the recording has the kernel's parameters */
	struct vhalt_spec present, recommended; /* policy kvm; equal when nothing is to change */
	struct confidence sure;	     /* recommended (or what came nearest) against present */
	struct vhalt_spec candidate; /* the best found, even when it is not recommended */
	uint32_t tried;		     /* settings of the kernel's parameters */
	uint32_t sample_one_of;	     /* 1: the search saw all halts */
	uint64_t sample_halts;
	struct replay_metrics m_present, m_candidate, m_auto, m_oracle;
	struct confidence auto_sure; /* auto against present */
	struct advice_point *curve;
	uint32_t nr_curve;
	struct advice_vm *vms;
	uint32_t nr_vms;
	/* All policies on all halts, by VM; the rows of the present setting and of auto. */
	struct replay *replay;
	uint32_t row_present, row_auto;
};

/**
 * advice_make - read the input, replay every policy, search, judge.
 * @advice:  receives the advice
 * @input:   read two or three times
 *
 * Memory is that of replay/engine.h plus a sample of REPLAY_SAMPLE_HALTS halts. Uses all threads.
 * Return: 0, -ENODATA (no halt in the input), -ENOMEM, or an error of the input's read function.
 */
int advice_make(struct advice **advice, const struct replay_input *input,
		const struct advice_options *options);

/** advice_is_change - is there a change of the kernel's parameters to recommend? */
bool advice_is_change(const struct advice *advice);

/** advice_destroy - NULL is allowed. */
void advice_destroy(struct advice *advice);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Diagnosis of recorded halts, vCPU by vCPU. Halts are streamed; memory grows with the number of
 * vCPUs only (12 KiB each, at most DIAGNOSE_VCPUS_MAX of them).
 *
 *	diagnose_halts_create -> for each recording { diagnose_halts_feed ...,
 *	diagnose_halts_end_recording } -> diagnose_halts_findings -> diagnose_halts_destroy
 */
#ifndef VHALT_DIAGNOSE_HALTS_H
#define VHALT_DIAGNOSE_HALTS_H

#include <stddef.h>

#include "diagnose/finding.h"
#include "diagnose/vcpu.h"
#include "trace/event.h"
#include "trace/halt.h"

#define DIAGNOSE_VCPUS_MAX 2048U

/** What blocking is taken to cost; the defaults of the cost model where zeroed. */
struct diagnose_model {
	uint32_t price, latency_ns, switch_ns;
};

struct diagnose_halts;

/** diagnose_halts_create - @model: copied; NULL: the defaults. NULL: no memory. */
struct diagnose_halts *diagnose_halts_create(const struct diagnose_model *model);

/**
 * diagnose_halts_feed - the next halts of the present recording; arguments as replay_feed().
 * Return: 0, -ENOMEM, -EPROTO (a halt of a vCPU that @info does not have).
 */
int diagnose_halts_feed(struct diagnose_halts *d, const struct trace_info *info,
			const struct trace_halt *halts, size_t n);

/**
 * diagnose_halts_end_recording - the present recording is over.
 * @info:    for names, parameters, ceilings
 * @label:   before the names when not NULL
 */
void diagnose_halts_end_recording(struct diagnose_halts *d, const struct trace_info *info,
				  const char *label);

/**
 * diagnose_halts_events - what the trace held beside halts; of the recording about to end.
 * Copied. Needed for halts that exit to user space only.
 */
void diagnose_halts_events(struct diagnose_halts *d, const struct trace_events *events);

/** diagnose_halts_findings - judge every recording that was ended. */
void diagnose_halts_findings(const struct diagnose_halts *d, struct findings *findings);

/** diagnose_halts_left_out - vCPUs beyond DIAGNOSE_VCPUS_MAX. */
uint64_t diagnose_halts_left_out(const struct diagnose_halts *d);

/** diagnose_halts_shortest_tick - shortest period a vCPU's wake-ups keep; UINT64_MAX: none. */
uint64_t diagnose_halts_shortest_tick(const struct diagnose_halts *d);

void diagnose_halts_destroy(struct diagnose_halts *d);

/** What a rule about one vCPU looks at. */
struct diagnose_view {
	const struct diagnose_vcpu *v;
	struct diagnose_rhythm rhythm;
	struct trace_kvm_params params;
	double seconds;	  /* from the first halt to the last; 0: one moment */
	double rate;	  /* halts a second */
	uint64_t cost_ns; /* of blocking once: B */
	uint32_t twins;	  /* other vCPUs of the VM with nearly as many halts */
	bool has_windows; /* window changes would have been recorded */
};

/** A rule about one vCPU: its condition writes the evidence when it holds. */
struct diagnose_halts_rule {
	struct finding_rule rule;
	bool (*holds)(const struct diagnose_view *view, char evidence[FINDING_EVIDENCE_BYTES]);
};

extern const struct diagnose_halts_rule diagnose_halts_rules[];
extern const uint32_t diagnose_nr_halts_rules;

/** diagnose_user_halts - halts that exit to user space: 1 and evidence if @events shows them. */
bool diagnose_user_halts(const struct trace_events *events, char evidence[FINDING_EVIDENCE_BYTES]);
extern const struct finding_rule diagnose_user_halts_rule;

#endif

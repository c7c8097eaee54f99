/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The replay engine: any set of policies over recorded halts, in total, per VM or per vCPU.
 *
 *	replay_create -> replay_add_policy ... -> for each recording { replay_feed ...,
 *	replay_end_recording } -> replay_finish -> results -> replay_destroy
 *
 * Halts come in batches from anywhere; nothing of them is kept. Memory grows with vCPUs x policies
 * (about 0.5 KiB each: the policy's state) and with result groups x policies (about 7 KiB each: a
 * latency histogram), never with the length of a recording. Work is spread over threads by policy,
 * and by vCPU where there are fewer policies than threads; results are exact sums and do not
 * depend on the number of threads.
 */
#ifndef VHALT_REPLAY_ENGINE_H
#define VHALT_REPLAY_ENGINE_H

#include "lib/spec.h"
#include "replay/tally.h"

struct replay;

/** What gets a line of results of its own beside the total. */
enum replay_by { REPLAY_BY_TOTAL, REPLAY_BY_VM, REPLAY_BY_VCPU };

struct replay_options {
	struct replay_model model;
	enum replay_by by;
	unsigned int threads; /* 0: one per usable CPU */
};

/** Flags of replay_add_policy(). */
enum replay_row_flags {
	/* kvm: a VM whose ceiling is recorded (KVM_CAP_HALT_POLL) has it instead of halt_poll_ns */
	REPLAY_ROW_CEILINGS = 1 << 0,
	REPLAY_ROW_PRESENT = 1 << 1, /* the setting the recorded kernel had: labelled so */
};

/** A policy of the replay. The oracle is always there and is the last one. */
struct replay_row {
	bool oracle;
	uint32_t flags;
	struct vhalt_spec spec; /* not for the oracle */
};

#define REPLAY_LABEL_BYTES 160

/** A line of results: the total (group 0), a VM or a vCPU. */
struct replay_group {
	char label[REPLAY_LABEL_BYTES]; /* "total", "vhalt-tick (pid 4242)", "vhalt-tick/0" */
	uint32_t vm;			/* counted over all recordings; TRACE_UNKNOWN_U32: total */
	uint32_t vcpu;			/* ditto; TRACE_UNKNOWN_U32: not one vCPU */
	uint32_t ceiling_ns;		/* of the VM, or TRACE_UNKNOWN_U32 */
	uint64_t wall_ns;	       /* length of its recording; of the total: of all, added up */
	uint64_t lost, damaged_frames; /* of the total only: as in struct trace_info, added up */
	struct replay_counts counts;
};

/**
 * replay_create - begin a replay.
 * @options: copied
 *
 * Return: 0 or -ENOMEM. The caller ends it by replay_destroy().
 */
int replay_create(struct replay **replay, const struct replay_options *options);

/**
 * replay_add_policy - add a policy, before the first halt.
 * Return: its row, -ENOMEM, -EINVAL or -ERANGE (spec not accepted by vhalt_config_init()).
 */
int replay_add_policy(struct replay *replay, const struct vhalt_spec *spec, uint32_t flags);

/**
 * replay_feed - replay the next halts of the present recording.
 * @info:   what the recording says so far; read during the call only
 * @halts:  @n of them, those of one vCPU in time order; read during the call only
 *
 * Return: 0, -ENOMEM, -EPROTO (a halt of a vCPU, or a vCPU of a VM, that @info does not have).
 */
int replay_feed(struct replay *replay, const struct trace_info *info,
		const struct trace_halt *halts, size_t n);

/**
 * replay_end_recording - the present recording is over; the next halts are from another one.
 * @info:   for its duration; where that is 0 the span of its halts is taken
 * @label:  put before the names of its VMs and vCPUs when not NULL, to tell recordings apart
 */
void replay_end_recording(struct replay *replay, const struct trace_info *info, const char *label);

/** replay_finish - wait for all work; after it only the calls below. 0 or -ENOMEM. */
int replay_finish(struct replay *replay);

/** replay_nr_rows, replay_nr_groups - how many there are; the oracle is row replay_nr_rows() - 1.
 */
uint32_t replay_nr_rows(const struct replay *replay);
uint32_t replay_nr_groups(const struct replay *replay);

/** replay_row, replay_group - one of them, owned by @replay. The index must be below the number. */
const struct replay_row *replay_row(const struct replay *replay, uint32_t row);
const struct replay_group *replay_group(const struct replay *replay, uint32_t group);

/** replay_result - the exact sums of one policy over one group. */
const struct replay_tally *replay_result(const struct replay *replay, uint32_t row, uint32_t group);

/** replay_metrics - the figures of one policy over one group. */
void replay_metrics(const struct replay *replay, uint32_t row, uint32_t group,
		    struct replay_metrics *metrics);

/** replay_model - the cost model in use. */
const struct replay_model *replay_model(const struct replay *replay);

/** replay_destroy - end a replay, finished or not. NULL is allowed. */
void replay_destroy(struct replay *replay);

#endif

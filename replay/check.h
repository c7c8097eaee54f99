/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Conformance: does policy `kvm` decide what the recorded kernel decided, halt by halt? */
#ifndef VHALT_REPLAY_CHECK_H
#define VHALT_REPLAY_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/spec.h"
#include "trace/halt.h"

struct replay_check;

/** What became of a window. */
enum replay_check_kind { REPLAY_CHECK_KEPT, REPLAY_CHECK_GREW, REPLAY_CHECK_SHRANK };

/** replay_check_kind_name - "kept", "grew", "shrank". */
const char *replay_check_kind_name(enum replay_check_kind kind);

struct replay_check_decision {
	enum replay_check_kind kind;
	uint32_t old_ns, new_ns; /* meaningless for a reported KEPT: the kernel says nothing then */
};

/** A decision that came out differently. */
struct replay_check_difference {
	char vcpu[TRACE_NAME_BYTES]; /* thread name, may be empty */
	uint32_t tid;
	uint64_t start_ns, halt_ns;
	struct replay_check_decision expected, reported;
};

/** The first this many differences are kept. */
#define REPLAY_CHECK_DIFFERENCES 8

struct replay_check_result {
	uint64_t decisions;	     /* halts whose window was known: kept, grew or shrank */
	uint64_t reproduced;	     /* of these: policy `kvm` said the same */
	uint64_t kept, grew, shrank; /* of these, by what the kernel did */
	uint64_t unknown;	     /* halts before a window was known: not checked */
	uint64_t resyncs; /* times the window was lost: after lost events, after a difference */
	/* some kvm parameter was neither given nor recorded: @spec's value was taken */
	bool assumed;
	uint32_t nr_differences; /* kept below */
	struct replay_check_difference differences[REPLAY_CHECK_DIFFERENCES];
};

/**
 * replay_check_create - begin a check.
 * @spec:  of policy kvm; what it gives overrides the recording, which overrides the defaults
 *
 * The ceiling of a VM is its own where recorded (KVM_CAP_HALT_POLL), unless @spec gives one.
 * Return: 0, -ENOMEM, -EINVAL (not policy kvm).
 */
int replay_check_create(struct replay_check **check, const struct vhalt_spec *spec);

/**
 * replay_check_feed - check the next halts of the present recording.
 *
 * From the first reported window of each vCPU on, the window is simulated and never looked up.
 * Lost events, and a difference, let the check start anew at the next report.
 * Return: 0, -ENOMEM, -EPROTO (a halt of a vCPU @info does not have).
 */
int replay_check_feed(struct replay_check *check, const struct trace_info *info,
		      const struct trace_halt *halts, size_t n);

/** replay_check_end_recording - the next halts are from another recording. */
void replay_check_end_recording(struct replay_check *check);

/** replay_check_result - so far; owned by @check. */
const struct replay_check_result *replay_check_result(const struct replay_check *check);

/** replay_check_destroy - NULL is allowed. */
void replay_check_destroy(struct replay_check *check);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* From the rings' slots to recorded halts: who halted, how long it ran, which window held. */
#ifndef VHALT_TRACE_RECORDER_TRACK_H
#define VHALT_TRACE_RECORDER_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/halt.h"
#include "trace/recorder.h"
#include "trace/recorder_names.h"
#include "trace/recorder_shared.h"

/** Looks a task up; recorder_task_read() outside of tests. */
typedef void (*recorder_task_reader)(void *context, uint32_t pid, uint32_t tid,
				     struct recorder_task *task);

struct recorder_vm;
struct recorder_vcpu;

/** The VMs and vCPUs seen so far. The caller's memory; read the counts, leave the rest. */
struct recorder_track {
	uint32_t nr_vms, nr_vcpus;
	uint64_t early; /* halts left out because they began before the recording */
	struct recorder_vm *vms;
	struct recorder_vcpu *vcpus;
	struct recorder_ceiling *ceilings;
	uint32_t nr_ceilings;
	uint32_t room_vms, room_vcpus;
	uint32_t *by_tid; /* vCPU index + 1 of each thread id, 0 for none */
	uint64_t origin_ns;
	uint32_t param_ceiling_ns;
	recorder_task_reader read_task;
	void *context;
};

/** What recorder_track_slot() did. */
enum recorder_step {
	RECORDER_STEP_HALT = 1 << 0,   /* @halt is to be written */
	RECORDER_STEP_NUMBER = 1 << 1, /* the number of vCPU @halt->vcpu changed: before the halt */
};

/**
 * recorder_track_init - begin.
 * @origin_ns:	       CLOCK_MONOTONIC at the recording's origin; both programs were attached by
 *		       then, so every window decision from there on was seen
 * @param_ceiling_ns:  the kernel's halt_poll_ns parameter, TRACE_UNKNOWN_U32 where unknown
 * @read_task:	       called, with @context, once per new thread, and again for one that was
 *		       silent for long
 *
 * Return: 0, -ENOMEM.
 */
int recorder_track_init(struct recorder_track *track, uint64_t origin_ns, uint32_t param_ceiling_ns,
			recorder_task_reader read_task, void *context);

/** recorder_track_fini - free what was taken. */
void recorder_track_fini(struct recorder_track *track);

/**
 * recorder_track_set_ceilings - what is known of VMs' ceilings; once, before the first slot.
 * @ceilings: copied; of several for one process the last counts
 *
 * Return: 0, -ENOMEM.
 */
int recorder_track_set_ceilings(struct recorder_track *track,
				const struct recorder_ceiling *ceilings, uint32_t nr);

/**
 * recorder_track_slot - take one slot.
 * @epoch:  as recorder_rings_next() gave it: where it differs from the vCPU's last, events may have
 *	    been lost in between
 * @halt:   receives the halt; for RECORDER_STEP_NUMBER alone only @halt->vcpu counts
 *
 * A new vCPU, and its VM, have been appended to the tables when this returns: the caller compares
 * the counts. Slots of one thread come in time order. Halts that ended before the origin are none
 * of this recording's; one that only began before it is left out, but what follows knows of it.
 * Return: a set of enum recorder_step (0: nothing to write), -ENOMEM.
 */
int recorder_track_slot(struct recorder_track *track, const struct recorder_slot *slot,
			uint64_t epoch, struct trace_halt *halt);

/** recorder_track_vm - VM @index as it is to be written; valid until the next slot. */
const struct trace_vm *recorder_track_vm(const struct recorder_track *track, uint32_t index);

/** recorder_track_vcpu - the same of a vCPU. */
const struct trace_vcpu *recorder_track_vcpu(const struct recorder_track *track, uint32_t index);

#endif

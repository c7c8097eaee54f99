/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The threads of an event trace by their id, and which vCPU and VM each is. */
#ifndef VHALT_TRACE_EVENT_THREADS_H
#define VHALT_TRACE_EVENT_THREADS_H

#include <stddef.h>

#include "trace/event.h"

/** A thread that had an event of KVM's. */
struct event_thread {
	uint32_t tid, pid;  /* pid: TRACE_UNKNOWN_U32 where the trace does not tell */
	uint32_t vcpu;	    /* index into trace_info.vcpus, or TRACE_UNKNOWN_U32: never halted */
	uint32_t number;    /* KVM's vCPU number, or TRACE_UNKNOWN_U32 */
	uint64_t end_ns;    /* when its last halt ended */
	uint64_t waking_ns; /* when it was last woken, or VHALT_UNKNOWN_NS */
	uint64_t epoch;	    /* of the tracker when it was last met: another one means a loss */
	uint32_t window_ns; /* as the last decision left it, or TRACE_UNKNOWN_U32 */
	uint32_t ceiling_ns; /* learnt from the kernel's capping, or TRACE_UNKNOWN_U32 */
	bool halted;  /* had a halt */
	bool gap;     /* events were lost since then */
	bool timed;   /* and when that ended is known */
	bool decided; /* @decision belongs to the halt that is under way */
	bool hlt;     /* a HLT exit whose end was not seen */
	struct trace_event decision;
	char name[TRACE_EVENT_NAME_BYTES];
};

struct event_threads {
	struct trace_info *info; /* its tables of VMs and vCPUs are filled here */
	struct event_thread *all;
	uint32_t nr, room;
	uint32_t *slots; /* hash table of indexes + 1 into @all; 0: free */
	uint32_t nr_slots;
	uint32_t room_vms, room_vcpus;
	uint32_t *begins; /* for grouping: a place per vCPU */
	uint32_t room_begins;
	uint64_t left_out; /* events of threads beyond EVENT_TRACK_THREADS */
};

/** event_threads_init - none yet; @info must outlive it. */
void event_threads_init(struct event_threads *threads, struct trace_info *info);

/** event_threads_known - the thread @tid if it had an event of KVM's, else NULL. */
struct event_thread *event_threads_known(struct event_threads *threads, uint32_t tid);

/**
 * event_threads_find - the thread of @event, whose thread id is known; new if there is none.
 * @epoch:  of a new one
 * @thread: receives it, valid until the next call; NULL when there are too many
 * Return: 0, -ENOMEM.
 */
int event_threads_find(struct event_threads *threads, const struct trace_event *event,
		       uint64_t epoch, struct event_thread **thread);

/** event_threads_make_vcpu - @thread is a vCPU from now on. Return: 0, -ENOMEM. */
int event_threads_make_vcpu(struct event_threads *threads, struct event_thread *thread);

/** event_threads_group - @out: @nr halts, those of a vCPU together in their order. 0, -ENOMEM. */
int event_threads_group(struct event_threads *threads, const struct trace_halt *halts, size_t nr,
			struct trace_halt *out);

/** event_threads_fini - free all, the tables in the info too. */
void event_threads_fini(struct event_threads *threads);

#endif

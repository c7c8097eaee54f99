// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The threads of an event trace by their id, and which vCPU and VM each is.
#include "trace/event_threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event_track.h"
#include "trace/recorder_names.h"
#include "util/room.h"

void event_threads_init(struct event_threads *threads, struct trace_info *info)
{
	*threads = (struct event_threads){.info = info};
}

void event_threads_fini(struct event_threads *threads)
{
	free(threads->all);
	free(threads->slots);
	free(threads->begins);
	free(threads->info->vms);
	free(threads->info->vcpus);
}

/* The slot of @tid, or the free one where it belongs. There is always a free one. */
static uint32_t *find_slot(const struct event_threads *threads, uint32_t tid)
{
	uint32_t mask = threads->nr_slots - 1, at = tid * 2654435761U >> 7 & mask;

	while (threads->slots[at] && threads->all[threads->slots[at] - 1].tid != tid)
		at = (at + 1) & mask;
	return &threads->slots[at];
}

/* Keeps half of the slots free. */
static int grow_slots(struct event_threads *threads)
{
	uint32_t nr = threads->nr_slots ? threads->nr_slots * 2 : 64;
	uint32_t *slots;

	if (threads->nr_slots && threads->nr * 2 < threads->nr_slots)
		return 0;
	slots = calloc(nr, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(threads->slots);
	threads->slots = slots;
	threads->nr_slots = nr;
	/* In order: of several threads that had one id, the last one is found. */
	for (uint32_t i = 0; i < threads->nr; i++)
		*find_slot(threads, threads->all[i].tid) = i + 1;
	return 0;
}

struct event_thread *event_threads_known(struct event_threads *threads, uint32_t tid)
{
	uint32_t index = threads->nr_slots ? *find_slot(threads, tid) : 0;

	return index ? &threads->all[index - 1] : NULL;
}

static int add(struct event_threads *threads, const struct trace_event *event, uint64_t epoch,
	       struct event_thread **thread)
{
	void *array = threads->all;
	int err = room_make(&array, threads->nr, &threads->room, sizeof(*threads->all));

	threads->all = array;
	if (!err)
		err = grow_slots(threads);
	if (err)
		return err;
	*thread = &threads->all[threads->nr];
	**thread = (struct event_thread){
		.tid = event->tid,
		.pid = event->pid,
		.vcpu = TRACE_UNKNOWN_U32,
		.number = TRACE_UNKNOWN_U32,
		.waking_ns = VHALT_UNKNOWN_NS,
		.epoch = epoch,
		.window_ns = TRACE_UNKNOWN_U32,
		.ceiling_ns = TRACE_UNKNOWN_U32,
	};
	*find_slot(threads, event->tid) = ++threads->nr;
	return 0;
}

/* Takes over what the tables say of @thread from what is known of it now. */
static void describe(struct event_threads *threads, const struct event_thread *thread)
{
	struct trace_vcpu *vcpu = &threads->info->vcpus[thread->vcpu];
	struct trace_vm *vm = &threads->info->vms[vcpu->vm];

	vcpu->number = thread->number;
	if (!*thread->name)
		return;
	snprintf(vcpu->name, sizeof(vcpu->name), "%s", thread->name);
	if (vcpu->number == TRACE_UNKNOWN_U32)
		vcpu->number = recorder_vcpu_number(thread->name);
	/* A process is called as its first thread; one that stands alone, as its VM. */
	if (!vm->pid || vm->pid == thread->tid)
		snprintf(vm->name, sizeof(vm->name), "%s", thread->name);
}

static void learn(struct event_threads *threads, struct event_thread *thread,
		  const struct trace_event *event)
{
	bool news = false;

	if (event->vcpu != TRACE_UNKNOWN_U32 && event->vcpu != thread->number) {
		thread->number = event->vcpu;
		news = true;
	}
	if (event->pid != TRACE_UNKNOWN_U32)
		thread->pid = event->pid;
	if (*event->name && strcmp(event->name, thread->name)) {
		memcpy(thread->name, event->name, sizeof(thread->name));
		news = true;
	}
	if (news && thread->vcpu != TRACE_UNKNOWN_U32)
		describe(threads, thread);
}

int event_threads_find(struct event_threads *threads, const struct trace_event *event,
		       uint64_t epoch, struct event_thread **thread)
{
	int err;

	*thread = event_threads_known(threads, event->tid);
	if (*thread && (*thread)->pid != event->pid && (*thread)->pid != TRACE_UNKNOWN_U32 &&
	    event->pid != TRACE_UNKNOWN_U32)
		*thread = NULL;
	if (!*thread && threads->nr >= EVENT_TRACK_THREADS) {
		threads->left_out++;
		return 0;
	}
	if (!*thread) {
		err = add(threads, event, epoch, thread);
		if (err)
			return err;
	}
	learn(threads, *thread, event);
	return 0;
}

/* The VM of process @pid; of an unknown one always a new VM. Return: 0, -ENOMEM. */
static int find_vm(struct event_threads *threads, uint32_t pid, uint32_t *vm)
{
	struct trace_info *info = threads->info;
	void *array = info->vms;
	int err;

	for (uint32_t i = info->nr_vms; pid != TRACE_UNKNOWN_U32 && i-- > 0;) {
		if (info->vms[i].pid == pid) {
			*vm = i;
			return 0;
		}
	}
	err = room_make(&array, info->nr_vms, &threads->room_vms, sizeof(*info->vms));
	info->vms = array;
	if (err)
		return err;
	*vm = info->nr_vms++;
	info->vms[*vm] = (struct trace_vm){.pid = pid == TRACE_UNKNOWN_U32 ? 0 : pid,
					   .ceiling_ns = TRACE_UNKNOWN_U32};
	return 0;
}

int event_threads_make_vcpu(struct event_threads *threads, struct event_thread *thread)
{
	struct trace_info *info = threads->info;
	void *array = info->vcpus;
	uint32_t vm;
	int err;

	if (thread->vcpu != TRACE_UNKNOWN_U32)
		return 0;
	err = room_make(&array, info->nr_vcpus, &threads->room_vcpus, sizeof(*info->vcpus));
	info->vcpus = array;
	if (!err)
		err = find_vm(threads, thread->pid, &vm);
	if (err)
		return err;
	thread->vcpu = info->nr_vcpus++;
	info->vcpus[thread->vcpu] = (struct trace_vcpu){vm, thread->tid, TRACE_UNKNOWN_U32, ""};
	describe(threads, thread);
	return 0;
}

int event_threads_group(struct event_threads *threads, const struct trace_halt *halts, size_t nr,
			struct trace_halt *out)
{
	uint32_t vcpus = threads->info->nr_vcpus, sum = 0;
	uint32_t *begins = threads->begins;

	if (threads->room_begins < vcpus) {
		begins = realloc(begins, vcpus * sizeof(*begins));
		if (!begins)
			return -ENOMEM;
		threads->begins = begins;
		threads->room_begins = vcpus;
	}
	if (vcpus)
		memset(begins, 0, vcpus * sizeof(*begins));
	for (size_t i = 0; i < nr; i++)
		begins[halts[i].vcpu]++;
	for (uint32_t v = 0; v < vcpus; v++) {
		uint32_t own = begins[v];

		begins[v] = sum;
		sum += own;
	}
	for (size_t i = 0; i < nr; i++)
		out[begins[halts[i].vcpu]++] = halts[i];
	return 0;
}

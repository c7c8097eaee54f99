// SPDX-License-Identifier: GPL-2.0-only OR MIT
// From the rings' slots to recorded halts: who halted, how long it ran, which window held.
#include "trace/recorder_track.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/window.h"
#include "util/room.h"

/*
 * A thread silent for this long may be another one with the same id: ids come round only after
 * all others were used, which takes longer than this even under heavy forking.
 */
#define SILENCE_NS 10000000000ULL

/*
 * When a halt began and how late its wake-up was are kept to 64 ns: the probe reads the clock that
 * much sooner or later after a halt's end anyway, and the noise would be a third of the recording.
 * A start is rounded from what the clock said, not from the start before it, so it never drifts.
 * The length of a halt is the kernel's own figure and stays exact.
 */
#define CLOCK_UNIT_NS 64

static uint64_t to_unit(uint64_t ns)
{
	return (ns + CLOCK_UNIT_NS / 2) / CLOCK_UNIT_NS * CLOCK_UNIT_NS;
}

struct recorder_vm {
	struct trace_vm vm;
	uint64_t start; /* of the process, see recorder_task */
};

struct recorder_vcpu {
	struct trace_vcpu vcpu;
	uint64_t start;	 /* of the thread, see recorder_task */
	uint64_t end_ns; /* when the last halt ended, CLOCK_MONOTONIC */
	uint64_t epoch;
	uint32_t pid;
	uint32_t window_ns;	/* as the last decision left it, before the ceiling */
	uint32_t ceiling_ns;	/* told, or learnt from the kernel's capping */
	uint32_t max_window_ns; /* largest window seen in force: the ceiling is not below it */
};

int recorder_track_init(struct recorder_track *track, uint64_t origin_ns, uint32_t param_ceiling_ns,
			recorder_task_reader read_task, void *context)
{
	*track = (struct recorder_track){
		.origin_ns = origin_ns,
		.param_ceiling_ns = param_ceiling_ns,
		.read_task = read_task,
		.context = context,
	};
	/* 16 MiB of address space, of which only pages of real vCPU threads are ever touched. */
	track->by_tid = calloc(RECORDER_TID_LIMIT, sizeof(*track->by_tid));
	return track->by_tid ? 0 : -ENOMEM;
}

void recorder_track_fini(struct recorder_track *track)
{
	free(track->by_tid);
	free(track->vms);
	free(track->vcpus);
	free(track->ceilings);
	*track = (struct recorder_track){0};
}

int recorder_track_set_ceilings(struct recorder_track *track,
				const struct recorder_ceiling *ceilings, uint32_t nr)
{
	if (!nr)
		return 0;
	track->ceilings = malloc(nr * sizeof(*ceilings));
	if (!track->ceilings)
		return -ENOMEM;
	memcpy(track->ceilings, ceilings, nr * sizeof(*ceilings));
	track->nr_ceilings = nr;
	return 0;
}

static uint32_t known_ceiling(const struct recorder_track *track, uint32_t pid)
{
	for (uint32_t i = track->nr_ceilings; i-- > 0;)
		if (track->ceilings[i].pid == pid)
			return track->ceilings[i].ceiling_ns;
	return TRACE_UNKNOWN_U32;
}

/* The index of the VM of process @pid, appended if it is new. Return: 0, -ENOMEM. */
static int find_vm(struct recorder_track *track, uint32_t pid, const struct recorder_task *task,
		   uint32_t *index)
{
	void *array = track->vms;
	struct recorder_vm *vm;
	int err;

	for (uint32_t i = track->nr_vms; i-- > 0;) {
		vm = &track->vms[i];
		if (vm->vm.pid == pid &&
		    (vm->start == task->vm_start || !vm->start || !task->vm_start)) {
			*index = i;
			return 0;
		}
	}
	err = room_make(&array, track->nr_vms, &track->room_vms, sizeof(*track->vms));
	track->vms = array;
	if (err)
		return err;
	*index = track->nr_vms++;
	vm = &track->vms[*index];
	*vm = (struct recorder_vm){.start = task->vm_start};
	vm->vm.pid = pid;
	vm->vm.ceiling_ns = known_ceiling(track, pid);
	memcpy(vm->vm.name, task->vm_name, sizeof(vm->vm.name));
	return 0;
}

/* Appends the vCPU of a thread not seen before. Return: 0, -ENOMEM. */
static int add_vcpu(struct recorder_track *track, const struct recorder_slot *slot,
		    const struct recorder_task *task)
{
	void *array = track->vcpus;
	struct recorder_vcpu *vcpu;
	uint32_t vm;
	int err = room_make(&array, track->nr_vcpus, &track->room_vcpus, sizeof(*track->vcpus));

	track->vcpus = array;
	if (err)
		return err;
	err = find_vm(track, slot->pid, task, &vm);
	if (err)
		return err;
	vcpu = &track->vcpus[track->nr_vcpus++];
	*vcpu = (struct recorder_vcpu){
		.start = task->thread_start,
		.pid = slot->pid,
		.window_ns = TRACE_UNKNOWN_U32,
		.ceiling_ns = track->vms[vm].vm.ceiling_ns,
	};
	vcpu->vcpu.vm = vm;
	vcpu->vcpu.tid = slot->tid;
	vcpu->vcpu.number = recorder_vcpu_number(task->thread_name);
	memcpy(vcpu->vcpu.name, task->thread_name, sizeof(vcpu->vcpu.name));
	track->by_tid[slot->tid % RECORDER_TID_LIMIT] = track->nr_vcpus;
	return 0;
}

/*
 * The vCPU a slot belongs to; @is_new: this is the first slot of it. Thread ids are used again, so
 * a known one has to be of the same process, and after a long silence have begun when it did.
 */
static int find_vcpu(struct recorder_track *track, const struct recorder_slot *slot,
		     struct recorder_vcpu **vcpu, bool *is_new)
{
	uint32_t known = track->by_tid[slot->tid % RECORDER_TID_LIMIT];
	struct recorder_task task;
	int err;

	*is_new = false;
	if (known) {
		*vcpu = &track->vcpus[known - 1];
		if ((*vcpu)->pid == slot->pid && slot->time_ns < (*vcpu)->end_ns + SILENCE_NS)
			return 0;
	}
	track->read_task(track->context, slot->pid, slot->tid, &task);
	/* Gone by now, it cannot be asked, and was most likely the one it always was. */
	if (known && (*vcpu)->pid == slot->pid &&
	    (!task.thread_start || (*vcpu)->start == task.thread_start))
		return 0;
	err = add_vcpu(track, slot, &task);
	if (err)
		return err;
	*vcpu = &track->vcpus[track->nr_vcpus - 1];
	*is_new = true;
	return 0;
}

/*
 * The window that was in force during this halt. Where the ceiling is not known it is the module
 * parameter's, unless this VM has been seen above that.
 */
static uint32_t window_in_force(const struct recorder_track *track,
				const struct recorder_vcpu *vcpu, const struct recorder_slot *slot)
{
	uint32_t ceiling_ns = vcpu->ceiling_ns;

	if (slot->flags & RECORDER_DECIDED)
		return slot->old_ns;
	if (ceiling_ns == TRACE_UNKNOWN_U32 && vcpu->max_window_ns <= track->param_ceiling_ns)
		ceiling_ns = track->param_ceiling_ns;
	return trace_window_capped(vcpu->window_ns, ceiling_ns);
}

/* Learns from the kernel's decision what the next halt's window_in_force() needs. */
static void learn_window(struct recorder_vcpu *vcpu, const struct recorder_slot *slot)
{
	if (!(slot->flags & RECORDER_DECIDED))
		return;
	vcpu->ceiling_ns = trace_window_ceiling(vcpu->ceiling_ns, vcpu->window_ns, slot->old_ns);
	if (slot->old_ns > vcpu->max_window_ns)
		vcpu->max_window_ns = slot->old_ns;
	vcpu->window_ns = slot->new_ns;
}

static uint32_t halt_flags(const struct recorder_slot *slot, bool gap)
{
	uint32_t flags = gap ? TRACE_HALT_GAP : 0;

	if (slot->flags & RECORDER_WAITED)
		flags |= TRACE_HALT_WAITED;
	if (!(slot->flags & RECORDER_VALID))
		flags |= TRACE_HALT_INVALID;
	if (slot->flags & RECORDER_DECIDED)
		flags |= TRACE_HALT_WINDOW;
	if (slot->flags & RECORDER_GROW)
		flags |= TRACE_HALT_GROW;
	return flags;
}

/* Everything of the halt but its start and the vCPU's index. */
static void fill_halt(const struct recorder_track *track, const struct recorder_vcpu *vcpu,
		      const struct recorder_slot *slot, bool gap, struct trace_halt *halt)
{
	bool decided = slot->flags & RECORDER_DECIDED;

	*halt = (struct trace_halt){
		.halt_ns = slot->halt_ns,
		.run_ns = VHALT_UNKNOWN_NS,
		.deadline_ns = VHALT_NO_DEADLINE_NS,
		.latency_ns = (uint32_t)to_unit(slot->latency_ns),
		.window_ns = window_in_force(track, vcpu, slot),
		.old_ns = decided ? slot->old_ns : 0,
		.new_ns = decided ? slot->new_ns : 0,
		.flags = halt_flags(slot, gap),
	};
	/* A halt that never blocked was never woken: its latency would be somebody else's. */
	if (!(slot->flags & RECORDER_WAITED) || slot->latency_ns == RECORDER_NO_LATENCY)
		halt->latency_ns = TRACE_UNKNOWN_U32;
}

int recorder_track_slot(struct recorder_track *track, const struct recorder_slot *slot,
			uint64_t epoch, struct trace_halt *halt)
{
	uint64_t start_ns = slot->time_ns - slot->halt_ns, begin_ns;
	struct recorder_vcpu *vcpu;
	bool is_new, gap;
	int steps = 0, err;

	if (slot->time_ns < track->origin_ns)
		return 0;
	err = find_vcpu(track, slot, &vcpu, &is_new);
	if (err)
		return err;
	gap = !is_new && epoch != vcpu->epoch;
	if (gap)
		vcpu->window_ns = TRACE_UNKNOWN_U32;
	fill_halt(track, vcpu, slot, gap, halt);
	halt->vcpu = (uint32_t)(vcpu - track->vcpus);
	begin_ns = is_new ? track->origin_ns : vcpu->end_ns;
	if (start_ns >= begin_ns)
		start_ns = begin_ns + to_unit(start_ns - begin_ns);
	else if (!is_new)
		/* The clock's fast reading may step back a little; a vCPU's halts never overlap. */
		start_ns = begin_ns;
	if (!is_new && !gap)
		halt->run_ns = start_ns - begin_ns;
	learn_window(vcpu, slot);
	vcpu->epoch = epoch;
	vcpu->end_ns = start_ns + slot->halt_ns;
	if (slot->flags & RECORDER_DECIDED && vcpu->vcpu.number != slot->number) {
		vcpu->vcpu.number = slot->number;
		/* A new vCPU is written after this, number included. */
		steps |= is_new ? 0 : RECORDER_STEP_NUMBER;
	}
	if (start_ns < track->origin_ns || slot->halt_ns > slot->time_ns) {
		track->early++;
		return steps;
	}
	halt->start_ns = start_ns - track->origin_ns;
	return steps | RECORDER_STEP_HALT;
}

const struct trace_vm *recorder_track_vm(const struct recorder_track *track, uint32_t index)
{
	return &track->vms[index].vm;
}

const struct trace_vcpu *recorder_track_vcpu(const struct recorder_track *track, uint32_t index)
{
	return &track->vcpus[index].vcpu;
}

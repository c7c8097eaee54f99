// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The recorder's BPF programs: one slot per halt in this CPU's ring, its window decision included.
//
// Both KVM tracepoints are attached as raw tracepoints: these need no BTF and serve a built-in kvm
// and a modular one alike. What a halt costs is mostly cache and TLB misses and the clock, so the
// clock is read after the addresses are known: the misses then overlap with it. Read first, it
// makes a halt a quarter dearer (bench/recorder_bench.c measures).
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "trace/recorder_shared.h"

/* What the first line says, in words the kernel accepts as GPL-compatible. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Set by the user side before loading; constants to the verifier, which drops the dead branches. */
const volatile __u32 slot_mask = 63;	    /* slots per ring - 1 */
const volatile _Bool filter_by_process = 0; /* keep only processes in the map "processes" */
const volatile _Bool measure_latency = 0;   /* waking_times is kept by on_sched_waking */
const volatile _Bool stores_in_order = 0;   /* the CPU never reorders stores (x86, s390) */

/* Element i is the struct recorder_region of CPU i; sized by the user side, which maps it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct recorder_region) + 64 * sizeof(struct recorder_slot));
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RECORDER_DECISIONS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct recorder_decision));
} decisions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u8));
} processes SEC(".maps");

/* By tid: 0 for a thread that never halted as vCPU, else when it was last woken. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
} waking_times SEC(".maps");

#define NOT_WOKEN 1

/* The one field of the kernel's task that is read here; relocated by BTF when loaded. */
struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

static __always_inline _Bool is_wanted(__u64 task)
{
	__u32 pid = task >> 32;

	return !filter_by_process || bpf_map_lookup_elem(&processes, &pid);
}

static __always_inline struct recorder_region *this_region(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/*
 * The table entry of thread @tid. Threads of one VM mostly have consecutive ids and run on
 * different CPUs; the rotation gives them a cache line each.
 */
static __always_inline struct recorder_decision *decision_of(__u32 tid)
{
	__u32 index = (tid << 2 | (tid >> 14 & 3)) & (RECORDER_DECISIONS - 1);

	return bpf_map_lookup_elem(&decisions, &index);
}

/*
 * The wake-up latency of the halt that just ended: the time since this thread was last woken, if
 * that was within the halt. From here on on_sched_waking watches this thread.
 */
static __always_inline __u32 take_latency(__u32 tid, __u64 now_ns, __u64 halt_ns)
{
	__u64 *woken_ns = bpf_map_lookup_elem(&waking_times, &tid);
	__u64 latency_ns;

	if (!woken_ns)
		return RECORDER_NO_LATENCY;
	latency_ns = now_ns - *woken_ns;
	*woken_ns = NOT_WOKEN;
	return latency_ns <= halt_ns && latency_ns < RECORDER_NO_LATENCY ? latency_ns
									 : RECORDER_NO_LATENCY;
}

/*
 * Moves the decision of thread @tid into the halt it belongs to. Return: flags of that halt; none
 * when a thread that shares the entry has just taken it over (which counts as a loss).
 */
static __always_inline __u32 take_decision(struct recorder_decision *decision, __u32 tid,
					   struct recorder_slot *slot)
{
	__u32 number = decision->number;

	slot->old_ns = decision->old_ns;
	slot->new_ns = decision->new_ns;
	slot->number = number & ~RECORDER_NUMBER_GROW;
	if (*(volatile __u32 *)&decision->tid != tid)
		return 0;
	decision->tid = 0;
	return number & RECORDER_NUMBER_GROW ? RECORDER_DECIDED | RECORDER_GROW : RECORDER_DECIDED;
}

/* Makes a filled slot count; when halts were lost before it, says so in it. */
static __always_inline void commit(struct recorder_region *region, struct recorder_slot *slot,
				   __u64 position, __u32 flags)
{
	__u64 lost = *(volatile __u64 *)&region->lost;
	_Bool after_loss = lost != region->lost_marked;

	slot->flags = after_loss ? flags | RECORDER_AFTER_LOSS : flags;
	if (stores_in_order)
		*(volatile __u32 *)&slot->seq = position + 1;
	else
		__sync_lock_test_and_set(&slot->seq, (__u32)position + 1);
	/* After the commit: until then whoever reads must still see a loss nobody has told. */
	if (after_loss)
		*(volatile __u64 *)&region->lost_marked = lost;
}

/* kvm_vcpu_wakeup(u64 ns, bool waited, bool valid) */
SEC("raw_tp/kvm_vcpu_wakeup")
int on_wakeup(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 now_ns, position, task = bpf_get_current_pid_tgid();
	__u32 decided_tid, tid = task, flags = 0;
	struct recorder_decision *decision;
	struct recorder_region *region;
	struct recorder_slot *slot;

	if (!is_wanted(task))
		return 0;
	decision = decision_of(tid);
	region = this_region();
	if (!decision || !region)
		return 0;
	position = region->head;
	if (position - *(volatile __u64 *)&region->tail > slot_mask) {
		/* Atomic, for on_decision counts here too. */
		__sync_fetch_and_add(&region->lost, 1);
		if (decision->tid == tid)
			decision->tid = 0;
		return 0;
	}
	region->head = position + 1;
	slot = &region->slots[position & slot_mask];
	decided_tid = *(volatile __u32 *)&decision->tid;
	now_ns = bpf_ktime_get_ns();
	slot->time_ns = now_ns;
	slot->halt_ns = ctx->args[0];
	slot->tid = tid;
	slot->pid = task >> 32;
	slot->latency_ns = measure_latency ? take_latency(tid, now_ns, ctx->args[0])
					   : RECORDER_NO_LATENCY;
	if ((__u8)ctx->args[1])
		flags |= RECORDER_WAITED;
	if ((__u8)ctx->args[2])
		flags |= RECORDER_VALID;
	if (decided_tid == tid)
		flags |= take_decision(decision, tid, slot);
	commit(region, slot, position, flags);
	return 0;
}

/* kvm_halt_poll_ns(bool grow, unsigned int vcpu_id, unsigned int new, unsigned int old) */
SEC("raw_tp/kvm_halt_poll_ns")
int on_decision(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = bpf_get_current_pid_tgid();
	__u32 tid = task, other;
	struct recorder_decision *decision;
	struct recorder_region *region;

	if (!is_wanted(task))
		return 0;
	decision = decision_of(tid);
	if (!decision)
		return 0;
	other = decision->tid;
	decision->tid = tid;
	decision->old_ns = ctx->args[3];
	decision->new_ns = ctx->args[2];
	decision->number = (__u32)ctx->args[1] & ~RECORDER_NUMBER_GROW;
	if ((__u8)ctx->args[0])
		decision->number |= RECORDER_NUMBER_GROW;
	if (other && other != tid) {
		region = this_region();
		if (region)
			__sync_fetch_and_add(&region->lost, 1);
	}
	return 0;
}

/* sched_waking(struct task_struct *p): notes when a known vCPU thread is woken. Any context. */
SEC("tp_btf/sched_waking")
int on_sched_waking(__u64 *ctx)
{
	struct task_struct *woken = (struct task_struct *)ctx[0];
	__u32 tid = woken->pid;
	__u64 *woken_ns = bpf_map_lookup_elem(&waking_times, &tid);

	if (woken_ns && *woken_ns)
		*woken_ns = bpf_ktime_get_ns();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What the recorder is measured against: the same events by the kernel's own BPF ring buffer, and
// nothing.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* What the first line says, in words the kernel accepts as GPL-compatible. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct event {
	__u64 time_ns, task;
	__u64 args[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

static __always_inline int send(const __u64 *args, int nr_args)
{
	struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

	if (!event)
		return 0;
	event->time_ns = bpf_ktime_get_ns();
	event->task = bpf_get_current_pid_tgid();
	for (int i = 0; i < nr_args; i++)
		event->args[i] = args[i];
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("raw_tp/kvm_vcpu_wakeup")
int peer_wakeup(struct bpf_raw_tracepoint_args *ctx)
{
	return send(ctx->args, 3);
}

SEC("raw_tp/kvm_halt_poll_ns")
int peer_decision(struct bpf_raw_tracepoint_args *ctx)
{
	return send(ctx->args, 4);
}

/* What the statistics show for a program that does nothing: their own share of every figure. */
SEC("raw_tp/kvm_vcpu_wakeup")
int peer_empty(struct bpf_raw_tracepoint_args *ctx)
{
	return 0;
}

/* The clock alone. */
SEC("raw_tp/kvm_vcpu_wakeup")
int peer_clock(struct bpf_raw_tracepoint_args *ctx)
{
	return bpf_ktime_get_ns() == 0;
}

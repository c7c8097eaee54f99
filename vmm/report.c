// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Turns what guest, KVM and threads have counted into a result.
#include <string.h>

#include "vmm/internal.h"

static uint64_t cycles_to_ns(uint64_t cycles, uint64_t tsc_khz)
{
	unsigned __int128 ns = (unsigned __int128)cycles * 1000000 / tsc_khz;

	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* Nearest rank: the smallest bucket with at least @percent of all values in it or below. */
static uint64_t percentile(const struct vmm_abi_latency *l, uint64_t total, unsigned int percent)
{
	uint64_t rank = (uint64_t)(((unsigned __int128)total * percent + 99) / 100), seen = 0;
	unsigned int b = 0;

	for (; b < VMM_ABI_HIST_BUCKETS - 1; b++) {
		seen += l->buckets[b];
		if (seen >= rank)
			break;
	}
	return vmm_abi_bucket_middle(b);
}

static uint64_t clamp_u64(uint64_t v, uint64_t min, uint64_t max)
{
	return v < min ? min : v > max ? max : v;
}

void vmm_report_latency(const struct vmm_abi_latency *l, uint64_t tsc_khz,
			struct vmm_latency *latency)
{
	uint64_t total = 0, p50, p99;

	*latency = (struct vmm_latency){0};
	/* Not l->count: a guest stopped half-way through recording has not counted its last one. */
	for (unsigned int b = 0; b < VMM_ABI_HIST_BUCKETS; b++)
		total += l->buckets[b];
	if (!l->count || !total)
		return;
	p50 = clamp_u64(percentile(l, total, 50), l->min_cycles, l->max_cycles);
	p99 = clamp_u64(percentile(l, total, 99), l->min_cycles, l->max_cycles);
	latency->count = l->count;
	latency->mean_ns = cycles_to_ns(l->sum_cycles / l->count, tsc_khz);
	latency->p50_ns = cycles_to_ns(p50, tsc_khz);
	latency->p99_ns = cycles_to_ns(p99, tsc_khz);
	latency->min_ns = cycles_to_ns(l->min_cycles, tsc_khz);
	latency->max_ns = cycles_to_ns(l->max_cycles, tsc_khz);
}

static void collect_guest(const struct vmm_vcpu *vcpu, struct vmm_vcpu_result *out)
{
	const struct vmm *vm = vcpu->vm;
	const struct vmm_abi_result *r = vmm_ram_at(
		vm, VMM_ABI_RESULTS_GPA + (uint64_t)vcpu->n * VMM_ABI_RESULT_STRIDE, sizeof(*r));

	/* Not there: the vCPU never got as far as its first instructions; all counts are zero. */
	if (!r || r->magic != VMM_ABI_MAGIC || r->version != VMM_ABI_VERSION)
		return;
	out->halts = r->halts;
	out->wakeups = r->wakeups;
	out->rounds = r->rounds;
	out->missed = r->missed;
	vmm_report_latency(&r->latency, vm->tsc_khz, &out->latency);
	out->timers_digest = r->digest;
	out->guest = (struct vmm_guest_stats){
		.attempted = r->poll.attempted,
		.successful = r->poll.successful,
		.success_ns = cycles_to_ns(r->poll.success_cycles, vm->tsc_khz),
		.fail_ns = cycles_to_ns(r->poll.fail_cycles, vm->tsc_khz),
	};
}

static void collect_kvm(struct vmm_vcpu *vcpu, struct vmm_vcpu_result *out)
{
	int err;

	if (vcpu->stats.fd < 0)
		return;
	err = vmm_stats_read(&vcpu->stats, &out->kvm);
	if (err)
		vmm_error_set(&vcpu->vm->result.note, 0,
			      "KVM's statistics of vCPU %u are missing: %s", vcpu->n,
			      strerror(-err));
}

void vmm_report_collect(struct vmm *vm)
{
	const struct vmm_abi_lock *lock = vmm_ram_at(vm, VMM_ABI_LOCK_GPA, sizeof(*lock));

	vm->result.acquisitions = lock ? lock->acquisitions : 0;
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++) {
		struct vmm_vcpu *vcpu = &vm->vcpus[n];
		struct vmm_vcpu_result *out = &vm->result.vcpus[n];

		out->cpu = vm->pin.cpu[n];
		if (!atomic_load(&vcpu->ended))
			continue;
		out->tid = vcpu->tid;
		out->cpu_ns = vcpu->cpu_ns;
		collect_guest(vcpu, out);
		out->exits = vcpu->exits;
		vhalt_waiter_stats(&vcpu->irqchip.waiter, &out->engine);
		collect_kvm(vcpu, out);
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Conformance: does policy `kvm` decide what the recorded kernel decided, halt by halt?
#include "replay/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <vhalt/kvm.h>

#include "replay/grow.h"
#include "replay/kernel.h"

struct vcpu {
	bool synced; /* the window in the state is the kernel's */
	bool ready;  /* config and state are set up */
	struct vhalt_config config;
	struct vhalt_state state;
};

struct replay_check {
	struct vhalt_spec spec;
	struct vcpu *vcpus;
	uint32_t vcpus_room;
	struct replay_check_result result;
};

const char *replay_check_kind_name(enum replay_check_kind kind)
{
	static const char *const names[] = {"kept", "grew", "shrank"};

	return names[kind];
}

int replay_check_create(struct replay_check **out, const struct vhalt_spec *spec)
{
	struct replay_check *check;

	if (spec->policy != VHALT_POLICY_KVM)
		return -EINVAL;
	check = calloc(1, sizeof(*check));
	if (!check)
		return -ENOMEM;
	check->spec = *spec;
	*out = check;
	return 0;
}

/* Not clamp: it follows from the kernel's release. */
static bool is_assumed(const struct vhalt_spec *spec)
{
	static const char *const keys[] = {"halt_poll_ns", "grow", "grow_start", "shrink"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!(spec->given & 1U << vhalt_spec_param(VHALT_POLICY_KVM, keys[i])))
			return true;
	return false;
}

static void begin_vcpu(struct replay_check *check, const struct trace_info *info, uint32_t index)
{
	const struct trace_vm *vm = &info->vms[info->vcpus[index].vm];
	struct vcpu *vcpu = &check->vcpus[index];
	struct trace_kvm_params params = info->params;
	struct vhalt_spec spec = check->spec;

	if (vm->ceiling_ns != TRACE_UNKNOWN_U32)
		params.halt_poll_ns = vm->ceiling_ns;
	replay_kernel_spec(&spec, &params, info->kernel);
	check->result.assumed |= is_assumed(&spec);
	vhalt_spec_config(&spec, &vcpu->config);
	vhalt_state_init(&vcpu->state, &vcpu->config);
	vcpu->ready = true;
}

static struct replay_check_decision reported(const struct trace_halt *h)
{
	struct replay_check_decision d = {REPLAY_CHECK_KEPT, h->old_ns, h->new_ns};

	if (h->flags & TRACE_HALT_WINDOW)
		d.kind = h->flags & TRACE_HALT_GROW ? REPLAY_CHECK_GREW : REPLAY_CHECK_SHRANK;
	return d;
}

static struct replay_check_decision expected(struct vcpu *vcpu, const struct trace_halt *h)
{
	struct vhalt_hint hint = {VHALT_UNKNOWN_NS, VHALT_NO_DEADLINE_NS, false};
	struct vhalt_plan plan = vhalt_decide(&vcpu->state, &vcpu->config, &hint);
	struct vhalt_outcome outcome = {
		.halt_ns = h->halt_ns,
		.wake_ns = VHALT_UNKNOWN_NS,
		.window_ns = plan.window_ns,
		.flags = (h->flags & TRACE_HALT_WAITED ? 0 : VHALT_OUTCOME_POLLED) |
			 (h->flags & TRACE_HALT_INVALID ? VHALT_OUTCOME_INVALID : 0),
	};
	struct vhalt_window_change change = vhalt_kvm_update(&vcpu->state, &vcpu->config, &outcome);
	struct replay_check_decision d = {REPLAY_CHECK_KEPT, change.old_ns, change.new_ns};

	if (change.decided)
		d.kind = change.grow ? REPLAY_CHECK_GREW : REPLAY_CHECK_SHRANK;
	return d;
}

static bool same(const struct replay_check_decision *a, const struct replay_check_decision *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == REPLAY_CHECK_KEPT || (a->old_ns == b->old_ns && a->new_ns == b->new_ns);
}

static void note_difference(struct replay_check_result *result, const struct trace_info *info,
			    const struct trace_halt *h,
			    const struct replay_check_decision *expectation,
			    const struct replay_check_decision *report)
{
	struct replay_check_difference *d;

	if (result->nr_differences == REPLAY_CHECK_DIFFERENCES)
		return;
	d = &result->differences[result->nr_differences++];
	memcpy(d->vcpu, info->vcpus[h->vcpu].name, sizeof(d->vcpu));
	d->vcpu[sizeof(d->vcpu) - 1] = '\0';
	d->tid = info->vcpus[h->vcpu].tid;
	d->start_ns = h->start_ns;
	d->halt_ns = h->halt_ns;
	d->expected = *expectation;
	d->reported = *report;
}

static void check_halt(struct replay_check *check, const struct trace_info *info,
		       const struct trace_halt *h)
{
	struct replay_check_result *result = &check->result;
	struct vcpu *vcpu = &check->vcpus[h->vcpu];
	struct replay_check_decision report = reported(h), expectation;
	bool has_report = h->flags & TRACE_HALT_WINDOW;

	if (h->flags & TRACE_HALT_GAP && vcpu->synced) {
		vcpu->synced = false;
		result->resyncs++;
	}
	if (!vcpu->synced) {
		result->unknown++;
		if (has_report)
			vhalt_state_set_window(&vcpu->state, &vcpu->config, h->new_ns);
		vcpu->synced = has_report;
		return;
	}
	expectation = expected(vcpu, h);
	result->decisions++;
	result->kept += report.kind == REPLAY_CHECK_KEPT;
	result->grew += report.kind == REPLAY_CHECK_GREW;
	result->shrank += report.kind == REPLAY_CHECK_SHRANK;
	if (same(&expectation, &report)) {
		result->reproduced++;
		return;
	}
	note_difference(result, info, h, &expectation, &report);
	result->resyncs++;
	if (has_report)
		vhalt_state_set_window(&vcpu->state, &vcpu->config, h->new_ns);
	vcpu->synced = has_report;
}

int replay_check_feed(struct replay_check *check, const struct trace_info *info,
		      const struct trace_halt *halts, size_t n)
{
	if (replay_grow(&check->vcpus, &check->vcpus_room, info->nr_vcpus, sizeof(*check->vcpus)))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t vcpu = halts[i].vcpu;

		if (vcpu >= info->nr_vcpus || info->vcpus[vcpu].vm >= info->nr_vms)
			return -EPROTO;
		if (!check->vcpus[vcpu].ready)
			begin_vcpu(check, info, vcpu);
		check_halt(check, info, &halts[i]);
	}
	return 0;
}

void replay_check_end_recording(struct replay_check *check)
{
	for (uint32_t i = 0; i < check->vcpus_room; i++)
		check->vcpus[i].ready = check->vcpus[i].synced = false;
}

const struct replay_check_result *replay_check_result(const struct replay_check *check)
{
	return &check->result;
}

void replay_check_destroy(struct replay_check *check)
{
	if (!check)
		return;
	free(check->vcpus);
	free(check);
}

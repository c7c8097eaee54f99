// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Shows what the guest publishes about a vCPU, read as a host reads it, and where a vCPU stands.
#include "vmm.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>

#include "uapi/vhalt_guest.h"

#define MSR_KVM_STEAL_TIME   0x4b564d03
#define MSR_KVM_POLL_CONTROL 0x4b564d05
#define STEAL_ENABLED	     1u
#define STEAL_ALIGN	     64u
#define RFLAGS_IF	     (1u << 9)

/* @bytes of guest memory at @gpa into @to; false when any is outside. */
static bool copy(const struct nested_vm *vm, uint64_t gpa, void *to, size_t bytes)
{
	if (gpa > vm->ram_bytes || bytes > vm->ram_bytes - gpa)
		return false;
	memcpy(to, vm->ram + gpa, bytes);
	return true;
}

/* 0 or a negative number: this processor of KVM has no such MSR. */
static int read_msr(const struct nested_vcpu *vcpu, uint32_t index, uint64_t *value)
{
	union {
		struct kvm_msrs one;
		uint8_t room[sizeof(struct kvm_msrs) + sizeof(struct kvm_msr_entry)];
	} msr = {.room = {0}};

	msr.one.nmsrs = 1;
	msr.one.entries[0].index = index;
	if (ioctl(vcpu->fd, KVM_GET_MSRS, &msr) != 1)
		return -1;
	*value = msr.one.entries[0].data;
	return 0;
}

const char *nested_host_polls(const struct nested_vcpu *vcpu)
{
	uint64_t control;

	if (read_msr(vcpu, MSR_KVM_POLL_CONTROL, &control))
		return "unknown";
	return control & 1 ? "yes" : "no";
}

void nested_peek(const struct nested_vm *vm, const struct nested_vcpu *vcpu, char *text,
		 size_t text_bytes)
{
	struct vhalt_guest_share share;
	uint64_t steal, page, word = 0;
	bool readable;

	if (read_msr(vcpu, MSR_KVM_STEAL_TIME, &steal) || !(steal & STEAL_ENABLED)) {
		snprintf(text, text_bytes, "share vcpu %u: no steal time", vcpu->n);
		return;
	}
	page = steal & ~(uint64_t)(STEAL_ALIGN - 1);
	if (!copy(vm, page + VHALT_GUEST_SHARE_OFFSET, &share, sizeof(share))) {
		snprintf(text, text_bytes, "share vcpu %u: page outside memory", vcpu->n);
		return;
	}
	if (share.magic != VHALT_GUEST_MAGIC) {
		snprintf(text, text_bytes, "share vcpu %u: nothing published", vcpu->n);
		return;
	}
	readable = (share.width == 4 || share.width == 8) &&
		   copy(vm, share.gpa, &word, share.width);
	snprintf(text, text_bytes,
		 "share vcpu %u: version %u width %u mask %#" PRIx64 " gpa %#" PRIx64
		 " %s %" PRIu64,
		 vcpu->n, share.version, share.width, (uint64_t)share.need_resched_mask,
		 (uint64_t)share.gpa, readable ? "count" : "unreadable",
		 word & ~(uint64_t)share.need_resched_mask);
}

void nested_where(const struct nested_vcpu *vcpu, char *text, size_t text_bytes)
{
	struct kvm_mp_state state;
	struct kvm_regs regs;

	if (ioctl(vcpu->fd, KVM_GET_REGS, &regs) || ioctl(vcpu->fd, KVM_GET_MP_STATE, &state)) {
		snprintf(text, text_bytes, "vcpu %u: its registers cannot be read", vcpu->n);
		return;
	}
	snprintf(text, text_bytes, "vcpu %u: %s, rip %#" PRIx64 ", interrupts %s", vcpu->n,
		 state.mp_state == KVM_MP_STATE_HALTED	   ? "halted"
		 : state.mp_state == KVM_MP_STATE_RUNNABLE ? "running"
							   : "not started",
		 (uint64_t)regs.rip, regs.rflags & RFLAGS_IF ? "on" : "off");
}

// SPDX-License-Identifier: GPL-2.0-only
// Guest memory, read from tracepoints: bounds from KVM's memory slots, copies that may fail.
/*
 * A guest can put any address here, change it between our check and our use, and take the page away.
 * So: the share is copied first and checked afterwards, the address is looked up in the VM's own
 * memory slots each time, and the copy is one that fails instead of faulting. What comes out is a
 * number, used for nothing but choosing among the vCPUs of that VM.
 */

#include "host/boost_share.h"

#include <linux/mm.h>
#include <linux/srcu.h>
#include <linux/uaccess.h>

#include "compat.h"

/* Under kvm->srcu. No read crosses a page. */
static int copy_guest(struct kvm *kvm, u64 gpa, void *to, size_t bytes)
{
	const struct kvm_memory_slot *slot;
	gfn_t gfn = gpa >> PAGE_SHIFT;
	unsigned long hva;

	if (offset_in_page(gpa) + bytes > PAGE_SIZE)
		return -EFAULT;
	slot = __gfn_to_memslot(kvm_memslots(kvm), gfn);
	if (!slot || slot->flags & KVM_MEMSLOT_INVALID)
		return -EFAULT;
	hva = __gfn_to_hva_memslot(slot, gfn) + offset_in_page(gpa);
	return copy_from_user_nofault(to, (const void __user *)hva, bytes) ? -EFAULT : 0;
}

static bool is_sound(const struct vhalt_guest_share *share)
{
	return share->version == VHALT_GUEST_VERSION && (share->width == 4 || share->width == 8) &&
	       !(share->gpa & (share->width - 1));
}

/* The published share, by value: the guest may change its own at any moment. */
static enum host_share_result find_share(struct kvm_vcpu *vcpu,
					 const struct vhalt_guest_share *registered,
					 struct vhalt_guest_share *share)
{
	u64 steal_gpa;

	BUILD_BUG_ON(sizeof(*share) != VHALT_GUEST_SHARE_BYTES);
	/* A page nobody has touched yet is not present: it holds nothing. */
	if (!compat_steal_gpa(vcpu, &steal_gpa) ||
	    copy_guest(vcpu->kvm, steal_gpa + VHALT_GUEST_SHARE_OFFSET, share, sizeof(*share)) ||
	    share->magic != VHALT_GUEST_MAGIC)
		*share = *registered;
	if (share->magic != VHALT_GUEST_MAGIC)
		return HOST_SHARE_NONE;
	return is_sound(share) ? HOST_SHARE_READ : HOST_SHARE_BAD;
}

static enum host_share_result read_count(struct kvm *kvm, const struct vhalt_guest_share *share,
					 u32 *count)
{
	u64 word = 0; /* little-endian: the low half is the word of a narrow one */

	if (copy_guest(kvm, share->gpa, &word, share->width))
		return HOST_SHARE_FAULT;
	word &= ~share->need_resched_mask;
	*count = min_t(u64, word, U32_MAX);
	return HOST_SHARE_READ;
}

enum host_share_result host_share_read(struct kvm_vcpu *vcpu,
				       const struct vhalt_guest_share *registered, u32 *count)
{
	struct kvm *kvm = vcpu->kvm;
	struct vhalt_guest_share share;
	enum host_share_result result;
	int srcu;

	*count = 0;
	/* At process exit the mm is gone before the vCPU is. */
	if (current->mm != kvm->mm)
		return HOST_SHARE_FAULT;
	srcu = srcu_read_lock(&kvm->srcu);
	result = find_share(vcpu, registered, &share);
	if (result == HOST_SHARE_READ)
		result = read_count(kvm, &share, count);
	srcu_read_unlock(&kvm->srcu, srcu);
	return result;
}

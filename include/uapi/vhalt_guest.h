/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/* What a guest publishes to its host: where each vCPU keeps its preempt_count. */
#ifndef VHALT_UAPI_VHALT_GUEST_H
#define VHALT_UAPI_VHALT_GUEST_H

/*
 * A vCPU's preempt_count says whether it may be preempted: not zero, it holds a spinlock, serves an
 * interrupt, or is otherwise inside a critical section. A host that knows it can give the time of a
 * spinning vCPU to one that is worth it.
 *
 * Two ways to publish, the same content:
 *
 * 1. A struct vhalt_guest_share in the last bytes of the vCPU's steal-time page (struct kvm_steal_time,
 *    64 bytes, the address in MSR_KVM_STEAL_TIME). Bytes 20 to 63 of it are padding that KVM never
 *    writes; we use the last VHALT_GUEST_SHARE_BYTES of them. The guest writes every field, then a
 *    write barrier, then the magic; to withdraw it writes magic 0. It survives a reload of the host's
 *    module and moves with the guest's memory; the guest ends it at kexec and reboot, when it clears
 *    the MSR, and KVM at a vCPU reset.
 * 2. Where there is no steal time: hypercall VHALT_GUEST_HC, made by the vCPU it is about, with
 *    a0 = gpa, a1 = need_resched_mask, a2 = version | width << 16, a3 = magic (0 withdraws). KVM answers
 *    -KVM_ENOSYS, whether anybody listens or not.
 *
 * The host trusts none of it: magic, version, width and address are checked at every read, and a
 * value, however wrong, can only move time between the vCPUs of one VM.
 *
 * Append-only: a new layout gets a new version, and a host ignores versions it does not know.
 */

#include <linux/types.h>

#define VHALT_GUEST_MAGIC   0x744c4856U /* "VHLt" in memory */
#define VHALT_GUEST_VERSION 1

/** Number of the hypercall. Above all of KVM's; "PCNT" read as a number. */
#define VHALT_GUEST_HC 0x50434e54U

/**
 * struct vhalt_guest_share - where the preempt_count of this vCPU is. Little-endian, as x86 is.
 *
 * @gpa: guest-physical address of the count; it does not cross a page (a multiple of @width)
 * @need_resched_mask: bits of the word that are not part of the count (x86 keeps need_resched there,
 *	inverted): cleared before the count is compared with zero
 * @version: VHALT_GUEST_VERSION
 * @width: bytes of the word, 4 or 8
 * @magic: VHALT_GUEST_MAGIC, written last; anything else: nothing is published
 */
struct vhalt_guest_share {
	__u64 gpa;
	__u64 need_resched_mask;
	__u16 version;
	__u16 width;
	__u32 magic;
};

#define VHALT_GUEST_SHARE_BYTES 24

/** Offset of the struct in struct kvm_steal_time: its last bytes. */
#define VHALT_GUEST_SHARE_OFFSET 40

#endif

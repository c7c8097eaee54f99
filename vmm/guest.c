// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The table of guests this build contains.
#include <string.h>

#include "vmm/vmm.h"

/* Defined in vmm/guests/images.S. */
#define IMAGE(name) extern const unsigned char vmm_image_##name[], vmm_image_##name##_end[]

IMAGE(tick);
IMAGE(idle);
IMAGE(rr);
IMAGE(burst);
IMAGE(lock);
IMAGE(crash);

#define GUEST(guest, vcpus, text)                                                                  \
	.name = #guest, .summary = text, .nr_vcpus = vcpus, .image = vmm_image_##guest,            \
	.image_end = vmm_image_##guest##_end

static const struct vmm_guest guests[] = {
	{GUEST(tick, 1, "a timer at N Hz, like an idle system with a periodic tick")},
	{GUEST(idle, 1, "a rare one-shot timer, like an idle system without a tick")},
	{GUEST(rr, 2, "request and response between two vCPUs by IPI"),
	 .latency_kind = VMM_LATENCY_ROUND_TRIP, .apart = true},
	{GUEST(burst, 1, "one-shot timers drawn from a seeded mix of short and long")},
	{GUEST(lock, 4, "vCPUs that contend for a spinlock"), .max_vcpus = VMM_MAX_VCPUS,
	 .latency_kind = VMM_LATENCY_LOCK},
	{GUEST(crash, 1, "misbehaves as told: test use only"), .hidden = true},
};

const char *vmm_latency_kind_name(enum vmm_latency_kind kind)
{
	switch (kind) {
	case VMM_LATENCY_LATENESS: return "lateness";
	case VMM_LATENCY_ROUND_TRIP: return "round_trip";
	case VMM_LATENCY_LOCK: return "lock_wait";
	}
	return "lateness";
}

const char *vmm_share_name(enum vmm_share share)
{
	static const char *const names[VMM_NR_SHARES] = {
		[VMM_SHARE_NONE] = "none",
		[VMM_SHARE_STEAL] = "steal",
		[VMM_SHARE_HYPERCALL] = "hypercall",
		[VMM_SHARE_HOSTILE] = "hostile",
	};

	return share < VMM_NR_SHARES ? names[share] : NULL;
}

const struct vmm_guest *vmm_guest_at(size_t index)
{
	return index < sizeof(guests) / sizeof(guests[0]) ? &guests[index] : NULL;
}

const struct vmm_guest *vmm_guest_find(const char *name)
{
	for (size_t i = 0; i < sizeof(guests) / sizeof(guests[0]); i++)
		if (!strcmp(guests[i].name, name))
			return &guests[i];
	return NULL;
}

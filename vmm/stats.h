/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* KVM's binary statistics of one vCPU, read through KVM_GET_STATS_FD. */
#ifndef VHALT_VMM_STATS_H
#define VHALT_VMM_STATS_H

#include <sys/types.h>

#include "vmm/vmm.h"

/** The counters of struct vmm_kvm_stats. */
#define VMM_STATS_NR 8

/** An open statistics file and where in it each counter lies. */
struct vmm_stats {
	int fd;			/* -1: not open; then reading gives "not valid" */
	off_t at[VMM_STATS_NR]; /* byte offset of each counter's 64-bit value, 0: not offered */
};

/**
 * vmm_stats_init - take over @fd, a descriptor from KVM_GET_STATS_FD, and read its layout.
 *
 * Do this before the vCPU first runs: KVM_GET_STATS_FD waits while the vCPU is inside KVM_RUN.
 * Return: 0; -EPROTO: not a layout this code understands; -errno. @fd is closed on error.
 */
int vmm_stats_init(struct vmm_stats *stats, int fd);

/** vmm_stats_fini - close. Allowed on {.fd = -1}. */
void vmm_stats_fini(struct vmm_stats *stats);

/**
 * vmm_stats_read - the counters now; may be called while the vCPU runs.
 * A counter this kernel does not offer reads as 0. Return: 0 or -errno (@kvm is then not valid).
 */
int vmm_stats_read(const struct vmm_stats *stats, struct vmm_kvm_stats *kvm);

#endif

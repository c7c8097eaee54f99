/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What one could have chosen had one known the halts: yardsticks between a policy and the oracle.
 */
#ifndef VHALT_SUITE_HINDSIGHT_H
#define VHALT_SUITE_HINDSIGHT_H

#include <vhalt/policy.h>

#include "suite/drive.h"

/**
 * suite_best_fixed - the one window that would have been cheapest for all of @halts.
 * @host:  its b_ns and max_ns
 * @sum:   receives the sums under that window
 *
 * Exact: every T up to max_ns, and 0, is a candidate. Return: 0 or -ENOMEM.
 */
int suite_best_fixed(const struct suite_host *host, const struct suite_halt *halts, uint32_t nr,
		     struct suite_sum *sum);

/** Settings of KVM's parameters that are tried: halt_poll_ns x shrink. */
#define SUITE_TUNINGS 32U

/**
 * suite_tuning - parameters number @tuning (below SUITE_TUNINGS) of the trial, as policy `kvm`.
 * @max_ns:  halt_poll_ns beyond it are cut to it, so that some tunings are alike
 * @name:    NULL or receives the tuning as text, such as "20us/2" (at least 32 bytes)
 */
void suite_tuning(uint32_t tuning, uint32_t max_ns, struct vhalt_config *config, char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What is counted of a VM that is boosted. */
#ifndef VHALT_KMOD_BOOST_COUNTS_H
#define VHALT_KMOD_BOOST_COUNTS_H

#include <linux/types.h>

#include <uapi/vhalt.h>

/**
 * struct host_boost_tally - counts of one vCPU, or the sum of several; include/uapi/vhalt.h says
 * what each of them is (VHALT_BOOST_A_...). A vCPU's own are written where it is switched or exits,
 * one at a time; others only read.
 */
struct host_boost_tally {
	u64 reads, read_errors, bad_shares, unshared;
	u64 preemptions, critical;
	u64 steers, yields, targets, hits, handed;
	u64 waits, wait_ns, wait_max_ns;
};

struct host_boost_counts {
	struct host_boost_tally tally;
	u64 wait_log2[VHALT_BOOST_WAIT_BUCKETS];
};

#endif

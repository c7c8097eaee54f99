/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Random workloads by the thousand: how a policy does where nobody tuned it. */
#ifndef VHALT_SUITE_TRIAL_H
#define VHALT_SUITE_TRIAL_H

#include "suite/table.h"

/** Halts of each random workload. */
#define SUITE_TRIAL_HALTS 3000U

/** Quantiles of a distribution. */
struct suite_quantiles {
	double p10, p50, p90, p99, p999, max;
	double at_most_one; /* share of values up to 1 */
};

/** Result of a trial of one policy. */
struct suite_trial {
	uint32_t nr;
	struct suite_quantiles to_kvm; /* cost / the better of kvm/0 and kvm/2 */
	struct suite_quantiles to_kvm2;
	double geomean, kvm0_geomean, kvm2_geomean; /* to the oracle */
	double worst;				    /* to the oracle */
};

/**
 * suite_trial_run - @spec over @nr random workloads.
 * @options:  settings (taken in turn), seed, threads, hints; workloads and policies are ignored
 *
 * Return: 0, -EINVAL (@nr is 0), -ENOMEM.
 */
int suite_trial_run(struct suite_trial *trial, const struct suite_options *options,
		    const struct vhalt_spec *spec, uint32_t nr);

#endif

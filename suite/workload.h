/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The suite's workloads: what a vCPU's halts look like, drawn from a seed. */
#ifndef VHALT_SUITE_WORKLOAD_H
#define VHALT_SUITE_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include <vhalt/types.h>

/** Halts of one run of one workload. */
#define SUITE_HALTS 40000U

/** One drawn halt. */
struct suite_halt {
	uint64_t t_ns;	      /* halt to wake event */
	uint64_t run_ns;      /* run time before it */
	uint64_t deadline_ns; /* to the vCPU's own timer if known, else VHALT_NO_DEADLINE_NS */
	uint32_t latency_ns;  /* wake-up latency L, should the vCPU block */
	bool own_timer;	      /* the vCPU's own, known timer ends it */
	bool fresh;	      /* a new vCPU begins here: the policy's state is reset */
};

/** What a workload may depend on besides its seed. */
struct suite_setting {
	uint32_t b_ns;	 /* break-even cost of a blocked halt */
	uint32_t max_ns; /* largest window */
};

/** Index of the workload called @name, or -1; -1 as well for an index's name out of range: NULL. */
int suite_workload_find(const char *name);
const char *suite_workload_name(uint32_t workload);

/** suite_workload_summary - one line of text: what it stands for; NULL when out of range. */
const char *suite_workload_summary(uint32_t workload);

/** suite_nr_workloads - their number; indices are below it. */
uint32_t suite_nr_workloads(void);

/**
 * suite_workload_generate - draw @nr halts of a workload.
 * @workload:  index
 * @setting:   few workloads depend on it: `square` on b_ns, `past_max` on max_ns
 * @seed:      the same seed gives the same halts, whatever else is generated
 * @halts:     receives @nr of them
 */
void suite_workload_generate(uint32_t workload, const struct suite_setting *setting, uint64_t seed,
			     struct suite_halt *halts, uint32_t nr);

/**
 * suite_random_generate - draw @nr halts of the random workload number @index.
 *
 * One to four modes, each lognormal with a median of 1 us to 10 ms; the vCPU dwells in a mode for a
 * mean of 1 to 1000 halts, or goes through a fixed pattern of period 2 to 12. Run times are the
 * usual ones and no timer is known: nothing but the lengths themselves can be learnt from.
 */
void suite_random_generate(uint32_t index, uint64_t seed, struct suite_halt *halts, uint32_t nr);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Runs numbered jobs on all cores; what a job computes must depend on its number alone. */
#ifndef VHALT_SUITE_PARALLEL_H
#define VHALT_SUITE_PARALLEL_H

#include <stdint.h>

/**
 * suite_parallel - run job(context, i) for each i below @nr, in any order, each once.
 * @threads:   how many at a time; 0: as many as there are CPUs this process may use
 * @job:       0 or -errno; must not touch what another job writes
 * @progress:  NULL, or called now and then with the number of jobs done, from this thread only
 *
 * Threads that cannot be created are done without. Return: 0, or the error of one of the failed
 * jobs; others may not have run then.
 */
int suite_parallel(uint32_t threads, uint32_t nr, int (*job)(void *context, uint32_t i),
		   void *context, void (*progress)(uint32_t done, uint32_t nr));

#endif

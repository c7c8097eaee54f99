/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The ranks of an MPI run; without MPI, or outside mpirun, there is one. */
#ifndef VHALT_SIM_SPREAD_H
#define VHALT_SIM_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

/** sim_spread_available - was this program built with MPI? */
bool sim_spread_available(void);

/** sim_spread_init - join the other ranks. Return: 0, -ENOTSUP (built without), -EIO. */
int sim_spread_init(void);

/** sim_spread_fini - leave; nothing happens where init was not called. */
void sim_spread_fini(void);

/** sim_spread_rank, sim_spread_size - 0 and 1 before init. */
uint32_t sim_spread_rank(void);
uint32_t sim_spread_size(void);

/**
 * sim_spread_sum - add up @nr numbers over all ranks; every rank gets the sums.
 * Return: 0 or -EIO. All ranks must call it.
 */
int sim_spread_sum(int64_t *values, uint64_t nr);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The ranks of an MPI run; without MPI there is one.
#include "sim/spread.h"

#include <errno.h>

#ifdef VHALT_MPI
#include <mpi.h>

/* Summed in pieces: MPI counts in int. */
enum { PIECE = 1 << 20 };

static uint32_t rank, size = 1;
static bool joined;

bool sim_spread_available(void)
{
	return true;
}

int sim_spread_init(void)
{
	int provided, r, n;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
		return -EIO;
	joined = true;
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	rank = (uint32_t)r;
	size = (uint32_t)n;
	return 0;
}

void sim_spread_fini(void)
{
	if (joined)
		MPI_Finalize();
	joined = false;
}

int sim_spread_sum(int64_t *values, uint64_t nr)
{
	for (uint64_t i = 0; size > 1 && i < nr; i += PIECE) {
		int n = (int)(nr - i < PIECE ? nr - i : PIECE);

		if (MPI_Allreduce(MPI_IN_PLACE, values + i, n, MPI_INT64_T, MPI_SUM,
				  MPI_COMM_WORLD) != MPI_SUCCESS)
			return -EIO;
	}
	return 0;
}

#else
static const uint32_t rank = 0, size = 1;

bool sim_spread_available(void)
{
	return false;
}

int sim_spread_init(void)
{
	return -ENOTSUP;
}

void sim_spread_fini(void)
{
}

int sim_spread_sum(int64_t *values, uint64_t nr)
{
	(void)values;
	(void)nr;
	return 0;
}
#endif

uint32_t sim_spread_rank(void)
{
	return rank;
}

uint32_t sim_spread_size(void)
{
	return size;
}

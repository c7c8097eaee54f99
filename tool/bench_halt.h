/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One row of vhalt bench halt: the same four guests, waited for in one way. */
#ifndef VHALT_TOOL_BENCH_HALT_H
#define VHALT_TOOL_BENCH_HALT_H

#include "tool/bench_table.h"

/* The ceiling of all rows, and the price of a ns of latency in the cost of the mixed load. */
enum { BENCH_HALT_CEILING_NS = 200000, BENCH_HALT_PRICE = 10 };

/** Who waits for the vCPUs. */
enum bench_halt_who {
	BENCH_KERNEL_NONE,
	BENCH_KERNEL_ALWAYS,
	BENCH_KERNEL_DYNAMIC,
	BENCH_USER,  /* libvhalt */
	BENCH_GUEST, /* the guest polls before it halts, the kernel does not */
};

struct bench_halt_way {
	enum bench_halt_who who;
	struct vhalt_config config; /* BENCH_USER, BENCH_GUEST */
};

/** Columns of the table. */
enum {
	COLUMN_IDLE_PCT,
	COLUMN_TICK_PCT,
	COLUMN_TICK_LATE,
	COLUMN_TRIP_MEAN,
	COLUMN_TRIP_P50,
	COLUMN_TRIP_P99,
	COLUMN_TRIP_PCT,
	COLUMN_MIXED_CPU,
	COLUMN_MIXED_LATE,
	COLUMN_MIXED_COST,
	BENCH_HALT_COLUMNS,
};

/**
 * bench_halt_run - run the four guests once and add their figures to @row.
 *
 * Return: 0; -EINTR (bench_halt_interrupt() was called); -EIO (a guest failed); -errno of
 * vmm_create(): the row cannot be run here. After an error row->skipped says why.
 */
int bench_halt_run(const struct bench_options *options, const struct bench_halt_way *way,
		   struct bench_row *row);

/** bench_halt_interrupt - a signal handler: stops the guest that runs, and all after it. */
void bench_halt_interrupt(int number);

/** bench_halt_interrupted - was it called? */
bool bench_halt_interrupted(void);

#endif

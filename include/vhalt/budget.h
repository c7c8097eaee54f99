/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A budget for polling shared by all vCPUs of a host: one price factor that keeps to it. */
#ifndef VHALT_BUDGET_H
#define VHALT_BUDGET_H

#include <vhalt/types.h>

/*
 * Call order, one controller per host:
 *
 *	vhalt_budget_init(&budget, cap_ppm)
 *	every VHALT_BUDGET_TICK_NS, from one context {
 *		burnt = CPU time all vCPUs polled since the last tick
 *		factor = vhalt_budget_tick(&budget, burnt_ns, host_ns)
 *		vhalt_auto_scale(&config, factor)		the config all vCPUs share
 *	}
 *
 * and, between ticks, once polling since the last tick exceeds budget.allowance_ns, the driver sets
 * hint.must_block until the next: the hard gate for what the price has not caught up with.
 */

/** The price factor's unit: a factor of VHALT_FACTOR_ONE leaves B alone. */
#define VHALT_FACTOR_ONE 1024U

/** Length of a tick; half or twice as long does no harm. */
#define VHALT_BUDGET_TICK_NS 10000000ULL

/** Caller-provided; read-only for the caller. */
struct vhalt_budget {
	uint64_t allowance_ns; /* polling CPU time after which the gate shuts, per tick */
	uint32_t cap_ppm;      /* share of the host's CPU time that may be polled away */
	uint32_t factor;       /* price factor, VHALT_FACTOR_ONE and up */
	uint32_t smoothed;     /* share burnt lately, in 1/256 ppm */
	uint32_t reserved;
};

/**
 * vhalt_budget_init - start a controller at factor one.
 * @cap_ppm:  parts per million of the host's CPU time, 1 to 1000000; out of range is clamped
 *
 * allowance_ns is unlimited until the first tick has shown how large the host is. Cannot fail.
 */
void vhalt_budget_init(struct vhalt_budget *budget, uint32_t cap_ppm);

/**
 * vhalt_budget_set_cap - change the cap of a running controller; the factor follows by itself.
 * @cap_ppm:  as for vhalt_budget_init()
 */
void vhalt_budget_set_cap(struct vhalt_budget *budget, uint32_t cap_ppm);

/**
 * vhalt_budget_tick - account for one tick and move the price factor.
 * @burnt_ns:  CPU time spent polling since the last tick, all vCPUs together
 * @host_ns:   CPU time the host had in it: length of the tick times number of CPUs; 0 is ignored
 *
 * Slow path: divides once. Calls must not overlap; others may read the fields meanwhile. Cannot
 * fail. Return: the new factor.
 */
uint32_t vhalt_budget_tick(struct vhalt_budget *budget, uint64_t burnt_ns, uint64_t host_ns);

#endif

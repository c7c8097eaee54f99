/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Random durations without floating point: the same on every compiler and machine. */
#ifndef VHALT_SIM_RANDOM_H
#define VHALT_SIM_RANDOM_H

#include <stdint.h>

#include "suite/rng.h"

/** sim_log2_q16 - log2(@value) in 1/65536, rounded down; @value at least 1. */
uint32_t sim_log2_q16(uint64_t value);

/** sim_exp2_q16 - 2^(@x / 65536), rounded down; @x below 63 * 65536. */
uint64_t sim_exp2_q16(uint32_t x);

/** sim_random_exp_ns - exponential with mean @mean_ns (below 2^40); at most 44 times the mean. */
uint64_t sim_random_exp_ns(struct suite_rng *rng, uint64_t mean_ns);

/** sim_random_around_ns - uniform in [mean - mean/2, mean + mean/2]. */
uint64_t sim_random_around_ns(struct suite_rng *rng, uint64_t mean_ns);

/**
 * sim_random_lognormal_ns - lognormal, from the sum of twelve uniforms.
 * @median_ns:  1 to 2^40
 * @sd_q10:     standard deviation of the natural logarithm, in 1/1024; up to 2048
 */
uint64_t sim_random_lognormal_ns(struct suite_rng *rng, uint64_t median_ns, uint32_t sd_q10);

#endif

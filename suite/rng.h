/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Random numbers of the suite: the same sequence for the same seed, everywhere. */
#ifndef VHALT_SUITE_RNG_H
#define VHALT_SUITE_RNG_H

#include <stdint.h>

/** xoshiro256** (Blackman and Vigna), seeded through splitmix64. Caller-provided. */
struct suite_rng {
	uint64_t s[4];
};

/** suite_rng_init - begin the sequence of @seed; @stream tells independent uses of one seed apart.
 */
void suite_rng_init(struct suite_rng *rng, uint64_t seed, uint64_t stream);

/** suite_rng_u64 - 64 random bits. */
uint64_t suite_rng_u64(struct suite_rng *rng);

/** suite_rng_below - a whole number of [0, n); @n at least 1. The bias is below n / 2^32. */
uint32_t suite_rng_below(struct suite_rng *rng, uint32_t n);

/** suite_rng_unit - uniform in (0, 1), never 0 or 1. */
double suite_rng_unit(struct suite_rng *rng);

/** suite_rng_chance - true with probability @p. */
static inline int suite_rng_chance(struct suite_rng *rng, double p)
{
	return suite_rng_unit(rng) < p;
}

/** suite_rng_exp - exponential with the given mean. */
double suite_rng_exp(struct suite_rng *rng, double mean);

/** suite_rng_normal - normal with the given mean and standard deviation. */
double suite_rng_normal(struct suite_rng *rng, double mean, double sd);

/** suite_rng_lognormal - lognormal; @log_sd is the standard deviation of the logarithm. */
double suite_rng_lognormal(struct suite_rng *rng, double median, double log_sd);

/** suite_rng_pareto - Pareto: at least @least, survival (least / x)^shape. */
double suite_rng_pareto(struct suite_rng *rng, double least, double shape);

#endif

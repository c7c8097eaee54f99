// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Random numbers of the suite: the same sequence for the same seed, everywhere.
#include "suite/rng.h"

#include <math.h>

#include "util/splitmix.h"

static uint64_t rotate_left(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

void suite_rng_init(struct suite_rng *rng, uint64_t seed, uint64_t stream)
{
	uint64_t x = seed;

	x = splitmix_next(&x) ^ stream;
	for (int i = 0; i < 4; i++)
		rng->s[i] = splitmix_next(&x);
}

uint64_t suite_rng_u64(struct suite_rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint32_t suite_rng_below(struct suite_rng *rng, uint32_t n)
{
	return (uint32_t)((suite_rng_u64(rng) >> 32) * n >> 32);
}

double suite_rng_unit(struct suite_rng *rng)
{
	return ((double)(suite_rng_u64(rng) >> 12) + 0.5) * 0x1p-52;
}

double suite_rng_exp(struct suite_rng *rng, double mean)
{
	return -mean * log(suite_rng_unit(rng));
}

/* Box-Muller; the second number of the pair is not kept, so that a draw depends on nothing else. */
double suite_rng_normal(struct suite_rng *rng, double mean, double sd)
{
	double radius = sqrt(-2 * log(suite_rng_unit(rng)));

	return mean + sd * radius * cos(2 * M_PI * suite_rng_unit(rng));
}

double suite_rng_lognormal(struct suite_rng *rng, double median, double log_sd)
{
	return median * exp(suite_rng_normal(rng, 0, log_sd));
}

double suite_rng_pareto(struct suite_rng *rng, double least, double shape)
{
	return least * pow(suite_rng_unit(rng), -1 / shape);
}

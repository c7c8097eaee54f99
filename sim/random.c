// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Random durations without floating point: the same on every compiler and machine.
#include "sim/random.h"

#define ONE_Q31	  (1ULL << 31)
#define LN2_Q32	  2977044471ULL /* ln 2 * 2^32 */
#define LOG2E_Q16 94548ULL	/* log2 e * 2^16 */

/* Bit by bit: squaring a mantissa doubles its logarithm. */
uint32_t sim_log2_q16(uint64_t value)
{
	uint32_t whole = 63 - (uint32_t)__builtin_clzll(value | 1);
	uint64_t mantissa = whole > 31 ? value >> (whole - 31) : value << (31 - whole);
	uint32_t result = whole << 16;

	for (uint32_t bit = 1U << 15; bit; bit >>= 1) {
		mantissa = mantissa * mantissa >> 31;
		if (mantissa >= 2 * ONE_Q31) {
			mantissa >>= 1;
			result |= bit;
		}
	}
	return result;
}

uint64_t sim_exp2_q16(uint32_t x)
{
	/* 2^(2^-k) in 1/2^31, k = 1 to 16. */
	static const uint32_t roots[] = {3037000499U, 2553802833U, 2341847523U, 2242560871U,
					 2194507416U, 2170868211U, 2159144271U, 2153306066U,
					 2150392886U, 2148937775U, 2148210588U, 2147847087U,
					 2147665360U, 2147574502U, 2147529074U, 2147506361U};
	uint64_t mantissa = ONE_Q31;
	uint32_t whole = x >> 16;

	for (uint32_t k = 0; k < 16; k++)
		if (x & 1U << (15 - k))
			mantissa = mantissa * roots[k] >> 31;
	return whole > 31 ? mantissa << (whole - 31) : mantissa >> (31 - whole);
}

/* -ln(u) = (64 - log2(u * 2^64)) * ln 2. */
uint64_t sim_random_exp_ns(struct suite_rng *rng, uint64_t mean_ns)
{
	uint64_t minus_log2_q16 = (64ULL << 16) - sim_log2_q16(suite_rng_u64(rng) | 1);
	uint64_t minus_ln_q16 = minus_log2_q16 * LN2_Q32 >> 32;

	return mean_ns * minus_ln_q16 >> 16;
}

uint64_t sim_random_around_ns(struct suite_rng *rng, uint64_t mean_ns)
{
	return mean_ns - mean_ns / 2 + (uint64_t)suite_rng_below(rng, (uint32_t)mean_ns + 1);
}

uint64_t sim_random_lognormal_ns(struct suite_rng *rng, uint64_t median_ns, uint32_t sd_q10)
{
	int64_t normal_q16 = -6 * 65536, log2_q16;

	for (int i = 0; i < 3; i++) {
		uint64_t bits = suite_rng_u64(rng);

		normal_q16 += (int64_t)((bits & 0xffff) + (bits >> 16 & 0xffff) +
					(bits >> 32 & 0xffff) + (bits >> 48));
	}
	log2_q16 = (int64_t)sim_log2_q16(median_ns) +
		   normal_q16 * sd_q10 / 1024 * (int64_t)LOG2E_Q16 / 65536;
	return log2_q16 > 0 ? sim_exp2_q16((uint32_t)log2_q16) : 1;
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The only door out of the core: all it needs from the world it is compiled into. */
#ifndef VHALT_CORE_DEPS_H
#define VHALT_CORE_DEPS_H

/*
 * The same core/.c files are built into user-space programs, kernel modules, bare-metal guests and
 * one relocatable object without undefined symbols. So no libc, no compiler run-time library: a
 * 64-bit division or a large structure copy may become a call, use the helpers here. The build
 * forbids floating point.
 */

#include <vhalt/types.h>

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/math64.h>
#endif

/** Errors of the core, negated on return; same numbers as errno's on every Linux architecture. */
#define CORE_EINVAL 22
#define CORE_ERANGE 34

#define CORE_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/** For structures laid over the callers' opaque words: accesses must not be reordered by type. */
#define CORE_OVERLAY __attribute__((__may_alias__))

static inline uint32_t core_min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t core_max32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint64_t core_min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t core_max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t core_clamp64(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/** core_add_sat64 - a + b, or 2^64-1 when that does not fit. */
static inline uint64_t core_add_sat64(uint64_t a, uint64_t b)
{
	return a + b < a ? ~0ULL : a + b;
}

/** core_sub_sat64 - a - b, or 0 when b is the larger. */
static inline uint64_t core_sub_sat64(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/** core_fls64 - number of the highest set bit, counted from 1; 0 for 0. */
static inline uint32_t core_fls64(uint64_t value)
{
#ifdef __KERNEL__
	return (uint32_t)fls64(value);
#else
	uint32_t high = (uint32_t)(value >> 32), low = (uint32_t)value;

	/* Two 32-bit steps: the 64-bit builtin is a library call on 32-bit targets. */
	if (high)
		return 64 - (uint32_t)__builtin_clz(high);
	return low ? 32 - (uint32_t)__builtin_clz(low) : 0;
#endif
}

/** core_div64 - dividend / divisor, rounded down; slow path only. @divisor must not be 0. */
static inline uint64_t core_div64(uint64_t dividend, uint64_t divisor)
{
#if defined(__KERNEL__)
	return div64_u64(dividend, divisor);
#elif UINTPTR_MAX > 0xffffffffU
	return dividend / divisor;
#else
	uint64_t quotient = 0, rest = 0;

	for (int bit = 63; bit >= 0; bit--) {
		bool carry = rest >> 63;

		rest = rest << 1 | (dividend >> bit & 1);
		if (carry || rest >= divisor) {
			rest -= divisor;
			quotient |= 1ULL << bit;
		}
	}
	return quotient;
#endif
}

/** core_zero - clear @count words, without the memset() a compiler would make of a plain loop. */
static inline void core_zero(uint64_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		words[i] = 0;
		__asm__ volatile("" : : : "memory");
	}
}

/** core_streq - do two strings have the same bytes? */
static inline bool core_streq(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

#endif

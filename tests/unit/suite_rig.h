/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the tests of the suite share. */
#ifndef VHALT_TESTS_SUITE_RIG_H
#define VHALT_TESTS_SUITE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

/** assert_near - @value lies within @share of @want. */
static inline void assert_near(double value, double want, double share)
{
	if (!(fabs(value - want) <= share * fabs(want)))
		fail_msg("%g is not within %g %% of %g", value, share * 100, want);
}

#endif

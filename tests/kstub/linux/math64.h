/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Stand-in for the kernel's header. */
#ifndef VHALT_KSTUB_MATH64_H
#define VHALT_KSTUB_MATH64_H

#include <linux/types.h>

static inline uint64_t div64_u64(uint64_t dividend, uint64_t divisor)
{
	return dividend / divisor;
}

#endif

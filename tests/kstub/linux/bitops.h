/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Stand-in for the kernel's header. */
#ifndef VHALT_KSTUB_BITOPS_H
#define VHALT_KSTUB_BITOPS_H

static inline int fls64(unsigned long long x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#endif

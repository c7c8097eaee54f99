/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Fixed-width types for headers shared by user space, kernel modules and freestanding objects. */
#ifndef VHALT_TYPES_H
#define VHALT_TYPES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

/** A time, length or time stamp nobody knows. All times are nanoseconds. */
#define VHALT_UNKNOWN_NS (~0ULL)

/** No timer of the vCPU's own is armed, or the driver cannot see one. */
#define VHALT_NO_DEADLINE_NS (~0ULL)

#endif

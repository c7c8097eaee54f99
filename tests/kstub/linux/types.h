/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Stand-in for the kernel's header: the names the core may expect from it, and no others. */
#ifndef VHALT_KSTUB_TYPES_H
#define VHALT_KSTUB_TYPES_H

typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef __SIZE_TYPE__ size_t;
typedef _Bool bool;

enum { false, true };

#define NULL ((void *)0)

#endif

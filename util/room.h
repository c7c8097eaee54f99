/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Arrays that grow. */
#ifndef VHALT_UTIL_ROOM_H
#define VHALT_UTIL_ROOM_H

#include <stddef.h>
#include <stdint.h>

/**
 * room_make - make room for one more element: twice as much when there is none left.
 * @array:  moved if need be; the caller frees it. Unchanged on error
 * @used:   elements in it
 * @room:   elements it has room for, updated
 * @bytes:  of an element
 *
 * Return: 0 or -ENOMEM.
 */
int room_make(void **array, uint32_t used, uint32_t *room, size_t bytes);

#endif

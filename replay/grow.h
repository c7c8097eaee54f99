/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Arrays that grow by doubling. */
#ifndef VHALT_REPLAY_GROW_H
#define VHALT_REPLAY_GROW_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/**
 * replay_grow - make room for @need elements of @size bytes; new room is zeroed.
 * @array:  address of the pointer to the first element, NULL at first; the caller frees it
 * @room:   elements there is room for
 *
 * Return: 0 or -ENOMEM, and then nothing has changed.
 */
static inline int replay_grow(void *array, uint32_t *room, uint32_t need, size_t size)
{
	uint64_t more = *room ? *room : 8;
	char *grown, **place = array;

	if (need <= *room)
		return 0;
	while (more < need)
		more *= 2;
	if (more > UINT32_MAX || more > SIZE_MAX / size)
		return -ENOMEM;
	grown = realloc(*place, (size_t)more * size);
	if (!grown)
		return -ENOMEM;
	memset(grown + (size_t)*room * size, 0, (size_t)(more - *room) * size);
	*place = grown;
	*room = (uint32_t)more;
	return 0;
}

#endif

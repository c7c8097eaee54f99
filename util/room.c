// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Arrays that grow.
#include "util/room.h"

#include <errno.h>
#include <stdlib.h>

int room_make(void **array, uint32_t used, uint32_t *room, size_t bytes)
{
	uint32_t wanted = *room ? *room * 2 : 16;
	void *grown;

	if (used < *room)
		return 0;
	grown = reallocarray(*array, wanted, bytes);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = wanted;
	return 0;
}

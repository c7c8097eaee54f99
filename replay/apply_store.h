/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The old values of KVM's parameters on disk: written whole or not at all. */
#ifndef VHALT_REPLAY_APPLY_STORE_H
#define VHALT_REPLAY_APPLY_STORE_H

#include "replay/apply.h"

/** Old values, by the index of apply_parameter(). */
struct apply_saved {
	bool has[APPLY_PARAMETERS];
	uint64_t old[APPLY_PARAMETERS];
};

/**
 * apply_store_lock - keep other processes from changing the saved state until close().
 * @create:  make the folder when it is not there
 *
 * Return: a descriptor, -ENOENT (no folder, so nothing is saved), -errno; with @error.
 */
int apply_store_lock(bool create, char error[APPLY_ERROR_BYTES]);

/** apply_store_read - 0, -ENOENT (nothing saved), -EPROTO (damaged), -errno; with @error. */
int apply_store_read(struct apply_saved *saved, char error[APPLY_ERROR_BYTES]);

/** apply_store_write - replace what is saved; on disk when it returns 0. -errno with @error. */
int apply_store_write(const struct apply_saved *saved, char error[APPLY_ERROR_BYTES]);

/** apply_store_remove - forget what is saved. 0 or -errno with @error. */
int apply_store_remove(char error[APPLY_ERROR_BYTES]);

#endif

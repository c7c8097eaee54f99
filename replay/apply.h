/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Setting KVM's module parameters so that they can be put back: the old values are saved first. */
#ifndef VHALT_REPLAY_APPLY_H
#define VHALT_REPLAY_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where the parameters are, and where the old values are kept. /run is emptied by a reboot, and so
 * are the parameters: what is saved there is never older than what is in force. Environment
 * variables (for tests) name other folders.
 */
#define APPLY_PARAMETERS_DIR	 "/sys/module/kvm/parameters"
#define APPLY_PARAMETERS_DIR_ENV "VHALT_KVM_PARAMETERS"
#define APPLY_STATE_DIR		 "/run/vhalt"
#define APPLY_STATE_DIR_ENV	 "VHALT_STATE_DIR"
#define APPLY_STATE_NAME	 "kvm-params.json"

#define APPLY_PARAMETERS  4
#define APPLY_ERROR_BYTES 512

/** apply_parameter - name number @index, below APPLY_PARAMETERS: "halt_poll_ns", ... */
const char *apply_parameter(uint32_t index);

/** One parameter and the value it is to have, or had. */
struct apply_value {
	const char *parameter; /* one of apply_parameter() */
	uint64_t value;
};

/** What is in force and what is saved. */
struct apply_state {
	bool saved; /* there is a saved state */
	struct {
		const char *parameter;
		bool known, has_old; /* value could be read; old is saved */
		bool writable;
		uint64_t value, old;
	} parameters[APPLY_PARAMETERS];
};

/**
 * apply_read_state - the parameters as they are, and what is saved of them.
 * @error:  receives a sentence when the call fails
 *
 * Return: 0, -ENOENT (no kvm module: nothing is known, @state says so too), -EPROTO (the saved
 * state is damaged), -errno.
 */
int apply_read_state(struct apply_state *state, char error[APPLY_ERROR_BYTES]);

/**
 * apply_check - could these parameters be set? Changes nothing.
 *
 * Return: 0; -EROFS (read-only by the kernel's build, as on some hosts), -EACCES or -EPERM (not
 * root), -ENOENT (no such parameter, or no kvm module), each with @error saying which parameter.
 */
int apply_check(const struct apply_value *values, size_t nr, char error[APPLY_ERROR_BYTES]);

/**
 * apply_set - set parameters, after saving their old values.
 *
 * Everything is checked before anything is changed. The old values are on disk before the first
 * parameter is written; a value saved earlier is kept, so that apply_restore() goes back to what
 * was before the first apply_set(). When a write fails, those done are put back.
 * Return: 0, as apply_check(), -EPROTO (a damaged saved state is in the way), -errno.
 */
int apply_set(const struct apply_value *values, size_t nr, char error[APPLY_ERROR_BYTES]);

/**
 * apply_restore - put the saved values back and forget them.
 * @restored:  receives how many parameters were put back
 *
 * A value that cannot be put back stays saved. Return: 0, -ENOENT (nothing saved), -EPROTO,
 * -errno, with @error.
 */
int apply_restore(uint32_t *restored, char error[APPLY_ERROR_BYTES]);

/** apply_state_path - where the saved state is or would be. Return: @path. */
const char *apply_state_path(char *path, size_t bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A VM in a child process of its own, held at a gate until its parent has everything in place.
 *
 *	vmm_child_start -> (attach a recorder to child.pid) -> vmm_child_go -> vmm_child_wait
 *
 * The child's pid is the VM's identity for recorders; its name is "vhalt-<guest>". It takes
 * SIGTERM as a request to stop and no notice of other signals (Ctrl-C reaches the whole process
 * group; the parent decides). It dies with its parent: the kernel kills it when the thread that
 * called vmm_child_start() ends. It keeps none of the parent's descriptors but the standard ones.
 */
#ifndef VHALT_VMM_CHILD_H
#define VHALT_VMM_CHILD_H

#include <sys/types.h>

#include "vmm/vmm.h"

/** A running child. The caller's memory; fields but @pid are private. */
struct vmm_child {
	pid_t pid;
	char guest[VMM_GUEST_NAME_BYTES];
	int fd;	       /* a socket: go and stop to the child, its result back */
	bool released; /* vmm_child_go() was called */
};

/**
 * vmm_child_start - fork, create the VM in the child and hold it before its first instruction.
 * @child: receives the child; after success vmm_child_wait() must be called once
 * @error: filled when the call fails, also with what failed inside the child; may be NULL
 *
 * Returns when the child is ready or has failed (then it is gone, nothing to clean up). The
 * calling process should have no other thread that holds locks, as with any fork.
 * Return: 0, what vmm_create() returned in the child, or -errno of fork or socketpair.
 */
int vmm_child_start(const struct vmm_config *config, struct vmm_child *child,
		    struct vmm_error *error);

/**
 * vmm_child_go - open the gate: the VM starts now.
 * Return: 0 or -errno (-EPIPE: the child is gone; vmm_child_wait() tells why).
 */
int vmm_child_go(struct vmm_child *child);

/**
 * vmm_child_stop - ask the VM to end, before or after vmm_child_go(). Async-signal-safe, keeps
 * errno, may be repeated; a child that is gone already is no error. Not after vmm_child_wait().
 */
void vmm_child_stop(const struct vmm_child *child);

/**
 * vmm_child_wait - sleep until the child has ended and take its result; frees @child.
 * @result: filled in any case; a child that died says how in error_text
 *
 * Without vmm_child_go() or vmm_child_stop() before, it stops the child. Not restartable: EINTR is
 * handled inside, so stop by vmm_child_stop() from a handler.
 * Return: 0, or result->error.
 */
int vmm_child_wait(struct vmm_child *child, struct vmm_result *result);

#endif

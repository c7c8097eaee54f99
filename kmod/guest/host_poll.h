/* SPDX-License-Identifier: GPL-2.0-only */
/* The host's own polling: stopped for CPUs that poll for themselves, and given back. */
#ifndef VHALT_GUEST_HOST_POLL_H
#define VHALT_GUEST_HOST_POLL_H

/** guest_host_poll_init - give back at reboot and kexec what was taken. Return: 0 or -errno. */
int guest_host_poll_init(void);

/** guest_host_poll_fini - undo that. Process context. */
void guest_host_poll_fini(void);

/**
 * guest_host_poll_take - ask the host not to poll when @cpu halts, if it can be asked, polls at
 * all, and nobody else (the haltpoll driver) has asked before.
 *
 * Process context; @cpu is this CPU and stays it.
 */
void guest_host_poll_take(unsigned int cpu);

/**
 * guest_host_poll_give_back - undo what guest_host_poll_take() did, if anything.
 *
 * Process context, @cpu stays online.
 */
void guest_host_poll_give_back(unsigned int cpu);

#endif

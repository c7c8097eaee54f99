/* SPDX-License-Identifier: GPL-2.0-only */
/* Tells the host where each CPU keeps its preempt_count (uapi/vhalt_guest.h). */
#ifndef VHALT_GUEST_SHARE_H
#define VHALT_GUEST_SHARE_H

#include <linux/types.h>

/**
 * guest_share_init - publish for all CPUs, those that come online later as well.
 * @wanted: the module parameter "share"; false: publish nothing
 *
 * A CPU publishes in its steal-time page, or by hypercall where it has none. Where it must not be
 * done (encrypted memory: the host would read ciphertext) or a page's padding is in use by
 * something else, it is not, and the log says so; this is no error, the module has other uses.
 *
 * A kernel without CONFIG_PREEMPT_COUNT publishes as well: there the count has interrupts and
 * softirqs, but not spinlocks. The log says so.
 *
 * Process context. Call after guest_stats_init(), in whose folder the file `share` appears: a line
 * per CPU with the way (steal, hypercall, none), address, width and mask.
 * Return: 0, or -errno when the kernel has no room for another hot-plug callback.
 */
int guest_share_init(bool wanted);

/**
 * guest_share_fini - withdraw for all CPUs: on return the host finds nothing. Before
 * guest_stats_fini(). Process context.
 */
void guest_share_fini(void);

#endif

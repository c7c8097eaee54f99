/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module shows in debugfs. */
#ifndef VHALT_GUEST_STATS_H
#define VHALT_GUEST_STATS_H

/**
 * guest_stats_init - make /sys/kernel/debug/vhalt_guest/ with the read-only files `settings` (mode,
 * policy, its parameters; one "name value" a line) and `cpus` (a table with a heading, a line per
 * CPU that has ever been online; see struct guest_counts).
 *
 * Process context. Without debugfs there are no files, which is no error. Return: 0.
 */
int guest_stats_init(void);

/** guest_stats_fini - remove them; waits for readers. Process context. */
void guest_stats_fini(void);

#endif

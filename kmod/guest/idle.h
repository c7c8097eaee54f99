/* SPDX-License-Identifier: GPL-2.0-only */
/* One halt of a CPU: decide, poll, halt, learn. */
#ifndef VHALT_GUEST_IDLE_H
#define VHALT_GUEST_IDLE_H

#include <linux/cpuidle.h>

/**
 * guest_idle_enter - the enter() of an idle state: poll as the policy says, then halt.
 *
 * The state must carry CPUIDLE_FLAG_RCU_IDLE: RCU watches on entry, so that policy, counters and
 * tracepoint run as ordinary code, and is told to look away only around polling and halting.
 * Interrupts are off on entry and, on every kernel version, on return.
 *
 * How to halt after polling is asked of guest_driver_halt().
 */
int guest_idle_enter(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index);

#endif

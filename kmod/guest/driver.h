/* SPDX-License-Identifier: GPL-2.0-only */
/* How the module gets into the idle loop: as the driver, or around the one that is bound. */
#ifndef VHALT_GUEST_DRIVER_H
#define VHALT_GUEST_DRIVER_H

#include <linux/cpuidle.h>

/**
 * guest_driver_init - become the cpuidle driver, or wrap the one there is. CPUs halt through
 * guest_idle_enter() from here on, those that come online later as well.
 *
 * Process context. Return: 0 or -errno, with a line in the log.
 */
int guest_driver_init(void);

/**
 * guest_driver_fini - give back what was there before. On return no CPU is inside the module.
 *
 * Process context, waits for all CPUs.
 */
void guest_driver_fini(void);

/**
 * guest_driver_halt - halt this CPU until an interrupt: by `hlt`, or by the wrapped driver's state.
 *
 * Between compat_idle_begin() and _end(), interrupts off on entry and return.
 */
void guest_driver_halt(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index);

/** guest_driver_wrapped - name of the wrapped driver, NULL when we are the driver. Process context.
 */
const char *guest_driver_wrapped(void);

#endif

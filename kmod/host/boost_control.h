/* SPDX-License-Identifier: GPL-2.0-only */
/* Which VMs are to be boosted, and the tracepoints that are watched while there is one. */
#ifndef VHALT_KMOD_BOOST_CONTROL_H
#define VHALT_KMOD_BOOST_CONTROL_H

#include <linux/module.h>

#include <vhalt/boost.h>

#include "host/registry.h"

/* The switch of a VM, or the default: an enum vhalt_boost_mode, or one of these. */
#define HOST_BOOST_OFF	   VHALT_NR_BOOST_MODES
#define HOST_BOOST_DEFAULT (VHALT_NR_BOOST_MODES + 1) /* of a VM: as the default says */

/**
 * host_boost_set - turn the switch.
 * @pid:    a VM, or 0: the default
 * @choice: an enum vhalt_boost_mode, HOST_BOOST_OFF, or with a @pid HOST_BOOST_DEFAULT
 *
 * Process context. Return: 0, -EOPNOTSUPP (this kernel has no directed yield, or no such
 * tracepoint), -ENOMEM, the errors of host_vm_get(), or those of registering a probe; the switch is
 * as before then.
 */
int host_boost_set(pid_t pid, u32 choice);

/** host_boost_wanted - the mode for @vm (NULL: one not known yet), or HOST_BOOST_OFF. Any context. */
u32 host_boost_wanted(const struct host_vm *vm);

/**
 * host_boost_apply - bring probes and records in line with the switches; after VMs went.
 *
 * Process context, under the control lock. Return: 0, or what registering a probe returned.
 */
int host_boost_apply(void);

/** host_boost_stop - at unload: everything off, no probe runs any more. Process context. */
void host_boost_stop(void);

/** host_boost_kvm_coming, _going - from the notifier of modules, for each. Not control lock. */
void host_boost_kvm_coming(struct module *mod);
void host_boost_kvm_going(struct module *mod);

/** host_boost_start - find the kernel image's tracepoints. Before the two above. */
void host_boost_start(void);

/** struct host_boost_view - what user space is told. */
struct host_boost_view {
	u32 choice;	/* the default */
	bool watching;	/* probes are registered */
	u64 refused;	/* VMs, or rather exits, that found no room for a record */
};
void host_boost_view(struct host_boost_view *view);

#endif

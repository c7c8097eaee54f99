/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The subcommands of `vhalt ctl` that talk to the host module vhalt_kvm. */
#ifndef VHALT_TOOL_CTL_MODULE_H
#define VHALT_TOOL_CTL_MODULE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * All print what they have to say, errors to standard error. Return: the exit code, 0 ok, 1 failed,
 * 2 usage.
 */

/** ctl_module_status - what the module does, per VM and vCPU; one sentence if it is not loaded. */
int ctl_module_status(void);

/**
 * ctl_module_status_json - the same as one JSON object, or null if the module is not loaded.
 * Keys: man vhalt-ctl.
 */
int ctl_module_status_json(FILE *out);

/**
 * ctl_module_set - `set POLICY[:key=value,...]`.
 * @text:  the policy, or "kernel"
 * @pid:   --vm, or 0: all VMs without a policy of their own
 * @raise: --raise: raise KVM's ceiling where the policy's windows may exceed it
 */
int ctl_module_set(const char *text, uint64_t pid, bool raise);

/** ctl_module_reset - `reset`: @pid (or 0: everything) is left to the default (or the kernel). */
int ctl_module_reset(uint64_t pid);

/** ctl_module_budget - `budget PERCENT`, at most @text percent of the host's CPU time; 0: no limit.
 */
int ctl_module_budget(const char *text);

/**
 * ctl_module_check - `check FILE`: were the traced decisions of the module those of the core here?
 * @path: text of tracepoint vhalt:vhalt_window, "-" for standard input
 *
 * 0 only if there was at least one decision and all of them were reproduced.
 */
int ctl_module_check(const char *path);

/**
 * ctl_boost_set - `boost on`, `boost off`.
 * @choice: a mode of boost, "off", or "default"
 * @pid:    --vm, or 0: all VMs without a choice of their own
 */
int ctl_boost_set(const char *choice, uint64_t pid);

/** ctl_boost_status - `boost status`: @pid's VM, 0: all; as text or JSON (man vhalt-ctl). */
int ctl_boost_status(uint64_t pid, bool json);

#endif

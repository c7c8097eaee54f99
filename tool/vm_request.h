/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the command line of `vhalt vm` asks for, and the configuration that makes of each guest. */
#ifndef VHALT_TOOL_VM_REQUEST_H
#define VHALT_TOOL_VM_REQUEST_H

#include "tool/options.h"
#include "vmm/vmm.h"

/** A number that was not given on the command line; no option's bounds reach it. */
#define VM_NOT_GIVEN UINT64_MAX

/** Applied to every guest named. */
struct vm_request {
	uint64_t hz, rounds, think_ns, for_ns, halt_poll_ns, seed, short_ns, long_ns, short_percent;
	uint64_t vcpus, hold_ns, gap_ns, reset_ns;
	enum vmm_share share; /* VMM_NR_SHARES: not given */
	bool irqchip_user;
	const char *policy, *guest_policy; /* NULL: not given */
	enum vmm_pin pin;
	unsigned int nr_pin_cpus;
	unsigned int pin_cpus[VMM_MAX_VCPUS];
	bool json;
};

/** The command's usage line, for messages. */
extern const char vm_request_usage[];

/** vm_request_parse - options_parse() for `vhalt vm`. Return: as options_parse(). */
int vm_request_parse(struct vm_request *request, int argc, char **argv);

/**
 * vm_request_configure - the configuration of the guest called @word ("rr", "crash:spin").
 * Return: 0, or the exit code 2, said on stderr.
 */
int vm_request_configure(const struct vm_request *request, const char *word,
			 struct vmm_config *config);

#endif

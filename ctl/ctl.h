/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Talks to the host module vhalt_kvm: its state, its policies, its budget, boost. */
#ifndef VHALT_CTL_CTL_H
#define VHALT_CTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uapi/vhalt.h>
#include <vhalt/policy.h>

/*
 *	ctl_open -> (ctl_get_info | ctl_get_vms | ctl_get_vcpus | ctl_set | ctl_reset |
 *	ctl_set_budget | ctl_get_boost | ctl_set_boost) ... -> ctl_close
 *
 * One request at a time per connection; a connection may not be shared between threads without a
 * lock. All requests need CAP_NET_ADMIN. Nothing here prints. include/uapi/vhalt.h says what each
 * request means and when it takes effect.
 */

/** A complete sentence for people, without full stop or newline; names the field at fault. */
struct ctl_error {
	char text[256];
};

/** A policy with its parameters, by name: what a VM is told to do. */
struct ctl_setting {
	char policy[VHALT_NAME_BYTES]; /* "kernel" or a policy of the core */
	uint32_t nr_params;
	struct {
		char name[VHALT_NAME_BYTES];
		uint64_t value;
	} params[VHALT_PARAMS_MAX];
};

struct ctl_info {
	uint32_t abi;
	struct ctl_setting dflt;
	uint32_t nr_vms, nr_vcpus, max_vms, max_vcpus;
	bool attached;	     /* KVM is loaded */
	uint32_t ceiling_ns; /* KVM's parameter, or VHALT_UNKNOWN_U32 */
	uint64_t unknown, refused, gated;
	uint32_t budget_ppm; /* 0: none */
	uint32_t factor;     /* in 1/1024 */
	uint32_t burnt_ppm;
	char boost[VHALT_NAME_BYTES]; /* the default choice; "" from a module of ABI 1 */
	bool boost_watching;	      /* exits are watched */
	uint64_t boost_refused;
};

struct ctl_vm {
	uint32_t pid;
	char name[64];
	uint32_t nr_vcpus;
	bool own;		    /* has a policy of its own */
	struct ctl_setting setting; /* in force */
};

struct ctl_vcpu {
	uint32_t pid, tid, number;
	uint32_t window_ns, ceiling_ns;
	uint64_t halts, polled, blocked, invalid, cut;
	uint64_t useful_ns, wasted_ns, halted_ns;
	uint64_t decisions, grown, shrunk, clipped;
};

/** What boost counted of a VM; include/uapi/vhalt.h says what each number is. */
struct ctl_boost {
	uint32_t pid;
	char name[64];
	char choice[VHALT_NAME_BYTES]; /* in force: "off" or a mode */
	bool own;		       /* the VM has a choice of its own */
	uint64_t reads, read_errors, bad_shares, unshared;
	uint64_t preemptions, critical;
	uint64_t steers, yields, targets, hits, handed;
	uint64_t waits, wait_ns, wait_max_ns;
	uint64_t wait_log2[VHALT_BOOST_WAIT_BUCKETS];
};

struct ctl;

/**
 * ctl_open - connect to the module.
 *
 * Return: 0 (end it by ctl_close()), -ENOENT (the module is not loaded), -EPERM, or another -errno
 * of sockets; @error is filled then.
 */
int ctl_open(struct ctl **ctl, struct ctl_error *error);

/** ctl_close - end a connection; NULL is allowed. */
void ctl_close(struct ctl *ctl);

/** ctl_get_info - the module as a whole. Return: 0 or -errno, @error is filled then. */
int ctl_get_info(struct ctl *ctl, struct ctl_info *info, struct ctl_error *error);

/**
 * ctl_get_vms, ctl_get_vcpus - all of them, in no particular order.
 * @list: receives an array of @n, to be freed by the caller by free(); NULL when there are none
 *
 * Return: 0 or -errno, @error is filled then and @list is NULL.
 */
int ctl_get_vms(struct ctl *ctl, struct ctl_vm **list, size_t *n, struct ctl_error *error);
int ctl_get_vcpus(struct ctl *ctl, struct ctl_vcpu **list, size_t *n, struct ctl_error *error);

/**
 * ctl_set - choose a policy.
 * @pid: process id of a VM, or 0: for all VMs without a policy of their own
 *
 * Return: 0, -EINVAL, -ERANGE, -ESRCH, -ENOSPC, -ENOMEM; @error names the field.
 */
int ctl_set(struct ctl *ctl, uint32_t pid, const struct ctl_setting *setting,
	    struct ctl_error *error);

/** ctl_reset - @pid follows the default again; 0: everything is left to the kernel again. */
int ctl_reset(struct ctl *ctl, uint32_t pid, struct ctl_error *error);

/** ctl_set_budget - at most @ppm (0 to 1000000) of the host's CPU time is polled away; 0: no limit.
 */
int ctl_set_budget(struct ctl *ctl, uint32_t ppm, struct ctl_error *error);

/**
 * ctl_set_boost - turn the switch of boost.
 * @pid:    process id of a VM, or 0: for all VMs without a choice of their own
 * @choice: a mode of the core, "off", or with a @pid "default"
 *
 * Return: 0, -EINVAL, -EOPNOTSUPP, -ESRCH, -ENOSPC, -ENOMEM; @error is filled then.
 */
int ctl_set_boost(struct ctl *ctl, uint32_t pid, const char *choice, struct ctl_error *error);

/** ctl_get_boost - of all VMs; as ctl_get_vms(). */
int ctl_get_boost(struct ctl *ctl, struct ctl_boost **list, size_t *n, struct ctl_error *error);

#endif

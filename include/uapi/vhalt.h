/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/* Generic netlink interface between the host module vhalt_kvm and user space. */
#ifndef VHALT_UAPI_VHALT_H
#define VHALT_UAPI_VHALT_H

/*
 * Family "vhalt", version 1. All commands need CAP_NET_ADMIN in the initial user namespace, those
 * that only read too; without it the kernel answers -EPERM. The sender must live in the initial PID
 * namespace, since VMs are named by their process ids: -EPERM else.
 *
 * A VM is a process with vCPU threads. It is named by its process id (thread group id).
 *
 * A policy is named as in vhalt-policies(7), its parameters as there ("price", "max_ns"); or it is
 * VHALT_POLICY_NAME_KERNEL: the module watches and changes nothing. All times are nanoseconds.
 *
 * Append-only: commands and attributes keep number, type and meaning for ever; new ones get new
 * numbers. A reader skips attributes it does not know. A message with an attribute the kernel does
 * not know, or of a wrong type or length, is refused with -EINVAL. VHALT_A_ABI grows by one
 * whenever something is added.
 *
 * Errors come as extended acks (NETLINK_EXT_ACK): a sentence, and the offset of the attribute at
 * fault in the request (NLMSGERR_ATTR_OFFS). For a parameter this is the VHALT_PARAM_A_NAME or
 * VHALT_PARAM_A_VALUE inside its nest, so that the sender can name it.
 */
#define VHALT_GENL_NAME "vhalt"
#define VHALT_GENL_VERSION 1
#define VHALT_ABI 2

#define VHALT_POLICY_NAME_KERNEL "kernel"

/*
 * Boost (since ABI 2): whom a spinning vCPU's time is given to. A choice is the name of a mode of
 * the core ("kernel": only watch and count, "critical", "holder"), or one of these. Off when the
 * module is loaded.
 */
#define VHALT_BOOST_NAME_OFF	 "off"
#define VHALT_BOOST_NAME_DEFAULT "default" /* of a VM: as the default for all VMs says */

/* Longest policy and parameter names, with their NUL. */
#define VHALT_NAME_BYTES 32

/* A number nobody knows: VHALT_A_CEILING_NS where KVM's parameter cannot be seen. */
#define VHALT_UNKNOWN_U32 0xffffffffU

/**
 * enum vhalt_cmd - what can be asked.
 *
 * @VHALT_CMD_GET_INFO: do. No attributes. One message: ABI, POLICY and PARAMS of the default, NR_VMS,
 *	NR_VCPUS, MAX_VMS, MAX_VCPUS, CEILING_NS, ATTACHED, UNKNOWN, REFUSED, BUDGET_PPM, FACTOR,
 *	BURNT_PPM, GATED.
 * @VHALT_CMD_GET_VM: dump. No attributes. A message per VM: VM_PID, NAME, NR_VCPUS, OWN, POLICY and
 *	PARAMS in force. A VM is listed from its first halt, or from the first SET that names it, to the
 *	end of its process.
 * @VHALT_CMD_GET_VCPU: dump. No attributes. A message per vCPU: VM_PID, TID, VCPU, and all attributes
 *	from WINDOW_NS on. A vCPU is listed from its first halt on.
 * @VHALT_CMD_SET: do. POLICY required; VM_PID: for this VM only, else the default for all VMs without
 *	a policy of their own; PARAMS: those not given have the policy's defaults.
 *	-EINVAL: no such policy or parameter, a parameter twice, or one this driver cannot honour;
 *	-ERANGE: a value out of bounds; -ESRCH: no such process; -ENOSPC: MAX_VMS reached; -ENOMEM.
 *	Takes effect at each vCPU's next wake-up. Another policy starts without a past; the same policy
 *	with other values goes on with what it has learnt.
 * @VHALT_CMD_RESET: do. VM_PID: this VM follows the default again (-ESRCH: not a VM known here).
 *	Without: all of them do, the default is VHALT_POLICY_NAME_KERNEL, the budget is off.
 * @VHALT_CMD_SET_BUDGET: do. BUDGET_PPM required, 0 to 1000000: how much of the host's CPU time
 *	all vCPUs together may poll away; 0: no limit. -ERANGE.
 *
 * Since ABI 2; GET_INFO then also has BOOST (the default), BOOST_WATCHING, BOOST_REFUSED.
 * @VHALT_CMD_GET_BOOST: dump. No attributes. A message per VM, of those GET_VM lists: VM_PID, NAME,
 *	BOOST in force, BOOST_OWN, BOOST_COUNTS.
 * @VHALT_CMD_SET_BOOST: do. BOOST required; VM_PID: for this VM only, else the default for all VMs
 *	without a choice of their own. -EINVAL: no such choice; -EOPNOTSUPP: this kernel has no directed
 *	yield; -ESRCH, -ENOSPC, -ENOMEM as for SET. Takes effect at each vCPU's next exit. RESET does not
 *	touch it.
 */
enum vhalt_cmd {
	VHALT_CMD_UNSPEC,
	VHALT_CMD_GET_INFO,
	VHALT_CMD_GET_VM,
	VHALT_CMD_GET_VCPU,
	VHALT_CMD_SET,
	VHALT_CMD_RESET,
	VHALT_CMD_SET_BUDGET,
	VHALT_CMD_GET_BOOST,
	VHALT_CMD_SET_BOOST,
	__VHALT_CMD_AFTER_LAST,
	VHALT_CMD_MAX = __VHALT_CMD_AFTER_LAST - 1,
};

/**
 * enum vhalt_attr - attributes of all commands; the type in brackets.
 *
 * @VHALT_A_PAD: [unused] alignment of 64-bit attributes
 * @VHALT_A_ABI: [u32] VHALT_ABI of the module
 * @VHALT_A_VM_PID: [u32] process id of a VM in the initial PID namespace
 * @VHALT_A_NAME: [string] name of the VM's process
 * @VHALT_A_TID: [u32] thread id of a vCPU
 * @VHALT_A_VCPU: [u32] KVM's number of a vCPU in its VM
 * @VHALT_A_POLICY: [string] a policy, or VHALT_POLICY_NAME_KERNEL
 * @VHALT_A_PARAMS: [nest of VHALT_A_PARAM] parameters of the policy
 * @VHALT_A_PARAM: [nest of enum vhalt_param_attr] one parameter
 * @VHALT_A_OWN: [u8] 1: the VM has a policy of its own, 0: it follows the default
 * @VHALT_A_NR_VMS: [u32] VMs known
 * @VHALT_A_NR_VCPUS: [u32] vCPUs known
 * @VHALT_A_MAX_VMS: [u32] most VMs the module keeps
 * @VHALT_A_MAX_VCPUS: [u32] most vCPUs the module keeps
 * @VHALT_A_ATTACHED: [u8] 1: KVM is there and its halts are seen
 * @VHALT_A_UNKNOWN: [u64] halts whose vCPU could not be found
 * @VHALT_A_REFUSED: [u64] halts of vCPUs there was no room for, left to the kernel
 * @VHALT_A_BUDGET_PPM: [u32] polling budget, parts per million of the host's CPU time; 0: none
 * @VHALT_A_FACTOR: [u32] price factor of the budget, in 1/1024
 * @VHALT_A_BURNT_PPM: [u32] share polled lately, while a budget is set
 * @VHALT_A_GATED: [u64] decisions made while the budget was spent
 * @VHALT_A_WINDOW_NS: [u32] window written for the next halt
 * @VHALT_A_CEILING_NS: [u32] KVM's ceiling: of the VM (KVM_CAP_HALT_POLL) or its module parameter
 * @VHALT_A_HALTS: [u64] halts seen
 * @VHALT_A_POLLED: [u64] of these, ended without blocking
 * @VHALT_A_BLOCKED: [u64] of these, blocked
 * @VHALT_A_INVALID: [u64] wake-ups KVM called invalid
 * @VHALT_A_CUT: [u64] polls that ended early because another task wanted the CPU
 * @VHALT_A_USEFUL_NS: [u64] CPU time polled by halts that ended while polling
 * @VHALT_A_WASTED_NS: [u64] CPU time polled by halts that blocked in the end
 * @VHALT_A_HALTED_NS: [u64] time halted, polling included
 * @VHALT_A_DECISIONS: [u64] windows decided by a policy of ours
 * @VHALT_A_GROWN: [u64] of these, larger than the one before
 * @VHALT_A_SHRUNK: [u64] of these, smaller
 * @VHALT_A_CLIPPED: [u64] of these, above the ceiling then in force: KVM polls no longer than that
 * @VHALT_A_BOOST: [string] a choice of boost
 * @VHALT_A_BOOST_OWN: [u8] 1: the VM has a choice of its own, 0: it follows the default
 * @VHALT_A_BOOST_WATCHING: [u8] 1: KVM is there and some VM is boosted, so exits are watched
 * @VHALT_A_BOOST_REFUSED: [u64] exits of VMs to be boosted for which there was no room: the second
 *	VM of a process, or out of memory for a moment
 * @VHALT_A_BOOST_COUNTS: [nest of enum vhalt_boost_attr] while the VM was boosted, since it is known
 */
enum vhalt_attr {
	VHALT_A_UNSPEC,
	VHALT_A_PAD,
	VHALT_A_ABI,
	VHALT_A_VM_PID,
	VHALT_A_NAME,
	VHALT_A_TID,
	VHALT_A_VCPU,
	VHALT_A_POLICY,
	VHALT_A_PARAMS,
	VHALT_A_PARAM,
	VHALT_A_OWN,
	VHALT_A_NR_VMS,
	VHALT_A_NR_VCPUS,
	VHALT_A_MAX_VMS,
	VHALT_A_MAX_VCPUS,
	VHALT_A_ATTACHED,
	VHALT_A_UNKNOWN,
	VHALT_A_REFUSED,
	VHALT_A_BUDGET_PPM,
	VHALT_A_FACTOR,
	VHALT_A_BURNT_PPM,
	VHALT_A_GATED,
	VHALT_A_WINDOW_NS,
	VHALT_A_CEILING_NS,
	VHALT_A_HALTS,
	VHALT_A_POLLED,
	VHALT_A_BLOCKED,
	VHALT_A_INVALID,
	VHALT_A_CUT,
	VHALT_A_USEFUL_NS,
	VHALT_A_WASTED_NS,
	VHALT_A_HALTED_NS,
	VHALT_A_DECISIONS,
	VHALT_A_GROWN,
	VHALT_A_SHRUNK,
	VHALT_A_CLIPPED,
	VHALT_A_BOOST,
	VHALT_A_BOOST_OWN,
	VHALT_A_BOOST_WATCHING,
	VHALT_A_BOOST_REFUSED,
	VHALT_A_BOOST_COUNTS,
	__VHALT_A_AFTER_LAST,
	VHALT_A_MAX = __VHALT_A_AFTER_LAST - 1,
};

/**
 * enum vhalt_param_attr - inside VHALT_A_PARAM; both are required.
 *
 * @VHALT_PARAM_A_PAD: [unused] alignment of 64-bit attributes
 * @VHALT_PARAM_A_NAME: [string] name of the parameter
 * @VHALT_PARAM_A_VALUE: [u64] its value: nanoseconds, a plain number, or 0 and 1
 */
enum vhalt_param_attr {
	VHALT_PARAM_A_UNSPEC,
	VHALT_PARAM_A_PAD,
	VHALT_PARAM_A_NAME,
	VHALT_PARAM_A_VALUE,
	__VHALT_PARAM_A_AFTER_LAST,
	VHALT_PARAM_A_MAX = __VHALT_PARAM_A_AFTER_LAST - 1,
};

/** Buckets of VHALT_BOOST_A_WAIT_LOG2: bucket i has waits from 2^(i-1) to 2^i - 1 ns, the last all
 *  that are longer (from 17 s on). */
#define VHALT_BOOST_WAIT_BUCKETS 36

/**
 * enum vhalt_boost_attr - inside VHALT_A_BOOST_COUNTS; all [u64] but WAIT_LOG2.
 *
 * A vCPU leaves its CPU against its will when it is preempted, or gives its time away as it spins
 * (KVM's directed yield). Each time its guest's preempt_count is read.
 *
 * @VHALT_BOOST_A_PAD: [unused] alignment of 64-bit attributes
 * @VHALT_BOOST_A_READS: counts read
 * @VHALT_BOOST_A_READ_ERRORS: the address the guest published could not be read
 * @VHALT_BOOST_A_BAD_SHARES: what the guest published is not understood: version, width, alignment
 * @VHALT_BOOST_A_PREEMPTIONS: times a vCPU was preempted
 * @VHALT_BOOST_A_CRITICAL: times one left its CPU inside a critical section (count above zero), the
 *	exit it was at not being a PAUSE: a preempted holder
 * @VHALT_BOOST_A_STEERS: times KVM's scan was pointed at another vCPU than it stood at
 * @VHALT_BOOST_A_YIELDS: times a spinning vCPU gave its time to another one, seen as such: its thread
 *	called the scheduler, still running, inside kvm_vcpu_on_spin()
 * @VHALT_BOOST_A_TARGETS: of these, with a known target: KVM's last_boosted_vcpu at the yielder's next
 *	exit, unless another vCPU came back from a yield, or was steered for, in between
 * @VHALT_BOOST_A_HITS: of these, the target was a preempted holder at the moment of the yield
 * @VHALT_BOOST_A_HANDED: of all yields, the next thread on the same CPU was that of a preempted holder
 * @VHALT_BOOST_A_WAITS: preempted holders that got a CPU again
 * @VHALT_BOOST_A_WAIT_NS: how long they had waited for it, all together
 * @VHALT_BOOST_A_WAIT_MAX_NS: the longest of these waits
 * @VHALT_BOOST_A_UNSHARED: nothing was published, or the steal-time page was not present
 * @VHALT_BOOST_A_WAIT_LOG2: [array of VHALT_BOOST_WAIT_BUCKETS u64] how many waits were how long
 */
enum vhalt_boost_attr {
	VHALT_BOOST_A_UNSPEC,
	VHALT_BOOST_A_PAD,
	VHALT_BOOST_A_READS,
	VHALT_BOOST_A_READ_ERRORS,
	VHALT_BOOST_A_BAD_SHARES,
	VHALT_BOOST_A_PREEMPTIONS,
	VHALT_BOOST_A_CRITICAL,
	VHALT_BOOST_A_STEERS,
	VHALT_BOOST_A_YIELDS,
	VHALT_BOOST_A_TARGETS,
	VHALT_BOOST_A_HITS,
	VHALT_BOOST_A_HANDED,
	VHALT_BOOST_A_WAITS,
	VHALT_BOOST_A_WAIT_NS,
	VHALT_BOOST_A_WAIT_MAX_NS,
	VHALT_BOOST_A_WAIT_LOG2,
	VHALT_BOOST_A_UNSHARED,
	__VHALT_BOOST_A_AFTER_LAST,
	VHALT_BOOST_A_MAX = __VHALT_BOOST_A_AFTER_LAST - 1,
};

#endif

// SPDX-License-Identifier: GPL-2.0-only
// The switches of boost, and its three tracepoints: registered while some VM is to be boosted.

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "host/boost_control.h"

#include <linux/err.h>
#include <linux/kvm_host.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "compat.h"
#include "host/boost.h"
#include "host/boost_vm.h"
#include "host/hook.h"

/* All under the control lock, but for reading. */
static u32 default_choice = HOST_BOOST_OFF;
static struct tracepoint *switch_tp;		   /* of the kernel image */
static struct tracepoint *exit_tp, *hypercall_tp; /* KVM's, while it is loaded */
static struct module *kvm_owner;
static bool attached;

/* --- probes: newer kernels call them with preemption on -------------------------------------- */

static void probe_switch(COMPAT_SCHED_SWITCH_ARGS)
{
	struct kvm_vcpu *leaves, *returns;

	/* The run queue's lock is held: no preemption, and RCU readers are waited for. */
	rcu_read_lock();
	leaves = host_vcpu_of(prev);
	returns = host_vcpu_of(next);
	if (leaves)
		host_boost_leave(leaves, !preempt && COMPAT_PREV_STATE != TASK_RUNNING, preempt,
				 returns);
	if (returns)
		host_boost_return(returns, next);
	rcu_read_unlock();
}

static void probe_exit(COMPAT_KVM_EXIT_ARGS)
{
	struct kvm_vcpu *vcpu;

	preempt_disable();
	rcu_read_lock();
	/* Not the one of the arguments: this way it does not matter if they change once more. */
	vcpu = host_vcpu_of(current);
	if (likely(vcpu))
		host_boost_exit(vcpu, COMPAT_EXIT_MAY_SPIN);
	rcu_read_unlock();
	preempt_enable();
}

static void probe_hypercall(void *data, unsigned long nr, unsigned long a0, unsigned long a1,
			    unsigned long a2, unsigned long a3)
{
	struct kvm_vcpu *vcpu;

	if (nr != VHALT_GUEST_HC)
		return;
	preempt_disable();
	rcu_read_lock();
	vcpu = host_vcpu_of(current);
	if (vcpu)
		host_boost_hypercall(vcpu, a0, a1, a2, a3);
	rcu_read_unlock();
	preempt_enable();
}

/* Never called: see hook.c. KVM's own header of the other two is not among the kernel's headers. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_switch(probe_switch);
}

static void detach(void)
{
	if (!attached)
		return;
	tracepoint_probe_unregister(exit_tp, probe_exit, NULL);
	if (hypercall_tp)
		tracepoint_probe_unregister(hypercall_tp, probe_hypercall, NULL);
	tracepoint_probe_unregister(switch_tp, probe_switch, NULL);
	tracepoint_synchronize_unregister();
	WRITE_ONCE(attached, false);
}

static int attach(void)
{
	int err;

	if (attached || !exit_tp)
		return 0;
	err = tracepoint_probe_register(switch_tp, probe_switch, NULL);
	if (err)
		return err;
	if (hypercall_tp) {
		err = tracepoint_probe_register(hypercall_tp, probe_hypercall, NULL);
		if (err)
			goto err_switch;
	}
	err = tracepoint_probe_register(exit_tp, probe_exit, NULL);
	if (err)
		goto err_hypercall;
	WRITE_ONCE(attached, true);
	return 0;

err_hypercall:
	if (hypercall_tp)
		tracepoint_probe_unregister(hypercall_tp, probe_hypercall, NULL);
err_switch:
	tracepoint_probe_unregister(switch_tp, probe_switch, NULL);
	tracepoint_synchronize_unregister();
	return err;
}

/* --- switches -------------------------------------------------------------------------------- */

u32 host_boost_wanted(const struct host_vm *vm)
{
	u32 choice = vm ? READ_ONCE(vm->boost_choice) : HOST_BOOST_DEFAULT;

	return choice == HOST_BOOST_DEFAULT ? READ_ONCE(default_choice) : choice;
}

static int is_wanted(struct host_vm *vm, void *unused)
{
	return host_boost_wanted(vm) != HOST_BOOST_OFF;
}

static int bring_in_line(struct host_vm *vm, void *unused)
{
	u32 mode = host_boost_wanted(vm);
	struct host_boost *b;

	if (mode == HOST_BOOST_OFF) {
		host_boost_forget(vm);
		return 0;
	}
	/* Only the holder of the control lock takes a record away. */
	rcu_read_lock();
	b = rcu_dereference(vm->boost);
	if (b)
		WRITE_ONCE(b->core.mode, mode);
	rcu_read_unlock();
	return 0;
}

int host_boost_apply(void)
{
	struct host_cursor at = {};
	int err = 0;

	if (READ_ONCE(default_choice) != HOST_BOOST_OFF || host_vms_walk(&at, is_wanted, NULL)) {
		err = host_boost_init();
		if (!err)
			err = attach();
	} else {
		detach();
	}
	if (err)
		return err;
	/* A probe that saw an old switch may be about to make a record. */
	if (attached)
		synchronize_rcu();
	at = (struct host_cursor){};
	host_vms_walk(&at, bring_in_line, NULL);
	return 0;
}

static int set(u32 *place, u32 choice)
{
	u32 old = *place;
	int err;

	WRITE_ONCE(*place, choice);
	err = host_boost_apply();
	if (err)
		WRITE_ONCE(*place, old);
	return err;
}

int host_boost_set(pid_t pid, u32 choice)
{
	struct host_vm *vm;
	int err;

	if (choice < VHALT_NR_BOOST_MODES && (!COMPAT_HAS_DIRECTED_YIELD || !switch_tp))
		return -EOPNOTSUPP;
	host_control_lock();
	if (pid) {
		vm = host_vm_get(pid);
		err = IS_ERR(vm) ? PTR_ERR(vm) : set(&vm->boost_choice, choice);
	} else {
		err = set(&default_choice, choice);
	}
	host_control_unlock();
	return err;
}

static int turn_off(struct host_vm *vm, void *unused)
{
	WRITE_ONCE(vm->boost_choice, HOST_BOOST_OFF);
	return 0;
}

void host_boost_stop(void)
{
	struct host_cursor at = {};

	host_control_lock();
	WRITE_ONCE(default_choice, HOST_BOOST_OFF);
	host_vms_walk(&at, turn_off, NULL);
	host_boost_apply();
	/* VMs that have ended are not walked over, but no probe comes back for them. */
	detach();
	host_control_unlock();
}

void host_boost_view(struct host_boost_view *view)
{
	view->choice = READ_ONCE(default_choice);
	view->watching = READ_ONCE(attached);
	view->refused = host_boost_refused();
}

/* --- KVM comes and goes ---------------------------------------------------------------------- */

static void look(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_switch"))
		switch_tp = tp;
	else if (!strcmp(tp->name, "kvm_exit"))
		exit_tp = tp;
	else if (!strcmp(tp->name, "kvm_hypercall"))
		hypercall_tp = tp;
}

void host_boost_start(void)
{
	for_each_kernel_tracepoint(look, NULL);
}

void host_boost_kvm_coming(struct module *mod)
{
	struct tracepoint *found[2] = {};
	unsigned int i;
	int err = 0;

	for (i = 0; i < mod->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);

		if (!strcmp(tp->name, "kvm_exit"))
			found[0] = tp;
		else if (!strcmp(tp->name, "kvm_hypercall"))
			found[1] = tp;
	}
	if (!found[0])
		return;
	host_control_lock();
	if (!exit_tp) {
		exit_tp = found[0];
		hypercall_tp = found[1];
		kvm_owner = mod;
		err = host_boost_apply();
	}
	host_control_unlock();
	if (err)
		pr_err("cannot attach to the exits of module %s\n", mod->name);
}

void host_boost_kvm_going(struct module *mod)
{
	host_control_lock();
	if (kvm_owner == mod) {
		detach();
		exit_tp = hypercall_tp = NULL;
		kvm_owner = NULL;
	}
	host_control_unlock();
}

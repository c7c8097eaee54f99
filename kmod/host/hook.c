// SPDX-License-Identifier: GPL-2.0-only
// Tracepoints: finding them, attaching while KVM comes and goes, and finding the vCPU of a thread.
/*
 * kvm_vcpu_wakeup fires at the end of each halt, in the vCPU's own thread, after KVM's own grow or
 * shrink: whatever is in vcpu->halt_poll_ns when the probe returns decides the next halt. It does
 * not say which vCPU. But while a thread is inside KVM_RUN, KVM keeps a preempt notifier in that
 * thread's task, and this notifier is part of the vCPU. So the vCPU is found from `current`, there
 * is nothing to look up or to keep, and other exits cost nothing. The vCPU cannot be freed
 * meanwhile: the thread that runs it holds it.
 *
 * A notifier is KVM's if its sched_in function is; this is asked of the symbol table once for each
 * table of operations, of which KVM has one.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "host/hook.h"

#include <linux/kvm_host.h>
#include <linux/kvm_dirty_ring.h> /* trace/events/kvm.h wants its types */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/kvm.h>
#include <trace/events/sched.h>

#include <uapi/vhalt.h>

#include "compat.h"
#include "host/boost_control.h"
#include "host/probe.h"
#include "host/registry.h"

static const char wakeup_name[] = "kvm_vcpu_wakeup";
static const char exit_name[] = "sched_process_exit";
static const char kvm_sched_in[] = "kvm_sched_in";

static struct tracepoint *wakeup_tp, *exit_tp; /* registered ones */
static struct module *wakeup_owner;	       /* of wakeup_tp; NULL: built in */
static const unsigned int *kvm_param; /* KVM's halt_poll_ns, NULL where it cannot be seen */
static struct preempt_ops *kvm_ops, *other_ops; /* known to be KVM's, known not to be */
static DEFINE_PER_CPU(u64, unknown);

/* --- the probes ---------------------------------------------------------------------------- */

static noinline bool learn_ops(struct preempt_ops *ops)
{
	const size_t n = sizeof(kvm_sched_in) - 1;
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", ops->sched_in);
	if (strncmp(name, kvm_sched_in, n) || (name[n] && name[n] != ' ' && name[n] != '.')) {
		WRITE_ONCE(other_ops, ops);
		return false;
	}
	WRITE_ONCE(kvm_ops, ops);
	return true;
}

static bool are_kvm_ops(struct preempt_ops *ops)
{
	if (likely(ops == READ_ONCE(kvm_ops)))
		return true;
	return ops != READ_ONCE(other_ops) && learn_ops(ops);
}

/* Only the task itself changes its list of notifiers, so it may be read without a lock. */
struct kvm_vcpu *host_vcpu_of(const struct task_struct *task)
{
	struct preempt_notifier *n;

	hlist_for_each_entry (n, &task->preempt_notifiers, link)
		if (are_kvm_ops(n->ops))
			return container_of(n, struct kvm_vcpu, preempt_notifier);
	return NULL;
}

static u32 param_ns(void)
{
	const unsigned int *param = READ_ONCE(kvm_param);

	return param ? READ_ONCE(*param) : VHALT_UNKNOWN_U32;
}

/* Newer kernels call probes with preemption on and under SRCU alone. */
static void probe_wakeup(void *data, __u64 ns, bool waited, bool valid)
{
	struct kvm_vcpu *vcpu;

	preempt_disable();
	rcu_read_lock();
	vcpu = host_vcpu_of(current);
	if (likely(vcpu))
		host_wakeup(vcpu, param_ns(), ns, waited, valid);
	else
		this_cpu_inc(unknown);
	rcu_read_unlock();
	preempt_enable();
}

static void probe_exit(COMPAT_PROCESS_EXIT_ARGS)
{
	host_registry_exit(task);
}

/* Never called: the compiler compares the probes' arguments with what this kernel passes. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_kvm_vcpu_wakeup(probe_wakeup);
	check_trace_callback_type_sched_process_exit(probe_exit);
}

/* --- coming and going ---------------------------------------------------------------------- */

static const unsigned int *find_param(const struct module *mod)
{
	unsigned int i;

	for (i = 0; mod && i < mod->num_kp; i++)
		if (!strcmp(mod->kp[i].name, "halt_poll_ns") && mod->kp[i].ops == &param_ops_uint)
			return mod->kp[i].arg;
	return NULL;
}

static int attach(struct tracepoint *tp, struct module *owner)
{
	int err;

	WRITE_ONCE(kvm_param, find_param(owner));
	err = tracepoint_probe_register(tp, probe_wakeup, NULL);
	if (err) {
		WRITE_ONCE(kvm_param, NULL);
		return err;
	}
	wakeup_owner = owner;
	WRITE_ONCE(wakeup_tp, tp);
	return 0;
}

static void detach(void)
{
	if (!wakeup_tp)
		return;
	/* Before the wait, which is also for host_hook_view(). */
	WRITE_ONCE(kvm_param, NULL);
	tracepoint_probe_unregister(wakeup_tp, probe_wakeup, NULL);
	tracepoint_synchronize_unregister();
	WRITE_ONCE(wakeup_tp, NULL);
	wakeup_owner = NULL;
	/* Addresses in a module that may be gone soon, and be another's afterwards. */
	WRITE_ONCE(kvm_ops, NULL);
	WRITE_ONCE(other_ops, NULL);
}

static void module_coming(struct module *mod)
{
	unsigned int i;

	for (i = 0; !wakeup_tp && i < mod->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);

		if (!strcmp(tp->name, wakeup_name) && attach(tp, mod))
			pr_err("cannot attach to %s of module %s\n", tp->name, mod->name);
	}
}

/* Called for the modules that are loaded when the notifier is registered, and for each later one.
 */
static int notify(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = ((struct tp_module *)data)->mod;

	if (state == MODULE_STATE_COMING) {
		module_coming(mod);
		host_boost_kvm_coming(mod);
	} else if (state == MODULE_STATE_GOING && mod == wakeup_owner) {
		detach();
		host_boost_kvm_going(mod);
		host_vcpus_drop_all();
	}
	return NOTIFY_OK;
}

static struct notifier_block notifier = {
	.notifier_call = notify,
};

/* Tracepoints of the kernel image. */
struct found {
	struct tracepoint *wakeup, *exit;
};

static void look(struct tracepoint *tp, void *priv)
{
	struct found *found = priv;

	if (!strcmp(tp->name, wakeup_name))
		found->wakeup = tp;
	else if (!strcmp(tp->name, exit_name))
		found->exit = tp;
}

int host_hook_init(void)
{
	struct found found = {};
	int err;

	for_each_kernel_tracepoint(look, &found);
	host_boost_start();
	if (!found.exit) {
		pr_err("this kernel has no tracepoint %s\n", exit_name);
		return -ENOENT;
	}
	err = tracepoint_probe_register(found.exit, probe_exit, NULL);
	if (err)
		return err;
	exit_tp = found.exit;
	err = found.wakeup ? attach(found.wakeup, NULL)
			   : register_tracepoint_module_notifier(&notifier);
	if (!err)
		return 0;
	tracepoint_probe_unregister(exit_tp, probe_exit, NULL);
	tracepoint_synchronize_unregister();
	return err;
}

void host_hook_fini(void)
{
	if (!wakeup_tp || wakeup_owner)
		unregister_tracepoint_module_notifier(&notifier);
	detach();
	tracepoint_probe_unregister(exit_tp, probe_exit, NULL);
	tracepoint_synchronize_unregister();
}

void host_hook_view(struct host_hook_view *view)
{
	int cpu;

	view->attached = READ_ONCE(wakeup_tp) != NULL;
	view->unknown = 0;
	for_each_possible_cpu (cpu)
		view->unknown += READ_ONCE(per_cpu(unknown, cpu));
	/* The parameter goes with its module, which detach() holds up while preemption is off here.
	 */
	preempt_disable();
	view->ceiling_ns = param_ns();
	preempt_enable();
}

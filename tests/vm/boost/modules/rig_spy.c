// SPDX-License-Identifier: GPL-2.0-only
// For the rig only: whom vCPUs really yield to, and who really has the guest's lock at that moment.
/*
 * A kretprobe on the scheduler's yield_to() sees caller, target and outcome; the guest "lock" of the
 * micro-VMM keeps the number of the vCPU that holds its lock, plus one, at a fixed address. Nothing of
 * this is used by vhalt_kvm: it is the measure, not the thing measured.
 */

#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/kvm_host.h>
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/srcu.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

static ulong holder_gpa = 0x70040;
module_param(holder_gpa, ulong, 0444);
MODULE_PARM_DESC(holder_gpa, "guest-physical address of 32 bits: the holder's number plus one, 0 none");

static int pid;
module_param(pid, int, 0644);
MODULE_PARM_DESC(pid, "process to look at, 0: all");

/* Counters, in /sys/module/rig_spy/parameters; zero is written to begin anew. */
static ulong calls, yields, held, hits, running, lifted;
module_param(calls, ulong, 0644);
MODULE_PARM_DESC(calls, "calls of yield_to() from one vCPU to another of its VM");
module_param(yields, ulong, 0644);
MODULE_PARM_DESC(yields, "of these, accepted by the scheduler");
module_param(held, ulong, 0644);
MODULE_PARM_DESC(held, "of these, while some vCPU held the lock");
module_param(hits, ulong, 0644);
MODULE_PARM_DESC(hits, "of these, to that vCPU");
module_param(running, ulong, 0644);
MODULE_PARM_DESC(running, "accepted ones while the holder had a CPU, so that none could hit it");

/* The trial of a nice raise: see docs/boost.md. One thread at a time, always taken back. */
static int lift, lift_us = 2000;
module_param(lift, int, 0644);
MODULE_PARM_DESC(lift, "raise a yield's target that is the holder by so many nice levels, 0: do not");
module_param(lift_us, int, 0644);
MODULE_PARM_DESC(lift_us, "for so long");
module_param(lifted, ulong, 0644);
MODULE_PARM_DESC(lifted, "times that was done");

static struct task_struct *lift_task; /* a reference, while the work is pending or runs */

static void do_lift(struct work_struct *work)
{
	int nice = task_nice(lift_task);

	set_user_nice(lift_task, max(nice - lift, MIN_NICE));
	usleep_range(lift_us, lift_us + 100);
	set_user_nice(lift_task, nice);
	put_task_struct(lift_task);
	lifted++;
	smp_store_release(&lift_task, NULL);
}
static DECLARE_WORK(lift_work, do_lift);

static void start_lift(struct task_struct *task)
{
	if (cmpxchg(&lift_task, NULL, task))
		return;
	get_task_struct(task);
	queue_work(system_highpri_wq, &lift_work);
}

struct seen {
	int target, holder; /* numbers of vCPUs, -1: none */
	bool running;	    /* the holder has a CPU */
};

static struct kvm_vcpu *vcpu_of(const struct task_struct *task)
{
	struct hlist_node *first = READ_ONCE(task->preempt_notifiers.first);

	if (!first)
		return NULL;
	return container_of(hlist_entry(first, struct preempt_notifier, link), struct kvm_vcpu,
			    preempt_notifier);
}

static int read_holder(struct kvm *kvm)
{
	struct kvm_memory_slot *slot;
	int srcu = srcu_read_lock(&kvm->srcu);
	u32 holder = 0;

	slot = __gfn_to_memslot(kvm_memslots(kvm), holder_gpa >> PAGE_SHIFT);
	if (!slot || copy_from_user_nofault(&holder,
					    (void __user *)(__gfn_to_hva_memslot(
								    slot, holder_gpa >> PAGE_SHIFT) +
							    offset_in_page(holder_gpa)),
					    sizeof(holder)))
		holder = 0;
	srcu_read_unlock(&kvm->srcu, srcu);
	return (int)holder - 1;
}

static int on_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kvm_vcpu *me = vcpu_of(current), *target, *holder;
	struct seen *seen = (struct seen *)ri->data;

	if (!me || (pid && task_tgid_nr(current) != pid))
		return 1;
	target = vcpu_of((struct task_struct *)regs->di);
	if (!target || target->kvm != me->kvm)
		return 1;
	seen->target = target->vcpu_idx;
	seen->holder = read_holder(me->kvm);
	holder = kvm_get_vcpu(me->kvm, max(seen->holder, 0));
	seen->running = seen->holder >= 0 && holder && !READ_ONCE(holder->ready);
	if (lift && seen->target == seen->holder)
		start_lift((struct task_struct *)regs->di);
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct seen *seen = (struct seen *)ri->data;

	calls++;
	if ((int)regs_return_value(regs) <= 0)
		return 0;
	yields++;
	if (seen->holder >= 0)
		held++;
	if (seen->holder == seen->target)
		hits++;
	else if (seen->running)
		running++;
	return 0;
}

/* A vCPU that yielded keeps its instance until it runs again. */
static struct kretprobe probe = {
	.kp.symbol_name = "yield_to",
	.entry_handler = on_call,
	.handler = on_return,
	.data_size = sizeof(struct seen),
	.maxactive = 64,
};

static int __init rig_spy_init(void)
{
	return register_kretprobe(&probe);
}

static void __exit rig_spy_exit(void)
{
	unregister_kretprobe(&probe);
	flush_work(&lift_work);
	if (probe.nmissed)
		pr_info("rig_spy: %d yields were missed\n", probe.nmissed);
}

module_init(rig_spy_init);
module_exit(rig_spy_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Observer of directed yields in vhalt's emulated rig");

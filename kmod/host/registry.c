// SPDX-License-Identifier: GPL-2.0-only
// The tables of VMs and vCPUs: hashed, bounded, read under RCU, changed under one raw lock.

#include "host/registry.h"

#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "host/boost_control.h"
#include "host/boost_vm.h"
#include "host/pool.h"

/* Chains stay short up to some thousand vCPUs; beyond that a look-up walks a few records more. */
#define VCPU_HASH_BITS 10
#define VM_HASH_BITS   8

/* Spares kept at hand: vCPUs of one large VM, and VMs, that may halt first at the same moment. */
#define SPARE_VCPUS 64
#define SPARE_VMS   8

/* With the table full, vCPUs that did not halt for so long give way to new ones. */
#define IDLE_NS (10 * NSEC_PER_SEC)

static DEFINE_HASHTABLE(vcpus, VCPU_HASH_BITS);
static DEFINE_HASHTABLE(vms, VM_HASH_BITS);
static DEFINE_RAW_SPINLOCK(lock);
static DEFINE_MUTEX(control_lock);
static struct host_pool vcpu_pool, vm_pool;
static struct host_registry_counts counts;

static void reap(struct work_struct *work);
static DECLARE_WORK(reap_work, reap);
static bool full; /* a vCPU found no room since the last reaping */

void host_control_lock(void)
{
	mutex_lock(&control_lock);
}

void host_control_unlock(void)
{
	mutex_unlock(&control_lock);
}

static u32 vcpu_bucket(const struct kvm_vcpu *key)
{
	return hash_ptr(key, VCPU_HASH_BITS);
}

static u32 vm_bucket(pid_t pid)
{
	return hash_32((u32)pid, VM_HASH_BITS);
}

static void free_vcpu(struct rcu_head *rcu)
{
	host_pool_give(&vcpu_pool, container_of(rcu, struct host_vcpu, rcu));
}

static void free_vm(struct rcu_head *rcu)
{
	host_pool_give(&vm_pool, container_of(rcu, struct host_vm, rcu));
}

/* --- vCPUs --------------------------------------------------------------------------------- */

struct host_vcpu *host_vcpu_find(const struct kvm_vcpu *key)
{
	struct host_vcpu *v;

	hlist_for_each_entry_rcu (v, &vcpus[vcpu_bucket(key)], node)
		if (v->key == key)
			return v;
	return NULL;
}

/* Under the lock. */
static void unlink_vcpu(struct host_vcpu *v)
{
	v->linked = false;
	hlist_del_rcu(&v->node);
	hlist_del(&v->of_vm);
	v->vm->nr_vcpus--;
	counts.nr_vcpus--;
	call_rcu(&v->rcu, free_vcpu);
}

void host_vcpu_drop(struct host_vcpu *v)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	/* The reaper may have been faster. */
	if (v->linked)
		unlink_vcpu(v);
	raw_spin_unlock_irqrestore(&lock, flags);
}

static bool link_vcpu(struct host_vcpu *v)
{
	unsigned long flags;
	bool room;

	raw_spin_lock_irqsave(&lock, flags);
	room = counts.nr_vcpus < counts.max_vcpus;
	if (room) {
		counts.nr_vcpus++;
		v->vm->nr_vcpus++;
		v->linked = true;
		hlist_add_head(&v->of_vm, &v->vm->vcpus);
		hlist_add_head_rcu(&v->node, &vcpus[vcpu_bucket(v->key)]);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return room;
}

/* --- VMs ----------------------------------------------------------------------------------- */

struct host_vm *host_vm_find(pid_t pid)
{
	struct host_vm *vm;

	hlist_for_each_entry_rcu (vm, &vms[vm_bucket(pid)], node, lockdep_is_held(&control_lock))
		if (vm->pid == pid && !READ_ONCE(vm->gone))
			return vm;
	return NULL;
}

/* The record of @pid: the one that is there by now, or @vm, or NULL if there is no room. */
static struct host_vm *link_vm(struct host_vm *vm)
{
	struct host_vm *present;
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	present = host_vm_find(vm->pid);
	if (!present && counts.nr_vms < counts.max_vms) {
		counts.nr_vms++;
		hlist_add_head_rcu(&vm->node, &vms[vm_bucket(vm->pid)]);
		present = vm;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return present;
}

static struct host_vm *add_vm(struct task_struct *leader)
{
	struct host_vm *vm = host_pool_take(&vm_pool), *present;

	if (!vm)
		return NULL;
	vm->pid = task_tgid_nr(leader);
	vm->boost_choice = HOST_BOOST_DEFAULT;
	/* Without the task's lock, which may sleep on PREEMPT_RT: a name half changed does no harm.
	 */
	strscpy(vm->name, leader->comm, sizeof(vm->name));
	present = link_vm(vm);
	if (present != vm)
		host_pool_put_back(&vm_pool, vm);
	return present;
}

struct host_vm *host_vm_add_current(void)
{
	return add_vm(current->group_leader);
}

static void mark_gone(struct host_vm *vm)
{
	WRITE_ONCE(vm->gone, true);
	schedule_work(&reap_work);
}

/* Is a thread of the process left? Asked after its record is in the table, see host_vm_get(). */
static bool is_alive(struct task_struct *task)
{
	return atomic_read(&task->signal->live) > 0;
}

struct host_vm *host_vm_get(pid_t pid)
{
	struct host_vm *vm = ERR_PTR(-ESRCH);
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_TGID);
	if (!task || !is_alive(task))
		goto out;
	vm = host_vm_find(pid);
	if (!vm)
		vm = add_vm(task);
	if (!vm) {
		vm = ERR_PTR(counts.nr_vms < counts.max_vms ? -ENOMEM : -ENOSPC);
		goto out;
	}
	/*
	 * The process may end right now. Either its exit probe, which runs after `live` went to
	 * zero, finds the record, or this sees the zero.
	 */
	smp_mb();
	if (!is_alive(task)) {
		mark_gone(vm);
		vm = ERR_PTR(-ESRCH);
	}
out:
	rcu_read_unlock();
	return vm;
}

void host_registry_exit(struct task_struct *task)
{
	struct host_vm *vm;

	if (is_alive(task))
		return;
	rcu_read_lock();
	vm = host_vm_find(task_tgid_nr(task));
	if (vm)
		mark_gone(vm);
	rcu_read_unlock();
}

struct host_vcpu *host_vcpu_add(struct kvm_vcpu *vcpu)
{
	struct host_vm *vm = host_vm_find(task_tgid_nr(current));
	struct host_vcpu *v;

	if (!vm)
		vm = host_vm_add_current();
	if (!vm)
		return NULL;
	v = host_pool_take(&vcpu_pool);
	if (!v)
		return NULL;
	v->key = vcpu;
	v->kvm = vcpu->kvm;
	v->vm = vm;
	v->id = vcpu->vcpu_id;
	v->tid = task_pid_nr(current);
	if (link_vcpu(v))
		return v;
	host_pool_put_back(&vcpu_pool, v);
	WRITE_ONCE(full, true);
	schedule_work(&reap_work);
	return NULL;
}

/* --- removal ------------------------------------------------------------------------------- */

/* Under the control lock; in the tables' lock for the vCPUs of one VM at a time. */
static void drop_vm(struct host_vm *vm, bool itself)
{
	struct host_vcpu *v;
	struct hlist_node *next;
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	hlist_for_each_entry_safe (v, next, &vm->vcpus, of_vm)
		unlink_vcpu(v);
	if (itself) {
		hlist_del_rcu(&vm->node);
		counts.nr_vms--;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	host_boost_forget(vm);
	if (!itself)
		return;
	host_settings_put(rcu_replace_pointer(vm->settings, NULL, lockdep_is_held(&control_lock)));
	call_rcu(&vm->rcu, free_vm);
}

static void drop_vms(bool all, bool itself)
{
	struct hlist_node *next;
	struct host_vm *vm;
	int bucket;

	host_control_lock();
	hash_for_each_safe (vms, bucket, next, vm, node)
		if (all || vm->gone)
			drop_vm(vm, itself);
	/* The last VM that was boosted may have gone; nothing is registered anew for that. */
	host_boost_apply();
	host_control_unlock();
}

static void drop_idle(void)
{
	u64 now_ns = ktime_get_ns();
	struct host_vcpu *v;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu (vcpus, bucket, v, node)
		if (now_ns - READ_ONCE(v->woken_ns) > IDLE_NS)
			host_vcpu_drop(v);
	rcu_read_unlock();
}

static void reap(struct work_struct *work)
{
	drop_vms(false, true);
	if (xchg(&full, false))
		drop_idle();
}

void host_vcpus_drop_all(void)
{
	drop_vms(true, false);
}

/* --- walks --------------------------------------------------------------------------------- */

int host_vms_walk(struct host_cursor *at, int (*visit)(struct host_vm *vm, void *arg), void *arg)
{
	struct host_vm *vm;

	for (; at->bucket < HASH_SIZE(vms); at->bucket++, at->skip = 0) {
		u32 seen = 0;

		hlist_for_each_entry_rcu (vm, &vms[at->bucket], node,
					  lockdep_is_held(&control_lock)) {
			int ret;

			if (seen++ < at->skip || READ_ONCE(vm->gone))
				continue;
			ret = visit(vm, arg);
			if (ret)
				return ret;
			at->skip = seen;
		}
	}
	return 0;
}

int host_vcpus_walk(struct host_cursor *at, int (*visit)(struct host_vcpu *vcpu, void *arg),
		    void *arg)
{
	struct host_vcpu *v;

	for (; at->bucket < HASH_SIZE(vcpus); at->bucket++, at->skip = 0) {
		u32 seen = 0;

		hlist_for_each_entry_rcu (v, &vcpus[at->bucket], node) {
			int ret;

			if (seen++ < at->skip || READ_ONCE(v->vm->gone))
				continue;
			ret = visit(v, arg);
			if (ret)
				return ret;
			at->skip = seen;
		}
	}
	return 0;
}

void host_registry_counts(struct host_registry_counts *out)
{
	*out = counts;
}

/* --- life ---------------------------------------------------------------------------------- */

int host_registry_init(unsigned int max_vms, unsigned int max_vcpus)
{
	int err;

	counts.max_vms = max_vms;
	counts.max_vcpus = max_vcpus;
	err = host_pool_init(&vm_pool, "vhalt_vm", sizeof(struct host_vm), SPARE_VMS);
	if (err)
		return err;
	err = host_pool_init(&vcpu_pool, "vhalt_vcpu", sizeof(struct host_vcpu), SPARE_VCPUS);
	if (err)
		host_pool_fini(&vm_pool);
	return err;
}

void host_registry_fini(void)
{
	cancel_work_sync(&reap_work);
	drop_vms(true, true);
	rcu_barrier();
	WARN_ON(counts.nr_vms || counts.nr_vcpus);
	host_pool_fini(&vcpu_pool);
	host_pool_fini(&vm_pool);
}

// SPDX-License-Identifier: GPL-2.0-only
// Records of boosted VMs: made by the exit probe from a stock, ended by RCU, counts added up.

#include "host/boost_vm.h"

#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "compat.h"
#include "host/boost_control.h"
#include "host/pool.h"

/* VMs that may show up at the same moment; the worker refills. */
#define SPARES 2

/* A process whose VM had no exit for so long, but whose other VM has: the other one is its VM now.
 */
#define STALE HZ

static struct host_pool pool;
static bool have_pool; /* under the control lock */
static DEFINE_PER_CPU(u64, refused);

int host_boost_init(void)
{
	int err = 0;

	if (!have_pool)
		err = host_pool_init(&pool, "vhalt_boost", sizeof(struct host_boost), SPARES);
	have_pool = !err;
	return err;
}

void host_boost_fini(void)
{
	if (have_pool)
		host_pool_fini(&pool);
	have_pool = false;
}

static void free_record(struct rcu_head *rcu)
{
	host_pool_give(&pool, container_of(rcu, struct host_boost, rcu));
}

struct host_boost *host_boost_find(const struct kvm_vcpu *vcpu, pid_t pid)
{
	const struct host_vm *vm = host_vm_find(pid);
	struct host_boost *b = vm ? rcu_dereference(vm->boost) : NULL;

	return b && b->kvm == vcpu->kvm ? b : NULL;
}

/* --- slots --------------------------------------------------------------------------------- */

static void clear_slot(struct host_boost *b, u32 i, const struct kvm_vcpu *vcpu)
{
	struct host_boost_slot *s = &b->slots[i];
	struct host_boost_tally tally = s->tally;

	clear_bit(i, b->waiting);
	clear_bit(i, b->critical);
	clear_bit(i, b->holders);
	vhalt_boost_vcpu_init(&b->vcpus[i]);
	/* The counts are the VM's. */
	memset(s, 0, sizeof(*s));
	s->tally = tally;
	s->hint = -1;
	s->key = vcpu;
}

struct host_boost_slot *host_boost_slot_of(struct host_boost *b, const struct kvm_vcpu *vcpu)
{
	u32 i = vcpu->vcpu_idx;
	struct host_boost_slot *s;
	u64 exits;

	if (unlikely(i >= HOST_BOOST_MAX_VCPUS))
		return NULL;
	s = &b->slots[i];
	exits = compat_exits(vcpu);
	/* KVM uses the memory of a dead vCPU, and of a whole VM, again. */
	if (unlikely(s->key != vcpu || exits < s->exits))
		clear_slot(b, i, vcpu);
	s->exits = exits;
	return s;
}

/* --- records ------------------------------------------------------------------------------- */

static void init_record(struct host_boost *b, const struct kvm *kvm, u32 mode)
{
	u32 i;

	b->kvm = kvm;
	vhalt_boost_init(&b->core, mode);
	for (i = 0; i < HOST_BOOST_MAX_VCPUS; i++)
		clear_slot(b, i, NULL);
}

/* One of several vCPUs that come at the same moment wins. */
static struct host_boost *publish(struct host_vm *vm, struct host_boost *old, struct host_boost *b)
{
	struct host_boost *found =
		unrcu_pointer(cmpxchg(&vm->boost, RCU_INITIALIZER(old), RCU_INITIALIZER(b)));

	if (found != old) {
		host_pool_put_back(&pool, b);
		return NULL;
	}
	return b;
}

struct host_boost *host_boost_make(const struct kvm_vcpu *vcpu)
{
	struct host_vm *vm = host_vm_find(task_tgid_nr(current));
	u32 mode = host_boost_wanted(vm);
	struct host_boost *old, *b;

	if (likely(mode == VHALT_NR_BOOST_MODES))
		return NULL;
	if (!vm)
		vm = host_vm_add_current();
	if (!vm)
		goto no_room;
	old = rcu_dereference(vm->boost);
	/* Another VM of this process has it, and is alive. */
	if (old && jiffies - READ_ONCE(old->seen) < STALE)
		goto no_room;
	b = host_pool_take(&pool);
	if (!b)
		goto no_room;
	init_record(b, vcpu->kvm, mode);
	b->seen = jiffies;
	b = publish(vm, old, b);
	if (b && old)
		call_rcu(&old->rcu, free_record);
	return b;

no_room:
	this_cpu_inc(refused);
	return NULL;
}

/* --- counts -------------------------------------------------------------------------------- */

static void add_tally(struct host_boost_tally *sum, const struct host_boost_tally *t)
{
	sum->reads += READ_ONCE(t->reads);
	sum->read_errors += READ_ONCE(t->read_errors);
	sum->bad_shares += READ_ONCE(t->bad_shares);
	sum->unshared += READ_ONCE(t->unshared);
	sum->preemptions += READ_ONCE(t->preemptions);
	sum->critical += READ_ONCE(t->critical);
	sum->steers += READ_ONCE(t->steers);
	sum->yields += READ_ONCE(t->yields);
	sum->targets += READ_ONCE(t->targets);
	sum->hits += READ_ONCE(t->hits);
	sum->handed += READ_ONCE(t->handed);
	sum->waits += READ_ONCE(t->waits);
	sum->wait_ns += READ_ONCE(t->wait_ns);
	sum->wait_max_ns = max(sum->wait_max_ns, READ_ONCE(t->wait_max_ns));
}

static void add_record(struct host_boost_counts *sum, const struct host_boost *b)
{
	u32 i;

	for (i = 0; i < HOST_BOOST_MAX_VCPUS; i++)
		add_tally(&sum->tally, &b->slots[i].tally);
	for (i = 0; i < VHALT_BOOST_WAIT_BUCKETS; i++)
		sum->wait_log2[i] += atomic64_read(&b->wait_log2[i]);
}

void host_boost_counts(const struct host_vm *vm, struct host_boost_counts *counts)
{
	const struct host_boost *b = rcu_dereference(vm->boost);

	*counts = vm->boosted;
	if (b)
		add_record(counts, b);
}

u64 host_boost_refused(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu (cpu)
		sum += READ_ONCE(per_cpu(refused, cpu));
	return sum;
}

void host_boost_forget(struct host_vm *vm)
{
	struct host_boost *b = unrcu_pointer(xchg(&vm->boost, NULL));

	if (!b)
		return;
	add_record(&vm->boosted, b);
	call_rcu(&b->rcu, free_record);
}

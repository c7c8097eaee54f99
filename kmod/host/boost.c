// SPDX-License-Identifier: GPL-2.0-only
// Boost: keeps the masks of waiting vCPUs and of preempted holders, and steers KVM's directed yield.
/*
 * kvm_vcpu_on_spin() looks for somebody to yield to from last_boosted_vcpu + 1 on, and takes the
 * first one that waits for a CPU. So the number before the wanted one is written there at the exit
 * that may turn out to be a PAUSE; if it is none, nobody reads it. It is a racy hint for KVM itself,
 * and a wrong one costs one yield.
 *
 * What can be seen of a spinning vCPU, from its own thread:
 *  - spin_loop.in_spin_loop is set from the beginning of kvm_vcpu_on_spin() to its end. A thread
 *    that calls schedule() meanwhile, still running, has given its time away: a directed yield that
 *    the scheduler accepted.
 *  - spin_loop.dy_eligible is cleared at its end. It is set at each exit here, so if it is clear
 *    when the thread is switched out, that exit was a PAUSE. KVM reads it of vCPUs inside
 *    kvm_vcpu_on_spin() only, and only if they wait for a CPU; before one does, it is cleared again
 *    here, as KVM had it.
 *  - After the yield KVM writes the target's number to last_boosted_vcpu. It is read at the yielder's
 *    next exit, and believed if nobody of this VM can have written it in between.
 */

#include "host/boost.h"

#include <linux/log2.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "host/boost_share.h"
#include "host/boost_vm.h"

static void count_read(struct host_boost_tally *t, enum host_share_result result)
{
	switch (result) {
	case HOST_SHARE_READ: t->reads++; break;
	case HOST_SHARE_FAULT: t->read_errors++; break;
	case HOST_SHARE_BAD: t->bad_shares++; break;
	case HOST_SHARE_NONE: t->unshared++; break;
	}
}

/* --- switched out, switched in --------------------------------------------------------------- */

/* The VM's request as the core sees it, for vCPU @self. */
static struct vhalt_boost_request request(struct host_boost *b, const struct kvm_vcpu *self,
					  u64 now_ns)
{
	return (struct vhalt_boost_request){
		.vcpus = b->vcpus,
		.nr = min(atomic_read(&self->kvm->online_vcpus), HOST_BOOST_MAX_VCPUS),
		.self = self->vcpu_idx,
		.now_ns = now_ns,
	};
}

static bool is_holder(const struct host_boost *b, const struct kvm_vcpu *vcpu)
{
	return vcpu && vcpu->kvm == b->kvm && vcpu->vcpu_idx < HOST_BOOST_MAX_VCPUS &&
	       test_bit(vcpu->vcpu_idx, b->holders);
}

static void yielded(struct host_boost *b, struct host_boost_slot *s, const struct kvm_vcpu *vcpu,
		    const struct kvm_vcpu *heir, u64 now_ns)
{
	struct vhalt_boost_request r = request(b, vcpu, now_ns);

	s->tally.yields++;
	s->yielded_ns = now_ns;
	if (is_holder(b, heir))
		s->tally.handed++;
	if (s->hint >= 0)
		vhalt_boost_done(&b->core, &r, s->hint);
	s->hint = -1;
}

/* The vCPU waits for a CPU from now on. @flags: what is known of it already. */
static void mark(struct host_boost *b, struct host_boost_slot *s, struct kvm_vcpu *vcpu, u32 flags,
		 u64 now_ns)
{
	struct vhalt_boost_vcpu *v = &b->vcpus[vcpu->vcpu_idx];
	enum host_share_result result;
	u32 count;

	result = host_share_read(vcpu, &s->registered, &count);
	count_read(&s->tally, result);
	v->preempt_count = count;
	v->since_ns = now_ns;
	if (result == HOST_SHARE_READ)
		flags |= VHALT_BOOST_SHARED;
	WRITE_ONCE(v->flags, flags | VHALT_BOOST_RUNNABLE);
	if (count)
		set_bit(vcpu->vcpu_idx, b->critical);
	if (count && !(flags & VHALT_BOOST_SPINNING)) {
		s->tally.critical++;
		WRITE_ONCE(s->left_ns, now_ns);
		set_bit(vcpu->vcpu_idx, b->holders);
	}
	set_bit(vcpu->vcpu_idx, b->waiting);
}

/* How long it had a CPU, until its last exit if that began a spin: what its boost was worth. */
static void ran(struct host_boost *b, const struct host_boost_slot *s, const struct kvm_vcpu *vcpu,
		bool spun, u64 now_ns)
{
	u64 until_ns = spun && s->exit_ns > s->in_ns ? s->exit_ns : now_ns;

	if (s->in_ns)
		vhalt_boost_ran(&b->core, &b->vcpus[vcpu->vcpu_idx], until_ns - s->in_ns);
}

void host_boost_leave(struct kvm_vcpu *vcpu, bool willing, bool preempt,
		      const struct kvm_vcpu *heir)
{
	struct host_boost *b = host_boost_find(vcpu, task_tgid_nr(current));
	struct host_boost_slot *s = b ? host_boost_slot_of(b, vcpu) : NULL;
	u64 now_ns;
	u32 flags;

	if (!s)
		return;
	now_ns = ktime_get_mono_fast_ns();
	if (willing) {
		ran(b, s, vcpu, false, now_ns);
		WRITE_ONCE(b->vcpus[vcpu->vcpu_idx].flags, 0);
		return;
	}
	flags = s->spins || compat_spun(vcpu) ? VHALT_BOOST_SPINNING : 0;
	ran(b, s, vcpu, flags, now_ns);
	if (compat_in_spin_loop(vcpu) && !preempt) {
		yielded(b, s, vcpu, heir, now_ns);
	} else {
		flags |= VHALT_BOOST_PREEMPTED;
		s->tally.preemptions++;
	}
	compat_spin_settle(vcpu);
	mark(b, s, vcpu, flags, now_ns);
}

static void waited(struct host_boost *b, struct host_boost_slot *s, u64 now_ns)
{
	u64 wait_ns = now_ns - s->left_ns;
	u32 bucket = min_t(u32, fls64(wait_ns), VHALT_BOOST_WAIT_BUCKETS - 1);

	WRITE_ONCE(s->returned_ns, now_ns);
	s->tally.waits++;
	s->tally.wait_ns += wait_ns;
	if (wait_ns > s->tally.wait_max_ns)
		s->tally.wait_max_ns = wait_ns;
	atomic64_inc(&b->wait_log2[bucket]);
}

void host_boost_return(struct kvm_vcpu *vcpu, struct task_struct *task)
{
	struct host_boost *b = host_boost_find(vcpu, task_tgid_nr(task));
	struct host_boost_slot *s = b ? host_boost_slot_of(b, vcpu) : NULL;

	if (!s)
		return;
	s->in_ns = ktime_get_mono_fast_ns();
	WRITE_ONCE(b->vcpus[vcpu->vcpu_idx].flags, VHALT_BOOST_RUNNABLE | VHALT_BOOST_RUNNING);
	if (test_and_clear_bit(vcpu->vcpu_idx, b->holders))
		waited(b, s, s->in_ns);
	clear_bit(vcpu->vcpu_idx, b->critical);
	clear_bit(vcpu->vcpu_idx, b->waiting);
	/* It may be about to tell, in last_boosted_vcpu, whom it yielded to. */
	if (s->yielded_ns)
		s->seq = atomic_inc_return(&b->seq);
}

/* --- exits ----------------------------------------------------------------------------------- */

/*
 * A spinner may be preempted at another exit than its PAUSE, most often a tick's. It has then run, since
 * the PAUSE, about as long as it always does from one PAUSE to the next; who got the lock in between
 * has, usually, run for longer. A gap of four times the usual one is none of a spin; should the usual
 * one be wrong, it grows.
 */
static void look_back(struct host_boost_slot *s, bool spun, u64 now_ns)
{
	u64 gap_ns = now_ns - max(s->exit_ns, s->in_ns);

	s->exit_ns = now_ns;
	s->spins = spun && gap_ns < 2 * s->gap_ns;
	if (!spun)
		return;
	if (!s->gap_ns)
		s->gap_ns = gap_ns;
	else if (gap_ns < 4 * s->gap_ns)
		s->gap_ns = (7 * s->gap_ns + gap_ns) / 8;
	else
		s->gap_ns += s->gap_ns / 16 + 1;
}

/* Did vCPU @i wait for a CPU inside a critical section at @then_ns? */
static bool was_holder(const struct host_boost *b, u32 i, u64 then_ns)
{
	const struct host_boost_slot *s = &b->slots[i];
	u64 left_ns = READ_ONCE(s->left_ns), returned_ns = READ_ONCE(s->returned_ns);

	return left_ns && left_ns <= then_ns && (returned_ns < left_ns || returned_ns >= then_ns);
}

/* The vCPU is back from a yield: to whom was it? */
static void settle(const struct host_boost *b, struct host_boost_slot *s, const struct kvm *kvm)
{
	int target = READ_ONCE(kvm->last_boosted_vcpu);

	if (atomic_read(&b->seq) == s->seq && target >= 0 && target < HOST_BOOST_MAX_VCPUS) {
		s->tally.targets++;
		if (was_holder(b, target, s->yielded_ns))
			s->tally.hits++;
	}
	s->yielded_ns = 0;
}

/*
 * Who may be chosen, or NULL. In mode holder those inside critical sections, and once the core has
 * learnt that only those that did not spin are worth it, only these: while there is none KVM goes by
 * turns, so nobody starves. In mode critical the core looks at all, as the filter it is would.
 */
static const unsigned long *candidates(const struct host_boost *b)
{
	const unsigned long *mask;

	switch (READ_ONCE(b->core.mode)) {
	case VHALT_BOOST_HOLDER:
		mask = vhalt_boost_preferred(&b->core) == VHALT_BOOST_PREEMPTS ? b->holders :
										 b->critical;
		break;
	case VHALT_BOOST_CRITICAL: mask = b->waiting; break;
	default: return NULL;
	}
	return bitmap_empty(mask, HOST_BOOST_MAX_VCPUS) ? NULL : mask;
}

static int choose(struct host_boost *b, const unsigned long *mask, const struct kvm_vcpu *vcpu,
		  u64 now_ns)
{
	struct vhalt_boost_request r = request(b, vcpu, now_ns);
	struct vhalt_boost_scan scan;

	r.candidates = (const u64 *)mask;
	return vhalt_boost_first(&scan, &b->core, &r);
}

/* So that the scan of @kvm begins at vCPU @i. */
static bool steer(struct host_boost *b, struct kvm *kvm, int i)
{
	int before = i ? i - 1 : atomic_read(&kvm->online_vcpus) - 1;
	struct kvm_vcpu *target = kvm_get_vcpu(kvm, i);

	if (target)
		compat_make_eligible(target);
	if (READ_ONCE(kvm->last_boosted_vcpu) == before)
		return false;
	atomic_inc(&b->seq);
	WRITE_ONCE(kvm->last_boosted_vcpu, before);
	return true;
}

void host_boost_exit(struct kvm_vcpu *vcpu, bool may_spin)
{
	struct host_boost *b = host_boost_find(vcpu, task_tgid_nr(current));
	struct host_boost_slot *s;
	const unsigned long *mask;
	u64 now_ns;
	bool spun;

	if (!b)
		b = host_boost_make(vcpu);
	s = b ? host_boost_slot_of(b, vcpu) : NULL;
	if (!s)
		return;
	if (READ_ONCE(b->seen) != jiffies)
		WRITE_ONCE(b->seen, jiffies);
	if (s->yielded_ns)
		settle(b, s, vcpu->kvm);
	now_ns = ktime_get_mono_fast_ns();
	spun = compat_spun(vcpu);
	if (spun)
		ran(b, s, vcpu, true, now_ns);
	look_back(s, spun, now_ns);
	compat_spin_arm(vcpu);
	/* A guest that starts anew has not told this one anything. */
	if (unlikely(s->registered.magic) && compat_real_mode(vcpu))
		s->registered.magic = 0;
	if (!may_spin)
		return;
	s->hint = -1;
	mask = candidates(b);
	if (!mask)
		return;
	s->hint = choose(b, mask, vcpu, now_ns);
	if (s->hint >= 0 && steer(b, vcpu->kvm, s->hint))
		s->tally.steers++;
}

void host_boost_hypercall(struct kvm_vcpu *vcpu, u64 a0, u64 a1, u64 a2, u64 a3)
{
	struct host_boost *b = host_boost_find(vcpu, task_tgid_nr(current));
	struct host_boost_slot *s = b ? host_boost_slot_of(b, vcpu) : NULL;

	if (!s)
		return;
	s->registered = (struct vhalt_guest_share){
		.gpa = a0,
		.need_resched_mask = a1,
		.version = (u16)a2,
		.width = (u16)(a2 >> 16),
		.magic = a3 == VHALT_GUEST_MAGIC ? VHALT_GUEST_MAGIC : 0,
	};
}

// SPDX-License-Identifier: GPL-2.0-only
// The work of the wake-up probe: accounting, decision, hand-over between our policies and KVM's.

#include "host/probe.h"

#include <linux/ktime.h>
#include <linux/percpu.h>

#include <uapi/vhalt.h>

#include "compat.h"
#include "host/budget.h"
#include "host/control.h"
#include "host/trace.h"

static DEFINE_PER_CPU(struct host_probe_counts, probe_counts);

void host_probe_counts(struct host_probe_counts *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu (cpu) {
		const struct host_probe_counts *c = per_cpu_ptr(&probe_counts, cpu);

		sum->refused += READ_ONCE(c->refused);
		sum->gated += READ_ONCE(c->gated);
	}
}

/*
 * Is this the record of that vCPU, or of one whose memory KVM has used again? KVM's sums never
 * shrink during a vCPU's life, and a new one begins at zero.
 */
static bool is_same(const struct host_vcpu *v, const struct kvm_vcpu *vcpu,
		    const struct compat_sums *sums)
{
	return v->kvm == vcpu->kvm && v->id == vcpu->vcpu_id &&
	       v->vm->pid == task_tgid_nr(current) && !READ_ONCE(v->vm->gone) &&
	       sums->useful_ns >= v->sums.useful_ns && sums->wasted_ns >= v->sums.wasted_ns &&
	       sums->blocked_ns >= v->sums.blocked_ns;
}

/* Counts the halt, finds out how much of it was polled, and remembers KVM's sums. */
static void account(struct host_vcpu *v, struct host_decision *d, const struct compat_sums *sums)
{
	u64 useful_ns = sums->useful_ns - v->sums.useful_ns;
	u64 wasted_ns = sums->wasted_ns - v->sums.wasted_ns;
	struct host_counts *c = &v->counts;

	c->halts++;
	c->halted_ns += d->outcome.halt_ns;
	c->useful_ns += useful_ns;
	c->wasted_ns += wasted_ns;
	if (d->waited)
		c->blocked++;
	else
		c->polled++;
	if (!d->valid)
		c->invalid++;
	/* KVM leaves its loop after the window, or before it when another task wants the CPU. */
	if (v->woken_ns && d->waited && wasted_ns < d->outcome.window_ns) {
		d->outcome.flags |= VHALT_OUTCOME_CUT;
		c->cut++;
	}
	v->sums = *sums;
	host_budget_burn(useful_ns + wasted_ns);
}

static void fill_outcome(struct host_decision *d, const struct host_vcpu *v,
			 const struct kvm_vcpu *vcpu)
{
	bool no_poll = compat_no_poll(vcpu);

	d->old_ns = v->window_ns;
	d->kernel_ns = vcpu->halt_poll_ns;
	d->outcome.wake_ns = VHALT_UNKNOWN_NS;
	d->outcome.window_ns = no_poll ? 0 : min(v->window_ns, d->ceiling_ns);
	d->outcome.flags = (d->waited ? 0 : VHALT_OUTCOME_POLLED) |
			   (d->valid ? 0 : VHALT_OUTCOME_INVALID) |
			   (v->must_block || no_poll ? VHALT_OUTCOME_FORCED : 0);
	d->hint.must_block = no_poll;
}

/* Begin to follow @s: by another policy without a past, by the same one with what was learnt. */
static void follow(struct host_vcpu *v, const struct host_settings *s,
		   const struct vhalt_config *config, u32 kernel_ns)
{
	if (v->policy == HOST_POLICY_KERNEL || !v->generation)
		v->kernel_window_ns = kernel_ns;
	if (v->policy != s->policy || !v->generation) {
		v->seq = 0;
		vhalt_state_init(&v->state, config);
	}
	v->policy = s->policy;
	v->generation = s->generation;
}

static void decide(struct host_vcpu *v, const struct host_settings *s,
		   const struct host_config *config, struct host_decision *d)
{
	struct host_counts *c = &v->counts;

	if (!d->hint.must_block && host_budget_is_spent()) {
		d->hint.must_block = true;
		this_cpu_inc(probe_counts.gated);
	}
	d->factor = config->factor;
	if (v->seq)
		vhalt_update(&v->state, &config->config, &d->outcome);
	d->new_ns = vhalt_decide(&v->state, &config->config, &d->hint).window_ns;
	v->must_block = d->hint.must_block;
	c->decisions++;
	if (d->new_ns > d->old_ns)
		c->grown++;
	else if (d->new_ns < d->old_ns)
		c->shrunk++;
	if (d->new_ns > d->ceiling_ns)
		c->clipped++;
	trace_vhalt_window(v, s, d);
	v->seq++;
}

/* The kernel's own policy again: it goes on from where it was when ours took over. */
static void hand_back(struct host_vcpu *v, struct kvm_vcpu *vcpu, const struct host_settings *s)
{
	if (v->generation && v->policy != HOST_POLICY_KERNEL)
		vcpu->halt_poll_ns = v->kernel_window_ns;
	v->policy = HOST_POLICY_KERNEL;
	v->generation = s->generation;
	v->must_block = false;
}

static struct host_vcpu *find_or_add(struct kvm_vcpu *vcpu, const struct compat_sums *sums)
{
	struct host_vcpu *v = host_vcpu_find(vcpu);

	if (likely(v)) {
		if (likely(is_same(v, vcpu, sums)))
			return v;
		host_vcpu_drop(v);
	}
	v = host_vcpu_add(vcpu);
	if (!v) {
		this_cpu_inc(probe_counts.refused);
		return NULL;
	}
	v->sums = *sums;
	v->window_ns = vcpu->halt_poll_ns;
	return v;
}

void host_wakeup(struct kvm_vcpu *vcpu, u32 param_ns, u64 halt_ns, bool waited, bool valid)
{
	struct host_decision d = {.outcome.halt_ns = halt_ns, .waited = waited, .valid = valid};
	struct compat_sums sums = compat_sums(vcpu);
	const struct host_settings *s;
	u64 now_ns = ktime_get_ns();
	struct host_vcpu *v;
	s64 ran_ns;

	v = find_or_add(vcpu, &sums);
	if (!v)
		return;
	d.ceiling_ns = compat_ceiling_ns(vcpu, param_ns);
	fill_outcome(&d, v, vcpu);
	account(v, &d, &sums);
	ran_ns = now_ns - v->woken_ns - halt_ns;
	d.hint.run_ns = !v->woken_ns ? VHALT_UNKNOWN_NS : ran_ns > 0 ? ran_ns : 0;
	d.hint.deadline_ns = VHALT_NO_DEADLINE_NS;

	s = host_settings_of(v->vm);
	if (s->policy == HOST_POLICY_KERNEL) {
		hand_back(v, vcpu, s);
	} else {
		const struct host_config *config = &s->configs[smp_load_acquire(&s->active)];

		if (unlikely(v->generation != s->generation))
			follow(v, s, &config->config, d.kernel_ns);
		decide(v, s, config, &d);
		vcpu->halt_poll_ns = compat_window_ns(d.new_ns, d.ceiling_ns);
	}
	v->window_ns = vcpu->halt_poll_ns;
	v->ceiling_ns = d.ceiling_ns;
	WRITE_ONCE(v->woken_ns, now_ns);
}

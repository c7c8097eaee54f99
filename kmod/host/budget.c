// SPDX-License-Identifier: GPL-2.0-only
// Sums up what vCPUs poll, and lets the core's controller turn it into a price factor.

#include "host/budget.h"

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include <vhalt/budget.h>

#include "host/control.h"
#include "host/registry.h"

/*
 * Each CPU keeps up to this much to itself, so that a busy host does not fight for one cache line.
 * The gate may shut that much late per CPU.
 */
#define KEEP_NS 20000

static DEFINE_PER_CPU(u64, kept_ns);
static atomic64_t burnt_ns = ATOMIC64_INIT(0); /* since the last tick */
static u64 allowance_ns;		       /* copy for probes */
static bool is_on;

static struct vhalt_budget budget;
static u64 ticked_ns;

static void tick(struct work_struct *work);
static DECLARE_DELAYED_WORK(tick_work, tick);

void host_budget_burn(u64 polled_ns)
{
	u64 *kept = this_cpu_ptr(&kept_ns);

	if (!READ_ONCE(is_on) || !polled_ns)
		return;
	*kept += polled_ns;
	if (*kept < KEEP_NS)
		return;
	atomic64_add(*kept, &burnt_ns);
	*kept = 0;
}

bool host_budget_is_spent(void)
{
	return READ_ONCE(is_on) && (u64)atomic64_read(&burnt_ns) > READ_ONCE(allowance_ns);
}

static int scale_vm(struct host_vm *vm, void *factor)
{
	struct host_settings *own = host_settings_own(vm);

	if (own)
		host_settings_scale(own, *(u32 *)factor);
	return 0;
}

/* Under the control lock. */
static void scale_all(u32 factor)
{
	struct host_cursor at = {};

	host_settings_scale(host_settings_default(), factor);
	host_vms_walk(&at, scale_vm, &factor);
}

static void rearm(void)
{
	schedule_delayed_work(&tick_work, nsecs_to_jiffies(VHALT_BUDGET_TICK_NS));
}

static void tick(struct work_struct *work)
{
	u64 now_ns = ktime_get_ns();

	host_control_lock();
	if (is_on) {
		vhalt_budget_tick(&budget, atomic64_xchg(&burnt_ns, 0),
				  (now_ns - ticked_ns) * num_online_cpus());
		WRITE_ONCE(allowance_ns, budget.allowance_ns);
		ticked_ns = now_ns;
		scale_all(budget.factor);
		rearm();
	}
	host_control_unlock();
}

void host_budget_set(u32 cap_ppm)
{
	if (cap_ppm && is_on) {
		vhalt_budget_set_cap(&budget, cap_ppm);
	} else if (cap_ppm) {
		vhalt_budget_init(&budget, cap_ppm);
		atomic64_set(&burnt_ns, 0);
		WRITE_ONCE(allowance_ns, budget.allowance_ns);
		ticked_ns = ktime_get_ns();
		WRITE_ONCE(is_on, true);
		rearm();
	} else {
		WRITE_ONCE(is_on, false);
		/* So that no settings are too freshly scaled to be scaled back now. */
		synchronize_rcu();
		scale_all(VHALT_FACTOR_ONE);
	}
}

u32 host_budget_factor(void)
{
	return is_on ? budget.factor : VHALT_FACTOR_ONE;
}

void host_budget_view(struct host_budget_view *view)
{
	view->cap_ppm = is_on ? budget.cap_ppm : 0;
	view->factor = host_budget_factor();
	view->burnt_ppm = is_on ? budget.smoothed / 256 : 0;
}

void host_budget_fini(void)
{
	WRITE_ONCE(is_on, false);
	cancel_delayed_work_sync(&tick_work);
}

// SPDX-License-Identifier: GPL-2.0-only
// Registers an idle driver of one state, or wraps the halting states of the bound one.
/*
 * Who may still be in enter() when a state is changed or the module goes? cpuidle_pause_and_lock()
 * turns new halts away and wakes the CPUs that are halted, but its wait is for RCU, which looks
 * away from an idle CPU: one that was woken and then lost its host CPU can still be on its way out.
 * A work item on each CPU is no such guess: it runs only after the idle task has been switched
 * away.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "guest/driver.h"

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "guest/compat.h"
#include "guest/cpu.h"
#include "guest/host_poll.h"
#include "guest/idle.h"

static struct cpuidle_driver own = {
	.name = "vhalt_guest",
	/*
	 * No .owner: each registered device would hold a reference, and the module could never be
	 * unloaded. guest_driver_fini() waits for the CPUs instead.
	 */
	.states = {
		{
			.name = "VHALT",
			.desc = "poll, then halt",
			.enter = guest_idle_enter,
			.flags = CPUIDLE_FLAG_RCU_IDLE,
			.exit_latency = 1,
			.target_residency = 1,
		},
	},
	.state_count = 1,
};

static struct cpuidle_device __percpu *devices; /* while we are the driver */

/* The driver we are around, and what its states were. */
static struct cpuidle_driver *wrapped;
static struct module *wrapped_owner;
static char wrapped_name[CPUIDLE_NAME_LEN];
static struct {
	int (*enter)(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index);
	unsigned int flags;
} original[CPUIDLE_STATE_MAX];

static struct work_struct __percpu *works;
static int hotplug_state;

noinstr void guest_driver_halt(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	if (drv == &own) {
		raw_safe_halt();
	} else if (original[index].flags & CPUIDLE_FLAG_RCU_IDLE) {
		/* It sees to RCU itself, and expects it watching. */
		compat_idle_end();
		original[index].enter(dev, drv, index);
		compat_idle_begin();
	} else {
		original[index].enter(dev, drv, index);
	}
	/* Some return with interrupts on. */
	raw_local_irq_disable();
}

static void nothing(struct work_struct *work)
{
}

/*
 * Wait until every CPU has left the enter() it may be in. The CPUs are held by cpus_read_lock(),
 * which comes before cpuidle's own lock: hot-plug callbacks take them in this order.
 */
static void wait_for_cpus(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		INIT_WORK(per_cpu_ptr(works, cpu), nothing);
		schedule_work_on(cpu, per_cpu_ptr(works, cpu));
	}
	for_each_online_cpu(cpu)
		flush_work(per_cpu_ptr(works, cpu));
}

/* --- as the driver ------------------------------------------------------------------------- */

static int add_device(unsigned int cpu)
{
	struct cpuidle_device *dev = per_cpu_ptr(devices, cpu);

	dev->cpu = cpu;
	return cpuidle_register_device(dev);
}

static int cpu_comes(unsigned int cpu)
{
	int err;

	guest_cpu_begin(cpu);
	err = devices ? add_device(cpu) : 0;
	if (err)
		pr_err("cannot register cpuidle device %u: error %d\n", cpu, err);
	else
		guest_host_poll_take(cpu);
	return err;
}

static int cpu_goes(unsigned int cpu)
{
	guest_host_poll_give_back(cpu);
	if (devices)
		cpuidle_unregister_device(per_cpu_ptr(devices, cpu));
	return 0;
}

static int add_cpus(void)
{
	int state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "vhalt/guest:online", cpu_comes,
				      cpu_goes);

	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

static void remove_cpus(void)
{
	cpuhp_remove_state(hotplug_state);
	cpus_read_lock();
	wait_for_cpus();
	cpus_read_unlock();
}

/* With our driver registered; takes it back when it fails. */
static int add_devices(void)
{
	int err = -ENOMEM;

	devices = alloc_percpu(struct cpuidle_device);
	if (!devices)
		goto err_driver;
	err = add_cpus();
	if (err)
		goto err_devices;
	pr_info("is the idle driver now\n");
	return 0;

err_devices:
	/* Those CPUs that had a device already may still be using it. */
	cpus_read_lock();
	wait_for_cpus();
	cpus_read_unlock();
	free_percpu(devices);
	devices = NULL;
err_driver:
	cpuidle_unregister_driver(&own);
	return err;
}

static void remove_devices(void)
{
	remove_cpus();
	cpuidle_unregister_driver(&own);
	free_percpu(devices);
	devices = NULL;
}

/* --- around another one -------------------------------------------------------------------- */

/* States that poll have nothing to halt; coupled ones want all their CPUs to come at once. */
static bool can_wrap(const struct cpuidle_state *state)
{
	return state->enter && !(state->flags & (CPUIDLE_FLAG_POLLING | CPUIDLE_FLAG_COUPLED));
}

static unsigned int wrap_states(struct cpuidle_driver *drv)
{
	unsigned int n = 0;
	int i;

	for (i = 0; i < drv->state_count; i++) {
		struct cpuidle_state *state = &drv->states[i];

		if (!can_wrap(state))
			continue;
		original[i].enter = state->enter;
		original[i].flags = state->flags;
		state->enter = guest_idle_enter;
		state->flags |= CPUIDLE_FLAG_RCU_IDLE;
		n++;
	}
	return n;
}

static unsigned int unwrap_states(struct cpuidle_driver *drv)
{
	unsigned int n = 0;
	int i;

	for (i = 0; i < drv->state_count; i++) {
		struct cpuidle_state *state = &drv->states[i];

		if (state->enter != guest_idle_enter)
			continue;
		state->enter = original[i].enter;
		state->flags = original[i].flags;
		n++;
	}
	return n;
}

/* Change the states of @drv with no CPU in them. Returns what @change does; 0: @drv is gone. */
static unsigned int with_cpus_out(struct cpuidle_driver *drv,
				  unsigned int (*change)(struct cpuidle_driver *drv))
{
	unsigned int n = 0;

	cpus_read_lock();
	cpuidle_pause_and_lock();
	wait_for_cpus();
	if (cpuidle_get_driver() == drv)
		n = change(drv);
	cpuidle_resume_and_unlock();
	cpus_read_unlock();
	return n;
}

static int wrap(struct cpuidle_driver *drv)
{
	int err;

	if (!try_module_get(drv->owner))
		return -EBUSY;
	err = add_cpus();
	if (err)
		goto err_module;
	if (!with_cpus_out(drv, wrap_states)) {
		pr_err("driver %s has no state that halts\n", drv->name);
		err = -EOPNOTSUPP;
		goto err_cpus;
	}
	wrapped = drv;
	wrapped_owner = drv->owner;
	strscpy(wrapped_name, drv->name, sizeof(wrapped_name));
	pr_info("wraps idle driver %s\n", wrapped_name);
	return 0;

err_cpus:
	remove_cpus();
err_module:
	module_put(drv->owner);
	return err;
}

/* A driver without .owner may have gone meanwhile: then there is nothing to restore. */
static void unwrap(void)
{
	if (!with_cpus_out(wrapped, unwrap_states))
		pr_warn("idle driver %s has gone\n", wrapped_name);
	remove_cpus();
	module_put(wrapped_owner);
	wrapped = NULL;
}

/* --- both ---------------------------------------------------------------------------------- */

static int get_in(void)
{
	struct cpuidle_driver *drv = cpuidle_get_driver();
	int err;

	if (drv)
		return wrap(drv);
	err = cpuidle_register_driver(&own);
	if (err == -ENODEV)
		pr_err("cpuidle is off (cpuidle.off=1 on the kernel's command line)\n");
	else if (err)
		pr_err("cannot register an idle driver: error %d\n", err);
	return err ? err : add_devices();
}

int guest_driver_init(void)
{
	int err;

	works = alloc_percpu(struct work_struct);
	if (!works)
		return -ENOMEM;
	err = get_in();
	if (err)
		free_percpu(works);
	return err;
}

void guest_driver_fini(void)
{
	if (wrapped)
		unwrap();
	else
		remove_devices();
	free_percpu(works);
}

const char *guest_driver_wrapped(void)
{
	return wrapped ? wrapped_name : NULL;
}

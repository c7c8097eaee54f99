// SPDX-License-Identifier: GPL-2.0-only
// Test only: an idle driver with a polling state and two that halt, for vhalt_guest to wrap.
#include <linux/cpuidle.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/sched/idle.h>
#include <linux/version.h>

static int other_poll(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	cpu_relax();
	if (LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0))
		raw_local_irq_enable();
	return index;
}

static int other_halt(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	raw_safe_halt();
	if (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0))
		raw_local_irq_disable();
	return index;
}

static struct cpuidle_driver driver = {
	.name = "other_idle",
	.states = {
		{ .name = "POLL", .enter = other_poll, .flags = CPUIDLE_FLAG_POLLING },
		{ .name = "C1", .enter = other_halt, .exit_latency = 1, .target_residency = 1 },
		{ .name = "C2", .enter = other_halt, .exit_latency = 10, .target_residency = 20 },
	},
	.state_count = 3,
};

static int __init other_idle_init(void)
{
	return cpuidle_register(&driver, NULL);
}

static void __exit other_idle_exit(void)
{
	cpuidle_unregister(&driver);
}

module_init(other_idle_init);
module_exit(other_idle_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test: another idle driver");

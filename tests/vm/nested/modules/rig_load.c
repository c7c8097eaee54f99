// SPDX-License-Identifier: GPL-2.0-only
// A load with critical sections: a thread per CPU that keeps preemption off half of the time, and
// threads that fight for a lock.
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/spinlock.h>

static unsigned int hold_us = 100;
module_param(hold_us, uint, 0444);
MODULE_PARM_DESC(hold_us, "length of a critical section, and of the pause between two");

static unsigned int fighters = 2;
module_param(fighters, uint, 0444);
MODULE_PARM_DESC(fighters, "threads that take one lock in turn");

static unsigned int count = 5;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "preempt_count of a critical section of the threads per CPU");

static ulong sections;
module_param(sections, ulong, 0444);
MODULE_PARM_DESC(sections, "critical sections begun so far");

#define MOST_THREADS 64

static DEFINE_SPINLOCK(lock);
static struct task_struct *threads[MOST_THREADS];
static unsigned int nr_threads;

static int holder(void *unused)
{
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < count; i++)
			preempt_disable();
		WRITE_ONCE(sections, sections + 1);
		udelay(hold_us);
		for (i = 0; i < count; i++)
			preempt_enable();
		udelay(hold_us);
		cond_resched();
	}
	return 0;
}

static int fighter(void *unused)
{
	while (!kthread_should_stop()) {
		spin_lock(&lock);
		udelay(hold_us);
		spin_unlock(&lock);
		cond_resched();
	}
	return 0;
}

static void stop(void)
{
	while (nr_threads)
		kthread_stop(threads[--nr_threads]);
}

/* @cpu: nr_cpu_ids for any. */
static int start(int (*run)(void *), unsigned int cpu)
{
	struct task_struct *t;

	if (nr_threads == MOST_THREADS)
		return -E2BIG;
	t = kthread_create(run, NULL, "rig_load/%u", nr_threads);
	if (IS_ERR(t))
		return PTR_ERR(t);
	if (cpu < nr_cpu_ids)
		kthread_bind(t, cpu);
	threads[nr_threads++] = t;
	wake_up_process(t);
	return 0;
}

static int __init rig_load_init(void)
{
	unsigned int cpu, i;
	int err = 0;

	if (!hold_us || hold_us > 1000 || count > 100)
		return -EINVAL;
	cpus_read_lock();
	for_each_online_cpu(cpu)
		err = err ?: start(holder, cpu);
	cpus_read_unlock();
	for (i = 0; i < fighters; i++)
		err = err ?: start(fighter, nr_cpu_ids);
	if (err)
		stop();
	return err;
}

static void __exit rig_load_exit(void)
{
	stop();
}

module_init(rig_load_init);
module_exit(rig_load_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test helper: critical sections and a contended lock");

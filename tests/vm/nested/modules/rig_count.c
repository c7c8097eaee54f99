// SPDX-License-Identifier: GPL-2.0-only
// Asks nested-vmm, from each CPU, what is published about it, at a known preempt_count.
/*
 * The write to the report port leaves the guest, and the vCPU answers before it enters it again: so
 * its count is read while this CPU stands here. What the answers must be: CPU n has a count of 5 +
 * n. Loading it is the question; it never stays loaded.
 */
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/io.h>

#define PORT_REPORT 0xe9
#define FIRST_COUNT 5

static char *label = "";
module_param(label, charp, 0444);
MODULE_PARM_DESC(label, "goes into the line that asks");

static int ask(void *unused)
{
	unsigned int cpu = smp_processor_id(), i, count = FIRST_COUNT + cpu;
	char text[80];
	int bytes = scnprintf(text, sizeof(text), "# @share %s: CPU %u\n", label, cpu);

	for (i = 0; i < count; i++)
		preempt_disable();
	outsb(PORT_REPORT, text, bytes);
	for (i = 0; i < count; i++)
		preempt_enable();
	return 0;
}

static int __init rig_count_init(void)
{
	unsigned int cpu;
	int err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		err = err ?: smp_call_on_cpu(cpu, ask, NULL, false);
	cpus_read_unlock();
	return err ?: -ECANCELED;
}

module_init(rig_count_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test helper: known preempt_counts");

// SPDX-License-Identifier: GPL-2.0-only
// Per-CPU counters and settings as text files in debugfs.

#include "guest/stats.h"

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "guest/cpu.h"
#include "guest/driver.h"
#include "guest/settings.h"

static struct dentry *folder;

static int settings_show(struct seq_file *m, void *unused)
{
	const struct vhalt_policy *policy = guest_settings_policy();
	const char *wrapped = guest_driver_wrapped();
	u32 i;

	seq_printf(m, "mode %s\n", wrapped ? "wrap" : "driver");
	seq_printf(m, "driver %s\n", wrapped ?: KBUILD_MODNAME);
	seq_printf(m, "policy %s\n", policy->name);
	for (i = 0; i < policy->nr_params; i++)
		seq_printf(m, "%s %llu\n", policy->params[i].name, guest_settings.values[i]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(settings);

/* The CPU goes on counting meanwhile: the figures of a line may be one halt apart. */
static void show_cpu(struct seq_file *m, unsigned int nr)
{
	const struct guest_cpu *cpu = per_cpu_ptr(guest_cpus, nr);
	const struct guest_counts *c = &cpu->counts;
	u64 hits = READ_ONCE(c->hits), polls = READ_ONCE(c->polls);

	seq_printf(m, "%u %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %u %u %u\n",
		   nr, READ_ONCE(c->halts), polls, hits, polls > hits ? polls - hits : 0,
		   READ_ONCE(c->useful_ns), READ_ONCE(c->wasted_ns), READ_ONCE(c->late_ns),
		   READ_ONCE(c->blocked_ns), READ_ONCE(c->forced), READ_ONCE(c->shuts),
		   READ_ONCE(c->timer_wakes), READ_ONCE(c->timer_late_ns),
		   READ_ONCE(cpu->window_ns), READ_ONCE(cpu->gate.shut),
		   READ_ONCE(cpu->host_poll_taken));
}

static int cpus_show(struct seq_file *m, void *unused)
{
	unsigned int cpu;

	seq_puts(m,
		 "cpu halts polls hits misses useful_ns wasted_ns late_ns blocked_ns forced shuts "
		 "timer_wakes timer_late_ns window_ns shut host_poll_taken\n");
	for_each_present_cpu(cpu)
		show_cpu(m, cpu);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cpus);

int guest_stats_init(void)
{
	folder = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("settings", 0444, folder, NULL, &settings_fops);
	debugfs_create_file("cpus", 0444, folder, NULL, &cpus_fops);
	return 0;
}

void guest_stats_fini(void)
{
	debugfs_remove(folder);
}

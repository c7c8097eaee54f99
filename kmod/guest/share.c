// SPDX-License-Identifier: GPL-2.0-only
// Publishes the address of each CPU's preempt_count, in the padding of its steal-time page.
/*
 * Who ends it, and when:
 * - unload, CPU offline: the hot-plug callback, on the CPU itself;
 * - reboot and kexec: the reboot notifier; besides, the kernel then clears the MSR of the page;
 * - a crash kernel: boots with MSRs of its own; the old pages are memory like any other;
 * - reset of a vCPU: KVM clears the MSR;
 * - suspend: the kernel clears the MSR and sets it again at resume, the page keeps its content.
 * The host looks at MSR, magic and address at each read, so nothing of this is a race it minds.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "guest/share.h"

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/pfn.h>
#include <linux/reboot.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <asm/kvm_para.h>

#include <uapi/vhalt_guest.h>

#include "guest/compat.h"

/* How a CPU publishes. */
enum way { WAY_NONE, WAY_STEAL, WAY_HYPERCALL };

/* Written on the CPU itself, by its hot-plug thread or with interrupts off. */
struct published {
	enum way way;
	struct vhalt_guest_share *page; /* WAY_STEAL: inside the steal-time page */
	u64 gpa;
};

static DEFINE_PER_CPU(struct published, published);
static int hotplug_state;
static struct dentry *file;

#define COUNT_WIDTH sizeof(COMPAT_PREEMPT_COUNT)

/* Per-CPU memory is in the direct map, or in vmalloc space where the first chunk did not fit. */
static u64 physical(const void *at)
{
	if (is_vmalloc_addr(at))
		return PFN_PHYS(vmalloc_to_pfn(at)) + offset_in_page(at);
	return __pa(at);
}

/*
 * Where to publish in this CPU's steal-time page, or NULL: it has none, or somebody else uses the
 * padding. The page is the kernel's own, its variable is not exported: the MSR says where it is.
 */
static struct vhalt_guest_share *find_page(void)
{
	struct vhalt_guest_share *share;
	u64 msr, gpa;

	BUILD_BUG_ON(sizeof(struct kvm_steal_time) !=
		     VHALT_GUEST_SHARE_OFFSET + VHALT_GUEST_SHARE_BYTES);
	BUILD_BUG_ON(offsetof(struct kvm_steal_time, pad) > VHALT_GUEST_SHARE_OFFSET);
	if (compat_rdmsr_safe(MSR_KVM_STEAL_TIME, &msr) || !(msr & KVM_MSR_ENABLED))
		return NULL;
	gpa = msr & KVM_STEAL_VALID_BITS;
	if (!pfn_valid(PHYS_PFN(gpa)) || !virt_addr_valid(__va(gpa)))
		return NULL;
	share = __va(gpa) + VHALT_GUEST_SHARE_OFFSET;
	if (share->magic != VHALT_GUEST_MAGIC && memchr_inv(share, 0, sizeof(*share))) {
		pr_warn("CPU %u: something else uses the padding of the steal-time page\n",
			smp_processor_id());
		return NULL;
	}
	return share;
}

static void write_page(struct vhalt_guest_share *share, u64 gpa)
{
	WRITE_ONCE(share->magic, 0);
	smp_wmb(); /* what follows is not valid */
	WRITE_ONCE(share->gpa, gpa);
	WRITE_ONCE(share->need_resched_mask, (unsigned long)PREEMPT_NEED_RESCHED);
	WRITE_ONCE(share->version, VHALT_GUEST_VERSION);
	WRITE_ONCE(share->width, COUNT_WIDTH);
	smp_wmb(); /* the magic says that the rest is valid: it comes last */
	WRITE_ONCE(share->magic, VHALT_GUEST_MAGIC);
}

/* KVM has no idea of it and answers -KVM_ENOSYS, whether anybody listens or not. */
static void tell_host(u64 gpa, u32 magic)
{
	kvm_hypercall4(VHALT_GUEST_HC, gpa, (unsigned long)PREEMPT_NEED_RESCHED,
		       VHALT_GUEST_VERSION | COUNT_WIDTH << 16, magic);
}

/* On the CPU it is about, preemption off. */
static void publish(void)
{
	struct published *p = this_cpu_ptr(&published);

	BUILD_BUG_ON(sizeof(struct vhalt_guest_share) != VHALT_GUEST_SHARE_BYTES);
	BUILD_BUG_ON(COUNT_WIDTH != 4 && COUNT_WIDTH != 8);
	WRITE_ONCE(p->gpa, physical(this_cpu_ptr(&COMPAT_PREEMPT_COUNT)));
	p->page = find_page();
	if (p->page) {
		write_page(p->page, p->gpa);
		WRITE_ONCE(p->way, WAY_STEAL);
	} else {
		tell_host(p->gpa, VHALT_GUEST_MAGIC);
		WRITE_ONCE(p->way, WAY_HYPERCALL);
	}
}

/* The same. A page that is withdrawn is left as it was found: all zero. */
static void withdraw(void *unused)
{
	struct published *p = this_cpu_ptr(&published);

	if (p->way == WAY_STEAL) {
		WRITE_ONCE(p->page->magic, 0);
		smp_wmb(); /* before the rest goes */
		memset(p->page, 0, sizeof(*p->page));
	} else if (p->way == WAY_HYPERCALL) {
		tell_host(0, 0);
	}
	WRITE_ONCE(p->way, WAY_NONE);
}

static int cpu_comes(unsigned int cpu)
{
	preempt_disable();
	publish();
	preempt_enable();
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	preempt_disable();
	withdraw(NULL);
	preempt_enable();
	return 0;
}

/* Reboot, halt and kexec, before CPUs are stopped. Nothing publishes again after it. */
static int rebooting(struct notifier_block *nb, unsigned long action, void *command)
{
	on_each_cpu(withdraw, NULL, 1);
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = {
	.notifier_call = rebooting,
};

static int share_show(struct seq_file *m, void *unused)
{
	static const char *const ways[] = {"none", "steal", "hypercall"};
	unsigned int cpu;

	seq_puts(m, "cpu way gpa width mask\n");
	for_each_present_cpu(cpu) {
		const struct published *p = per_cpu_ptr(&published, cpu);
		enum way way = READ_ONCE(p->way);

		seq_printf(m, "%u %s %#llx %zu %#lx\n", cpu, ways[way],
			   way == WAY_NONE ? 0 : READ_ONCE(p->gpa), COUNT_WIDTH,
			   (unsigned long)PREEMPT_NEED_RESCHED);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(share);

int guest_share_init(bool wanted)
{
	struct dentry *folder;
	int err;

	if (!wanted)
		return 0;
	if (compat_memory_is_encrypted()) {
		pr_info("memory is encrypted: the host cannot read preempt_count, not published\n");
		return 0;
	}
	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		pr_info("no CONFIG_PREEMPT_COUNT: the host sees interrupts, but not spinlocks\n");
	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "vhalt/guest:share", cpu_comes, cpu_goes);
	if (err < 0)
		return err;
	hotplug_state = err;
	err = register_reboot_notifier(&reboot_notifier);
	if (err)
		goto err_state;
	folder = debugfs_lookup(KBUILD_MODNAME, NULL);
	if (!IS_ERR_OR_NULL(folder)) {
		file = debugfs_create_file("share", 0444, folder, NULL, &share_fops);
		dput(folder);
	}
	return 0;

err_state:
	cpuhp_remove_state(hotplug_state);
	hotplug_state = 0;
	return err;
}

void guest_share_fini(void)
{
	if (!hotplug_state)
		return;
	debugfs_remove(file);
	unregister_reboot_notifier(&reboot_notifier);
	cpuhp_remove_state(hotplug_state);
	hotplug_state = 0;
}

// SPDX-License-Identifier: GPL-2.0-only
// A guest that lies: fills the padding of each CPU's steal-time page with ever new shares, sound
// and not.
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/version.h>
#include <asm/kvm_para.h>
#include <asm/msr.h>

#include <uapi/vhalt_guest.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define rdmsrl_safe rdmsrq_safe
#endif

static ulong shares;
module_param(shares, ulong, 0444);
MODULE_PARM_DESC(shares, "lies so far");

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the sequence");

static DEFINE_PER_CPU(struct task_struct *, liar);

static u64 draw(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 32 | *state << 32;
}

/* Addresses of all kinds: memory, no memory, across a page, the steal-time page itself, the highest
 * ones. */
static u64 draw_address(u64 *state, u64 own)
{
	switch (draw(state) & 7) {
	case 0: return draw(state);
	case 1: return own;
	case 2: return ~0ull - (draw(state) & 7);
	case 3: return (draw(state) & 0xfffff000) | 0xffd;
	case 4: return 0xfee00000 + (draw(state) & 0xff0);
	case 5: return 1ull << (draw(state) & 63);
	default: return draw(state) & 0x0ffffff8;
	}
}

static void lie(struct vhalt_guest_share *share, u64 own, u64 *state)
{
	u64 r = draw(state);

	WRITE_ONCE(share->gpa, draw_address(state, own));
	WRITE_ONCE(share->need_resched_mask, r & 1 ? draw(state) : 0x80000000);
	WRITE_ONCE(share->version, r & 0x70 ? VHALT_GUEST_VERSION : draw(state));
	WRITE_ONCE(share->width, r & 0x700 ? (r & 8 ? 8 : 4) : draw(state));
	WRITE_ONCE(share->magic, r & 0x7000 ? VHALT_GUEST_MAGIC : draw(state));
	WRITE_ONCE(shares, shares + 1);
}

static int run(void *unused)
{
	u64 msr, state = seed + smp_processor_id();
	struct vhalt_guest_share *share;

	if (rdmsrl_safe(MSR_KVM_STEAL_TIME, &msr) || !(msr & KVM_MSR_ENABLED)) {
		pr_err("no steal time\n");
		while (!kthread_should_stop())
			msleep(10);
		return -ENODEV;
	}
	msr &= KVM_STEAL_VALID_BITS;
	share = __va(msr) + VHALT_GUEST_SHARE_OFFSET;
	while (!kthread_should_stop()) {
		unsigned int i;

		/* Bursts, so that some are read as they change and some stand for a while. */
		for (i = draw(&state) & 255; i; i--)
			lie(share, msr, &state);
		udelay(draw(&state) & 511);
		cond_resched();
	}
	memset(share, 0, sizeof(*share));
	return 0;
}

static void stop(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (per_cpu(liar, cpu))
			kthread_stop(per_cpu(liar, cpu));
		per_cpu(liar, cpu) = NULL;
	}
}

static int __init rig_hostile_init(void)
{
	unsigned int cpu;
	int err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct task_struct *t = kthread_create(run, NULL, "rig_hostile/%u", cpu);

		if (IS_ERR(t)) {
			err = PTR_ERR(t);
			break;
		}
		kthread_bind(t, cpu);
		per_cpu(liar, cpu) = t;
		wake_up_process(t);
	}
	cpus_read_unlock();
	if (err)
		stop();
	return err;
}

static void __exit rig_hostile_exit(void)
{
	stop();
}

module_init(rig_hostile_init);
module_exit(rig_hostile_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test helper: garbage for the host");

// SPDX-License-Identifier: GPL-2.0-only
// vhalt_guest: a guest CPU polls before it halts, as long as a policy of the core says.

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <asm/kvm_para.h>
#include <asm/processor.h>

#include "guest/compat.h"
#include "guest/cpu.h"
#include "guest/driver.h"
#include "guest/host_poll.h"
#include "guest/settings.h"
#include "guest/share.h"
#include "guest/stats.h"

static char *policy = "auto";
module_param(policy, charp, 0444);
MODULE_PARM_DESC(policy, "auto, pv, guest or none (default auto)");

static int price = GUEST_DEFAULT;
module_param(price, int, 0444);
MODULE_PARM_DESC(price, "ns of CPU that 1 ns of wake-up latency is worth, for auto (default 10)");

static int max_ns = GUEST_DEFAULT;
module_param(max_ns, int, 0444);
MODULE_PARM_DESC(max_ns, "longest poll in ns, 0 to 10000000 (default 200000)");

static bool share = true;
module_param(share, bool, 0444);
MODULE_PARM_DESC(share, "tell the host where each CPU's preempt_count is (default on)");

/* Is this a place where polling before a halt makes sense? */
static int check_machine(void)
{
	if (!kvm_para_available()) {
		pr_err("not a guest of KVM\n");
		return -ENODEV;
	}
	if (boot_option_idle_override != IDLE_NO_OVERRIDE) {
		pr_err("idle= on the kernel's command line has chosen another way to be idle\n");
		return -ENODEV;
	}
	return 0;
}

static int check_settings(void)
{
	return guest_settings_init(policy, price, max_ns);
}

static int share_count(void)
{
	return guest_share_init(share);
}

/* In the order of their making; undone from the end. */
static const struct part {
	int (*init)(void);
	void (*fini)(void); /* NULL: nothing to undo */
} parts[] = {
	{check_machine, NULL},
	{check_settings, NULL},
	{guest_cpus_init, guest_cpus_fini},
	{guest_driver_init, guest_driver_fini},
	{guest_host_poll_init, guest_host_poll_fini},
	{guest_stats_init, guest_stats_fini},
	{share_count, guest_share_fini},
};

static void undo(unsigned int n)
{
	while (n--)
		if (parts[n].fini)
			parts[n].fini();
}

static int __init vhalt_guest_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		err = parts[i].init();
		if (err) {
			undo(i);
			return err;
		}
	}
	return 0;
}

static void __exit vhalt_guest_exit(void)
{
	undo(ARRAY_SIZE(parts));
}

module_init(vhalt_guest_init);
module_exit(vhalt_guest_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The vhalt authors");
MODULE_DESCRIPTION("Polling before a guest CPU halts");
MODULE_VERSION("0.1.0");

// SPDX-License-Identifier: GPL-2.0-only
// For the rig only: lets kvm-amd believe in PAUSE filtering, so that PAUSE exits happen.
/*
 * QEMU's processor does intercept PAUSE, but offers neither filter feature, and without them kvm-amd
 * does not ask for it. Loaded before kvm-amd. Every PAUSE exits then: the emulator has no filter count.
 * On real hardware this would be a lie about the processor: never load it there.
 */

#include <asm/cpufeature.h>
#include <asm/processor.h>
#include <linux/module.h>

static int __init rig_pause_init(void)
{
	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR) || !boot_cpu_has(X86_FEATURE_SVM)) {
		pr_err("rig_pause: only for the emulated rig\n");
		return -ENODEV;
	}
	set_cpu_cap(&boot_cpu_data, X86_FEATURE_PAUSEFILTER);
	set_cpu_cap(&boot_cpu_data, X86_FEATURE_PFTHRESHOLD);
	return 0;
}

static void __exit rig_pause_exit(void)
{
}

module_init(rig_pause_init);
module_exit(rig_pause_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("PAUSE exits in vhalt's emulated rig");

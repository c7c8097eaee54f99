// SPDX-License-Identifier: GPL-2.0-only
// Test only: makes kvm_para_available() say yes on a machine that is no guest of KVM.
/*
 * An emulated machine has no CPUID leaves of KVM, and QEMU has no option to add them. All that
 * kvm_para_available() does is to look at a variable where the kernel keeps the number of the first
 * leaf. Whoever loads this finds its address in /proc/kallsyms.
 */
#include <linux/module.h>

static ulong address;
module_param(address, ulong, 0444);
MODULE_PARM_DESC(address, "of the kernel's kvm_cpuid_base");

static int __init as_guest_init(void)
{
	int *base = (int *)address;

	if (!base || *base) {
		pr_err("as_guest: %lx is not a kvm_cpuid_base of 0\n", address);
		return -EINVAL;
	}
	*base = 0x40000000;
	return 0;
}

static void __exit as_guest_exit(void)
{
	*(int *)address = 0;
}

module_init(as_guest_init);
module_exit(as_guest_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test: pass for a guest of KVM");

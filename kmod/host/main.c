// SPDX-License-Identifier: GPL-2.0-only
// vhalt_kvm: any halt-polling policy of the core on a stock KVM. Loading and unloading.

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>

#include <uapi/vhalt.h>

#include "host/boost_control.h"
#include "host/boost_vm.h"
#include "host/budget.h"
#include "host/control.h"
#include "host/hook.h"
#include "host/netlink.h"
#include "host/registry.h"

static unsigned int max_vms = 1024;
module_param(max_vms, uint, 0444);
MODULE_PARM_DESC(max_vms, "most VMs to know at a time, 1 to 65536 (default 1024)");

static unsigned int max_vcpus = 8192;
module_param(max_vcpus, uint, 0444);
MODULE_PARM_DESC(max_vcpus, "most vCPUs to know at a time, 1 to 262144 (default 8192)");

static char *policy = VHALT_POLICY_NAME_KERNEL;
module_param(policy, charp, 0444);
MODULE_PARM_DESC(policy,
		 "policy to begin with for all VMs; kernel changes nothing (default kernel)");

static int check_params(void)
{
	if (!max_vms || max_vms > HOST_MAX_VMS_MOST) {
		pr_err("max_vms=%u is out of range: 1 to %u\n", max_vms, HOST_MAX_VMS_MOST);
		return -EINVAL;
	}
	if (!max_vcpus || max_vcpus > HOST_MAX_VCPUS_MOST) {
		pr_err("max_vcpus=%u is out of range: 1 to %u\n", max_vcpus, HOST_MAX_VCPUS_MOST);
		return -EINVAL;
	}
	if (host_policy_find(policy) < 0) {
		pr_err("policy=%s is not a policy\n", policy);
		return -EINVAL;
	}
	return 0;
}

static int __init vhalt_kvm_init(void)
{
	int err = check_params();

	if (err)
		return err;
	err = host_registry_init(max_vms, max_vcpus);
	if (err)
		return err;
	err = host_control_init(host_policy_find(policy));
	if (err)
		goto err_registry;
	err = host_hook_init();
	if (err)
		goto err_control;
	err = host_netlink_init();
	if (err)
		goto err_hook;
	return 0;

err_hook:
	host_hook_fini();
err_control:
	host_registry_fini();
	host_control_fini();
	return err;
err_registry:
	host_registry_fini();
	return err;
}

static void __exit vhalt_kvm_exit(void)
{
	host_netlink_fini();
	host_hook_fini();
	host_boost_stop();
	host_budget_fini();
	host_registry_fini();
	host_boost_fini();
	host_control_fini();
}

module_init(vhalt_kvm_init);
module_exit(vhalt_kvm_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The vhalt authors");
MODULE_DESCRIPTION("Halt-polling policies for KVM");
MODULE_VERSION("0.1.0");

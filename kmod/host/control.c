// SPDX-License-Identifier: GPL-2.0-only
// Changes asked for by user space, one at a time, published to probes by RCU.

#include "host/control.h"

#include <linux/err.h>
#include <linux/rcupdate.h>

#include <vhalt/budget.h>

#include "host/budget.h"

static struct host_settings __rcu *the_default;

const struct host_settings *host_settings_of(const struct host_vm *vm)
{
	const struct host_settings *own = rcu_dereference(vm->settings);

	return own ? own : rcu_dereference(the_default);
}

/* The callers hold the control lock, which is private to the registry. */
struct host_settings *host_settings_default(void)
{
	return rcu_dereference_protected(the_default, true);
}

struct host_settings *host_settings_own(const struct host_vm *vm)
{
	return rcu_dereference_protected(vm->settings, true);
}

static void replace(struct host_settings __rcu **place, struct host_settings *next)
{
	host_settings_put(rcu_replace_pointer(*place, next, true));
}

int host_control_set(pid_t pid, u32 policy, const u64 values[VHALT_PARAMS_MAX], u32 *bad_param)
{
	struct host_settings *s;
	struct host_vm *vm;
	int err = 0;

	host_control_lock();
	s = host_settings_create(policy, values, host_budget_factor(), bad_param);
	if (IS_ERR(s)) {
		err = PTR_ERR(s);
		goto out;
	}
	if (!pid) {
		replace(&the_default, s);
		goto out;
	}
	vm = host_vm_get(pid);
	if (IS_ERR(vm)) {
		host_settings_put(s);
		err = PTR_ERR(vm);
		goto out;
	}
	replace(&vm->settings, s);
out:
	host_control_unlock();
	return err;
}

static int forget_own(struct host_vm *vm, void *unused)
{
	replace(&vm->settings, NULL);
	return 0;
}

static int reset_all(void)
{
	struct host_settings *s = host_settings_create(HOST_POLICY_KERNEL, NULL, VHALT_FACTOR_ONE,
						       NULL);
	struct host_cursor at = {};

	if (IS_ERR(s))
		return PTR_ERR(s);
	host_budget_set(0);
	replace(&the_default, s);
	host_vms_walk(&at, forget_own, NULL);
	return 0;
}

int host_control_reset(pid_t pid)
{
	struct host_vm *vm;
	int err = 0;

	host_control_lock();
	if (pid) {
		vm = host_vm_find(pid);
		if (vm)
			forget_own(vm, NULL);
		else
			err = -ESRCH;
	} else {
		err = reset_all();
	}
	host_control_unlock();
	return err;
}

void host_control_budget(u32 cap_ppm)
{
	host_control_lock();
	host_budget_set(cap_ppm);
	host_control_unlock();
}

int host_control_init(u32 policy)
{
	u64 values[VHALT_PARAMS_MAX] = {};
	struct host_settings *s;
	u32 bad_param;

	vhalt_policy_defaults(policy, values);
	s = host_settings_create(policy, values, VHALT_FACTOR_ONE, &bad_param);
	if (IS_ERR(s))
		return PTR_ERR(s);
	rcu_assign_pointer(the_default, s);
	return 0;
}

void host_control_fini(void)
{
	replace(&the_default, NULL);
	host_settings_fini();
}

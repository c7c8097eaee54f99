// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The configuration of a VM: defaults and bounds.
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "vmm/internal.h"

static void init_policies(struct vmm_config *config)
{
	uint64_t values[VHALT_PARAMS_MAX];

	/* The defaults are within their own bounds. */
	vhalt_policy_defaults(VHALT_POLICY_AUTO, values);
	vhalt_config_init(&config->policy, VHALT_POLICY_AUTO, values, NULL);
	config->guest_policy = config->policy;
}

int vmm_config_init(struct vmm_config *config, const char *name)
{
	const struct vmm_guest *guest = vmm_guest_find(name);

	*config = (struct vmm_config){0};
	if (!guest)
		return -ENOENT;
	strncpy(config->guest, guest->name, sizeof(config->guest) - 1);
	config->duration_ns = 5000000000ULL;
	config->hz = strcmp(name, "idle") ? 250 : 1;
	config->seed = 1;
	/* A request that is answered soon, and a pause that no ceiling in use reaches. */
	config->short_ns = 30000;
	config->long_ns = 2000000;
	config->short_percent = 80;
	config->halt_poll_ns = VMM_HALT_POLL_UNSET;
	config->nr_vcpus = guest->nr_vcpus;
	config->hold_ns = 50000;
	config->gap_ns = 50000;
	config->share = strcmp(name, "lock") ? VMM_SHARE_NONE : VMM_SHARE_STEAL;
	init_policies(config);
	return 0;
}

/* One bounded field: its name in messages, its value and what is allowed. */
struct bound {
	const char *field;
	uint64_t value, min, max;
};

static int check_bounds(const struct bound *bounds, size_t nr, struct vmm_error *error)
{
	for (size_t i = 0; i < nr; i++) {
		const struct bound *b = &bounds[i];

		if (b->value < b->min || b->value > b->max)
			return vmm_error_set(error, -EINVAL,
					     "%s %" PRIu64 " is out of range (%" PRIu64
					     " to %" PRIu64 ")",
					     b->field, b->value, b->min, b->max);
	}
	return 0;
}

static int check_vcpus(const struct vmm_config *c, struct vmm_error *error)
{
	const struct vmm_guest *guest = vmm_guest_find(c->guest);

	if (c->nr_vcpus == guest->nr_vcpus || (c->nr_vcpus && c->nr_vcpus <= guest->max_vcpus))
		return 0;
	return vmm_error_set(error, -EINVAL, "guest %s cannot have %u vCPUs", guest->name,
			     c->nr_vcpus);
}

static int check_pin(const struct vmm_config *c, struct vmm_error *error)
{
	if (c->pin == VMM_PIN_DEFAULT || c->pin == VMM_PIN_NONE)
		return 0;
	if (c->pin != VMM_PIN_LIST)
		return vmm_error_set(error, -EINVAL, "pin %d is not a way to pin", (int)c->pin);
	if (!c->nr_pin_cpus || c->nr_pin_cpus > VMM_MAX_VCPUS)
		return vmm_error_set(error, -EINVAL, "pin list has %u CPUs (1 to %d)",
				     c->nr_pin_cpus, VMM_MAX_VCPUS);
	for (unsigned int i = 0; i < c->nr_pin_cpus; i++)
		if (c->pin_cpus[i] >= VMM_MAX_CPUS)
			return vmm_error_set(error, -EINVAL,
					     "pin list: CPU %u is out of range (0 to %d)",
					     c->pin_cpus[i], VMM_MAX_CPUS - 1);
	return 0;
}

static int check_numbers(const struct vmm_config *c, struct vmm_error *error)
{
	uint64_t poll_ns = c->halt_poll_ns == VMM_HALT_POLL_UNSET ? 0 : c->halt_poll_ns;
	const struct bound bounds[] = {
		{"hz", c->hz, 1, VMM_MAX_HZ},
		{"think_ns", c->think_ns, 0, VMM_MAX_THINK_NS},
		{"short_ns", c->short_ns, 1000, VMM_MAX_TIMER_NS / 2},
		{"long_ns", c->long_ns, c->short_ns, VMM_MAX_TIMER_NS / 2},
		{"short_percent", c->short_percent, 0, 100},
		{"halt_poll_ns", poll_ns, 0, VMM_MAX_HALT_POLL_NS},
		{"duration_ns", c->duration_ns, c->duration_ns ? VMM_MIN_DURATION_NS : 0,
		 VMM_MAX_DURATION_NS},
		{"watchdog_ns", c->watchdog_ns, c->watchdog_ns ? VMM_MIN_DURATION_NS : 0,
		 VMM_MAX_DURATION_NS},
		{"hold_ns", c->hold_ns, 0, VMM_MAX_HOLD_NS},
		{"gap_ns", c->gap_ns, 0, VMM_MAX_HOLD_NS},
		{"share", c->share, 0, VMM_NR_SHARES - 1},
		{"irqchip", c->irqchip, VMM_IRQCHIP_KERNEL, VMM_IRQCHIP_USER},
		{"policy", c->policy.policy, 0, VHALT_NR_POLICIES - 1},
		{"guest_policy", c->guest_policy.policy, 0, VHALT_NR_POLICIES - 1},
		{"budget_ppm", c->budget_ppm, 0, 1000000},
		{"reset_ns", c->reset_ns, c->reset_ns ? VMM_MIN_RESET_NS : 0, VMM_MAX_DURATION_NS},
		{"fault", c->fault, VMM_FAULT_PORT, VMM_FAULT_SPIN},
	};

	return check_bounds(bounds, sizeof(bounds) / sizeof(bounds[0]), error);
}

int vmm_config_check(const struct vmm_config *c, struct vmm_error *error)
{
	int err;

	if (!memchr(c->guest, '\0', sizeof(c->guest)) || !vmm_guest_find(c->guest))
		return vmm_error_set(error, -ENOENT, "no guest is called \"%.*s\"",
				     (int)sizeof(c->guest), c->guest);
	err = check_numbers(c, error);
	if (!err)
		err = check_vcpus(c, error);
	if (err)
		return err;
	if (c->guest_polls && !strcmp(c->guest, "lock"))
		return vmm_error_set(error, -EINVAL,
				     "guest lock never idles: it has no use for a "
				     "policy");
	if (strcmp(c->guest, "lock") && (c->reset_ns || c->share != VMM_SHARE_NONE))
		return vmm_error_set(error, -EINVAL, "guest %s cannot %s", c->guest,
				     c->reset_ns ? "be reset" : "share a preempt_count");
	if (!c->duration_ns && !c->rounds && !c->watchdog_ns)
		return vmm_error_set(error, -EINVAL,
				     "the run would never end: no duration, rounds or watchdog");
	return check_pin(c, error);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The command line of `vhalt vm`: options, and the configuration they make of each guest.
#include "tool/vm_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/spec.h"

/* With --rounds alone a guest that never finishes must not run for ever. */
#define ROUNDS_WATCHDOG_NS 60000000000ULL

static int parse_pin(const char *arg, void *value)
{
	struct vm_request *r = value;
	const char *p = arg;

	r->nr_pin_cpus = 0;
	if (!strcmp(arg, "none")) {
		r->pin = VMM_PIN_NONE;
		return 0;
	}
	r->pin = VMM_PIN_LIST;
	for (;;) {
		size_t digits = strspn(p, "0123456789");

		if (!digits || digits > 4 || r->nr_pin_cpus == VMM_MAX_VCPUS)
			break;
		r->pin_cpus[r->nr_pin_cpus++] = (unsigned int)strtoul(p, NULL, 10);
		p += digits;
		if (!*p)
			return 0;
		if (*p++ != ',')
			break;
	}
	fprintf(stderr,
		"vhalt vm: --pin: \"%s\": not \"none\" and not a list of at most %d CPUs (0,1)\n",
		arg, VMM_MAX_VCPUS);
	return -EINVAL;
}

static int parse_share(const char *arg, void *value)
{
	struct vm_request *r = value;

	for (int i = 0; i < VMM_NR_SHARES; i++) {
		if (strcmp(arg, vmm_share_name((enum vmm_share)i)))
			continue;
		r->share = (enum vmm_share)i;
		return 0;
	}
	fprintf(stderr, "vhalt vm: --share: \"%s\" is not steal, hypercall, none or hostile\n",
		arg);
	return -EINVAL;
}

static int parse_irqchip(const char *arg, void *value)
{
	struct vm_request *r = value;

	if (strcmp(arg, "user") && strcmp(arg, "kernel")) {
		fprintf(stderr, "vhalt vm: --irqchip: \"%s\" is not kernel or user\n", arg);
		return -EINVAL;
	}
	r->irqchip_user = !strcmp(arg, "user");
	return 0;
}

/* Return: 0 or -EINVAL, said. */
static int parse_policy(const char *option, const char *text, struct vhalt_config *config)
{
	char error[VHALT_SPEC_ERROR_BYTES];

	if (!text || !vhalt_config_parse(text, config, error, sizeof(error)))
		return 0;
	fprintf(stderr, "vhalt vm: %s: %s\n", option, error);
	return -EINVAL;
}

/* Return: 0 or -EINVAL, said. */
static int apply_policies(const struct vm_request *r, struct vmm_config *c)
{
	struct vhalt_spec spec;
	int sleep;

	if (r->policy && !r->irqchip_user) {
		fprintf(stderr, "vhalt vm: --policy needs --irqchip user: else KVM decides\n");
		return -EINVAL;
	}
	c->irqchip = r->irqchip_user ? VMM_IRQCHIP_USER : VMM_IRQCHIP_KERNEL;
	c->guest_polls = r->guest_policy;
	if (parse_policy("--policy", r->policy, &c->policy) ||
	    parse_policy("--guest-policy", r->guest_policy, &c->guest_policy))
		return -EINVAL;
	if (!r->guest_policy)
		return 0;
	vhalt_spec_parse(r->guest_policy, &spec, NULL, 0);
	sleep = vhalt_spec_param(spec.policy, "sleep");
	if (sleep < 0 || !spec.values[sleep])
		return 0;
	fprintf(stderr, "vhalt vm: --guest-policy: our guests have one timer: sleep must be 0\n");
	return -EINVAL;
}

static void take(uint64_t *field, uint64_t given)
{
	if (given != VM_NOT_GIVEN)
		*field = given;
}

static void apply(const struct vm_request *r, struct vmm_config *c)
{
	take(&c->hz, r->hz);
	take(&c->rounds, r->rounds);
	take(&c->think_ns, r->think_ns);
	take(&c->halt_poll_ns, r->halt_poll_ns);
	take(&c->seed, r->seed);
	take(&c->short_ns, r->short_ns);
	take(&c->long_ns, r->long_ns);
	take(&c->short_percent, r->short_percent);
	take(&c->hold_ns, r->hold_ns);
	take(&c->gap_ns, r->gap_ns);
	take(&c->reset_ns, r->reset_ns);
	if (r->vcpus != VM_NOT_GIVEN)
		c->nr_vcpus = (unsigned int)r->vcpus;
	if (r->share != VMM_NR_SHARES)
		c->share = r->share;
	c->pin = r->pin;
	c->nr_pin_cpus = r->nr_pin_cpus;
	memcpy(c->pin_cpus, r->pin_cpus, sizeof(c->pin_cpus));
	if (r->for_ns != VM_NOT_GIVEN) {
		c->duration_ns = r->for_ns;
	} else if (r->rounds != VM_NOT_GIVEN) {
		c->duration_ns = 0;
		c->watchdog_ns = ROUNDS_WATCHDOG_NS;
	}
}

/* "crash:spin" and so on: how the project's own tests choose a fault. */
static int parse_fault(const char *name, enum vmm_fault *fault)
{
	static const char *const names[] = {
		[VMM_FAULT_PORT] = "port",
		[VMM_FAULT_EXCEPTION] = "exception",
		[VMM_FAULT_TRIPLE] = "triple",
		[VMM_FAULT_SPIN] = "spin",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]))
			continue;
		*fault = (enum vmm_fault)i;
		return 0;
	}
	return -EINVAL;
}

int vm_request_configure(const struct vm_request *request, const char *word,
			 struct vmm_config *config)
{
	const size_t length = strcspn(word, ":");
	enum vmm_fault fault = VMM_FAULT_PORT;
	struct vmm_error error = {""};
	char name[VMM_GUEST_NAME_BYTES] = "";
	bool known = length < sizeof(name);

	if (known)
		memcpy(name, word, length);
	if (word[length] == ':')
		known = known && !strcmp(name, "crash") && !parse_fault(word + length + 1, &fault);
	if (!known || vmm_config_init(config, name)) {
		fprintf(stderr, "vhalt vm: no guest is called \"%s\" (see vhalt vm list)\n", word);
		return 2;
	}
	config->fault = fault;
	apply(request, config);
	if (apply_policies(request, config))
		return 2;
	if (vmm_config_check(config, &error)) {
		fprintf(stderr, "vhalt vm: %s: %s\n", word, error.text);
		return 2;
	}
	return 0;
}

const char vm_request_usage[] = "run GUEST... [options] | list [--json]";

static int parse(struct vm_request *r, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"for", 0, OPTION_DURATION, &r->for_ns, "D", "run so long (default 5s)",
		 VMM_MIN_DURATION_NS, VMM_MAX_DURATION_NS, NULL},
		{"rounds", 0, OPTION_U64, &r->rounds, "N",
		 "end after N round trips or timers; without --for at most 60s", 1,
		 VM_NOT_GIVEN - 1, NULL},
		{"hz", 0, OPTION_U64, &r->hz, "N", "tick, idle: timers per second (default 250, 1)",
		 1, VMM_MAX_HZ, NULL},
		{"think", 0, OPTION_DURATION, &r->think_ns, "D",
		 "rr: work of the requester between rounds (default 0)", 0, VMM_MAX_THINK_NS, NULL},
		{"seed", 0, OPTION_U64, &r->seed, "N", "burst, lock: seed (default 1)", 0,
		 VM_NOT_GIVEN - 1, NULL},
		{"short", 0, OPTION_DURATION, &r->short_ns, "D",
		 "burst: short timers (default 30us)", 1000, VMM_MAX_TIMER_NS / 2, NULL},
		{"long", 0, OPTION_DURATION, &r->long_ns, "D", "burst: long timers (default 2ms)",
		 1000, VMM_MAX_TIMER_NS / 2, NULL},
		{"short-percent", 0, OPTION_U64, &r->short_percent, "N",
		 "burst: share of short timers (default 80)", 0, 100, NULL},
		{"vcpus", 0, OPTION_U64, &r->vcpus, "N", "lock: number of vCPUs (default 4)", 1,
		 VMM_MAX_VCPUS, NULL},
		{"hold", 0, OPTION_DURATION, &r->hold_ns, "D",
		 "lock: CPU time of a critical section (default 50us)", 0, VMM_MAX_HOLD_NS, NULL},
		{"gap", 0, OPTION_DURATION, &r->gap_ns, "D",
		 "lock: CPU time between two of them (default 50us)", 0, VMM_MAX_HOLD_NS, NULL},
		{"share", 0, OPTION_CALL, r, "HOW",
		 "lock: publish the preempt_count by steal, hypercall, none, hostile (default "
		 "steal)",
		 0, 0, parse_share},
		{"reset", 0, OPTION_DURATION, &r->reset_ns, "D",
		 "lock: reset the VM again and again after D", VMM_MIN_RESET_NS,
		 VMM_MAX_DURATION_NS, NULL},
		{"irqchip", 0, OPTION_CALL, r, "WHO",
		 "who has interrupt controllers and halts: kernel (default) or user", 0, 0,
		 parse_irqchip},
		{"policy", 0, OPTION_STRING, &r->policy, "P",
		 "with --irqchip user: how halts wait (default auto)", 0, 0, NULL},
		{"guest-policy", 0, OPTION_STRING, &r->guest_policy, "P",
		 "the guests poll by this policy before they halt", 0, 0, NULL},
		{"halt-poll", 0, OPTION_DURATION, &r->halt_poll_ns, "D",
		 "ceiling of KVM's halt polling for these VMs (default: KVM's own)", 0,
		 VMM_MAX_HALT_POLL_NS, NULL},
		{"pin", 0, OPTION_CALL, r, "LIST",
		 "CPUs of the vCPUs, or none (default: rr apart, others none)", 0, 0, parse_pin},
		{"json", 0, OPTION_FLAG, &r->json, NULL, "print a JSON object", 0, 0, NULL},
		{0},
	};
	const struct option_spec spec = {
		.command = "vm",
		.usage = vm_request_usage,
		.summary = "Runs small test guests on /dev/kvm and says what happened.",
		.rows = rows,
	};

	return options_parse(&spec, argc, argv);
}

int vm_request_parse(struct vm_request *request, int argc, char **argv)
{
	*request = (struct vm_request){
		.hz = VM_NOT_GIVEN,
		.rounds = VM_NOT_GIVEN,
		.think_ns = VM_NOT_GIVEN,
		.for_ns = VM_NOT_GIVEN,
		.halt_poll_ns = VM_NOT_GIVEN,
		.seed = VM_NOT_GIVEN,
		.short_ns = VM_NOT_GIVEN,
		.long_ns = VM_NOT_GIVEN,
		.short_percent = VM_NOT_GIVEN,
		.vcpus = VM_NOT_GIVEN,
		.hold_ns = VM_NOT_GIVEN,
		.gap_ns = VM_NOT_GIVEN,
		.reset_ns = VM_NOT_GIVEN,
		.share = VMM_NR_SHARES,
	};
	return parse(request, argc, argv);
}

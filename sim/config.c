// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The parameters of the model: names, defaults and bounds in tables, and setting them by name.
#include "sim/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/units.h"

#define US 1000ULL
#define MS 1000000ULL
#define S  1000000000ULL

#define RUN(field)  offsetof(struct sim_config, field)
#define HOST(field) offsetof(struct sim_host_config, field)
#define VM(field)   offsetof(struct sim_vm_config, field)

const struct sim_param sim_run_params[] = {
	{"warmup", SIM_PARAM_NS, RUN(warmup_ns), 50 * MS, 0, 3600 * S,
	 "simulated before counting begins"},
	{"duration", SIM_PARAM_NS, RUN(duration_ns), 200 * MS, MS, 3600 * S,
	 "simulated time that counts"},
	{0},
};

const struct sim_param sim_host_params[] = {
	{"pcpus", SIM_PARAM_NUMBER, HOST(pcpus), 96, 1, 16384, "hardware threads"},
	{"llc", SIM_PARAM_NUMBER, HOST(llc), 48, 1, 16384, "hardware threads that share a cache"},
	{"smt", SIM_PARAM_BOOL, HOST(smt), 0, 0, 1, "hardware threads 2i and 2i+1 share a core"},
	{"smt_speed", SIM_PARAM_NUMBER, HOST(smt_pct), 60, 1, 100,
	 "speed of a hardware thread whose sibling is busy, in % of one alone"},
	{"latency", SIM_PARAM_NS, HOST(latency_ns), 24 * MS, 0, S,
	 "scheduler: period in which every vCPU of a CPU runs once"},
	{"slice", SIM_PARAM_NS, HOST(slice_ns), 3 * MS, 10 * US, S, "scheduler: least slice"},
	{"granularity", SIM_PARAM_NS, HOST(granularity_ns), 4 * MS, 0, S,
	 "scheduler: unfairness below which nobody is preempted and hints are followed"},
	{"balance", SIM_PARAM_NS, HOST(balance_ns), 4 * MS, 100 * US, S,
	 "scheduler: time between two looks at idle CPUs"},
	{"newidle", SIM_PARAM_NS, HOST(newidle_ns), 500 * US, 0, S,
	 "scheduler: a CPU whose idle periods are shorter on average pulls nothing"},
	{"scan", SIM_PARAM_NUMBER, HOST(scan), 8, 0, 16384,
	 "scheduler: CPUs looked at for an idle one on a wake-up"},
	{"yield_hint", SIM_PARAM_BOOL, HOST(yield_hint), 1, 0, 1,
	 "scheduler: the hint of a directed yield is followed (EEVDF often drops it)"},
	{"switch", SIM_PARAM_NS, HOST(switch_ns), 1500, 0, MS, "to switch vCPUs, entry included"},
	{"wake", SIM_PARAM_NS, HOST(wake_ns), 4000, 0, 10 * MS,
	 "from event to queue for a blocked vCPU, mean"},
	{"idle_exit", SIM_PARAM_NS, HOST(idle_exit_ns), 2000, 0, 10 * MS,
	 "out of a shallow idle state, mean"},
	{"deep_exit", SIM_PARAM_NS, HOST(deep_exit_ns), 20000, 0, 10 * MS,
	 "out of a deep idle state, mean"},
	{"deep_after", SIM_PARAM_NS, HOST(deep_after_ns), 600 * US, 0, 10 * S,
	 "idle time after which the state was a deep one"},
	{"block", SIM_PARAM_NS, HOST(block_ns), 1500, 0, MS, "CPU time to block a vCPU"},
	{"exit", SIM_PARAM_NS, HOST(exit_ns), 1200, 0, MS,
	 "an exit handled in the kernel, and entry"},
	{"ipi", SIM_PARAM_NS, HOST(ipi_ns), 1500, 0, MS,
	 "for a guest to send an interrupt to a vCPU"},
	{"ipi_each", SIM_PARAM_NS, HOST(ipi_each_ns), 100, 0, MS,
	 "more for each vCPU of a broadcast"},
	{"poll_exit", SIM_PARAM_NS, HOST(poll_exit_ns), 1000, 0, MS,
	 "from a poll that met to the guest"},
	{"ple_window", SIM_PARAM_NS, HOST(ple_ns), 1600, 100, S,
	 "first PAUSE window after a switch"},
	{"ple_grow", SIM_PARAM_NUMBER, HOST(ple_grow), 2, 1, 64,
	 "factor of the window after each exit"},
	{"ple_max", SIM_PARAM_NS, HOST(ple_max_ns), 4 * MS, 100, 10 * S, "largest PAUSE window"},
	{"policy", SIM_PARAM_POLICY, HOST(policy), VHALT_POLICY_KVM, 0, 0, "halt polling"},
	{"budget", SIM_PARAM_NUMBER, HOST(budget_ppm), 0, 0, 1000000,
	 "share of the CPUs that may be polled away, in ppm; 0 for no budget"},
	{"stamped", SIM_PARAM_BOOL, HOST(stamped), 1, 0, 1, "policies see when the event came"},
	{0},
};

const struct sim_param sim_vm_params[] = {
	{"count", SIM_PARAM_NUMBER, VM(count), 1, 0, 65536, "VMs of this kind"},
	{"vcpus", SIM_PARAM_NUMBER, VM(vcpus), 1, 1, 16384, "vCPUs of each"},
	{"workload", SIM_PARAM_WORKLOAD, VM(workload), SIM_WORKLOAD_IDLE, 0, 0, "what it does"},
	{"boost", SIM_PARAM_BOOST, VM(boost), VHALT_BOOST_KERNEL, 0, 0,
	 "who gets a spinner's time"},
	{"share", SIM_PARAM_BOOL, VM(share), 1, 0, 1, "the guest shares its preempt_count"},
	{"host_poll", SIM_PARAM_BOOL, VM(host_poll), 1, 0, 1, "the host polls for this VM's halts"},
	{"guest_poll", SIM_PARAM_BOOL, VM(guest_poll), 0, 0, 1, "the guest polls before it halts"},
	{"guest_policy", SIM_PARAM_POLICY, VM(guest_policy), VHALT_POLICY_GUEST, 0, 0,
	 "how the guest polls"},
	{"hz", SIM_PARAM_NUMBER, VM(hz), 250, 0, 10000, "guest ticks a second; 0 for none"},
	{"nohz", SIM_PARAM_BOOL, VM(nohz), 1, 0, 1, "an idle guest stops its tick"},
	{"pv_locks", SIM_PARAM_BOOL, VM(pv_locks), 1, 0, 1, "paravirtual spin locks"},
	{"pv_spin", SIM_PARAM_NS, VM(pv_spin_ns), 1800 * US, 0, 10 * S,
	 "spinning after which a paravirtual waiter halts"},
	{"pv_tlb", SIM_PARAM_BOOL, VM(pv_tlb), 1, 0, 1, "flushes leave preempted vCPUs out"},
	{"irq", SIM_PARAM_NS, VM(irq_ns), 1000, 0, MS, "an interrupt handler of the guest"},
	{"tick", SIM_PARAM_NS, VM(tick_ns), 3000, 0, 10 * MS, "the guest's tick, exits included"},
	{"thread_switch", SIM_PARAM_NS, VM(guest_switch_ns), 600, 0, MS,
	 "a switch of threads, under the run queue's lock"},
	{"rq_hold", SIM_PARAM_NS, VM(rq_hold_ns), 300, 0, MS,
	 "a wake-up under the run queue's lock"},
	{"idle_out", SIM_PARAM_NS, VM(guest_idle_ns), 1000, 0, MS, "out of the guest's idle loop"},
	{"handover", SIM_PARAM_NS, VM(handover_ns), 100, 0, MS, "a lock from one vCPU to another"},
	{"groups", SIM_PARAM_NUMBER, VM(groups), 10, 1, 1000, "hackbench: groups"},
	{"pairs", SIM_PARAM_NUMBER, VM(pairs), 20, 1, 1000,
	 "hackbench: senders, and receivers, a group"},
	{"capacity", SIM_PARAM_NUMBER, VM(capacity), 160, 1, 1000000,
	 "hackbench: messages a queue holds"},
	{"threads", SIM_PARAM_NUMBER, VM(threads), 0, 0, 1000000, "threads; 0 for one per vCPU"},
	{"work", SIM_PARAM_NS, VM(work_ns), 2000, 1, 4 * S, "time of a piece of work, mean"},
	{"hold", SIM_PARAM_NS, VM(hold_ns), 300, 0, S, "time under a spin lock"},
	{"map", SIM_PARAM_NS, VM(map_ns), 5000, 1, 4 * S, "time under the mutex, mean"},
	{"think", SIM_PARAM_NS, VM(think_ns), 10000, 1, 4 * S,
	 "dbench: user code of an operation, mean"},
	{"io", SIM_PARAM_NS, VM(io_ns), 500 * US, 1, 100 * S, "dbench: disk, mean"},
	{"net", SIM_PARAM_NS, VM(net_ns), 15 * US, 1, 4 * S, "rr: network and peer, mean"},
	{"mean", SIM_PARAM_NS, VM(mean_ns), MS, 1, 1000 * S, "poisson: between two requests, mean"},
	{"locks", SIM_PARAM_NUMBER, VM(locks), 8, 1, 65536,
	 "dbench: spin locks names are hashed to"},
	{"every", SIM_PARAM_NUMBER, VM(every), 20, 1, 1000000, "dbench: operations a commit"},
	{"total", SIM_PARAM_NUMBER, VM(total), 0, 0, 1ULL << 50,
	 "pieces of work to give the seconds for"},
	{"bytes", SIM_PARAM_NUMBER, VM(bytes), 4096, 1, 1ULL << 24,
	 "of a piece of work, to give MB/s"},
	{0},
};

static const char *const workloads[SIM_NR_WORKLOADS] = {
	[SIM_WORKLOAD_IDLE] = "idle",		[SIM_WORKLOAD_HOG] = "hog",
	[SIM_WORKLOAD_HACKBENCH] = "hackbench", [SIM_WORKLOAD_EBIZZY] = "ebizzy",
	[SIM_WORKLOAD_DBENCH] = "dbench",	[SIM_WORKLOAD_RR] = "rr",
	[SIM_WORKLOAD_CTXSW] = "ctxsw",		[SIM_WORKLOAD_POISSON] = "poisson",
};

const char *sim_workload_name(uint32_t workload)
{
	return workload < SIM_NR_WORKLOADS ? workloads[workload] : NULL;
}

uint32_t sim_workload_find(const char *name)
{
	uint32_t i = 0;

	while (i < SIM_NR_WORKLOADS && strcmp(workloads[i], name))
		i++;
	return i;
}

static void *field_of(void *section, const struct sim_param *p)
{
	return (char *)section + p->offset;
}

static void set_defaults(void *section, const struct sim_param *params)
{
	for (const struct sim_param *p = params; p->name; p++) {
		if (p->type == SIM_PARAM_POLICY)
			vhalt_spec_init(field_of(section, p), (uint32_t)p->dflt);
		else
			*(uint64_t *)field_of(section, p) = p->dflt;
	}
}

void sim_config_init(struct sim_config *config)
{
	memset(config, 0, sizeof(*config));
	set_defaults(config, sim_run_params);
	set_defaults(&config->host, sim_host_params);
}

static bool good_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '-' && name[i] != '_')
			return false;
	return n && n < sizeof(((struct sim_vm_config *)0)->name) && strcmp(name, "host") &&
	       strcmp(name, "run") && strcmp(name, "vm") && strcmp(name, "published");
}

struct sim_vm_config *sim_config_kind(struct sim_config *config, const char *name, bool add)
{
	struct sim_vm_config *vm = config->vm;

	for (uint32_t i = 0; i < config->nr_kinds; i++, vm++)
		if (!strcmp(vm->name, name))
			return vm;
	if (!add || config->nr_kinds == SIM_KINDS_MAX || !good_name(name))
		return NULL;
	set_defaults(vm, sim_vm_params);
	memcpy(vm->name, name, strlen(name) + 1);
	config->nr_kinds++;
	return vm;
}

static const struct sim_param *find_in(const struct sim_param *params, const char *name)
{
	for (; params->name; params++)
		if (!strcmp(params->name, name))
			return params;
	return NULL;
}

/* The value itself; -EINVAL with @why when it is none. */
static int parse_number(const struct sim_param *p, const char *text, uint64_t *value,
			const char **why)
{
	switch (p->type) {
	case SIM_PARAM_NS:
		*why = "not a duration (write 10us, 4ms)";
		return units_parse_duration(text, value);
	case SIM_PARAM_NUMBER: *why = "not a whole number"; return units_parse_u64(text, value);
	case SIM_PARAM_BOOL:
		*why = "neither yes nor no";
		*value = !strcmp(text, "yes") || !strcmp(text, "1");
		return *value || !strcmp(text, "no") || !strcmp(text, "0") ? 0 : -EINVAL;
	case SIM_PARAM_WORKLOAD:
		*why = "no such workload (idle, hog, hackbench, ebizzy, dbench, rr, ctxsw, "
		       "poisson)";
		*value = sim_workload_find(text);
		return *value < SIM_NR_WORKLOADS ? 0 : -EINVAL;
	case SIM_PARAM_BOOST:
		*why = "no such mode (kernel, critical, holder)";
		*value = vhalt_boost_mode_find(text);
		return *value < VHALT_NR_BOOST_MODES ? 0 : -EINVAL;
	case SIM_PARAM_POLICY: break;
	}
	return -EINVAL;
}

static bool bounded(const struct sim_param *p)
{
	return p->type == SIM_PARAM_NS || p->type == SIM_PARAM_NUMBER;
}

static int out_of_range(const struct sim_param *p, const char *text, char error[SIM_ERROR_BYTES])
{
	char low[UNITS_DURATION_BYTES], high[UNITS_DURATION_BYTES];

	if (p->type == SIM_PARAM_NS) {
		units_format_exact(p->min, low);
		units_format_exact(p->max, high);
	} else {
		snprintf(low, sizeof(low), "%llu", (unsigned long long)p->min);
		snprintf(high, sizeof(high), "%llu", (unsigned long long)p->max);
	}
	snprintf(error, SIM_ERROR_BYTES, "%s: \"%.60s\": out of range (%s to %s)", p->name, text,
		 low, high);
	return -ERANGE;
}

static int set_field(void *section, const struct sim_param *p, const char *text,
		     char error[SIM_ERROR_BYTES])
{
	char message[VHALT_SPEC_ERROR_BYTES];
	const char *why = "";
	uint64_t value;
	int err;

	if (p->type == SIM_PARAM_POLICY) {
		err = vhalt_spec_parse(text, field_of(section, p), message, sizeof(message));
		if (err)
			snprintf(error, SIM_ERROR_BYTES, "%s: %s", p->name, message);
		return err;
	}
	err = parse_number(p, text, &value, &why);
	if (err == -ERANGE || (!err && bounded(p) && (value < p->min || value > p->max)))
		return out_of_range(p, text, error);
	if (err) {
		snprintf(error, SIM_ERROR_BYTES, "%s: \"%.60s\": %s", p->name, text, why);
		return err;
	}
	*(uint64_t *)field_of(section, p) = value;
	return 0;
}

/* Splits "section.name"; NULL when it has no dot or the section's name is too long. */
static const char *split(const char *key, char section[32])
{
	const char *dot = strchr(key, '.');

	if (!dot || dot == key || dot - key > 31)
		return NULL;
	memcpy(section, key, (size_t)(dot - key));
	section[dot - key] = '\0';
	return dot + 1;
}

static const struct sim_param *table_of(const char *section)
{
	if (!strcmp(section, "run"))
		return sim_run_params;
	return strcmp(section, "host") ? sim_vm_params : sim_host_params;
}

const struct sim_param *sim_config_find(const struct sim_config *config, const char *key)
{
	char section[32];
	const char *name = split(key, section);
	bool known = name && (table_of(section) != sim_vm_params || !strcmp(section, "vm"));

	for (uint32_t i = 0; name && !known && i < config->nr_kinds; i++)
		known = !strcmp(config->vm[i].name, section);
	return known ? find_in(table_of(section), name) : NULL;
}

static int set_kinds(struct sim_config *config, const char *section, const struct sim_param *p,
		     const char *value, char error[SIM_ERROR_BYTES])
{
	int err = 0;

	for (uint32_t i = 0; !err && i < config->nr_kinds; i++)
		if (!strcmp(section, "vm") || !strcmp(section, config->vm[i].name))
			err = set_field(&config->vm[i], p, value, error);
	return err;
}

int sim_config_set(struct sim_config *config, const char *key, const char *value,
		   char error[SIM_ERROR_BYTES])
{
	const struct sim_param *p = sim_config_find(config, key);
	char section[32];

	if (!p) {
		snprintf(error, SIM_ERROR_BYTES,
			 "\"%.60s\": no such parameter (write host.NAME, run.NAME, vm.NAME or "
			 "KIND.NAME; --list shows them)",
			 key);
		return -ENOENT;
	}
	split(key, section);
	if (!strcmp(section, "run"))
		return set_field(config, p, value, error);
	if (!strcmp(section, "host"))
		return set_field(&config->host, p, value, error);
	return set_kinds(config, section, p, value, error);
}

int sim_config_check(const struct sim_config *config, char error[SIM_ERROR_BYTES])
{
	uint64_t vcpus = 0, threads = 0, locks = 0;

	for (uint32_t i = 0; i < config->nr_kinds; i++) {
		const struct sim_vm_config *vm = &config->vm[i];
		uint64_t each = vm->workload == SIM_WORKLOAD_HACKBENCH ? vm->groups * vm->pairs * 2
				: vm->threads			       ? vm->threads
								       : vm->vcpus;

		vcpus += vm->count * vm->vcpus;
		threads += vm->count * each;
		locks += vm->count * vm->locks;
		if (vm->workload == SIM_WORKLOAD_CTXSW && vm->vcpus < 2) {
			snprintf(error, SIM_ERROR_BYTES, "%s: ctxsw needs 2 vCPUs", vm->name);
			return -EINVAL;
		}
	}
	if (!vcpus || vcpus > 1000000 || threads > 4000000 || locks > 40000000) {
		snprintf(error, SIM_ERROR_BYTES,
			 "%llu vCPUs, %llu threads, %llu locks: 1 to 1000000, up to 4000000 and "
			 "up to 40000000 are possible",
			 (unsigned long long)vcpus, (unsigned long long)threads,
			 (unsigned long long)locks);
		return -EINVAL;
	}
	return 0;
}

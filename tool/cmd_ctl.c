// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt ctl: KVM's halt polling parameters, and the policies of the host module.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <uapi/vhalt.h>
#include <vhalt/boost.h>

#include "replay/apply.h"
#include "tool/commands.h"
#include "tool/ctl_module.h"
#include "tool/options.h"

static bool json, raise_ceiling;
static uint64_t vm_pid;
static const char *mode;

static const struct option_row rows[] = {
	{.name = "json",
	 .letter = 'j',
	 .kind = OPTION_FLAG,
	 .value = &json,
	 .help = "status, boost status: print JSON"},
	{.name = "vm",
	 .kind = OPTION_U64,
	 .value = &vm_pid,
	 .arg = "PID",
	 .min = 1,
	 .max = INT32_MAX,
	 .help = "set, reset, boost: this VM only (default: all without a policy, or a choice of "
		 "boost, of their own)"},
	{.name = "mode",
	 .kind = OPTION_STRING,
	 .value = &mode,
	 .arg = "MODE",
	 .help = "boost on: kernel (only watch), critical or holder (default holder)"},
	{.name = "raise",
	 .kind = OPTION_FLAG,
	 .value = &raise_ceiling,
	 .help = "set: raise KVM's halt_poll_ns if the policy's windows may exceed it"},
	{0},
};

static const struct option_spec spec = {
	.command = "ctl",
	.usage = "status | restore | set POLICY[:k=v,...] | reset | budget PERCENT | check FILE | "
		 "boost on|off|default|status",
	.summary = "Shows and changes halt polling: KVM's parameters, and the module vhalt_kvm.",
	.rows = rows,
};

static void print_json(const struct apply_state *state)
{
	printf("{\"saved\":%s,\"parameters\":[", state->saved ? "true" : "false");
	for (uint32_t i = 0; i < APPLY_PARAMETERS; i++) {
		printf("%s{\"name\":\"%s\",\"value\":", i ? "," : "",
		       state->parameters[i].parameter);
		if (state->parameters[i].known)
			printf("%" PRIu64, state->parameters[i].value);
		else
			printf("null");
		printf(",\"writable\":%s,\"old\":",
		       state->parameters[i].writable ? "true" : "false");
		if (state->parameters[i].has_old)
			printf("%" PRIu64 "}", state->parameters[i].old);
		else
			printf("null}");
	}
	printf("],\"module\":");
}

static void print_text(const struct apply_state *state)
{
	char path[4096];

	for (uint32_t i = 0; i < APPLY_PARAMETERS; i++) {
		printf("%-24s ", state->parameters[i].parameter);
		if (!state->parameters[i].known) {
			printf("not there\n");
			continue;
		}
		printf("%-10" PRIu64 " %s", state->parameters[i].value,
		       state->parameters[i].writable ? "can be set" : "cannot be set");
		if (state->parameters[i].has_old)
			printf(", was %" PRIu64, state->parameters[i].old);
		printf("\n");
	}
	apply_state_path(path, sizeof(path));
	if (state->saved)
		printf("Old values are saved in %s; vhalt ctl restore puts them back.\n", path);
	else
		printf("Nothing is saved: vhalt has changed nothing.\n");
}

/* Without kvm there are no parameters to show; the module has something to say all the same. */
static int status(const char *unused)
{
	char error[APPLY_ERROR_BYTES];
	struct apply_state state;
	int code, err = apply_read_state(&state, error);

	(void)unused;
	if (err) {
		fprintf(stderr, "vhalt ctl: %s\n", error);
		if (err != -ENOENT)
			return 1;
	}
	if (json)
		print_json(&state);
	else if (!err)
		print_text(&state);
	code = json ? ctl_module_status_json(stdout) : ctl_module_status();
	if (json)
		printf("}\n");
	return err ? 1 : code;
}

static int restore(const char *unused)
{
	char error[APPLY_ERROR_BYTES];
	uint32_t restored;
	int err = apply_restore(&restored, error);

	(void)unused;
	if (err) {
		fprintf(stderr, "vhalt ctl: %s\n", error);
		if (restored)
			fprintf(stderr,
				"vhalt ctl: %" PRIu32 " parameters were put back before that\n",
				restored);
		return 1;
	}
	printf("%" PRIu32 " parameter%s put back\n", restored, restored == 1 ? "" : "s");
	return 0;
}

static int set(const char *policy)
{
	return ctl_module_set(policy, vm_pid, raise_ceiling);
}

static int reset(const char *unused)
{
	(void)unused;
	return ctl_module_reset(vm_pid);
}

static int boost(const char *what)
{
	if (mode && strcmp(what, "on")) {
		fprintf(stderr, "vhalt ctl: --mode goes with boost on\n");
		return 2;
	}
	if (mode && vhalt_boost_mode_find(mode) == VHALT_NR_BOOST_MODES) {
		fprintf(stderr, "vhalt ctl: --mode: \"%s\" is not kernel, critical or holder\n",
			mode);
		return 2;
	}
	if (!strcmp(what, "status"))
		return ctl_boost_status(vm_pid, json);
	if (!strcmp(what, "on"))
		return ctl_boost_set(
			mode ? mode : vhalt_boost_mode_name(VHALT_BOOST_HOLDER), vm_pid);
	if (!strcmp(what, VHALT_BOOST_NAME_OFF))
		return ctl_boost_set(VHALT_BOOST_NAME_OFF, vm_pid);
	if (strcmp(what, VHALT_BOOST_NAME_DEFAULT) || !vm_pid) {
		fprintf(stderr, "vhalt ctl: boost: \"%s\" is not on, off, status, or with --vm "
				"default\n",
			what);
		return 2;
	}
	return ctl_boost_set(VHALT_BOOST_NAME_DEFAULT, vm_pid);
}

/* Options of an action. One that an action does not heed would promise what it does not do. */
enum { WITH_JSON = 1, WITH_VM = 2, WITH_MODE = 4, WITH_RAISE = 8 };

static const struct action {
	const char *name;
	int operands;
	unsigned options;
	int (*run)(const char *operand);
} actions[] = {
	{"status", 0, WITH_JSON, status},
	{"restore", 0, 0, restore},
	{"set", 1, WITH_VM | WITH_RAISE, set},
	{"reset", 0, WITH_VM, reset},
	{"budget", 1, 0, ctl_module_budget},
	{"check", 1, 0, ctl_module_check},
	{"boost", 1, WITH_JSON | WITH_VM | WITH_MODE, boost},
};

static int run(const struct action *action, const char *operand)
{
	const struct {
		bool given;
		unsigned option;
		const char *name;
	} given[] = {
		{json, WITH_JSON, "json"},
		{vm_pid, WITH_VM, "vm"},
		{mode, WITH_MODE, "mode"},
		{raise_ceiling, WITH_RAISE, "raise"},
	};

	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		if (!given[i].given || action->options & given[i].option)
			continue;
		fprintf(stderr, "vhalt ctl: --%s does not go with %s (try --help)\n",
			given[i].name, action->name);
		return 2;
	}
	return action->run(operand);
}

int cmd_ctl(int argc, char **argv)
{
	int first = options_parse(&spec, argc, argv);

	if (first < 0)
		return options_exit(first);
	if (first == argc) {
		fprintf(stderr, "vhalt ctl: say %s (try --help)\n", spec.usage);
		return 2;
	}
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(argv[first], actions[i].name) &&
		    first + 1 + actions[i].operands == argc)
			return run(&actions[i], argv[first + 1]);
	fprintf(stderr, "vhalt ctl: \"%s%s%s\": not understood; say %s\n", argv[first],
		first + 1 < argc ? " " : "", first + 1 < argc ? argv[first + 1] : "", spec.usage);
	return 2;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt vm: run the small test guests on /dev/kvm and say what happened.
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/commands.h"
#include "tool/options.h"
#include "tool/vm_print.h"
#include "util/units.h"
#include "vmm/vmm.h"

enum { MAX_VMS = 16 };

/* A number that was not given on the command line; no option's bounds reach it. */
#define NOT_GIVEN UINT64_MAX

/* With --rounds alone a guest that never finishes must not run for ever. */
#define ROUNDS_WATCHDOG_NS 60000000000ULL

/* What the command line asks for; applied to every guest named. */
struct request {
	uint64_t hz, rounds, think_ns, for_ns, halt_poll_ns, seed, short_ns, long_ns, short_percent;
	enum vmm_pin pin;
	unsigned int nr_pin_cpus;
	unsigned int pin_cpus[VMM_MAX_VCPUS];
	bool json;
};

/* One guest of the command line. */
struct run {
	struct vmm_config config;
	struct vmm *vm;
	bool started;
	struct vmm_result result;
};

/* For the signal handler: filled before the handler is installed. */
static struct vmm *running[MAX_VMS];

static void stop_all(int signal_number)
{
	(void)signal_number;
	for (int i = 0; i < MAX_VMS; i++)
		if (running[i])
			vmm_stop(running[i]);
}

static int parse_pin(const char *arg, void *value)
{
	struct request *r = value;
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

static void take(uint64_t *field, uint64_t given)
{
	if (given != NOT_GIVEN)
		*field = given;
}

static void apply(const struct request *r, struct vmm_config *c)
{
	take(&c->hz, r->hz);
	take(&c->rounds, r->rounds);
	take(&c->think_ns, r->think_ns);
	take(&c->halt_poll_ns, r->halt_poll_ns);
	take(&c->seed, r->seed);
	take(&c->short_ns, r->short_ns);
	take(&c->long_ns, r->long_ns);
	take(&c->short_percent, r->short_percent);
	c->pin = r->pin;
	c->nr_pin_cpus = r->nr_pin_cpus;
	memcpy(c->pin_cpus, r->pin_cpus, sizeof(c->pin_cpus));
	if (r->for_ns != NOT_GIVEN) {
		c->duration_ns = r->for_ns;
	} else if (r->rounds != NOT_GIVEN) {
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

/* Return: 0 or the exit code 2, said. */
static int configure(const char *word, const struct request *request, struct vmm_config *config)
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
	if (vmm_config_check(config, &error)) {
		fprintf(stderr, "vhalt vm: %s: %s\n", word, error.text);
		return 2;
	}
	return 0;
}

static void install_handlers(void)
{
	struct sigaction action = {.sa_handler = stop_all, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* Creates all VMs before the first one runs: a missing /dev/kvm is said once. */
static int create_all(struct run *runs, int nr)
{
	for (int i = 0; i < nr; i++) {
		struct vmm_error error = {""};

		if (vmm_create(&runs[i].config, &runs[i].vm, &error)) {
			fprintf(stderr, "vhalt vm: %s: %s\n", runs[i].config.guest, error.text);
			return 1;
		}
		running[i] = runs[i].vm;
	}
	return 0;
}

/* On a terminal: the seconds so far, until all VMs have ended. */
static void show_progress(const struct run *runs, int nr)
{
	unsigned int seconds = 0;

	if (!isatty(STDERR_FILENO))
		return;
	for (int i = 0; i < nr; i++) {
		struct pollfd p = {.fd = vmm_end_fd(runs[i].vm), .events = POLLIN};
		int ready = 0;

		while (runs[i].started && ready <= 0) {
			ready = poll(&p, 1, 1000);
			if (!ready)
				fprintf(stderr, "\rvhalt vm: running, %u s ", ++seconds);
		}
	}
	if (seconds)
		fputs("\r                              \r", stderr);
}

/* A VM that cannot start does not keep the others from running. */
static int run_all(struct run *runs, int nr)
{
	int code = 0;

	install_handlers();
	for (int i = 0; i < nr; i++) {
		struct vmm_error error = {""};

		if (vmm_start(runs[i].vm, &error)) {
			fprintf(stderr, "vhalt vm: %s: %s\n", runs[i].config.guest, error.text);
			code = 1;
			continue;
		}
		runs[i].started = true;
	}
	show_progress(runs, nr);
	for (int i = 0; i < nr; i++)
		if (vmm_wait(runs[i].vm, &runs[i].result))
			code = 1;
	return code;
}

static int print_all(const struct run *runs, int nr, bool json)
{
	json_t *vms, *root;
	int failed = 0;

	if (!json) {
		for (int i = 0; i < nr; i++)
			vm_print_text(stdout, &runs[i].config, &runs[i].result);
		return ferror(stdout) || fflush(stdout) ? 1 : 0;
	}
	vms = json_array();
	for (int i = 0; i < nr; i++)
		failed |= json_array_append_new(vms,
						vm_print_json(&runs[i].config, &runs[i].result));
	root = json_pack("{s:o}", "vms", vms);
	if (failed || !root ||
	    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) < 0 ||
	    putchar('\n') == EOF || fflush(stdout)) {
		fprintf(stderr, "vhalt vm: the result could not be written\n");
		failed = 1;
	}
	json_decref(root);
	return failed ? 1 : 0;
}

static int run_guests(const struct request *request, int nr, char **words)
{
	struct run runs[MAX_VMS] = {0};
	int code = 0;

	if (!nr || nr > MAX_VMS) {
		fprintf(stderr, "vhalt vm: run needs 1 to %d guests (see vhalt vm list)\n",
			MAX_VMS);
		return 2;
	}
	for (int i = 0; i < nr; i++) {
		code = configure(words[i], request, &runs[i].config);
		if (code)
			return code;
	}
	code = create_all(runs, nr);
	if (!code) {
		code = run_all(runs, nr);
		if (print_all(runs, nr, request->json))
			code = 1;
	}
	/* First the handlers' list, then the VMs. */
	for (int i = 0; i < nr; i++)
		running[i] = NULL;
	for (int i = 0; i < nr; i++)
		vmm_destroy(runs[i].vm);
	return code;
}

static int list_guests(bool json)
{
	json_t *root = json ? json_pack("{s:[]}", "guests") : NULL;
	const struct vmm_guest *g;

	for (size_t i = 0; (g = vmm_guest_at(i)); i++) {
		if (g->hidden)
			continue;
		if (json)
			json_array_append_new(json_object_get(root, "guests"),
					      json_pack("{s:s,s:i,s:s}", "name", g->name, "vcpus",
							(int)g->nr_vcpus, "summary", g->summary));
		else
			printf("%-6s %u vCPU%s  %s\n", g->name, g->nr_vcpus,
			       g->nr_vcpus == 1 ? " " : "s", g->summary);
	}
	if (json && json_dumpf(root, stdout, JSON_INDENT(2)) >= 0)
		putchar('\n');
	json_decref(root);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}

int cmd_vm(int argc, char **argv)
{
	struct request r = {
		.hz = NOT_GIVEN,
		.rounds = NOT_GIVEN,
		.think_ns = NOT_GIVEN,
		.for_ns = NOT_GIVEN,
		.halt_poll_ns = NOT_GIVEN,
		.seed = NOT_GIVEN,
		.short_ns = NOT_GIVEN,
		.long_ns = NOT_GIVEN,
		.short_percent = NOT_GIVEN,
	};
	const struct option_row rows[] = {
		{"for", 0, OPTION_DURATION, &r.for_ns, "D", "run so long (default 5s)",
		 VMM_MIN_DURATION_NS, VMM_MAX_DURATION_NS, NULL},
		{"rounds", 0, OPTION_U64, &r.rounds, "N",
		 "end after N round trips or timers; without --for at most 60s", 1, NOT_GIVEN - 1,
		 NULL},
		{"hz", 0, OPTION_U64, &r.hz, "N", "tick, idle: timers per second (default 250, 1)",
		 1, VMM_MAX_HZ, NULL},
		{"think", 0, OPTION_DURATION, &r.think_ns, "D",
		 "rr: work of the requester between rounds (default 0)", 0, VMM_MAX_THINK_NS, NULL},
		{"seed", 0, OPTION_U64, &r.seed, "N", "burst: seed of the timers (default 1)", 0,
		 NOT_GIVEN - 1, NULL},
		{"short", 0, OPTION_DURATION, &r.short_ns, "D",
		 "burst: short timers (default 30us)", 1000, VMM_MAX_TIMER_NS / 2, NULL},
		{"long", 0, OPTION_DURATION, &r.long_ns, "D", "burst: long timers (default 2ms)",
		 1000, VMM_MAX_TIMER_NS / 2, NULL},
		{"short-percent", 0, OPTION_U64, &r.short_percent, "N",
		 "burst: share of short timers (default 80)", 0, 100, NULL},
		{"halt-poll", 0, OPTION_DURATION, &r.halt_poll_ns, "D",
		 "ceiling of KVM's halt polling for these VMs (default: KVM's own)", 0,
		 VMM_MAX_HALT_POLL_NS, NULL},
		{"pin", 0, OPTION_CALL, &r, "LIST",
		 "CPUs of the vCPUs, or none (default: rr apart, others none)", 0, 0, parse_pin},
		{"json", 0, OPTION_FLAG, &r.json, NULL, "print a JSON object", 0, 0, NULL},
		{0},
	};
	const struct option_spec spec = {
		.command = "vm",
		.usage = "run GUEST... [options] | list [--json]",
		.summary = "Runs small test guests on /dev/kvm and says what happened.",
		.rows = rows,
	};
	int first = options_parse(&spec, argc, argv);

	if (first < 0)
		return options_exit(first);
	if (first < argc && !strcmp(argv[first], "run"))
		return run_guests(&r, argc - first - 1, argv + first + 1);
	if (first + 1 == argc && !strcmp(argv[first], "list"))
		return list_guests(r.json);
	fprintf(stderr, "Usage: vhalt vm %s (try --help)\n", spec.usage);
	return 2;
}

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
#include "tool/vm_print.h"
#include "tool/vm_request.h"
#include "vmm/vmm.h"

enum { MAX_VMS = 16 };

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

static int run_guests(const struct vm_request *request, int nr, char **words)
{
	struct run runs[MAX_VMS] = {0};
	int code = 0;

	if (!nr || nr > MAX_VMS) {
		fprintf(stderr, "vhalt vm: run needs 1 to %d guests (see vhalt vm list)\n",
			MAX_VMS);
		return 2;
	}
	for (int i = 0; i < nr; i++) {
		code = vm_request_configure(request, words[i], &runs[i].config);
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
	struct vm_request r;
	int first = vm_request_parse(&r, argc, argv);

	if (first < 0)
		return options_exit(first);
	if (first < argc && !strcmp(argv[first], "run"))
		return run_guests(&r, argc - first - 1, argv + first + 1);
	if (first + 1 == argc && !strcmp(argv[first], "list"))
		return list_guests(r.json);
	fprintf(stderr, "Usage: vhalt vm %s (try --help)\n", vm_request_usage);
	return 2;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The vhalt command: a table of subcommands.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tool/commands.h"
#include "tool/version.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
};

static const struct command commands[] = {
	{"advise", cmd_advise, "record (or read) halts and say what to set"},
	{"record", cmd_record, "record every halt of this host's vCPUs into a .vht file"},
	{"replay", cmd_replay, "run policies over recorded halts, against the clairvoyant bound"},
	{"dump", cmd_dump, "print a recording as text or JSON lines"},
	{"inspect", cmd_inspect, "say what a file is, what is in it, what is missing, what it shows"},
	{"lint", cmd_lint, "find settings that make no sense or fight each other"},
	{"policies", cmd_policies, "list the policies and their parameters"},
	{"suite", cmd_suite, "run policies over the synthetic workload suite"},
	{"sim", cmd_sim, "simulate an overcommitted host and its VMs"},
	{"bench", cmd_bench, "measure waiting on this machine: threads, loopback TCP, real vCPUs"},
	{"vm", cmd_vm, "run a small test guest on /dev/kvm"},
	{"ctl", cmd_ctl, "show, change and put back this host's settings"},
};

static void usage(FILE *out)
{
	fputs("Usage: vhalt COMMAND [options]\n\nCommands:\n", out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\nvhalt COMMAND --help shows a command's options; vhalt --version the version.\n", out);
}

/* What stdio still holds must reach its file, or the run has failed; a reader who left is no news. */
static int finish(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (errno != EPIPE)
		fprintf(stderr, "vhalt: standard output: %s\n", strerror(errno));
	return code ? code : 1;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return finish(commands[i].run(argc - 1, argv + 1));
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return finish(0);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		puts("vhalt " VHALT_VERSION);
		return finish(0);
	}
	fprintf(stderr, "vhalt: \"%s\" is not a command\n\n", argv[1]);
	usage(stderr);
	return 2;
}

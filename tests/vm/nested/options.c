// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Command line of the nested machine, and what of it is about threads.
#include "vmm.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned int number(const char *text, unsigned int most)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (*end || end == text || v > most) {
		errno = EINVAL;
		nested_die("not a number up to %u: %s", most, text);
	}
	return v;
}

void nested_parse(int argc, char **argv, struct nested_config *c)
{
	int opt;

	*c = (struct nested_config){.append = "", .cpus = 2, .memory_mib = 192, .limit_s = 120};
	while ((opt = getopt(argc, argv, "k:i:a:l:R:T:g:P:c:m:t:r:S")) != -1) {
		switch (opt) {
		case 'k': c->kernel = optarg; break;
		case 'i': c->initrd = optarg; break;
		case 'a': c->append = optarg; break;
		case 'l': c->console = optarg; break;
		case 'R': c->report = optarg; break;
		case 'T': c->threads = optarg; break;
		case 'g': c->phase = optarg; break;
		case 'P': c->pin = optarg; break;
		case 'c': c->cpus = number(optarg, NESTED_MAX_VCPUS); break;
		case 'm': c->memory_mib = number(optarg, 1024); break;
		case 't': c->limit_s = number(optarg, 100000); break;
		case 'r': c->max_reboots = number(optarg, 1000); break;
		case 'S': c->no_steal = true; break;
		default: exit(NESTED_SETUP);
		}
	}
	if (!c->kernel || !c->initrd || !c->console || !c->report || !c->cpus || optind != argc) {
		fputs("usage: nested-vmm -k VMLINUX -i INITRD -l CONSOLE -R REPORT [-a CMDLINE]\n"
		      "       [-c CPUS] [-m MIB] [-t SECONDS] [-r REBOOTS] [-T THREADS] [-g PHASE] "
		      "[-P CPU,...] [-S]\n",
		      stderr);
		exit(NESTED_SETUP);
	}
}

void nested_pin_self(const struct nested_config *config, unsigned int n)
{
	const char *p = config->pin;
	cpu_set_t set;

	while (p && n--) {
		p = strchr(p, ',');
		p = p ? p + 1 : NULL;
	}
	if (!p)
		return;
	CPU_ZERO(&set);
	CPU_SET(strtoul(p, NULL, 10) % CPU_SETSIZE, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		nested_die("cannot pin to CPU %s", p);
}

void nested_write_threads(const struct nested_vm *vm)
{
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s.new", vm->config.threads);
	f = fopen(name, "we");
	if (!f)
		nested_die("%s", name);
	fprintf(f, "pid %d\n", getpid());
	for (unsigned int n = 0; n < vm->config.cpus; n++)
		fprintf(f, "vcpu %u tid %d\n", n, vm->vcpus[n].tid);
	if (fclose(f) || rename(name, vm->config.threads))
		nested_die("%s", vm->config.threads);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The machine a benchmark ran on, and how quiet it was meanwhile.
#include "measure/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

#define SYS_CPU "/sys/devices/system/cpu"

/* First line of a file, without its newline; "" when it cannot be read. */
static void read_line(const char *path, char *text, size_t bytes)
{
	FILE *in = fopen(path, "re");

	text[0] = '\0';
	if (!in)
		return;
	if (!fgets(text, (int)bytes, in))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	fclose(in);
}

static void read_cpuinfo(struct measure_machine *m)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char line[4096];

	snprintf(m->cpu, sizeof(m->cpu), "unknown");
	if (!in)
		return;
	/* The first CPU's paragraph is enough. */
	while (fgets(line, sizeof(line), in) && line[0] != '\n') {
		char *value = strchr(line, ':');

		line[strcspn(line, "\n")] = '\0';
		if (!value)
			continue;
		if (!strncmp(line, "model name", 10))
			snprintf(m->cpu, sizeof(m->cpu), "%.79s", value + 2);
		if (!strncmp(line, "flags", 5))
			m->guest = strstr(value, " hypervisor") != NULL;
	}
	fclose(in);
}

void measure_machine_read(struct measure_machine *m)
{
	struct utsname name;
	char load[64];

	memset(m, 0, sizeof(*m));
	read_cpuinfo(m);
	if (!uname(&name))
		snprintf(m->kernel, sizeof(m->kernel), "%.71s", name.release);
	read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", m->clock,
		  sizeof(m->clock));
	read_line(SYS_CPU "/cpuidle/current_driver", m->idle, sizeof(m->idle));
	read_line("/proc/loadavg", load, sizeof(load));
	m->load1 = strtod(load, NULL);
	m->cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
}

void measure_noise_begin(struct measure_noise *noise)
{
	uint64_t user, nice, system, idle, iowait, irq, softirq, steal, ticks_ns;
	FILE *in = fopen("/proc/stat", "re");

	memset(noise, 0, sizeof(*noise));
	noise->at_ns = clock_now_ns();
	noise->own_cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (!in)
		return;
	if (fscanf(in,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) == 8) {
		ticks_ns = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK);
		noise->steal = steal;
		noise->all = user + nice + system + idle + iowait + irq + softirq + steal;
		noise->busy_cpu_ns = (user + nice + system + irq + softirq) * ticks_ns;
	}
	fclose(in);
}

void measure_noise_end(const struct measure_noise *begin, struct measure_noise_result *result)
{
	struct measure_noise end;
	double all, others;

	measure_noise_begin(&end);
	memset(result, 0, sizeof(*result));
	all = (double)(end.at_ns - begin->at_ns) * (double)sysconf(_SC_NPROCESSORS_ONLN);
	others = (double)(end.busy_cpu_ns - begin->busy_cpu_ns) -
		 (double)(end.own_cpu_ns - begin->own_cpu_ns);
	if (end.all > begin->all)
		result->steal_pct = 100.0 * (double)(end.steal - begin->steal) /
				    (double)(end.all - begin->all);
	if (all > 0 && others > 0)
		result->others_pct = 100.0 * others / all;
}

static int core_of(unsigned int cpu)
{
	char path[96], text[16];

	snprintf(path, sizeof(path), SYS_CPU "/cpu%u/topology/core_id", cpu);
	read_line(path, text, sizeof(text));
	return text[0] ? atoi(text) : -1;
}

int measure_cpus_pick(unsigned int cpus[2])
{
	unsigned int nr = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (!nr)
			cpus[nr++] = cpu;
		else if (nr == 1 || core_of(cpus[1]) == core_of(cpus[0])) {
			cpus[1] = cpu;
			nr = 2;
		}
		if (nr == 2 && core_of(cpus[1]) != core_of(cpus[0]))
			break;
	}
	return nr == 2 ? 0 : -ENODEV;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Events a second of the simulator on one core: boost-3vm, and how the cost grows with the vCPUs.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/scenario.h"
#include "sim/world.h"

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void set(struct sim_config *config, const char *key, const char *value)
{
	char error[SIM_ERROR_BYTES];

	if (sim_config_set(config, key, value, error)) {
		fprintf(stderr, "sim_bench: %s\n", error);
		exit(1);
	}
}

/* Runs for @duration and prints one object. */
static void measure(struct sim_config *config, const char *name, const char *duration,
		    char separator)
{
	struct sim_world *w;
	double seconds;

	set(config, "run.warmup", "10ms");
	set(config, "run.duration", duration);
	if (sim_world_create(&w, config, 1)) {
		fprintf(stderr, "sim_bench: out of memory\n");
		exit(1);
	}
	seconds = cpu_seconds();
	sim_world_run(w);
	seconds = cpu_seconds() - seconds;
	printf("{\"name\":\"%s\",\"vcpus\":%u,\"events\":%llu,\"events_per_second\":%.0f,"
	       "\"ns_per_event\":%.1f,\"bytes_per_vcpu\":%llu}%c",
	       name, w->nr_vcpus, (unsigned long long)w->events, (double)w->events / seconds,
	       seconds * 1e9 / (double)w->events,
	       (unsigned long long)(sim_world_bytes(w) / w->nr_vcpus), separator);
	sim_world_destroy(w);
}

/* A scenario as it is shipped: its base, its first row and column. */
static void measure_scenario(const char *path)
{
	static struct sim_scenario scenario;
	char error[SIM_ERROR_BYTES];
	struct sim_config config;
	FILE *file = fopen(path, "re");

	if (!file || sim_scenario_read(file, path, &scenario, error) ||
	    sim_scenario_cell(&scenario, 0, 0, NULL, 0, &config, error)) {
		fprintf(stderr, "sim_bench: %s: cannot be read\n", path);
		exit(1);
	}
	fclose(file);
	measure(&config, "boost-3vm hackbench", "300ms", ',');
}

/* Mostly idle vCPUs, so that all that grows is the number of them. */
static void measure_idle(const char *vms, char separator)
{
	struct sim_config config;

	sim_config_init(&config);
	sim_config_kind(&config, "a", true);
	set(&config, "host.pcpus", "1024");
	set(&config, "a.count", vms);
	set(&config, "a.vcpus", "4");
	set(&config, "a.workload", "poisson");
	set(&config, "a.work", "20us");
	measure(&config, "poisson", "200ms", separator);
}

int main(void)
{
	printf("{\"name\":\"sim\",\"runs\":[");
	measure_scenario("sim/scenarios/boost-3vm.ini");
	measure_idle("25", ',');
	measure_idle("250", ',');
	measure_idle("2500", ' ');
	printf("]}\n");
	return 0;
}

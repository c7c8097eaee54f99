/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The machine a benchmark ran on, and how quiet it was meanwhile. */
#ifndef VHALT_MEASURE_MACHINE_H
#define VHALT_MEASURE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/** What stands above a table of figures. */
struct measure_machine {
	char cpu[80];	   /* model name, or "unknown" */
	char kernel[72];   /* release */
	char clock[24];	   /* clocksource */
	char idle[24];	   /* cpuidle driver, "none": the CPUs halt at once, as in most guests */
	unsigned int cpus; /* online */
	bool guest;	   /* the CPU says that it runs under a hypervisor */
	double load1;	   /* load average of the last minute, at the beginning */
};

/** measure_machine_read - from /proc, /sys and uname; what cannot be read stays empty or 0. */
void measure_machine_read(struct measure_machine *machine);

/** The books of /proc/stat at one moment, in clock ticks, all CPUs together. */
struct measure_noise {
	uint64_t at_ns;
	uint64_t steal, all;
	uint64_t own_cpu_ns;  /* this process */
	uint64_t busy_cpu_ns; /* all of this machine, by the same clock ticks */
};

/** measure_noise_begin - open the books. */
void measure_noise_begin(struct measure_noise *noise);

/** How much the machine did beside the benchmark. Percentages are of all CPUs together. */
struct measure_noise_result {
	double steal_pct;  /* taken by the hypervisor */
	double others_pct; /* used by other programs here */
};

/** measure_noise_end - close the books opened by measure_noise_begin(). */
void measure_noise_end(const struct measure_noise *noise, struct measure_noise_result *result);

/**
 * measure_cpus_pick - two CPUs for two threads, from this thread's affinity.
 * @cpus:  receives two different CPUs, on different cores if there are such
 *
 * Return: 0, -ENODEV (only one CPU may be used), -errno.
 */
int measure_cpus_pick(unsigned int cpus[2]);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Threads bound to a CPU, as the benchmarks need them.
#include "measure/clock.h"

#include <sched.h>

int measure_thread_start(pthread_t *thread, unsigned int cpu, void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int err = pthread_attr_init(&attr);

	if (err)
		return -err;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	err = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (!err)
		err = pthread_create(thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return -err;
}

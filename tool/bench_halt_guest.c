// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One row of vhalt bench halt: the same four guests, waited for in one way.
#include "tool/bench_halt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "vmm/vmm.h"

/* For the signal handler. */
static struct vmm *volatile running;
static volatile sig_atomic_t interrupted;

void bench_halt_interrupt(int number)
{
	interrupted = number;
	if (running)
		vmm_stop(running);
}

bool bench_halt_interrupted(void)
{
	return interrupted;
}

static void skip(struct bench_row *row, const char *why)
{
	snprintf(row->skipped, sizeof(row->skipped), "%.191s", why);
}

static void configure(const struct bench_options *options, const struct bench_halt_way *way,
		      struct vmm_config *c)
{
	c->duration_ns = options->for_ns;
	c->watchdog_ns = options->for_ns + 30000000000ULL;
	c->pin = VMM_PIN_LIST;
	c->nr_pin_cpus = 2;
	memcpy(c->pin_cpus, options->cpus, sizeof(options->cpus));
	switch (way->who) {
	case BENCH_KERNEL_NONE: c->halt_poll_ns = 0; break;
	case BENCH_KERNEL_ALWAYS: c->halt_poll_ns = VMM_MAX_HALT_POLL_NS; break;
	case BENCH_KERNEL_DYNAMIC: c->halt_poll_ns = BENCH_HALT_CEILING_NS; break;
	case BENCH_USER:
		c->irqchip = VMM_IRQCHIP_USER;
		c->policy = way->config;
		break;
	case BENCH_GUEST:
		c->halt_poll_ns = 0;
		c->guest_polls = true;
		c->guest_policy = way->config;
		break;
	}
}

/* Return: as bench_halt_run(). */
static int run_guest(const struct bench_options *options, const struct bench_halt_way *way,
		     struct bench_row *row, const char *guest, struct vmm_result *result)
{
	struct vmm_error error = {""};
	struct vmm_config config;
	struct vmm *vm;
	int err = vmm_config_init(&config, guest);

	if (err)
		return err;
	configure(options, way, &config);
	err = vmm_create(&config, &vm, &error);
	if (err) {
		skip(row, error.text);
		return err;
	}
	running = vm;
	/* A signal between the two lines above and here found nothing to stop. */
	if (interrupted)
		vmm_stop(vm);
	err = vmm_start(vm, &error);
	if (!err)
		err = vmm_wait(vm, result);
	running = NULL;
	vmm_destroy(vm);
	if (err && !interrupted) {
		skip(row, error.text[0] ? error.text : result->error_text.text);
		err = -EIO;
	}
	return interrupted ? -EINTR : err;
}

static double cpu_pct(const struct vmm_result *r)
{
	uint64_t cpu_ns = 0;

	for (unsigned int n = 0; n < r->nr_vcpus; n++)
		cpu_ns += r->vcpus[n].cpu_ns;
	return r->elapsed_ns ? 100.0 * (double)cpu_ns / (double)r->elapsed_ns : 0;
}

static double us(uint64_t ns)
{
	return (double)ns / 1000;
}

static void note_trips(struct measure_samples *cells, const struct vmm_result *r)
{
	const struct vmm_latency *l = &r->vcpus[0].latency;

	if (!l->count)
		return;
	measure_samples_add(&cells[COLUMN_TRIP_MEAN], us(l->mean_ns));
	measure_samples_add(&cells[COLUMN_TRIP_P50], us(l->p50_ns));
	measure_samples_add(&cells[COLUMN_TRIP_P99], us(l->p99_ns));
	measure_samples_add(&cells[COLUMN_TRIP_PCT], cpu_pct(r) / r->nr_vcpus);
}

static void note_mixed(struct measure_samples *cells, const struct vmm_result *r)
{
	const struct vmm_vcpu_result *v = &r->vcpus[0];
	double cpu_us;

	if (!v->rounds || !v->latency.count)
		return;
	cpu_us = us(v->cpu_ns) / (double)v->rounds;
	measure_samples_add(&cells[COLUMN_MIXED_CPU], cpu_us);
	measure_samples_add(&cells[COLUMN_MIXED_LATE], us(v->latency.mean_ns));
	measure_samples_add(&cells[COLUMN_MIXED_COST],
			    cpu_us + BENCH_HALT_PRICE * us(v->latency.mean_ns));
}

int bench_halt_run(const struct bench_options *options, const struct bench_halt_way *way,
		   struct bench_row *row)
{
	struct measure_samples *cells = row->cells;
	struct vmm_result r;
	int err = run_guest(options, way, row, "idle", &r);

	if (err)
		return err;
	measure_samples_add(&cells[COLUMN_IDLE_PCT], cpu_pct(&r));
	err = run_guest(options, way, row, "tick", &r);
	if (err)
		return err;
	measure_samples_add(&cells[COLUMN_TICK_PCT], cpu_pct(&r));
	if (r.vcpus[0].latency.count)
		measure_samples_add(&cells[COLUMN_TICK_LATE], us(r.vcpus[0].latency.mean_ns));
	err = run_guest(options, way, row, "rr", &r);
	if (err)
		return err;
	note_trips(cells, &r);
	err = run_guest(options, way, row, "burst", &r);
	if (!err)
		note_mixed(cells, &r);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Recording every halt of this host's vCPUs by eBPF, into a .vht file.
#include "trace/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "trace/recorder_host.h"
#include "trace/recorder_internal.h"
#include "trace/recorder_probe.h"
#include "trace/recorder_ring.h"
#include "trace/recorder_track.h"
#include "trace/vht.h"
#include "util/clock.h"

#define MS_NS 1000000ULL

/*
 * The programs and this side read the same clock, but in different ways, which may be some
 * nanoseconds apart while the kernel corrects it. This margin costs nothing but that the last
 * millisecond waits for the next drain.
 */
#define HORIZON_MARGIN_NS MS_NS

/* So often a frame is cut even when few halts came: what a kill -9 can cost. */
#define FLUSH_NS (10000 * MS_NS)

/*
 * Halts a millisecond that one CPU can make without loss between two drains: a vCPU that is woken
 * while it polls needs some 2-3 us from one halt to the next. Rings of the default size are drained
 * every 25 ms; smaller ones more often, which costs wake-ups of this process.
 */
enum { HALTS_PER_MS = 330, MIN_PERIOD_MS = 5, MAX_PERIOD_MS = 50 };

struct recorder {
	struct recorder_probe probe;
	struct recorder_rings rings;
	struct recorder_track track;
	struct vht_writer *writer;
	uint32_t written_vms, written_vcpus;
	uint64_t halts, halts_flushed;
	uint64_t missed; /* see recorder_cost */
	uint64_t origin_ns, flushed_ns;
	off_t fd_origin; /* -1: not a file */
	int fd, timer_fd;
	int err; /* the first error of writing */
};

static int start_timer(struct recorder *r)
{
	long ms = (long)r->probe.nr_slots / HALTS_PER_MS;
	struct itimerspec period = {0};

	ms = ms < MIN_PERIOD_MS ? MIN_PERIOD_MS : ms > MAX_PERIOD_MS ? MAX_PERIOD_MS : ms;
	period.it_value.tv_nsec = period.it_interval.tv_nsec = ms * (long)MS_NS;
	r->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->timer_fd < 0)
		return -errno;
	return timerfd_settime(r->timer_fd, 0, &period, NULL) ? -errno : 0;
}

/* Frees whatever of it there is. The descriptor stays the caller's. */
static void discard(struct recorder *r)
{
	recorder_probe_fini(&r->probe);
	recorder_rings_fini(&r->rings);
	recorder_track_fini(&r->track);
	if (r->timer_fd >= 0)
		close(r->timer_fd);
	free(r);
}

/* From attached programs to a begun file. The origin comes after attaching, see the tracker. */
static int begin(struct recorder *r, const struct recorder_config *config)
{
	struct trace_info info = {.has_latency = config->latency};
	int err;

	recorder_host_read(&info);
	r->origin_ns = r->flushed_ns = clock_read_ns(CLOCK_MONOTONIC);
	info.origin_unix_ns = clock_read_ns(CLOCK_REALTIME);
	err = recorder_track_init(&r->track, r->origin_ns, info.params.halt_poll_ns,
				  recorder_task_read, NULL);
	if (!err)
		err = recorder_track_set_ceilings(&r->track, config->ceilings, config->nr_ceilings);
	if (!err)
		err = start_timer(r);
	r->fd_origin = lseek(r->fd, 0, SEEK_CUR);
	if (!err)
		err = vht_writer_create(&r->writer, r->fd, &info);
	return err;
}

static int start(struct recorder *r, const struct recorder_config *config, char *error,
		 size_t error_bytes)
{
	enum recorder_stage stage = RECORDER_FILTERING;
	bool by_process = config->pids || config->nr_ceilings;
	int err = by_process && !recorder_in_host_pids() ? -ENOTSUP : 0;

	if (!err)
		err = recorder_probe_init(&r->probe, config, &stage);
	if (!err) {
		stage = RECORDER_ATTACHING;
		err = recorder_probe_attach(&r->probe, config->diag);
	}
	if (err)
		return recorder_host_explain(stage, err, error, error_bytes);
	err = recorder_rings_init(&r->rings, r->probe.memory, r->probe.region_bytes,
				  r->probe.nr_rings, r->probe.nr_slots);
	if (!err)
		err = begin(r, config);
	if (err)
		snprintf(error, error_bytes, "cannot begin the recording: %s", strerror(-err));
	return err;
}

int recorder_create(struct recorder **recorder, const struct recorder_config *config, char *error,
		    size_t error_bytes)
{
	struct recorder *r;
	int err;

	*recorder = NULL;
	if (config->ring_bytes &&
	    (config->ring_bytes < RECORDER_RING_MIN || config->ring_bytes > RECORDER_RING_MAX)) {
		snprintf(error, error_bytes, "a ring has %u to %u bytes per CPU, not %u",
			 RECORDER_RING_MIN, RECORDER_RING_MAX, config->ring_bytes);
		return -EINVAL;
	}
	r = calloc(1, sizeof(*r));
	if (!r) {
		snprintf(error, error_bytes, "not enough memory for the recorder");
		return -ENOMEM;
	}
	r->fd = config->fd;
	r->timer_fd = -1;
	err = start(r, config, error, error_bytes);
	if (err) {
		discard(r);
		return err;
	}
	*recorder = r;
	return 0;
}

int recorder_poll_fd(const struct recorder *r)
{
	return r->timer_fd;
}

int recorder_program_fd(const struct recorder *r, enum recorder_program program)
{
	return recorder_probe_program_fd(&r->probe, program);
}

/* Names the VMs and vCPUs that came up since the last time. */
static int write_new(struct recorder *r)
{
	int err = 0;

	for (; !err && r->written_vms < r->track.nr_vms; r->written_vms++)
		err = vht_writer_add_vm(r->writer, recorder_track_vm(&r->track, r->written_vms));
	for (; !err && r->written_vcpus < r->track.nr_vcpus; r->written_vcpus++)
		err = vht_writer_add_vcpu(r->writer,
					  recorder_track_vcpu(&r->track, r->written_vcpus));
	return err;
}

static int write_slot(struct recorder *r, const struct recorder_slot *slot, uint64_t epoch)
{
	struct trace_halt halt;
	int err = 0, steps = recorder_track_slot(&r->track, slot, epoch, &halt);

	if (steps < 0)
		return steps;
	if (r->written_vcpus != r->track.nr_vcpus)
		err = write_new(r);
	if (!err && steps & RECORDER_STEP_NUMBER)
		err = vht_writer_update_vcpu(r->writer, halt.vcpu,
					     recorder_track_vcpu(&r->track, halt.vcpu));
	if (err || !(steps & RECORDER_STEP_HALT))
		return err;
	r->halts++;
	return vht_writer_add(r->writer, &halt);
}

/* Writes what was stamped before @horizon_ns. */
static int drain(struct recorder *r, uint64_t horizon_ns)
{
	const struct recorder_slot *slot;
	struct recorder_cost cost;
	uint64_t epoch;
	int err = 0;

	recorder_probe_cost(&r->probe, &cost);
	recorder_rings_begin(&r->rings, horizon_ns, cost.missed != r->missed);
	r->missed = cost.missed;
	while (!err && (slot = recorder_rings_next(&r->rings, &epoch)) != NULL)
		err = write_slot(r, slot, epoch);
	return err;
}

int recorder_drain(struct recorder *r)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC), expirations;

	if (r->err)
		return r->err;
	/* Makes the descriptor unreadable until the next period; nothing to read is no error. */
	if (read(r->timer_fd, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		r->err = -errno;
	if (!r->err)
		r->err = drain(r, now_ns - HORIZON_MARGIN_NS);
	if (!r->err && r->halts != r->halts_flushed && now_ns - r->flushed_ns > FLUSH_NS) {
		r->err = vht_writer_flush(r->writer);
		r->halts_flushed = r->halts;
		r->flushed_ns = now_ns;
	}
	return r->err;
}

bool recorder_has_vm(const struct recorder *r, uint32_t pid)
{
	for (uint32_t i = 0; i < r->track.nr_vms; i++)
		if (recorder_track_vm(&r->track, i)->pid == pid)
			return true;
	return false;
}

void recorder_counts(const struct recorder *r, struct recorder_counts *counts)
{
	off_t at = r->fd_origin < 0 ? -1 : lseek(r->fd, 0, SEEK_CUR);
	struct recorder_cost cost;

	recorder_probe_cost(&r->probe, &cost);
	*counts = (struct recorder_counts){
		.halts = r->halts,
		.lost = recorder_rings_lost(&r->rings) + cost.missed,
		.early = r->track.early,
		.vms = r->track.nr_vms,
		.vcpus = r->track.nr_vcpus,
		.bytes = at < 0 ? 0 : (uint64_t)(at - r->fd_origin),
		.probe_ns = cost.ns,
		.probe_runs = cost.runs,
	};
}

int recorder_stop(struct recorder *r)
{
	/*
	 * Up to here both programs were attached, so a halt without a window decision had none.
	 * While they are detached one by one that would not be certain.
	 */
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC);
	struct recorder_counts counts;
	int err;

	if (!r->writer)
		return r->err;
	recorder_probe_detach(&r->probe);
	if (!r->err)
		r->err = drain(r, end_ns);
	recorder_counts(r, &counts);
	err = vht_writer_close(r->writer, end_ns - r->origin_ns, counts.lost);
	r->writer = NULL;
	if (!r->err)
		r->err = err;
	return r->err;
}

int recorder_destroy(struct recorder *r)
{
	int err;

	if (!r)
		return 0;
	err = recorder_stop(r);
	discard(r);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How `vhalt advise` comes to a recording when it was not given one.
#include "tool/advise_record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tool/output_file.h"
#include "tool/record_print.h"
#include "trace/recorder.h"
#include "util/clock.h"

enum { EVENT_SIGNAL, EVENT_DRAIN, EVENT_END, NR_EVENTS };

/* What ends a recording, and the mask to go back to. */
struct events {
	struct pollfd poll[NR_EVENTS];
	sigset_t signals, before;
};

static int fail(struct advise_recording *recording, const char *what, int err)
{
	snprintf(recording->reason, sizeof(recording->reason), "%.400s: %s", what, strerror(-err));
	return err;
}

static int open_events(struct events *events)
{
	struct pollfd *p = events->poll;

	for (int i = 0; i < NR_EVENTS; i++)
		p[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	sigemptyset(&events->signals);
	sigaddset(&events->signals, SIGINT);
	sigaddset(&events->signals, SIGTERM);
	sigaddset(&events->signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &events->signals, &events->before))
		return -errno;
	p[EVENT_SIGNAL].fd = signalfd(-1, &events->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p[EVENT_SIGNAL].fd < 0)
		return -errno;
	p[EVENT_END].fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return p[EVENT_END].fd < 0 ? -errno : 0;
}

/* From here on EVENT_END comes at the end of each wave, the last one being the recording's. */
static int start_clock(const struct events *events, uint64_t for_ns, uint32_t nr_waves)
{
	uint64_t each_ns = for_ns / nr_waves;
	struct timespec each = {(time_t)(each_ns / 1000000000), (long)(each_ns % 1000000000)};
	struct itimerspec when = {each, each};

	return timerfd_settime(events->poll[EVENT_END].fd, 0, &when, NULL) ? -errno : 0;
}

static uint32_t waves_ended(const struct events *events)
{
	uint64_t ended = 0;

	if (read(events->poll[EVENT_END].fd, &ended, sizeof(ended)) != sizeof(ended))
		return 0;
	return (uint32_t)ended;
}

/* The signals that ended the recording have done their work: take them before they are let in. */
static void close_events(struct events *events)
{
	struct signalfd_siginfo info;
	int fd = events->poll[EVENT_SIGNAL].fd;

	while (fd >= 0 && read(fd, &info, sizeof(info)) == sizeof(info))
		;
	if (fd >= 0)
		close(fd);
	if (events->poll[EVENT_END].fd >= 0)
		close(events->poll[EVENT_END].fd);
	sigprocmask(SIG_SETMASK, &events->before, NULL);
}

/* A recording nobody wants to keep has no name but ours. */
static int open_unnamed(struct advise_recording *r)
{
	const char *dir = getenv("TMPDIR");
	char path[PATH_MAX];

	if (snprintf(path, PATH_MAX, "%s/vhalt-XXXXXX", dir && *dir ? dir : "/tmp") >= PATH_MAX)
		return fail(r, "TMPDIR", -ENAMETOOLONG);
	r->fd = mkostemp(path, O_CLOEXEC);
	if (r->fd < 0)
		return fail(r, path, -errno);
	unlink(path);
	snprintf(r->path, sizeof(r->path), "/proc/self/fd/%d", r->fd);
	return 0;
}

static int open_output(struct advise_recording *r, struct output_file *out)
{
	int err;

	if (!r->keep)
		return open_unnamed(r);
	err = output_file_open(out, r->keep);
	/* It is read again: no device, no pipe. */
	if (!err && !output_file_is_regular(out))
		err = -EINVAL;
	if (err)
		return fail(r, r->keep, err);
	r->fd = dup(out->fd);
	return r->fd < 0 ? fail(r, r->keep, -errno) : 0;
}

static int name_output(struct advise_recording *r, struct output_file *out)
{
	int err;

	if (!r->keep)
		return 0;
	err = output_file_name(out, NULL);
	if (err)
		return fail(r, r->keep, err);
	snprintf(r->path, sizeof(r->path), "%s", r->keep);
	return 0;
}

/* One event at a time; @wave goes up as they end. Return: 0 to go on, 1 when done, -errno. */
static int step(struct advise_recording *r, struct recorder *recorder, struct advise_demo *demo,
		struct events *events, uint32_t *wave)
{
	uint32_t nr_waves = r->demo ? demo->nr_waves : 1;
	int err;

	if (poll(events->poll, NR_EVENTS, -1) < 0)
		return errno == EINTR ? 0 : fail(r, "waiting", -errno);
	err = events->poll[EVENT_DRAIN].revents ? recorder_drain(recorder) : 0;
	if (err)
		return fail(r, r->path, err);
	r->stopped = events->poll[EVENT_SIGNAL].revents != 0;
	if (r->stopped)
		return 1;
	if (!events->poll[EVENT_END].revents)
		return 0;
	*wave += waves_ended(events);
	if (*wave >= nr_waves)
		return 1;
	return advise_demo_go(demo, *wave, r->reason);
}

static int run(struct advise_recording *r, struct recorder *recorder, struct advise_demo *demo,
	       struct events *events)
{
	struct record_summary summary = {.path = r->path};
	uint64_t began_ns = clock_now_ns();
	uint32_t wave = 0;
	int result;

	events->poll[EVENT_DRAIN].fd = recorder_poll_fd(recorder);
	do {
		result = step(r, recorder, demo, events, &wave);
		recorder_counts(recorder, &summary.counts);
		summary.duration_ns = clock_now_ns() - began_ns;
		record_print_progress(&summary);
	} while (!result);
	record_end_progress();
	return result < 0 ? result : 0;
}

static int record_into(struct advise_recording *r, struct advise_demo *demo, struct events *events,
		       struct output_file *out)
{
	const struct recorder_config config = {
		.fd = r->fd,
		.pids = r->demo ? demo->pids : NULL,
		.nr_pids = r->demo ? demo->nr : 0,
		.latency = true,
	};
	struct recorder *recorder;
	int err = recorder_create(&recorder, &config, r->reason, sizeof(r->reason)), stop_err;

	if (err)
		return err;
	err = name_output(r, out);
	if (!err) {
		err = start_clock(events, r->for_ns, r->demo ? demo->nr_waves : 1);
		if (err)
			fail(r, "the recording's clock", err);
	}
	if (!err && r->demo)
		err = advise_demo_go(demo, 0, r->reason);
	if (!err)
		err = run(r, recorder, demo, events);
	stop_err = recorder_stop(recorder);
	if (!err && stop_err)
		err = fail(r, r->path, stop_err);
	recorder_destroy(recorder);
	return err;
}

int advise_record(struct advise_recording *r)
{
	struct advise_demo demo = {.nr = 0};
	struct output_file out = {.fd = -1};
	struct events events;
	int err, close_err;

	r->fd = -1;
	r->stopped = false;
	err = r->demo ? advise_demo_possible(r->reason) : 0;
	if (err)
		return err;
	err = open_events(&events);
	if (err)
		fail(r, "preparing to record", err);
	if (!err && r->demo)
		err = advise_demo_start(&demo, r->for_ns, r->reason);
	if (!err)
		err = open_output(r, &out);
	if (!err)
		err = record_into(r, &demo, &events, &out);
	advise_demo_stop(&demo);
	close_events(&events);
	close_err = output_file_close(&out);
	if (!err && close_err)
		err = fail(r, r->keep, close_err);
	if (err && r->fd >= 0) {
		close(r->fd);
		r->fd = -1;
	}
	return err;
}

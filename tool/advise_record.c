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
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tool/record_print.h"
#include "trace/recorder.h"

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

/* A named file is written under another name until the recording has begun. */
static int open_output(struct advise_recording *r, char temporary[PATH_MAX])
{
	const char *dir = getenv("TMPDIR");
	struct stat st;
	int n;

	/* It is read again, and replaced by renaming: no device, no pipe. */
	if (r->keep && !stat(r->keep, &st) && !S_ISREG(st.st_mode))
		return fail(r, r->keep, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL);
	if (r->keep)
		n = snprintf(temporary, PATH_MAX, "%s.%d.tmp", r->keep, (int)getpid());
	else
		n = snprintf(temporary, PATH_MAX, "%s/vhalt-XXXXXX", dir && *dir ? dir : "/tmp");
	if (n >= PATH_MAX)
		return fail(r, "the recording's name", -ENAMETOOLONG);
	r->fd = r->keep ? open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
			: mkostemp(temporary, O_CLOEXEC);
	if (r->fd < 0) {
		int err = fail(r, temporary, -errno);

		temporary[0] = '\0'; /* not ours to remove */
		return err;
	}
	return 0;
}

static int name_output(struct advise_recording *r, char temporary[PATH_MAX])
{
	if (r->keep) {
		if (rename(temporary, r->keep))
			return fail(r, r->keep, -errno);
		snprintf(r->path, sizeof(r->path), "%s", r->keep);
	} else {
		unlink(temporary);
		snprintf(r->path, sizeof(r->path), "/proc/self/fd/%d", r->fd);
	}
	temporary[0] = '\0';
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
	uint64_t began_ns = record_clock_ns();
	uint32_t wave = 0;
	int result;

	events->poll[EVENT_DRAIN].fd = recorder_poll_fd(recorder);
	do {
		result = step(r, recorder, demo, events, &wave);
		recorder_counts(recorder, &summary.counts);
		summary.duration_ns = record_clock_ns() - began_ns;
		record_print_progress(&summary);
	} while (!result);
	record_end_progress();
	return result < 0 ? result : 0;
}

static int record_into(struct advise_recording *r, struct advise_demo *demo, struct events *events,
		       char temporary[PATH_MAX])
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
	err = name_output(r, temporary);
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
	char temporary[PATH_MAX] = "";
	struct events events;
	int err;

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
		err = open_output(r, temporary);
	if (!err)
		err = record_into(r, &demo, &events, temporary);
	advise_demo_stop(&demo);
	close_events(&events);
	if (temporary[0])
		unlink(temporary);
	if (err && r->fd >= 0) {
		close(r->fd);
		r->fd = -1;
	}
	return err;
}

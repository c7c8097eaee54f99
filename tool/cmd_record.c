// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt record: record every halt of this host's vCPUs into a .vht file.
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tool/commands.h"
#include "tool/options.h"
#include "tool/output_file.h"
#include "tool/record_print.h"
#include "trace/recorder.h"
#include "util/clock.h"
#include "util/units.h"

enum { MAX_PIDS = 256, ERROR_BYTES = 512 };

/* What poll() waits for: these, then one descriptor per process of --pid. */
enum { POLL_SIGNAL, POLL_DRAIN, POLL_END, POLL_PIDS };

struct request {
	const char *path;
	uint64_t for_ns, ring_kib;
	uint32_t pids[MAX_PIDS];
	struct recorder_ceiling ceilings[MAX_PIDS];
	uint32_t nr_pids, nr_ceilings;
	bool latency, statistics, json, verbose;
};

static int complain(const char *what, int err)
{
	fprintf(stderr, "vhalt record: %s: %s\n", what, strerror(-err));
	return err;
}

/* Return: 0, or -EINVAL, said: @text is no process id, or @nr of them were given already. */
static int take_pid(const char *option, const char *text, uint32_t nr, uint32_t *pid)
{
	uint64_t number;

	if (units_parse_u64(text, &number) || !number || number > INT32_MAX) {
		fprintf(stderr, "vhalt record: %s: \"%s\": not a process id\n", option, text);
		return -EINVAL;
	}
	if (nr == MAX_PIDS) {
		fprintf(stderr, "vhalt record: %s: at most %d processes\n", option, MAX_PIDS);
		return -EINVAL;
	}
	*pid = (uint32_t)number;
	return 0;
}

static int parse_pid(const char *arg, void *value)
{
	struct request *r = value;
	int err = take_pid("--pid", arg, r->nr_pids, &r->pids[r->nr_pids % MAX_PIDS]);

	r->nr_pids += !err;
	return err;
}

/* PID=D */
static int parse_ceiling(const char *arg, void *value)
{
	struct request *r = value;
	struct recorder_ceiling *c = &r->ceilings[r->nr_ceilings % MAX_PIDS];
	size_t digits = strcspn(arg, "=");
	uint64_t ceiling_ns;
	char pid[16];

	snprintf(pid, sizeof(pid), "%.*s", (int)(digits < 15 ? digits : 15), arg);
	if (take_pid("--ceiling", pid, r->nr_ceilings, &c->pid))
		return -EINVAL;
	if (!arg[digits] || units_parse_duration(arg + digits + 1, &ceiling_ns) ||
	    ceiling_ns >= TRACE_UNKNOWN_U32) {
		fprintf(stderr, "vhalt record: --ceiling: \"%s\": not PID=D, with D below 4.29s\n",
			arg);
		return -EINVAL;
	}
	c->ceiling_ns = (uint32_t)ceiling_ns;
	r->nr_ceilings++;
	return 0;
}

/* --- the output file --- */

static int open_output(const char *path, struct output_file *out)
{
	int err = output_file_open(out, path);

	if (err)
		return complain(path, err);
	if (out->fd == STDOUT_FILENO && isatty(STDOUT_FILENO)) {
		fputs("vhalt record: a recording is not for a terminal: redirect it\n", stderr);
		return -EINVAL;
	}
	return 0;
}

/* Gives the file its name. A recording that was there is kept as FILE.old, as perf does. */
static int name_output(struct output_file *out)
{
	char old[PATH_MAX];
	int result;

	if (snprintf(old, sizeof(old), "%s.old", out->path) >= PATH_MAX)
		return complain(out->path, -ENAMETOOLONG);
	result = output_file_name(out, old);
	if (result < 0)
		return complain(out->path, result);
	if (result)
		fprintf(stderr, "vhalt record: the earlier %s is now %s\n", out->path, old);
	return 0;
}

static int close_output(const char *path, struct output_file *out)
{
	int err = output_file_close(out);

	return err ? complain(path, err) : 0;
}

/* --- recording --- */

static int open_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	/* A reader of "-o -" that went away, a file at its limit: errors of writing, not our end. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return -errno;
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

/* Makes the end come @for_ns from now; 0: never. */
static void set_end(int fd, uint64_t for_ns)
{
	struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(for_ns / 1000000000),
			     .tv_nsec = (long)(for_ns % 1000000000)},
	};

	timerfd_settime(fd, 0, &when, NULL);
}

/* Opens what poll() waits for, but for the recorder's own. Return: 0 or -errno, said. */
static int open_events(const struct request *r, struct pollfd *events)
{
	uint32_t nr = POLL_PIDS + r->nr_pids;

	for (uint32_t i = 0; i < nr; i++)
		events[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	events[POLL_SIGNAL].fd = open_signals();
	events[POLL_END].fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (events[POLL_SIGNAL].fd < 0 || events[POLL_END].fd < 0)
		return complain("cannot begin", -errno);
	for (uint32_t i = 0; i < r->nr_pids; i++) {
		int *fd = &events[POLL_PIDS + i].fd;

		*fd = (int)syscall(SYS_pidfd_open, (pid_t)r->pids[i], 0);
		if (*fd < 0) {
			fprintf(stderr, "vhalt record: --pid: process %" PRIu32 ": %s\n",
				r->pids[i], strerror(errno));
			return -ESRCH;
		}
	}
	return 0;
}

static void close_events(const struct request *r, struct pollfd *events)
{
	events[POLL_DRAIN].fd = -1;
	for (uint32_t i = 0; i < POLL_PIDS + r->nr_pids; i++)
		if (events[i].fd >= 0)
			close(events[i].fd);
}

/* Whether the last process of --pid has ended. */
static bool have_all_ended(struct pollfd *events, uint32_t nr_pids)
{
	bool alive = false;

	for (uint32_t i = 0; i < nr_pids; i++) {
		struct pollfd *event = &events[POLL_PIDS + i];

		if (event->fd >= 0 && event->revents) {
			close(event->fd);
			event->fd = -1;
		}
		alive |= event->fd >= 0;
	}
	return nr_pids && !alive;
}

/* Drains until a signal, the time or the last process's end. Return: 0 or -errno of writing. */
static int run(const struct request *r, struct recorder *recorder, struct pollfd *events,
	       struct record_summary *summary)
{
	uint64_t began_ns = clock_now_ns();
	bool done = false;
	int err = 0;

	set_end(events[POLL_END].fd, r->for_ns);
	events[POLL_DRAIN].fd = recorder_poll_fd(recorder);
	while (!done && !err) {
		if (poll(events, POLL_PIDS + r->nr_pids, -1) < 0 && errno != EINTR)
			return -errno;
		if (events[POLL_DRAIN].revents)
			err = recorder_drain(recorder);
		done = events[POLL_SIGNAL].revents || events[POLL_END].revents ||
		       have_all_ended(events, r->nr_pids);
		recorder_counts(recorder, &summary->counts);
		summary->duration_ns = clock_now_ns() - began_ns;
		record_print_progress(summary);
	}
	return err;
}

static void report_libbpf(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "vhalt record: %s\n", text);
}

/* A ceiling that went into no recording: a wrong process, or one that never was a VM. */
static void report_unused_ceilings(const struct request *r, const struct recorder *recorder)
{
	for (uint32_t i = 0; i < r->nr_ceilings; i++)
		if (!recorder_has_vm(recorder, r->ceilings[i].pid))
			fprintf(stderr,
				"vhalt record: --ceiling: no vCPU of process %" PRIu32
				" halted: its ceiling is noted nowhere\n",
				r->ceilings[i].pid);
}

static int record(const struct request *r, struct output_file *out, struct pollfd *events,
		  struct record_summary *summary)
{
	const struct trace_diag diag = {.report = report_libbpf};
	const struct recorder_config config = {
		.fd = out->fd,
		.pids = r->nr_pids ? r->pids : NULL,
		.nr_pids = r->nr_pids,
		.ceilings = r->ceilings,
		.nr_ceilings = r->nr_ceilings,
		.latency = r->latency,
		.statistics = r->statistics,
		.ring_bytes = (uint32_t)r->ring_kib * 1024,
		.diag = r->verbose ? &diag : NULL,
	};
	struct recorder *recorder;
	char error[ERROR_BYTES];
	int err, stop_err;

	if (recorder_create(&recorder, &config, error, sizeof(error))) {
		fprintf(stderr, "vhalt record: %s\n", error);
		return -EIO;
	}
	err = name_output(out);
	if (!err) {
		err = run(r, recorder, events, summary);
		stop_err = recorder_stop(recorder);
		err = err ? err : stop_err;
		if (err)
			complain(r->path, err);
	}
	record_end_progress();
	if (!err)
		report_unused_ceilings(r, recorder);
	recorder_counts(recorder, &summary->counts);
	recorder_destroy(recorder);
	return err;
}

static int record_to_file(const struct request *r)
{
	struct record_summary summary = {.path = r->path, .has_cost = r->statistics};
	struct pollfd events[POLL_PIDS + MAX_PIDS];
	struct output_file out = {.fd = -1};
	int err = open_events(r, events), close_err;

	if (!err)
		err = open_output(r->path, &out);
	if (!err)
		err = record(r, &out, events, &summary);
	close_err = close_output(r->path, &out);
	close_events(r, events);
	if (err || close_err)
		return 1;
	record_print_notes(&summary, r->verbose);
	return record_print_summary(strcmp(r->path, "-") ? stdout : stderr, &summary, r->json) ? 1
											       : 0;
}

int cmd_record(int argc, char **argv)
{
	struct request r = {0};
	const struct option_row rows[] = {
		{"output", 'o', OPTION_STRING, &r.path, "FILE",
		 "the recording; - is standard output", 0, 0, NULL},
		{"for", 0, OPTION_DURATION, &r.for_ns, "D",
		 "stop after so long (default: at Ctrl-C)", 1000000, 0, NULL},
		{"pid", 'p', OPTION_CALL, &r, "PID",
		 "only the VM of this process; repeatable; ends when the last of them does", 0, 0,
		 parse_pid},
		{"ceiling", 0, OPTION_CALL, &r, "PID=D",
		 "the VMM of this process has set its VM's KVM_CAP_HALT_POLL to D; repeatable", 0,
		 0, parse_ceiling},
		{"latency", 0, OPTION_FLAG, &r.latency, NULL,
		 "also measure how long each blocked vCPU took to wake up", 0, 0, NULL},
		{"stats", 0, OPTION_FLAG, &r.statistics, NULL,
		 "say what recording cost, by the kernel's BPF statistics", 0, 0, NULL},
		{"ring-kib", 0, OPTION_U64, &r.ring_kib, "N",
		 "buffer per CPU in KiB, rounded down to a power of two (default 512)",
		 RECORDER_RING_MIN / 1024, RECORDER_RING_MAX / 1024, NULL},
		{"json", 0, OPTION_FLAG, &r.json, NULL, "print the summary as JSON", 0, 0, NULL},
		{"verbose", 'v', OPTION_FLAG, &r.verbose, NULL, "say more on stderr", 0, 0, NULL},
		{0},
	};
	const struct option_spec spec = {
		.command = "record",
		.usage = "-o FILE [options]",
		.summary = "Records every halt of this host's vCPUs until interrupted.",
		.rows = rows,
	};
	int first = options_parse(&spec, argc, argv);

	if (first < 0)
		return options_exit(first);
	if (first < argc || !r.path) {
		fprintf(stderr, "Usage: vhalt record %s (try --help)\n", spec.usage);
		return 2;
	}
	return record_to_file(&r);
}

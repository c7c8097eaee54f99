// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Runs one case of the rig: its process, its output, its time limit, its end.
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A killed process that is not gone after this long is stuck in the kernel (normal: some ms). */
#define DIE_LIMIT_S 10

/* Output of a running case, cut into lines. */
struct output {
	int fd; /* read end, non-blocking */
	size_t used;
	char line[RIG_LINE_BYTES]; /* the line being collected */
	char last[RIG_LINE_BYTES]; /* the last whole line that was not empty */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

static void end_line(struct output *o)
{
	o->line[o->used] = '\0';
	rig_say("#   %s", o->line);
	if (o->used)
		memcpy(o->last, o->line, o->used + 1);
	o->used = 0;
}

/*
 * Take what the case has printed so far: at most twice what a pipe holds, so that one that prints
 * without end cannot keep us from its limit.
 */
static void drain(struct output *o)
{
	char buf[4096];

	for (int reads = 0; reads < 32; reads++) {
		ssize_t n = read(o->fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] == '\n') {
				end_line(o);
				continue;
			}
			/* Nothing that would move a terminal's cursor or end a string. */
			o->line[o->used++] = (unsigned char)buf[i] < ' ' ? ' ' : buf[i];
			if (o->used == sizeof(o->line) - 1)
				end_line(o);
		}
	}
}

/* The case's own process, up to its exec. */
static void child(const struct rig_case *c, int out_fd)
{
	char *argv[] = {(char *)(uintptr_t)c->path, NULL};
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(out_fd, 2) < 0)
		_exit(126);
	if (chdir("/tmp"))
		_exit(126);
	execv(c->path, argv);
	dprintf(2, "cannot execute %s: %s\n", c->path, strerror(errno));
	_exit(127);
}

/* Start the case. Returns its pid with the read end of its output in @fd, or -errno. */
static pid_t start(const struct rig_case *c, int *fd)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid == 0)
		child(c, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		int err = -errno;

		close(ends[0]);
		return err;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*fd = ends[0];
	return pid;
}

/* Wait for the end of @pid, forwarding its output. False when the limit came first. */
static bool wait_end(pid_t pid, struct output *o, uint64_t deadline_ns)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p[2] = {
		{.fd = pidfd, .events = POLLIN},
		{.fd = o->fd, .events = POLLIN},
	};
	bool ended = false;

	while (!ended) {
		uint64_t now = now_ns();

		if (now >= deadline_ns)
			break;
		if (poll(p, 2, (int)((deadline_ns - now) / 1000000) + 1) < 0 && errno != EINTR)
			break;
		drain(o);
		if (p[1].revents & (POLLHUP | POLLERR))
			p[1].fd = -1; /* closed by the case, which may still be running */
		ended = p[0].revents & POLLIN;
	}
	if (pidfd >= 0)
		close(pidfd);
	return ended;
}

/*
 * End and reap every process but this one, so that no case can disturb the next. Stores the exit
 * status of @pid. False when a process does not die: it is stuck in the kernel.
 */
static bool kill_all(pid_t pid, int *status)
{
	static const struct timespec grace = {.tv_sec = DIE_LIMIT_S};
	sigset_t chld;
	pid_t got;
	int st;

	/* Blocked since main(): a child that ends leaves the signal pending, none is missed. */
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	kill(-1, SIGKILL);
	for (;;) {
		got = waitpid(-1, &st, WNOHANG);
		if (got < 0)
			return true;
		if (got == pid)
			*status = st;
		if (got == 0 && sigtimedwait(&chld, NULL, &grace) < 0 && errno == EAGAIN)
			return false;
	}
}

static void judge(int status, const char *last, struct rig_outcome *out)
{
	bool skip = WIFEXITED(status) && WEXITSTATUS(status) == RIG_EXIT_SKIP;

	if (!status || (skip && *last))
		out->result = status ? RIG_SKIPPED : RIG_OK;
	if (WIFSIGNALED(status))
		snprintf(out->reason, sizeof(out->reason), "killed by signal %d", WTERMSIG(status));
	else if (skip)
		snprintf(out->reason, sizeof(out->reason), "%s",
			 *last ? last : "skipped without a reason");
	else if (status)
		snprintf(out->reason, sizeof(out->reason), "exit code %d", WEXITSTATUS(status));
}

void rig_case_run(const struct rig_case *c, struct rig_outcome *out)
{
	struct output o = {.fd = -1};
	uint64_t begin_ns = now_ns();
	pid_t pid = start(c, &o.fd);
	bool ended, dead;
	int status = 0;

	*out = (struct rig_outcome){.result = RIG_FAILED};
	if (pid < 0) {
		snprintf(out->reason, sizeof(out->reason), "cannot start: %s", strerror(-pid));
		return;
	}
	ended = wait_end(pid, &o, begin_ns + c->limit_s * UINT64_C(1000000000));
	out->took_ns = now_ns() - begin_ns;
	dead = kill_all(pid, &status);
	drain(&o);
	if (o.used)
		end_line(&o);
	close(o.fd);
	if (!dead)
		snprintf(out->reason, sizeof(out->reason), "a process survives SIGKILL");
	else if (!ended)
		snprintf(out->reason, sizeof(out->reason), "still running after %u s: killed",
			 c->limit_s);
	else
		judge(status, o.last, out);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A VM in a child process of its own, held at a gate until its parent has everything in place.
//
// One socket pair: commands to the child ('g' go, 's' stop; end of file means stop as well), and
// one struct ready, then one struct vmm_result back.
#include "vmm/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vmm/internal.h"

enum { COMMAND_GO = 'g', COMMAND_STOP = 's' };

/* First message of a child: is its VM ready? */
struct ready {
	int error;
	struct vmm_error text;
};

/* Return: 0; -EPIPE: the other side ended before it had written all of it; -errno. */
static int read_all(int fd, void *buf, size_t bytes)
{
	char *p = buf;

	while (bytes) {
		ssize_t n = read(fd, p, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		/* "Reset": it ended with a command of ours unread. */
		if (!n || (n < 0 && errno == ECONNRESET))
			return -EPIPE;
		if (n < 0)
			return -errno;
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int write_all(int fd, const void *buf, size_t bytes)
{
	const char *p = buf;

	while (bytes) {
		ssize_t n = send(fd, p, bytes, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* --- in the child --- */

/* Keeps the standard descriptors and @fd; others may hold the parent's tracing alive. */
static int drop_descriptors(unsigned int fd)
{
	if (fd > 3 && close_range(3, fd - 1, 0))
		return -errno;
	return close_range(fd + 1, ~0U, 0) ? -errno : 0;
}

/* All signals are blocked since before the fork and stay so; SIGTERM becomes readable. */
static int open_term_fd(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Serves the gate until the VM has ended. Before "go" a stop or the parent's end leaves a VM that
 * was never started: false.
 */
static bool serve(struct vmm *vm, int fd, int term_fd, struct vmm_error *error, int *err)
{
	struct pollfd p[] = {
		{.fd = fd, .events = POLLIN},
		{.fd = term_fd, .events = POLLIN},
		{.fd = vmm_end_fd(vm), .events = POLLIN},
	};
	bool started = false;

	while (!p[2].revents) {
		char command = COMMAND_STOP;

		if (poll(p, 3, -1) < 0 || !(p[0].revents | p[1].revents))
			continue;
		if (p[0].revents && !p[1].revents && read(fd, &command, 1) != 1)
			command = COMMAND_STOP;
		if (command == COMMAND_GO && !started) {
			*err = vmm_start(vm, error);
			started = !*err;
		}
		if (command == COMMAND_GO && started)
			continue;
		if (!started)
			return false;
		vmm_stop(vm);
		p[0].fd = p[1].fd = -1; /* once is enough: wait for the end */
	}
	return true;
}

static void child_run(const struct vmm_config *config, int fd)
{
	struct vmm_result result = {.end = VMM_END_STOPPED};
	struct ready ready = {0};
	struct vmm *vm = NULL;
	char name[16];
	int term_fd = -1, err;

	snprintf(name, sizeof(name), "vhalt-%.7s", config->guest);
	prctl(PR_SET_NAME, name);
	err = drop_descriptors((unsigned int)fd);
	if (!err)
		term_fd = open_term_fd();
	if (err || term_fd < 0)
		ready.error = vmm_error_set(&ready.text, err ? err : term_fd,
					    "cannot set up the VM's process: %s",
					    strerror(err ? -err : -term_fd));
	else
		ready.error = vmm_create(config, &vm, &ready.text);
	if (write_all(fd, &ready, sizeof(ready)) || ready.error)
		return;

	memcpy(result.guest, config->guest, sizeof(result.guest));
	err = 0;
	if (serve(vm, fd, term_fd, &result.error_text, &err))
		err = vmm_wait(vm, &result);
	else if (err)
		result.end = VMM_END_FAILED;
	result.error = err;
	/* If the parent is gone there is nobody left to tell. */
	(void)write_all(fd, &result, sizeof(result));
	vmm_destroy(vm);
}

/* --- in the parent --- */

/* Returns in both processes like fork(); all signals are blocked in the child. */
static pid_t fork_blocked(void)
{
	sigset_t all, old;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pid = fork();
	if (pid)
		sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

/* Takes the child's exit, and says so in @text if it was not a plain exit. */
static void reap(struct vmm_child *child, struct vmm_error *text)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		vmm_error_set(text, 0, "the process of guest %s (%d) was killed by signal %d",
			      child->guest, (int)child->pid, WTERMSIG(status));
	close(child->fd);
	child->pid = -1;
	child->fd = -1;
}

static int await_ready(struct vmm_child *child, struct vmm_error *error)
{
	struct ready ready;
	int err = read_all(child->fd, &ready, sizeof(ready));

	if (!err && !ready.error)
		return 0;
	if (err) {
		ready.error = err;
		vmm_error_set(&ready.text, 0,
			      "the process of guest %s ended before its VM was ready",
			      child->guest);
	}
	reap(child, &ready.text);
	return vmm_error_set(error, ready.error, "%s", ready.text.text);
}

int vmm_child_start(const struct vmm_config *config, struct vmm_child *child,
		    struct vmm_error *error)
{
	const pid_t parent = getpid();
	int fds[2], err;

	*child = (struct vmm_child){.pid = -1, .fd = -1};
	err = vmm_config_check(config, error);
	if (err)
		return err;
	memcpy(child->guest, config->guest, sizeof(child->guest));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		err = -errno;
		return vmm_error_set(error, err, "socketpair: %s", strerror(-err));
	}
	child->pid = fork_blocked();
	if (child->pid < 0) {
		err = -errno;
		close(fds[0]);
		close(fds[1]);
		return vmm_error_set(error, err, "fork: %s", strerror(-err));
	}
	if (!child->pid) {
		/* The parent may have died before the first line; then nobody would kill us. */
		if (!prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent)
			child_run(config, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	child->fd = fds[0];
	return await_ready(child, error);
}

/* Never waits: a full buffer holds commands enough. */
static int send_command(const struct vmm_child *child, char command)
{
	return send(child->fd, &command, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -errno;
}

int vmm_child_go(struct vmm_child *child)
{
	child->released = true;
	return send_command(child, COMMAND_GO);
}

void vmm_child_stop(const struct vmm_child *child)
{
	int saved = errno;

	/* It fails only when the child is gone, and that is for vmm_child_wait() to tell. */
	(void)send_command(child, COMMAND_STOP);
	errno = saved;
}

int vmm_child_wait(struct vmm_child *child, struct vmm_result *result)
{
	int err;

	if (!child->released)
		vmm_child_stop(child);
	err = read_all(child->fd, result, sizeof(*result));
	if (err) {
		*result = (struct vmm_result){.end = VMM_END_FAILED, .error = err};
		memcpy(result->guest, child->guest, sizeof(result->guest));
		vmm_error_set(&result->error_text, 0, "the process of guest %s (%d) ended early",
			      child->guest, (int)child->pid);
	}
	reap(child, err ? &result->error_text : NULL);
	return result->error;
}

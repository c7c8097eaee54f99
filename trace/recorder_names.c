// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Who a vCPU thread is: names of its VM and itself, by /proc and by the ways of known VMMs.
#include "trace/recorder_names.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	COMM_CHARS = 15,       /* as long as the kernel keeps a thread's name */
	CMDLINE_BYTES = 32768, /* enough for a guest's name: libvirt writes it first */
	STAT_BYTES = 1024,
	STAT_START_FIELD = 22, /* proc(5): starttime */
};

/* Reads a small file of /proc. Return: its length, 0 where there is none. */
static size_t read_proc(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;

	text[0] = '\0';
	if (fd < 0)
		return 0;
	while (used < bytes - 1) {
		ssize_t n = read(fd, text + used, bytes - 1 - used);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	close(fd);
	text[used] = '\0';
	return used;
}

/* Processes name themselves: nothing that moves a terminal's cursor gets into a recording. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

static void read_name(const char *path, char name[TRACE_NAME_BYTES])
{
	size_t n = read_proc(path, name, TRACE_NAME_BYTES);

	if (n && name[n - 1] == '\n')
		name[n - 1] = '\0';
	make_printable(name);
}

/* The start time in a /proc stat line; the name in it may hold blanks and brackets. 0: unknown. */
static uint64_t read_start(const char *path)
{
	char text[STAT_BYTES];
	const char *p;

	read_proc(path, text, sizeof(text));
	p = strrchr(text, ')');
	/* After the name, field 2, each blank begins the next field. */
	for (int field = 2; p && field < STAT_START_FIELD; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

bool recorder_in_host_pids(void)
{
	/* The first PID namespace has this inode number in every kernel (PROC_PID_INIT_INO). */
	static const char first[] = "pid:[4026531836]";
	char text[64];
	ssize_t n = readlink("/proc/self/ns/pid", text, sizeof(text));

	return n == (ssize_t)sizeof(first) - 1 && !memcmp(text, first, sizeof(first) - 1);
}

void recorder_task_read(void *context, uint32_t pid, uint32_t tid, struct recorder_task *task)
{
	bool visible = recorder_in_host_pids();
	char path[96], comm[TRACE_NAME_BYTES] = "";

	(void)context;
	memset(task, 0, sizeof(*task));
	if (visible) {
		char *cmdline = malloc(CMDLINE_BYTES);
		size_t cmdline_bytes = 0;

		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", pid);
		read_name(path, comm);
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cmdline", pid);
		if (cmdline)
			cmdline_bytes = read_proc(path, cmdline, CMDLINE_BYTES);
		recorder_vm_name(comm, cmdline ? cmdline : "", cmdline_bytes, task->vm_name);
		free(cmdline);
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
		task->vm_start = read_start(path);
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/comm", pid, tid);
		read_name(path, task->thread_name);
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid, tid);
		task->thread_start = read_start(path);
	}
	if (!comm[0])
		snprintf(task->vm_name, sizeof(task->vm_name), "pid %" PRIu32 "%s", pid,
			 visible ? " (exited)" : "");
	if (!task->thread_name[0])
		snprintf(task->thread_name, sizeof(task->thread_name), "tid %" PRIu32 "%s", tid,
			 visible ? " (exited)" : "");
}

/* The value of argument @arg if it is option @option: behind "=", or @next. NULL if it is not. */
static const char *option_value(const char *arg, const char *next, const char *option)
{
	size_t n = strlen(option);

	if (strncmp(arg, option, n))
		return NULL;
	if (arg[n] == '=')
		return arg + n + 1;
	return arg[n] ? NULL : next;
}

/* Copies QEMU's guest name: up to the first single comma, ",," standing for one. */
static void copy_guest(const char *value, char guest[TRACE_NAME_BYTES])
{
	size_t n = 0;

	if (!strncmp(value, "guest=", 6))
		value += 6;
	for (; *value && n < TRACE_NAME_BYTES - 1; value++) {
		if (*value == ',' && *++value != ',')
			break;
		guest[n++] = *value;
	}
	guest[n] = '\0';
	make_printable(guest);
}

/* Fits "GUEST (COMM)" into the name's room: the guest is cut first, being the longer as a rule. */
static void join_names(const char *guest, const char *comm, char name[TRACE_NAME_BYTES])
{
	int room = TRACE_NAME_BYTES - 1 - 3 - COMM_CHARS;

	snprintf(name, TRACE_NAME_BYTES, "%.*s (%.*s)", room, guest, COMM_CHARS, comm);
}

void recorder_vm_name(const char *comm, const char *cmdline, size_t cmdline_bytes,
		      char name[TRACE_NAME_BYTES])
{
	static const char *const options[] = {"-name", "--name", "--id"};
	const char *end = cmdline + cmdline_bytes;
	char guest[TRACE_NAME_BYTES] = "";

	/* An argument without its NUL is a cut one: it and what would follow do not count. */
	for (const char *arg = cmdline, *nul, *next; !guest[0] && arg < end; arg = next) {
		const char *value = NULL;

		nul = memchr(arg, '\0', (size_t)(end - arg));
		if (!nul)
			break;
		next = nul + 1;
		bool has_next = next < end && memchr(next, '\0', (size_t)(end - next));

		for (size_t i = 0; !value && i < sizeof(options) / sizeof(options[0]); i++)
			value = option_value(arg, has_next ? next : NULL, options[i]);
		if (value)
			copy_guest(value, guest);
	}
	if (guest[0])
		join_names(guest, comm, name);
	else
		snprintf(name, TRACE_NAME_BYTES, "%s", comm);
	make_printable(name);
}

/* Reads the number at @text; @rest receives what follows. TRACE_UNKNOWN_U32 where there is none. */
static uint32_t parse_number(const char *text, const char **rest)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)*text))
		return TRACE_UNKNOWN_U32;
	errno = 0;
	number = strtoul(text, &end, 10);
	*rest = end;
	return errno || number >= TRACE_UNKNOWN_U32 ? TRACE_UNKNOWN_U32 : (uint32_t)number;
}

uint32_t recorder_vcpu_number(const char *thread_name)
{
	const char *vcpu = strstr(thread_name, "vcpu"), *slash = strchr(thread_name, '/');
	const char *number_at, *rest = "";
	uint32_t number;

	if (!strncmp(thread_name, "CPU ", 4)) {
		number = parse_number(thread_name + 4, &rest);
		return strcmp(rest, "/KVM") ? TRACE_UNKNOWN_U32 : number;
	}
	if (!strncmp(thread_name, "vhalt-", 6) && slash) {
		number_at = slash + 1;
	} else if (vcpu) {
		number_at = vcpu + 4;
		if (*number_at && strchr(" -_:", *number_at))
			number_at++;
	} else {
		return TRACE_UNKNOWN_U32;
	}
	number = parse_number(number_at, &rest);
	if (*rest || strlen(thread_name) >= COMM_CHARS)
		return TRACE_UNKNOWN_U32;
	return number;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// PID 1 of the rig's emulated machine: sets it up, runs the plan, reports out of band, powers off.
//
// Reads from its initramfs:
//   /rig/modules   one module file a line, in load order, with its parameters if any
//   /rig/env       NAME=VALUE lines, put into the environment of every case
//   /rig/plan      "<limit in s> <name> <path>" lines, run in order
//   /rig/no-files  when it exists, the machine has no way to bring files out (a nested guest)
// Writes to port RIG_PORT_VERDICT a TAP-like report that ends in "verdict pass" or "verdict fail",
// and into the shared memory a tar archive of /out, after the last case.
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* What cases put here is brought out to the host. */
#define OUT_DIR	  "/out"
#define KLOG_COPY OUT_DIR "/kernel.log"

/* Most lines of a list file; the plan of a run is far smaller. */
#define LIST_MAX 256

static const struct {
	const char *type, *at, *options;
	bool required;
} mounts[] = {
	{"devtmpfs", "/dev", "mode=755", true},
	{"proc", "/proc", "", true},
	{"sysfs", "/sys", "", true},
	{"tmpfs", "/tmp", "mode=1777", true},
	{"tmpfs", "/run", "mode=755", true},
	{"tmpfs", OUT_DIR, "mode=755", true},
	{"debugfs", "/sys/kernel/debug", "", true},
	{"tracefs", "/sys/kernel/tracing", "", true},
	{"bpf", "/sys/fs/bpf", "", true},
	{"devpts", "/dev/pts", "", false},
	{"tmpfs", "/dev/shm", "mode=1777", false},
	{"cgroup2", "/sys/fs/cgroup", "", false},
};

static unsigned int mount_all(void)
{
	unsigned int bad = 0;

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].at, 0755);
		if (!mount(mounts[i].type, mounts[i].at, mounts[i].type, MS_NOSUID,
			   mounts[i].options))
			continue;
		rig_say("# cannot mount %s: %s", mounts[i].at, strerror(errno));
		bad += mounts[i].required;
	}
	return bad;
}

static int loopback_up(void)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr))
		err = -errno;
	close(fd);
	return err;
}

/*
 * The lines of a small text file, in memory that lives until power-off. Returns their number, or
 * -errno; says what is wrong.
 */
static int read_lines(const char *path, char **lines)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int n = 0;

	if (!f) {
		n = -errno;
		goto say;
	}
	while (n >= 0 && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line)
			continue;
		if (n == LIST_MAX)
			n = -E2BIG;
		else if (!(lines[n++] = strdup(line)))
			n = -ENOMEM;
	}
	free(line);
	fclose(f);
say:
	if (n < 0)
		rig_say("# cannot read %s: %s", path, strerror(-n));
	return n;
}

static unsigned int load_modules(void)
{
	char *paths[LIST_MAX];
	int n = read_lines("/rig/modules", paths);
	unsigned int bad = n < 0;

	for (int i = 0; i < n; i++) {
		char *parameters = strchrnul(paths[i], ' ');
		int fd;

		if (*parameters)
			*parameters++ = '\0';
		fd = open(paths[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0)) {
			rig_say("# cannot load %s: %s", paths[i], strerror(errno));
			bad++;
		}
		if (fd >= 0)
			close(fd);
	}
	return bad;
}

static unsigned int set_environment(void)
{
	char *pairs[LIST_MAX];
	int n = read_lines("/rig/env", pairs);

	setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 1);
	setenv("HOME", "/tmp", 1);
	setenv("LANG", "C", 1);
	setenv("OUT", OUT_DIR, 1);
	for (int i = 0; i < n; i++)
		putenv(pairs[i]);
	return n < 0;
}

/* Everything between power-on and the first case. Returns the number of things that failed. */
static unsigned int set_up(struct rig_klog *klog)
{
	static const struct rlimit locked = {RLIM_INFINITY, RLIM_INFINITY};
	unsigned int bad = mount_all();
	int err;

	err = rig_klog_init(klog, KLOG_COPY);
	if (err) {
		rig_say("# cannot read the kernel log: %s", strerror(-err));
		bad++;
	}
	err = loopback_up();
	if (err) {
		rig_say("# cannot bring the loopback up: %s", strerror(-err));
		bad++;
	}
	setrlimit(RLIMIT_MEMLOCK, &locked);
	bad += set_environment();
	return bad + load_modules();
}

static void report(int nr, const char *name, const struct rig_outcome *o)
{
	double took_s = o->took_ns / 1e9;

	switch (o->result) {
	case RIG_OK: rig_say("ok %d - %s # %.2f s", nr, name, took_s); break;
	case RIG_SKIPPED: rig_say("ok %d - %s # SKIP %s", nr, name, o->reason); break;
	case RIG_FAILED: rig_say("not ok %d - %s # %.2f s: %s", nr, name, took_s, o->reason); break;
	}
}

/* A defect in the kernel's log fails the case, whatever the case itself thinks. */
static void add_kernel_view(struct rig_klog *klog, struct rig_outcome *o)
{
	char first[RIG_LINE_BYTES - 64];
	unsigned int n = rig_klog_check(klog, first, sizeof(first));

	if (!n)
		return;
	o->result = RIG_FAILED;
	snprintf(o->reason, sizeof(o->reason), "%u kernel defect line%s, first: %s", n,
		 n > 1 ? "s" : "", first);
}

static bool parse_case(char *line, struct rig_case *c)
{
	char *save = NULL;
	const char *limit = strtok_r(line, " ", &save);

	c->name = strtok_r(NULL, " ", &save);
	c->path = strtok_r(NULL, " ", &save);
	c->limit_s = limit ? strtoul(limit, NULL, 10) : 0;
	return c->limit_s && c->name && c->path;
}

/* Run all cases. Returns the number of failed ones. */
static unsigned int run_plan(struct rig_klog *klog)
{
	char *lines[LIST_MAX];
	int n = read_lines("/rig/plan", lines);
	unsigned int failed = 0;

	rig_say("1..%d", n);
	for (int i = 0; i < n; i++) {
		struct rig_outcome o = {.result = RIG_FAILED};
		struct rig_case c;

		if (!parse_case(lines[i], &c)) {
			rig_say("not ok %d - plan # line not understood", i + 1);
			failed++;
			continue;
		}
		rig_say("# case %s, limit %u s", c.name, c.limit_s);
		rig_case_run(&c, &o);
		add_kernel_view(klog, &o);
		report(i + 1, c.name, &o);
		failed += o.result == RIG_FAILED;
	}
	return n > 0 ? failed : 1;
}

/* Hand /out to the host as a tar archive. Returns 0 or -errno. */
static int hand_out_files(void)
{
	FILE *tar = popen("busybox tar -c -C " OUT_DIR " .", "re");
	ssize_t n;

	if (!tar)
		return -errno;
	n = rig_files_send(fileno(tar));
	if (pclose(tar) && n >= 0)
		n = -EIO;
	if (n < 0)
		return n;
	rig_say("# files: %zd bytes", n);
	return 0;
}

static void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	/* No ACPI power-off: QEMU with -no-reboot ends on a reset as well. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* The whole work of this machine. Returns the number of things that failed. */
static unsigned int run(void)
{
	struct rig_klog klog;
	char first[RIG_LINE_BYTES];
	unsigned int failed = set_up(&klog);
	int err;

	failed += rig_klog_check(&klog, first, sizeof(first));
	rig_say(failed ? "not ok - boot # see above" : "# boot ok");
	failed += run_plan(&klog);
	rig_klog_fini(&klog);
	err = access("/rig/no-files", F_OK) ? hand_out_files() : 0;
	if (err) {
		rig_say("not ok - files # %s", strerror(-err));
		failed++;
	}
	return failed;
}

int main(void)
{
	struct utsname u;
	sigset_t chld;

	if (getpid() != 1 || rig_port_init()) {
		fprintf(stderr, "init: only of use as PID 1 of the rig\n");
		return 2;
	}
	/* Taken by sigtimedwait() in the case runner. */
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	uname(&u);
	rig_say("# kernel %s", u.release);
	rig_say("verdict %s", run() ? "fail" : "pass");
	power_off();
	return 0;
}

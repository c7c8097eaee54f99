// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The settings of this machine, gathered into a listing that the reader of listings reads.
#include "tool/lint_live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "replay/apply.h"

enum { VALUE_BYTES = 16384 };

/** A listing being written. */
struct listing {
	FILE *out;
	const char *root;
};

static ssize_t read_file(const char *path, char value[VALUE_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, value, VALUE_BYTES - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n >= 0)
		value[n] = '\0';
	return n;
}

/* All files of a folder, as "NAME:VALUE" with NAME as sysfs has it, wherever they were read. */
static void add_folder(struct listing *l, const char *from, const char *as)
{
	char path[PATH_MAX], value[VALUE_BYTES];
	DIR *dir = opendir(from);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", from, entry->d_name) >= PATH_MAX ||
		    read_file(path, value) < 0)
			continue;
		value[strcspn(value, "\n")] = '\0';
		fprintf(l->out, "%s/%s:%s\n", as, entry->d_name, value);
	}
	if (dir)
		closedir(dir);
}

static void add_sysfs(struct listing *l, const char *folder)
{
	char from[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s%s", l->root, folder) < PATH_MAX)
		add_folder(l, from, folder);
}

/* Lines of a file that begin with one of two words. */
static void add_lines(struct listing *l, const char *path, const char *one, const char *other)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	while (in && getline(&line, &room, in) > 0)
		if (!strncmp(line, one, strlen(one)) || !strncmp(line, other, strlen(other)))
			fprintf(l->out, "%.*s\n", (int)strcspn(line, "\n"), line);
	free(line);
	if (in)
		fclose(in);
}

static void add_modprobe(struct listing *l)
{
	char folder[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (snprintf(folder, sizeof(folder), "%s/etc/modprobe.d", l->root) >= PATH_MAX)
		return;
	dir = opendir(folder);
	while (dir && (entry = readdir(dir)))
		if (strstr(entry->d_name, ".conf") &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < PATH_MAX)
			add_lines(l, path, "options kvm ", "options haltpoll ");
	if (dir)
		closedir(dir);
}

static void add_kernel(struct listing *l)
{
	char path[PATH_MAX], value[VALUE_BYTES];
	struct utsname name;

	if (snprintf(path, sizeof(path), "%s/proc/cmdline", l->root) < PATH_MAX &&
	    read_file(path, value) > 0)
		fprintf(l->out, "%.*s\n", (int)strcspn(value, "\n"), value);
	if (uname(&name))
		return;
	if (snprintf(path, sizeof(path), "%s/boot/config-%s", l->root, name.release) < PATH_MAX)
		add_lines(l, path, "CONFIG_HZ=", "CONFIG_HZ_1000=y");
}

int lint_live(struct stats **stats, const struct trace_diag *diag)
{
	const char *parameters = getenv(APPLY_PARAMETERS_DIR_ENV), *root = getenv(LINT_ROOT_ENV);
	struct listing l = {.root = root ? root : ""};
	char *text = NULL;
	size_t nr = 0;
	int err;

	l.out = open_memstream(&text, &nr);
	if (!l.out)
		return -ENOMEM;
	if (parameters && *parameters)
		add_folder(&l, parameters, APPLY_PARAMETERS_DIR);
	else
		add_sysfs(&l, APPLY_PARAMETERS_DIR);
	add_sysfs(&l, "/sys/module/haltpoll/parameters");
	add_sysfs(&l, "/sys/module/cpuidle_haltpoll/parameters");
	add_sysfs(&l, "/sys/devices/system/cpu/cpuidle");
	add_modprobe(&l);
	add_kernel(&l);
	err = fclose(l.out) ? -ENOMEM : 0;
	if (!err && !nr) {
		trace_diag_file(diag, "this machine", "neither kvm nor haltpoll is loaded");
		err = -ENODATA;
	}
	if (!err)
		err = stats_read_bytes(stats, text, nr, "this machine", diag);
	free(text);
	return err;
}

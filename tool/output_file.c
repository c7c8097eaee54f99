// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A result file that is there whole or not at all.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/output_file.h"

/* The file meant: what a link points to, if that exists; else the name as it was given. */
static int resolve(struct output_file *out, const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISLNK(st.st_mode)) {
		if (realpath(path, out->path))
			return 0;
		if (errno != ENOENT)
			return -errno;
	}
	return snprintf(out->path, PATH_MAX, "%s", path) >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int output_file_open(struct output_file *out, const char *path)
{
	struct stat st;
	int err;

	*out = (struct output_file){.fd = -1};
	if (!strcmp(path, "-")) {
		out->fd = STDOUT_FILENO;
		return 0;
	}
	err = resolve(out, path);
	if (err)
		return err;
	if (!stat(out->path, &st) && !S_ISREG(st.st_mode)) {
		out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
		return out->fd < 0 ? -errno : 0;
	}
	if (snprintf(out->temporary_path, PATH_MAX, "%s.%d.tmp", out->path, (int)getpid()) >=
	    PATH_MAX)
		return -ENAMETOOLONG;
	out->fd = open(out->temporary_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	out->temporary = out->fd >= 0;
	return out->fd < 0 ? -errno : 0;
}

bool output_file_is_regular(const struct output_file *out)
{
	return out->temporary_path[0] != '\0';
}

int output_file_name(struct output_file *out, const char *old)
{
	struct stat st;
	bool earlier;

	if (!out->temporary)
		return 0;
	earlier = old && !stat(out->path, &st) && st.st_size;
	if (earlier && rename(out->path, old))
		return -errno;
	if (rename(out->temporary_path, out->path))
		return -errno;
	out->temporary = false;
	return earlier;
}

int output_file_close(struct output_file *out)
{
	int fd = out->fd;

	if (out->temporary)
		unlink(out->temporary_path);
	out->temporary = false;
	out->fd = -1;
	if (fd < 0 || fd == STDOUT_FILENO)
		return 0;
	return close(fd) ? -errno : 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The recording that comes with vhalt, for machines that cannot make one.
#include "tool/advise_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
	return access(path, R_OK) == 0;
}

int advise_bundled_find(char path[PATH_MAX])
{
	static const char *const places[] = {"../demo/demo.vht", "../share/vhalt/demo.vht",
					     "demo/demo.vht"};
	const char *given = getenv("VHALT_DEMO");
	char binary[PATH_MAX], *slash;
	ssize_t n;

	if (given && *given)
		return snprintf(path, PATH_MAX, "%s", given) < PATH_MAX && is_file(path) ? 0
											 : -ENOENT;
	n = readlink("/proc/self/exe", binary, sizeof(binary) - 1);
	if (n < 0)
		return -ENOENT;
	binary[n] = '\0';
	slash = strrchr(binary, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (snprintf(path, PATH_MAX, "%s/%s", binary, places[i]) < PATH_MAX &&
		    is_file(path))
			return 0;
	return -ENOENT;
}

static int copy_bytes(int from, int to)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		for (ssize_t done = 0; done < n;) {
			ssize_t put = write(to, buf + done, (size_t)(n - done));

			if (put < 0)
				return -errno;
			done += put;
		}
	return n < 0 ? -errno : 0;
}

int advise_copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out, err = 0;
	struct stat a, b;

	if (in < 0)
		return -errno;
	if (!fstat(in, &a) && !stat(to, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
		close(in);
		return 0;
	}
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out < 0)
		err = -errno;
	if (!err)
		err = copy_bytes(in, out);
	if (out >= 0 && close(out) && !err)
		err = -errno;
	close(in);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The old values of KVM's parameters on disk: written whole or not at all.
#include "replay/apply_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

/* Of the file's format. */
#define STORE_VERSION 1

enum { PATH_BYTES = 4096 };

static const char *state_dir(void)
{
	const char *dir = getenv(APPLY_STATE_DIR_ENV);

	return dir && *dir ? dir : APPLY_STATE_DIR;
}

const char *apply_state_path(char *path, size_t bytes)
{
	snprintf(path, bytes, "%s/%s", state_dir(), APPLY_STATE_NAME);
	return path;
}

static int fail(char error[APPLY_ERROR_BYTES], const char *path, int err)
{
	snprintf(error, APPLY_ERROR_BYTES, "%.400s: %s", path, strerror(-err));
	return err;
}

int apply_store_lock(bool create, char error[APPLY_ERROR_BYTES])
{
	const char *dir = state_dir();
	int fd;

	if (create && mkdir(dir, 0755) && errno != EEXIST)
		return fail(error, dir, -errno);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		snprintf(error, APPLY_ERROR_BYTES, "nothing is saved in %.400s", dir);
		return -ENOENT;
	}
	if (fd < 0)
		return fail(error, dir, -errno);
	if (flock(fd, LOCK_EX)) {
		int err = -errno;

		close(fd);
		return fail(error, dir, err);
	}
	return fd;
}

/* Values that no parameter can have, and any other shape, are damage. */
static int unpack(json_t *root, struct apply_saved *saved)
{
	json_t *version = json_object_get(root, "version"), *old = json_object_get(root, "old");
	const char *key;
	json_t *value;
	size_t known = 0;

	if (json_integer_value(version) != STORE_VERSION || !json_is_object(old))
		return -EPROTO;
	memset(saved, 0, sizeof(*saved));
	json_object_foreach(old, key, value) for (uint32_t i = 0; i < APPLY_PARAMETERS; i++)
	{
		if (strcmp(key, apply_parameter(i)) != 0 || !json_is_integer(value) ||
		    json_integer_value(value) < 0 || json_integer_value(value) > UINT32_MAX)
			continue;
		saved->has[i] = true;
		saved->old[i] = (uint64_t)json_integer_value(value);
		known++;
	}
	return known && known == json_object_size(old) ? 0 : -EPROTO;
}

int apply_store_read(struct apply_saved *saved, char error[APPLY_ERROR_BYTES])
{
	char path[PATH_BYTES];
	json_error_t details;
	json_t *root;
	FILE *file;
	int err;

	apply_state_path(path, sizeof(path));
	file = fopen(path, "re");
	if (!file && errno == ENOENT) {
		snprintf(error, APPLY_ERROR_BYTES, "%.400s: nothing is saved", path);
		return -ENOENT;
	}
	if (!file)
		return fail(error, path, -errno);
	root = json_loadf(file, JSON_REJECT_DUPLICATES, &details);
	fclose(file);
	err = root ? unpack(root, saved) : -EPROTO;
	if (err)
		snprintf(error, APPLY_ERROR_BYTES,
			 "%.200s: not a saved state of vhalt (%s); look at it and remove it", path,
			 root ? "wrong content" : details.text);
	json_decref(root);
	return err;
}

static json_t *pack(const struct apply_saved *saved)
{
	json_t *old = json_object();
	int err = 0;

	for (uint32_t i = 0; i < APPLY_PARAMETERS; i++)
		if (saved->has[i])
			err |= json_object_set_new(old, apply_parameter(i),
						   json_integer((json_int_t)saved->old[i]));
	if (err) {
		json_decref(old);
		return NULL;
	}
	return json_pack("{s:i,s:o}", "version", STORE_VERSION, "old", old);
}

/* A new file beside the old one, on disk, then renamed over it, and the name on disk too. */
static int write_whole(const char *path, const char *text)
{
	char temporary[PATH_BYTES + 8];
	size_t length = strlen(text);
	int fd, dir, err = 0;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	errno = 0;
	if (write(fd, text, length) != (ssize_t)length)
		err = errno ? -errno : -ENOSPC;
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err) {
		unlink(temporary);
		return err;
	}
	dir = open(state_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (fsync(dir))
		err = -errno;
	close(dir);
	return err;
}

int apply_store_write(const struct apply_saved *saved, char error[APPLY_ERROR_BYTES])
{
	char path[PATH_BYTES];
	json_t *root = pack(saved);
	char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
	int err = text ? write_whole(apply_state_path(path, sizeof(path)), text) : -ENOMEM;

	free(text);
	json_decref(root);
	return err ? fail(error, apply_state_path(path, sizeof(path)), err) : 0;
}

int apply_store_remove(char error[APPLY_ERROR_BYTES])
{
	char path[PATH_BYTES];

	apply_state_path(path, sizeof(path));
	return unlink(path) ? fail(error, path, -errno) : 0;
}

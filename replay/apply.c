// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Setting KVM's module parameters so that they can be put back: the old values are saved first.
#include "replay/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/apply_store.h"
#include "util/units.h"

enum { VALUE_BYTES = 32, PATH_BYTES = 4096 };

const char *apply_parameter(uint32_t index)
{
	static const char *const names[APPLY_PARAMETERS] = {"halt_poll_ns", "halt_poll_ns_grow",
							    "halt_poll_ns_grow_start",
							    "halt_poll_ns_shrink"};

	return names[index];
}

__attribute__((format(printf, 3, 4))) static int fail(char error[APPLY_ERROR_BYTES], int err,
						      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, APPLY_ERROR_BYTES, format, args);
	va_end(args);
	return err;
}

static const char *parameters_dir(void)
{
	const char *dir = getenv(APPLY_PARAMETERS_DIR_ENV);

	return dir && *dir ? dir : APPLY_PARAMETERS_DIR;
}

static int open_parameter(const char *parameter, int flags)
{
	char path[PATH_BYTES];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", parameters_dir(), parameter) >= PATH_BYTES)
		return -ENAMETOOLONG;
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int read_parameter(const char *parameter, uint64_t *value)
{
	char text[VALUE_BYTES];
	int fd = open_parameter(parameter, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return units_parse_u64(text, value);
}

/* Write, then look: a module may accept a value and keep another. */
static int write_parameter(const char *parameter, uint64_t value)
{
	char text[VALUE_BYTES];
	int fd = open_parameter(parameter, O_WRONLY | O_TRUNC), n, err = 0;
	uint64_t now;

	if (fd < 0)
		return fd;
	n = snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	if (write(fd, text, (size_t)n) != n)
		err = errno ? -errno : -EIO;
	if (close(fd) && !err)
		err = -errno;
	if (!err)
		err = read_parameter(parameter, &now);
	return err ? err : now == value ? 0 : -EIO;
}

/* Mode bits count for root too: sysfs refuses a write that they do not allow. */
static int check_writable(const char *parameter)
{
	int fd = open_parameter(parameter, O_RDONLY), err = 0;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		err = -errno;
	close(fd);
	if (err)
		return err;
	if (!(st.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)))
		return -EROFS;
	fd = open_parameter(parameter, O_WRONLY);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static const char *why(int err)
{
	switch (err) {
	case -EROFS:
		return "read-only on this host (mode 0444): it can be set only when kvm is loaded, "
		       "by "
		       "modprobe.d or the kernel's command line";
	case -ENOENT: return "no such parameter; is the kvm module loaded?";
	case -EACCES:
	case -EPERM: return "not permitted; root is needed";
	default: return strerror(-err);
	}
}

int apply_check(const struct apply_value *values, size_t nr, char error[APPLY_ERROR_BYTES])
{
	for (size_t i = 0; i < nr; i++) {
		int err = check_writable(values[i].parameter);

		if (err)
			return fail(error, err, "%s/%s: %s", parameters_dir(), values[i].parameter,
				    why(err));
	}
	return 0;
}

int apply_read_state(struct apply_state *state, char error[APPLY_ERROR_BYTES])
{
	struct apply_saved saved;
	int err = apply_store_read(&saved, error);
	bool known = false;

	memset(state, 0, sizeof(*state));
	state->saved = !err;
	for (uint32_t i = 0; i < APPLY_PARAMETERS; i++) {
		const char *parameter = apply_parameter(i);

		state->parameters[i].parameter = parameter;
		state->parameters[i].known = !read_parameter(parameter,
							     &state->parameters[i].value);
		state->parameters[i].writable = !check_writable(parameter);
		state->parameters[i].has_old = !err && saved.has[i];
		state->parameters[i].old = !err && saved.has[i] ? saved.old[i] : 0;
		known |= state->parameters[i].known;
	}
	if (err && err != -ENOENT)
		return err;
	if (!known)
		return fail(error, -ENOENT, "%s: no halt polling parameters; is kvm loaded?",
			    parameters_dir());
	return 0;
}

static uint32_t index_of(const char *parameter)
{
	uint32_t i = 0;

	while (i + 1 < APPLY_PARAMETERS && strcmp(apply_parameter(i), parameter) != 0)
		i++;
	return i;
}

/* Writes all; when one fails, puts back those before it. */
static int write_all(const struct apply_value *values, const uint64_t *before, size_t nr,
		     char error[APPLY_ERROR_BYTES])
{
	for (size_t i = 0; i < nr; i++) {
		int err = write_parameter(values[i].parameter, values[i].value);

		if (!err)
			continue;
		fail(error, err, "%s/%s: writing %" PRIu64 ": %s", parameters_dir(),
		     values[i].parameter, values[i].value, strerror(-err));
		/* The failed one too: it may have taken the value and not shown it. */
		for (size_t back = i + 1; back-- > 0;) {
			size_t used = strlen(error);

			if (write_parameter(values[back].parameter, before[back]) && back != i)
				snprintf(error + used, APPLY_ERROR_BYTES - used,
					 "; putting back %s=%" PRIu64 " failed too",
					 values[back].parameter, before[back]);
		}
		return err;
	}
	return 0;
}

static int set_locked(const struct apply_value *values, size_t nr, char error[APPLY_ERROR_BYTES])
{
	struct apply_saved saved, older;
	uint64_t before[APPLY_PARAMETERS];
	int err = apply_store_read(&older, error);
	bool had = !err;

	if (err && err != -ENOENT)
		return err;
	if (!had)
		memset(&older, 0, sizeof(older));
	saved = older;
	for (size_t i = 0; i < nr; i++) {
		uint32_t at = index_of(values[i].parameter);

		err = read_parameter(values[i].parameter, &before[i]);
		if (err)
			return fail(error, err, "%s/%s: reading: %s", parameters_dir(),
				    values[i].parameter, strerror(-err));
		if (saved.has[at])
			continue;
		saved.has[at] = true;
		saved.old[at] = before[i];
	}
	err = apply_store_write(&saved, error);
	if (err)
		return err;
	err = write_all(values, before, nr, error);
	if (err) {
		char ignored[APPLY_ERROR_BYTES];

		/* What was saved before still is; if this fails the newer state is no worse. */
		if (had)
			apply_store_write(&older, ignored);
		else
			apply_store_remove(ignored);
	}
	return err;
}

int apply_set(const struct apply_value *values, size_t nr, char error[APPLY_ERROR_BYTES])
{
	int lock, err;

	if (nr > APPLY_PARAMETERS)
		return fail(error, -EINVAL, "%zu parameters are too many", nr);
	err = apply_check(values, nr, error);
	if (err || !nr)
		return err;
	lock = apply_store_lock(true, error);
	if (lock < 0)
		return lock;
	err = set_locked(values, nr, error);
	close(lock);
	return err;
}

static int restore_locked(uint32_t *restored, char error[APPLY_ERROR_BYTES])
{
	struct apply_saved saved;
	int err = apply_store_read(&saved, error);

	if (err)
		return err;
	for (uint32_t i = 0; i < APPLY_PARAMETERS; i++) {
		const char *parameter = apply_parameter(i);

		if (!saved.has[i])
			continue;
		err = check_writable(parameter);
		if (!err)
			err = write_parameter(parameter, saved.old[i]);
		if (err)
			return fail(error, err, "%s/%s: writing %" PRIu64 ": %s", parameters_dir(),
				    parameter, saved.old[i], why(err));
		++*restored;
	}
	return apply_store_remove(error);
}

int apply_restore(uint32_t *restored, char error[APPLY_ERROR_BYTES])
{
	int lock = apply_store_lock(false, error), err;

	*restored = 0;
	if (lock < 0)
		return lock;
	err = restore_locked(restored, error);
	close(lock);
	return err;
}

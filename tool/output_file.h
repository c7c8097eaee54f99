/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A result file that is there whole or not at all. */
#ifndef TOOL_OUTPUT_FILE_H
#define TOOL_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>

/*
 * A regular file is written under another name beside it and renamed when its writer says so: a
 * command that fails or is interrupted leaves an older file alone. A symbolic link is followed, so
 * that it stays one. A device, a pipe or "-" (standard output) is written as it is.
 */
struct output_file {
	int fd;		/* to write to; -1: none open */
	bool temporary; /* the file does not have its name yet */
	char path[PATH_MAX];
	char temporary_path[PATH_MAX];
};

/**
 * output_file_open - begin to write @path.
 * @out:  receives the file; output_file_close() is due whatever the result
 *
 * Return: 0 or -errno (-EEXIST: the temporary name is somebody else's).
 */
int output_file_open(struct output_file *out, const char *path);

/** output_file_is_regular - is it a file that can be read back and renamed? */
bool output_file_is_regular(const struct output_file *out);

/**
 * output_file_name - give the file its name; writing may go on.
 * @old:  when not NULL, an earlier file of that name that holds something is renamed to it first
 *
 * Nothing to do for what has no temporary name. Return: 0, 1 if there was an earlier file and it is
 * @old now, or -errno.
 */
int output_file_name(struct output_file *out, const char *old);

/** output_file_close - close it, and remove it if it has not got its name. Return: 0 or -errno. */
int output_file_close(struct output_file *out);

#endif

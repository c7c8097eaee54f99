/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How `vhalt advise` comes to a recording when it was not given one. */
#ifndef VHALT_TOOL_ADVISE_RECORD_H
#define VHALT_TOOL_ADVISE_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "tool/advise_demo.h"

struct advise_recording {
	/* in */
	bool demo; /* our own VMs, and only them; else all VMs of the host */
	uint64_t for_ns;
	const char *keep; /* file to write the recording to, NULL: an unnamed temporary one */
	/* out */
	char path[PATH_MAX];		  /* what to read it by */
	int fd;				  /* open as long as @path is to be read; -1: none */
	bool stopped;			  /* by a signal, before its time */
	char reason[ADVISE_REASON_BYTES]; /* why there is none */
};

/**
 * advise_record - record for a while, or until SIGINT, SIGTERM or SIGHUP.
 *
 * Everything it starts has ended when it returns, recording and VMs.
 * Return: 0, or -errno with @reason. The caller closes fd.
 */
int advise_record(struct advise_recording *recording);

/**
 * advise_bundled_find - the recording that comes with vhalt.
 * @path:  receives it, at least PATH_MAX
 *
 * $VHALT_DEMO, else demo/demo.vht beside the folder of the binary, else share/vhalt/demo.vht there.
 * Return: 0 or -ENOENT.
 */
int advise_bundled_find(char path[PATH_MAX]);

/** advise_copy - copy a file; a copy onto itself changes nothing. Return: 0 or -errno. */
int advise_copy(const char *from, const char *to);

#endif

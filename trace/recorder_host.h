/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a recording says of its host, and why a host cannot be recorded. */
#ifndef VHALT_TRACE_RECORDER_HOST_H
#define VHALT_TRACE_RECORDER_HOST_H

#include <stddef.h>

#include "trace/halt.h"

/**
 * recorder_host_read - fill params, host and kernel of @info; what cannot be read stays unknown.
 */
void recorder_host_read(struct trace_info *info);

/** What the recorder was doing when it failed. */
enum recorder_stage {
	RECORDER_LOADING,    /* creating maps, loading programs */
	RECORDER_LATENCY,    /* the same, where only measuring latency makes the difference */
	RECORDER_ATTACHING,  /* to KVM's tracepoints */
	RECORDER_STATISTICS, /* turning on the kernel's BPF statistics */
	RECORDER_FILTERING,  /* by pid, from inside a PID namespace */
};

/**
 * recorder_host_explain - say what is missing and what to do instead.
 * @stage:  what was being done
 * @err:    -errno it failed with
 * @error:  receives one or two sentences
 *
 * Return: what recorder_create() is to return: -EPERM (privilege), -ENOENT (no KVM), -ENOTSUP (the
 * kernel lacks something), or @err.
 */
int recorder_host_explain(enum recorder_stage stage, int err, char *error, size_t error_bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Do the module's traced decisions follow, bit for bit, from the core run here? */
#ifndef VHALT_CTL_CHECK_H
#define VHALT_CTL_CHECK_H

#include <stdint.h>
#include <stdio.h>

/*
 * Input is the text of tracepoint vhalt:vhalt_window, as /sys/kernel/tracing/trace and trace_pipe,
 * trace-cmd report or perf script print it; other lines are skipped. kmod/host/trace.h says what an
 * event means and how a decision is made again.
 */

/** What came of it. */
struct ctl_check {
	uint64_t events;    /* vhalt_window lines seen */
	uint64_t same;	    /* decided the same here */
	uint64_t different; /* not so */
	uint64_t unchecked; /* the vCPU's past is not in the trace: it began earlier, or events are
			       lost */
	uint64_t malformed; /* could not be read, or of a policy or parameter not known here */
	uint32_t vcpus;	    /* lives of a vCPU under one policy */
	char first[256];    /* the first difference or malformed line as a sentence, else empty */
};

/**
 * ctl_check_stream - check every event of @in.
 * @name:   of the input, for @result->first
 * @result: filled in any case
 *
 * Memory: about 1 KiB per vCPU. Return: 0, also when decisions differ; -ENOMEM, -EIO.
 */
int ctl_check_stream(FILE *in, const char *name, struct ctl_check *result);

#endif

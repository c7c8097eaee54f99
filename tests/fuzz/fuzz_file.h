/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* For fuzz targets: the input as a file, and a reader run over it to its end. */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/reader_format.h"
#include "trace/tracedat.h"

/** A descriptor of a file with this content, at its beginning. */
static inline int fuzz_file(const uint8_t *data, size_t nr)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, data, nr, 0) != (ssize_t)nr)
		abort();
	return fd;
}

/** Findings must be text that can be shown: one line, terminated, not empty. */
static inline void fuzz_report(void *context, const char *text)
{
	(void)context;
	if (!*text || strchr(text, '\n') || strlen(text) > 1000)
		abort();
}

static const struct trace_diag fuzz_diag = {fuzz_report, NULL};

/** What is known must hang together at any time. */
static inline void fuzz_check_info(const struct trace_info *info)
{
	for (uint32_t i = 0; i < info->nr_vcpus; i++)
		if (info->vcpus[i].vm >= info->nr_vms)
			abort();
}

/** Reads @fd through; calls @see for every batch. */
static inline void fuzz_read(int fd, void (*see)(const struct trace_info *info,
						 const struct trace_halt *halts, size_t nr))
{
	const struct trace_halt *halts;
	struct trace_reader *reader;
	ssize_t nr;

	/* A file can make libtracecmd wait for ever: that is found out sooner here. */
	tracedat_patience_ms = 2000;
	if (trace_reader_open_fd(&reader, fd, "fuzz", &fuzz_diag))
		return;
	while ((nr = trace_reader_next(reader, &halts)) > 0) {
		const struct trace_info *info = trace_reader_info(reader);

		fuzz_check_info(info);
		for (ssize_t i = 0; i < nr; i++)
			if (halts[i].vcpu >= info->nr_vcpus)
				abort();
		if (see)
			see(info, halts, (size_t)nr);
	}
	fuzz_check_info(trace_reader_info(reader));
	trace_reader_close(reader);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The live benchmarks of vhalt bench: each is one file bench_<name>.c. */
#ifndef VHALT_TOOL_BENCH_H
#define VHALT_TOOL_BENCH_H

#include "tool/bench_table.h"

/** bench_ctxsw - switches between two threads against the window's bound. Return: the exit code. */
int bench_ctxsw(const struct bench_options *options);

/** bench_rr - request and response over loopback TCP. Return: the exit code. */
int bench_rr(const struct bench_options *options);

/** bench_halt - real vCPUs, the kernel's polling beside ours. Return: the exit code. */
int bench_halt(const struct bench_options *options);

#endif

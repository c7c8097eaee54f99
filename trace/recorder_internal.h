/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What only the recorder's tests and its benchmark may know of a recorder. */
#ifndef VHALT_TRACE_RECORDER_INTERNAL_H
#define VHALT_TRACE_RECORDER_INTERNAL_H

#include "trace/recorder.h"

enum recorder_program { RECORDER_WAKEUP, RECORDER_DECISION, RECORDER_WAKING, RECORDER_PROGRAMS };

/**
 * recorder_program_fd - the loaded BPF program, so that it can be run without KVM
 * (BPF_PROG_TEST_RUN). The recorder's own; -1 for one that is not loaded.
 */
int recorder_program_fd(const struct recorder *recorder, enum recorder_program program);

#endif

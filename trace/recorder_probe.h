/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The recorder's BPF side: loading, attaching, the memory of its rings, what it costs. */
#ifndef VHALT_TRACE_RECORDER_PROBE_H
#define VHALT_TRACE_RECORDER_PROBE_H

#include "trace/recorder.h"
#include "trace/recorder_host.h"
#include "trace/recorder_internal.h"

struct recorder_bpf;
struct bpf_link;

/** The caller's memory. Read the ring's fields; the others are private. */
struct recorder_probe {
	void *memory; /* the rings: nr_rings regions of region_bytes */
	size_t region_bytes;
	uint32_t nr_rings, nr_slots;
	size_t memory_bytes;
	struct recorder_bpf *bpf;
	struct bpf_link *links[RECORDER_PROGRAMS];
	int statistics_fd;
};

/** What the kernel counts of the programs. */
struct recorder_cost {
	uint64_t ns, runs; /* time in the programs; 0 unless BPF statistics are on */
	uint64_t missed;   /* runs the kernel left out because a program was running already */
};

/**
 * recorder_probe_init - load the programs and map their rings; nothing is recorded yet.
 * @stage:  on failure receives what failed, for recorder_host_explain()
 *
 * Return: 0, -errno.
 */
int recorder_probe_init(struct recorder_probe *probe, const struct recorder_config *config,
			enum recorder_stage *stage);

/** recorder_probe_attach - record from here on. @diag: may be NULL. Return: 0, -errno. */
int recorder_probe_attach(struct recorder_probe *probe, const struct trace_diag *diag);

/**
 * recorder_probe_detach - stop recording. When it returns no program runs any more and all slots
 * are committed. May be repeated.
 */
void recorder_probe_detach(struct recorder_probe *probe);

/** recorder_probe_program_fd - see recorder_program_fd(). */
int recorder_probe_program_fd(const struct recorder_probe *probe, enum recorder_program program);

/** recorder_probe_cost - what the kernel counted so far; programs that cannot be asked count 0. */
void recorder_probe_cost(const struct recorder_probe *probe, struct recorder_cost *cost);

/** recorder_probe_fini - detach and free; may be repeated, and called after a failed init. */
void recorder_probe_fini(struct recorder_probe *probe);

#endif

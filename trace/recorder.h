/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Recording every halt of this host's vCPUs by eBPF, into a .vht file. */
#ifndef VHALT_TRACE_RECORDER_H
#define VHALT_TRACE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/diag.h"
#include "trace/halt.h"

struct recorder;

/*
 * What a VMM has set for its VM by KVM_CAP_HALT_POLL, which nobody can read back from KVM: only who
 * runs the VMM knows.
 */
struct recorder_ceiling {
	uint32_t pid;	     /* of the VMM */
	uint32_t ceiling_ns; /* 0: KVM does not poll for it */
};

struct recorder_config {
	int fd;		      /* an open, empty file for the .vht; stays the caller's */
	const uint32_t *pids; /* only VMs of these processes; NULL: all */
	uint32_t nr_pids;
	const struct recorder_ceiling *ceilings; /* noted in the recording; of a pid the last */
	uint32_t nr_ceilings;
	bool latency;	 /* also measure wake-up latency of blocked halts, by sched_waking */
	bool statistics; /* turn on the kernel's BPF statistics meanwhile: probe_ns, probe_runs */
	uint32_t ring_bytes;	       /* per CPU, within RECORDER_RING_MIN and _MAX; 0: default */
	const struct trace_diag *diag; /* what libbpf has to say while loading; NULL: dropped */
};

/*
 * A ring holds a power of two of halts, 64 bytes each; ring_bytes is rounded down to that. The
 * default lasts for 80 ms of 100000 halts/s on one CPU, drained every 25 ms. Larger: longer delays
 * of the draining thread do not lose halts, but the programs miss the cache more often.
 */
#define RECORDER_RING_MIN     4096U
#define RECORDER_RING_DEFAULT (512U * 1024)
#define RECORDER_RING_MAX     (2048U * 1024)

struct recorder_counts {
	uint64_t halts; /* written so far */
	uint64_t lost;	/* events that could not be kept, the ring being full as a rule */
	uint64_t early; /* halts left out: they were under way when the recording began */
	uint32_t vms, vcpus;
	uint64_t bytes;	   /* written so far; 0 where the descriptor is no file */
	uint64_t probe_ns; /* time in the BPF programs; 0 unless kernel BPF statistics are on */
	uint64_t probe_runs;
};

/**
 * recorder_create - load and attach; events are kept from here on.
 * @config:  read during the call, fd apart
 * @error:  receives one sentence that says what is missing (BTF, BPF, privilege, the KVM
 *          tracepoints) and what to do instead; at least @error_bytes
 *
 * Nothing but this process's own descriptors holds what is set up: whatever ends the process, kill
 * -9 included, ends the recording and leaves nothing behind. Several recorders do not know of each
 * other. Not thread-safe against other users of libbpf_set_print().
 *
 * Return: 0, -EPERM, -ENOTSUP, -ENOENT (no kvm), -ENOMEM, -EINVAL (ring_bytes), -errno.
 */
int recorder_create(struct recorder **recorder, const struct recorder_config *config, char *error,
		    size_t error_bytes);

/**
 * recorder_poll_fd - a descriptor that is readable when recorder_drain() is due (a timer, some ten
 * times a second; more often with small rings). The recorder's own.
 */
int recorder_poll_fd(const struct recorder *recorder);

/**
 * recorder_drain - move what has been recorded to the file. Does not block but for writing.
 * Return: 0 or -errno of writing; once it failed, so will every later call.
 */
int recorder_drain(struct recorder *recorder);

/** recorder_counts - totals so far. Not concurrently with recorder_drain(). */
void recorder_counts(const struct recorder *recorder, struct recorder_counts *counts);

/** recorder_has_vm - has a vCPU of process @pid halted so far? Not concurrently with draining. */
bool recorder_has_vm(const struct recorder *recorder, uint32_t pid);

/**
 * recorder_stop - detach, drain what is left and write the recording's closing frame.
 *
 * Then only recorder_counts() and recorder_has_vm(), now final, and recorder_destroy() are left
 * to call. May be repeated.
 * Return: 0 or the first error met since recorder_create().
 */
int recorder_stop(struct recorder *recorder);

/**
 * recorder_destroy - stop, if that was not done, and free; the descriptor stays open.
 * Return: as recorder_stop(). NULL is allowed.
 */
int recorder_destroy(struct recorder *recorder);

#endif

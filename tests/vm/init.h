/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Parts of the rig's PID 1: ways out to the host, kernel-log watch, and the runner of one case.
 *
 * Everything here runs in one process, PID 1 of an emulated machine. There is no one above it to
 * return an error to: what goes wrong is reported on the verdict port and fails the case at hand.
 */
#ifndef VHALT_TESTS_VM_INIT_H
#define VHALT_TESTS_VM_INIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Longest line kept whole: of a case's output, of a kernel message, of the plan. In bytes. */
#define RIG_LINE_BYTES 1024

/* I/O port of QEMU's debug console; tests/vm/rig has the same number. */
#define RIG_PORT_VERDICT 0xe9

/* The shared-memory device that takes files to the host, at the address tests/vm/rig gives it. */
#define RIG_FILES_DEVICE "/sys/bus/pci/devices/0000:00:10.0"

/* A case that has nothing to test here exits with this and prints the reason on its last line. */
#define RIG_EXIT_SKIP 77

/*
 * Gain access to the verdict port. Call before rig_say().
 * Returns 0, or -errno when the kernel refuses (no CAP_SYS_RAWIO: not PID 1).
 */
int rig_port_init(void);

/* Print one formatted line (no newline in @fmt) on the verdict port. Longer lines are cut. */
void rig_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Copy everything that can be read from @fd into the shared memory, from its start, at memory
 * speed. Call with /sys mounted. Returns the number of bytes, or -errno: -EFBIG when the memory is
 * too small, -ENOENT when the machine has no such device.
 */
ssize_t rig_files_send(int fd);

/* The watch over the kernel's log and taint. The caller owns the memory; init/fini in pairs. */
struct rig_klog {
	unsigned long tainted; /* taint bits of a misbehaved kernel that were reported already */
	int fd;		       /* /dev/kmsg, non-blocking */
	int copy_fd;	       /* every message is appended here as text, -1: nowhere */
};

/* Open the log at its first message. Returns 0 or -errno. @copy_path may be NULL. */
int rig_klog_init(struct rig_klog *k, const char *copy_path);
void rig_klog_fini(struct rig_klog *k);

/*
 * Read all messages that arrived since the last call, and the kernel's taint.
 * Returns the number of defects: messages that mean one, lost messages, new taint by a warning, an
 * oops, a bad page or a lockup. The first is copied to @first (@first_bytes bytes, cut if longer),
 * and each is printed as a comment line.
 */
unsigned int rig_klog_check(struct rig_klog *k, char *first, size_t first_bytes);

/* Does this kernel message say that the kernel, or a module, misbehaved? */
bool rig_klog_is_defect(const char *message);

/* How a case ended. */
enum rig_result { RIG_OK, RIG_SKIPPED, RIG_FAILED };

/* One case of the plan. */
struct rig_case {
	const char *name;     /* as printed */
	const char *path;     /* program or script to execute */
	unsigned int limit_s; /* killed after this many seconds, >= 1 */
};

/* The outcome of a case. */
struct rig_outcome {
	enum rig_result result;
	uint64_t took_ns;
	char reason[RIG_LINE_BYTES]; /* why skipped or failed; empty when ok */
};

/*
 * Run one case to its end or its limit, print its output as comment lines, and leave no process of
 * it behind (all processes but PID 1 are killed). Fills @out.
 */
void rig_case_run(const struct rig_case *c, struct rig_outcome *out);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What a recording says of its host, and why a host cannot be recorded.
#include "trace/recorder_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/units.h"

#define KVM_PARAMETERS "/sys/module/kvm/parameters/"
#define INSTEAD                                                                                    \
	"The same events can be kept by \"trace-cmd record -e kvm:kvm_vcpu_wakeup "                \
	"-e kvm:kvm_halt_poll_ns\", whose trace.dat vhalt reads, or by \"perf record -a "          \
	"-e kvm:kvm_vcpu_wakeup,kvm:kvm_halt_poll_ns\", of which it reads what \"perf script\" "   \
	"prints."

static uint32_t read_param(const char *path)
{
	char text[32] = "";
	uint64_t value;
	FILE *file = fopen(path, "re");

	if (!file)
		return TRACE_UNKNOWN_U32;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	if (units_parse_u64(text, &value) || value >= TRACE_UNKNOWN_U32)
		return TRACE_UNKNOWN_U32;
	return (uint32_t)value;
}

/* The first "model name" of /proc/cpuinfo; machines without that line keep what @host has. */
static void read_cpu_model(char host[TRACE_NAME_BYTES])
{
	char line[512];
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && fgets(line, sizeof(line), file)) {
		const char *colon = strchr(line, ':');

		if (!colon || strncmp(line, "model name", 10))
			continue;
		line[strcspn(line, "\n")] = '\0';
		colon += 1 + strspn(colon + 1, " \t");
		snprintf(host, TRACE_NAME_BYTES, "%.*s", TRACE_NAME_BYTES - 1, colon);
		break;
	}
	if (file)
		fclose(file);
}

void recorder_host_read(struct trace_info *info)
{
	struct utsname names;

	info->params = (struct trace_kvm_params){
		.halt_poll_ns = read_param(KVM_PARAMETERS "halt_poll_ns"),
		.grow = read_param(KVM_PARAMETERS "halt_poll_ns_grow"),
		.grow_start_ns = read_param(KVM_PARAMETERS "halt_poll_ns_grow_start"),
		.shrink = read_param(KVM_PARAMETERS "halt_poll_ns_shrink"),
	};
	if (!uname(&names)) {
		snprintf(info->kernel, sizeof(info->kernel), "%.*s", TRACE_NAME_BYTES - 1,
			 names.release);
		snprintf(info->host, sizeof(info->host), "%.*s", TRACE_NAME_BYTES - 1,
			 names.machine);
	}
	read_cpu_model(info->host);
}

/* The programs' atomic exchange (needed where stores may be reordered) came with Linux 5.12. */
static bool is_kernel_too_old(void)
{
	struct utsname names;
	unsigned long major, minor;
	char *end;

	if (uname(&names))
		return false;
	major = strtoul(names.release, &end, 10);
	minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	return major < 5 || (major == 5 && minor < 12);
}

static int explain_load(enum recorder_stage stage, int err, char *error, size_t error_bytes)
{
	if (err == -EPERM || err == -EACCES) {
		snprintf(error, error_bytes,
			 "recording needs the right to load BPF programs: root, or CAP_BPF and "
			 "CAP_PERFMON. " INSTEAD);
		return -EPERM;
	}
	if (err == -ENOMEM) {
		snprintf(error, error_bytes, "not enough memory for the recorder's rings");
		return err;
	}
	if (stage == RECORDER_LATENCY && access("/sys/kernel/btf/vmlinux", R_OK)) {
		snprintf(error, error_bytes,
			 "measuring wake-up latency needs a kernel with BTF "
			 "(/sys/kernel/btf/vmlinux is missing); record without it");
		return -ENOTSUP;
	}
	if (err == -ENOSYS || is_kernel_too_old()) {
		snprintf(error, error_bytes,
			 "recording needs Linux 5.12 or newer with BPF (CONFIG_BPF_SYSCALL, "
			 "CONFIG_BPF_EVENTS). " INSTEAD);
		return -ENOTSUP;
	}
	snprintf(error, error_bytes,
		 "the kernel refused the recorder's BPF programs (%s). " INSTEAD, strerror(-err));
	return -ENOTSUP;
}

static int explain_attach(int err, char *error, size_t error_bytes)
{
	if (err == -ENOENT && access("/sys/module/kvm", F_OK)) {
		snprintf(error, error_bytes,
			 "KVM is not loaded on this machine, so no vCPU can halt: load it first "
			 "(modprobe kvm_intel or kvm_amd), or record where the VMs run");
		return -ENOENT;
	}
	if (err == -ENOENT) {
		snprintf(error, error_bytes,
			 "this kernel's KVM has no kvm_vcpu_wakeup or kvm_halt_poll_ns tracepoint: "
			 "it cannot be recorded");
		return -ENOENT;
	}
	snprintf(error, error_bytes, "cannot attach to KVM's tracepoints (%s). " INSTEAD,
		 strerror(-err));
	return err == -EACCES ? -EPERM : err;
}

int recorder_host_explain(enum recorder_stage stage, int err, char *error, size_t error_bytes)
{
	switch (stage) {
	case RECORDER_LOADING:
	case RECORDER_LATENCY: return explain_load(stage, err, error, error_bytes);
	case RECORDER_ATTACHING: return explain_attach(err, error, error_bytes);
	case RECORDER_STATISTICS:
		snprintf(error, error_bytes,
			 "cannot turn on the kernel's BPF statistics (%s; needs CAP_SYS_ADMIN): "
			 "record without them",
			 strerror(-err));
		return err;
	case RECORDER_FILTERING:
		snprintf(
			error, error_bytes,
			"processes cannot be named from inside a container with process ids of "
			"its own: the kernel's events carry the host's. Record on the host, or all "
			"processes");
		return -ENOTSUP;
	}
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A VM from its creation on /dev/kvm to its end.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vmm/internal.h"

/* Three pages that KVM itself needs on old VMX hardware; outside of our memory. */
#define KVM_TSS_GPA 0xfffbd000UL

/* Fails with the system's own words for errno. */
static int fail_errno(struct vmm_error *error, const char *what)
{
	int err = -errno;

	return vmm_error_set(error, err, "%s: %s", what, strerror(-err));
}

static int open_kvm(struct vmm *vm, struct vmm_error *error)
{
	int err;

	vm->kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm_fd >= 0)
		return 0;
	err = -errno;
	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		return vmm_error_set(error, -ENOENT,
				     "/dev/kvm is missing: no hardware virtualization here, or the "
				     "module kvm_intel or kvm_amd is not loaded");
	case -EACCES:
	case -EPERM:
		return vmm_error_set(
			error, -EACCES,
			"no permission to open /dev/kvm: run as root or as a member of "
			"group kvm");
	default: return vmm_error_set(error, err, "cannot open /dev/kvm: %s", strerror(-err));
	}
}

static int check_capabilities(const struct vmm *vm, struct vmm_error *error)
{
	static const struct {
		int cap;
		const char *name;
	} needed[] = {
		{KVM_CAP_USER_MEMORY, "KVM_CAP_USER_MEMORY"},
		{KVM_CAP_IRQCHIP, "KVM_CAP_IRQCHIP"},
		{KVM_CAP_EXT_CPUID, "KVM_CAP_EXT_CPUID"},
		{KVM_CAP_MP_STATE, "KVM_CAP_MP_STATE"},
		{KVM_CAP_GET_TSC_KHZ, "KVM_CAP_GET_TSC_KHZ"},
		{KVM_CAP_IMMEDIATE_EXIT, "KVM_CAP_IMMEDIATE_EXIT"},
		{KVM_CAP_SET_TSS_ADDR, "KVM_CAP_SET_TSS_ADDR"},
	};
	int version = ioctl(vm->kvm_fd, KVM_GET_API_VERSION, 0);

	if (version != KVM_API_VERSION)
		return vmm_error_set(error, -EOPNOTSUPP, "KVM API version %d, not %d", version,
				     KVM_API_VERSION);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (ioctl(vm->kvm_fd, KVM_CHECK_EXTENSION, needed[i].cap) <= 0)
			return vmm_error_set(error, -EOPNOTSUPP, "this KVM lacks %s",
					     needed[i].name);
	return 0;
}

static int set_halt_poll(struct vmm *vm, struct vmm_error *error)
{
	struct kvm_enable_cap cap = {.cap = KVM_CAP_HALT_POLL, .args = {vm->config.halt_poll_ns}};

	if (vm->config.halt_poll_ns == VMM_HALT_POLL_UNSET)
		return 0;
	if (ioctl(vm->vm_fd, KVM_CHECK_EXTENSION, KVM_CAP_HALT_POLL) <= 0)
		return vmm_error_set(error, -EOPNOTSUPP,
				     "this KVM has no halt-poll ceiling per VM (KVM_CAP_HALT_POLL, "
				     "Linux 5.10)");
	if (ioctl(vm->vm_fd, KVM_ENABLE_CAP, &cap))
		return fail_errno(error, "KVM_CAP_HALT_POLL");
	return 0;
}

static int create_vm(struct vmm *vm, struct vmm_error *error)
{
	do
		vm->vm_fd = ioctl(vm->kvm_fd, KVM_CREATE_VM, 0UL);
	while (vm->vm_fd < 0 && errno == EINTR);
	if (vm->vm_fd < 0)
		return fail_errno(error, "KVM_CREATE_VM");
	if (ioctl(vm->vm_fd, KVM_SET_TSS_ADDR, KVM_TSS_GPA))
		return fail_errno(error, "KVM_SET_TSS_ADDR");
	if (vm->config.irqchip == VMM_IRQCHIP_KERNEL && ioctl(vm->vm_fd, KVM_CREATE_IRQCHIP, 0))
		return fail_errno(error, "KVM_CREATE_IRQCHIP");
	return set_halt_poll(vm, error);
}

static int create_ram(struct vmm *vm, struct vmm_error *error)
{
	struct kvm_userspace_memory_region region = {.memory_size = VMM_ABI_RAM_BYTES};
	void *ram = mmap(NULL, VMM_ABI_RAM_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ram == MAP_FAILED)
		return fail_errno(error, "guest memory");
	vm->ram = ram;
	region.userspace_addr = (uint64_t)(uintptr_t)ram;
	if (ioctl(vm->vm_fd, KVM_SET_USER_MEMORY_REGION, &region))
		return fail_errno(error, "KVM_SET_USER_MEMORY_REGION");
	return 0;
}

/* Before the vCPU runs, see vmm_stats_init(). A kernel without the file is no error. */
static int open_stats(struct vmm_vcpu *vcpu, struct vmm_error *error)
{
	int fd, err;

	if (ioctl(vcpu->vm->kvm_fd, KVM_CHECK_EXTENSION, KVM_CAP_BINARY_STATS_FD) <= 0)
		return 0;
	fd = ioctl(vcpu->fd, KVM_GET_STATS_FD, NULL);
	if (fd < 0)
		return fail_errno(error, "KVM_GET_STATS_FD");
	err = vmm_stats_init(&vcpu->stats, fd);
	if (err)
		return vmm_error_set(error, err, "KVM's statistics file is not understood: %s",
				     strerror(-err));
	return 0;
}

static int create_vcpu(struct vmm_vcpu *vcpu, struct vmm_error *error)
{
	struct vmm *vm = vcpu->vm;
	void *run;
	int err;

	vcpu->fd = ioctl(vm->vm_fd, KVM_CREATE_VCPU, (unsigned long)vcpu->n);
	if (vcpu->fd < 0)
		return fail_errno(error, "KVM_CREATE_VCPU");
	run = mmap(NULL, vm->run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu->fd, 0);
	if (run == MAP_FAILED)
		return fail_errno(error, "the vCPU's run page");
	vcpu->run = run;
	err = vmm_boot_vcpu(vcpu, error);
	if (err)
		return err;
	return open_stats(vcpu, error);
}

static int create_vcpus(struct vmm *vm, struct vmm_error *error)
{
	int bytes = ioctl(vm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	int khz, err;

	if (bytes < (int)sizeof(struct kvm_run))
		return vmm_error_set(error, -EOPNOTSUPP, "KVM_GET_VCPU_MMAP_SIZE gives %d", bytes);
	vm->run_bytes = (size_t)bytes;
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++) {
		err = create_vcpu(&vm->vcpus[n], error);
		if (err)
			return err;
	}
	khz = ioctl(vm->vcpus[0].fd, KVM_GET_TSC_KHZ, 0);
	if (khz <= 0)
		return vmm_error_set(error, khz < 0 ? -errno : -EOPNOTSUPP,
				     "KVM does not know the guest's TSC frequency");
	vm->tsc_khz = (uint64_t)khz;
	return 0;
}

static void free_vm(struct vmm *vm)
{
	for (unsigned int n = 0; n < VMM_MAX_VCPUS; n++) {
		struct vmm_vcpu *vcpu = &vm->vcpus[n];

		vmm_stats_fini(&vcpu->stats);
		if (vcpu->run)
			munmap(vcpu->run, vm->run_bytes);
		if (vcpu->fd >= 0)
			close(vcpu->fd);
	}
	if (vm->vm_fd >= 0)
		close(vm->vm_fd);
	if (vm->kvm_fd >= 0)
		close(vm->kvm_fd);
	if (vm->ram)
		munmap(vm->ram, VMM_ABI_RAM_BYTES);
	if (vm->event_fd >= 0)
		close(vm->event_fd);
	if (vm->end_fd >= 0)
		close(vm->end_fd);
	pthread_mutex_destroy(&vm->park_mutex);
	pthread_cond_destroy(&vm->park_cond);
	free(vm);
}

static struct vmm *alloc_vm(const struct vmm_config *config)
{
	/* The waiters have cache lines of their own. */
	struct vmm *vm = aligned_alloc(_Alignof(struct vmm), sizeof(*vm));

	if (!vm)
		return NULL;
	memset(vm, 0, sizeof(*vm));
	vm->config = *config;
	vm->guest = vmm_guest_find(config->guest);
	vm->kvm_fd = vm->vm_fd = -1;
	vhalt_engine_init(&vm->engine, &config->policy);
	if (config->budget_ppm)
		vhalt_engine_set_budget(&vm->engine, config->budget_ppm, 0);
	for (unsigned int n = 0; n < VMM_MAX_VCPUS; n++) {
		vm->vcpus[n].vm = vm;
		vm->vcpus[n].n = n;
		vm->vcpus[n].fd = vm->vcpus[n].stats.fd = -1;
		vmm_irqchip_init(&vm->vcpus[n], &vm->engine);
	}
	pthread_mutex_init(&vm->park_mutex, NULL);
	pthread_cond_init(&vm->park_cond, NULL);
	vm->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	vm->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	memcpy(vm->result.guest, config->guest, sizeof(vm->result.guest));
	vm->result.nr_vcpus = vm->config.nr_vcpus;
	vm->result.latency_kind = vm->guest->latency_kind;
	return vm;
}

static int build_vm(struct vmm *vm, struct vmm_error *error)
{
	int err;

	if (vm->event_fd < 0 || vm->end_fd < 0)
		return vmm_error_set(error, -EMFILE, "no descriptor left for the VM's events");
	err = vmm_pin_plan_make(&vm->config, vm->config.nr_vcpus, &vm->pin, &vm->result.note,
				error);
	if (!err)
		err = open_kvm(vm, error);
	if (!err)
		err = check_capabilities(vm, error);
	if (!err)
		err = create_vm(vm, error);
	if (!err)
		err = create_ram(vm, error);
	if (!err)
		err = create_vcpus(vm, error);
	if (!err)
		err = vmm_boot_memory(vm, error);
	vm->result.tsc_khz = vm->tsc_khz;
	return err;
}

int vmm_create(const struct vmm_config *config, struct vmm **out, struct vmm_error *error)
{
	struct vmm *vm;
	int err = vmm_config_check(config, error);

	if (err)
		return err;
	vm = alloc_vm(config);
	if (!vm)
		return vmm_error_set(error, -ENOMEM, "out of memory");
	err = build_vm(vm, error);
	if (err) {
		free_vm(vm);
		return err;
	}
	*out = vm;
	return 0;
}

int vmm_start(struct vmm *vm, struct vmm_error *error)
{
	sigset_t all, old;
	int err;

	if (vm->started)
		return vmm_error_set(error, -EALREADY, "the VM was started before");
	/* The VM's threads inherit this: signals are the application's business. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&vm->supervisor, NULL, vmm_supervise, vm);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return vmm_error_set(error, -err, "cannot start a thread: %s", strerror(err));
	vm->started = true;
	return 0;
}

void vmm_stop(struct vmm *vm)
{
	atomic_store(&vm->stop_requested, true);
	vmm_event_signal(vm->event_fd);
}

int vmm_end_fd(const struct vmm *vm)
{
	return vm->end_fd;
}

int vmm_wait(struct vmm *vm, struct vmm_result *result)
{
	struct pollfd p = {.fd = vm->end_fd, .events = POLLIN};

	if (!vm->started) {
		*result = vm->result;
		return -EINVAL;
	}
	/* Not ended after poll(): EINTR, a handler of the caller's has run. */
	while (!atomic_load(&vm->ended))
		poll(&p, 1, -1);
	*result = vm->result;
	return result->error;
}

void vmm_destroy(struct vmm *vm)
{
	if (!vm)
		return;
	if (vm->started) {
		vmm_stop(vm);
		pthread_join(vm->supervisor, NULL);
	}
	if (!vm->stuck)
		free_vm(vm);
}

const char *vmm_end_name(enum vmm_end end)
{
	switch (end) {
	case VMM_END_NONE: return "none";
	case VMM_END_DONE: return "done";
	case VMM_END_TIME: return "time";
	case VMM_END_STOPPED: return "stopped";
	case VMM_END_FAILED: return "failed";
	}
	return "none";
}

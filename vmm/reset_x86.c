// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Steal time on and off, and the reset of a running VM: all vCPUs park, then start from the
// beginning.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>

#include "util/clock.h"
#include "vmm/internal.h"

#define MSR_KVM_STEAL_TIME 0x4b564d03U /* arch/x86 uapi: asm/kvm_para.h */
#define STEAL_TIME_ENABLED 1ULL

/* As long as a thread may take to leave KVM_RUN, see supervisor.c. */
#define PARK_LIMIT_NS 10000000000ULL

int vmm_steal_time_set(struct vmm_vcpu *vcpu, bool enabled)
{
	const uint64_t gpa = VMM_ABI_STEAL_GPA + (uint64_t)vcpu->n * VMM_ABI_STEAL_STRIDE;
	_Alignas(struct kvm_msrs) unsigned char
		room[sizeof(struct kvm_msrs) + sizeof(struct kvm_msr_entry)];
	struct kvm_msrs *msrs = (struct kvm_msrs *)room;
	int set;

	memset(room, 0, sizeof(room));
	msrs->nmsrs = 1;
	msrs->entries[0].index = MSR_KVM_STEAL_TIME;
	msrs->entries[0].data = enabled ? gpa | STEAL_TIME_ENABLED : 0;
	set = ioctl(vcpu->fd, KVM_SET_MSRS, msrs);
	if (set < 0)
		return -errno;
	return set == 1 ? 0 : -EOPNOTSUPP;
}

int vmm_vcpu_park(struct vmm_vcpu *vcpu)
{
	struct vmm *vm = vcpu->vm;
	unsigned int reset = atomic_load(&vm->reset_number);

	/*
	 * What the last exit has left to do inside KVM is done by the next KVM_RUN: now, not after
	 * the registers are new. It returns at once, by the kick or by this.
	 */
	__atomic_store_n(&vcpu->run->immediate_exit, 1, __ATOMIC_SEQ_CST);
	if (!ioctl(vcpu->fd, KVM_RUN, 0))
		return -EPROTO;
	if (errno != EINTR)
		return -errno;
	atomic_store(&vcpu->parked_for, reset);
	vmm_event_signal(vm->event_fd);
	pthread_mutex_lock(&vm->park_mutex);
	while (atomic_load(&vm->parking) && atomic_load(&vm->reset_number) == reset)
		pthread_cond_wait(&vm->park_cond, &vm->park_mutex);
	pthread_mutex_unlock(&vm->park_mutex);
	/* Whoever wants the thread to leave for good sets vm->leaving first: the caller looks next.
	 */
	vmm_vcpu_forget_kick(vcpu);
	return 0;
}

static bool all_parked(const struct vmm *vm)
{
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++)
		if (atomic_load(&vm->vcpus[n].parked_for) != atomic_load(&vm->reset_number))
			return false;
	return true;
}

/* Memory, registers and the MSR as in the beginning. Nobody runs. */
static int start_over(struct vmm *vm, struct vmm_error *error)
{
	int err;

	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++) {
		err = vmm_steal_time_set(&vm->vcpus[n], false);
		if (err && err != -EOPNOTSUPP)
			return vmm_error_set(error, err, "cannot end steal time of vCPU %u: %s", n,
					     strerror(-err));
	}
	memset(vm->ram, 0, VMM_ABI_RAM_BYTES);
	err = vmm_boot_memory(vm, error);
	for (unsigned int n = 0; n < vm->config.nr_vcpus && !err; n++) {
		vmm_irqchip_reset(&vm->vcpus[n]);
		err = vmm_boot_registers(&vm->vcpus[n], error);
	}
	return err;
}

int vmm_reset(struct vmm *vm, struct vmm_error *error)
{
	const uint64_t until_ns = clock_now_ns() + PARK_LIMIT_NS;
	int err = 0;

	atomic_fetch_add(&vm->reset_number, 1);
	atomic_store(&vm->parking, true);
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++)
		vmm_vcpu_kick(&vm->vcpus[n]);
	while (!all_parked(vm) && vmm_all_running(vm) && clock_now_ns() < until_ns)
		vmm_event_await(vm, until_ns);
	/* Not parked and not running: a vCPU has ended by itself, and the run with it. */
	if (all_parked(vm))
		err = start_over(vm, error);
	else if (vmm_all_running(vm))
		err = vmm_error_set(error, -ETIMEDOUT,
				    "guest %s: a vCPU thread does not leave KVM_RUN for a reset",
				    vm->guest->name);
	pthread_mutex_lock(&vm->park_mutex);
	atomic_store(&vm->parking, false);
	pthread_cond_broadcast(&vm->park_cond);
	pthread_mutex_unlock(&vm->park_mutex);
	if (!err)
		vm->result.resets++;
	return err;
}

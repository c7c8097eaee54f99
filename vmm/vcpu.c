// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The thread of one vCPU: enters the guest until it is done, fails, or is told to leave.
//
// Leaving without a lost wake-up: every signal is blocked in the thread, and KVM_RUN alone lets the
// kick signal through. A kick that comes before KVM_RUN stays pending and ends it at once, as does
// immediate_exit; a kick that comes inside ends it too. The signal is never delivered to a handler.
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "vmm/internal.h"

/* Ignored by default, so that even a stray one outside of KVM_RUN could not hurt the process. */
enum { KICK_SIGNAL = SIGURG };

/* The kernel's signal set is 8 bytes; bit n-1 stands for signal n, set means blocked. */
static int let_kick_through(struct vmm_vcpu *vcpu)
{
	const uint64_t blocked = ~(1ULL << (KICK_SIGNAL - 1));
	_Alignas(struct kvm_signal_mask) unsigned char mask[sizeof(struct kvm_signal_mask) + 8];
	struct kvm_signal_mask *head = (struct kvm_signal_mask *)mask;

	head->len = sizeof(blocked);
	memcpy(head->sigset, &blocked, sizeof(blocked));
	return ioctl(vcpu->fd, KVM_SET_SIGNAL_MASK, head) ? -errno : 0;
}

static enum vmm_end fail_run(struct vmm_vcpu *vcpu, int err, const char *what)
{
	vcpu->error = vmm_error_set(&vcpu->error_text, err, "guest %s, vCPU %u: %s: %s",
				    vcpu->vm->guest->name, vcpu->n, what, strerror(-err));
	return VMM_END_FAILED;
}

static enum vmm_end take_exit(struct vmm_vcpu *vcpu)
{
	vcpu->exits++;
	return vmm_exit_judge(vcpu);
}

static enum vmm_end run(struct vmm_vcpu *vcpu)
{
	enum vmm_end end = VMM_END_NONE;
	int err = let_kick_through(vcpu);

	if (err)
		return fail_run(vcpu, err, "KVM_SET_SIGNAL_MASK");
	if (vcpu->vm->config.irqchip == VMM_IRQCHIP_USER) {
		err = vhalt_thread_prepare();
		if (err)
			return fail_run(vcpu, err, "timer slack");
	}
	while (end == VMM_END_NONE && !atomic_load(&vcpu->vm->leaving)) {
		if (atomic_load(&vcpu->vm->parking)) {
			err = vmm_vcpu_park(vcpu);
			if (err)
				end = fail_run(vcpu, err, "parking for a reset");
			continue;
		}
		if (!ioctl(vcpu->fd, KVM_RUN, 0))
			end = take_exit(vcpu);
		else if (errno != EINTR)
			end = fail_run(vcpu, -errno, "KVM_RUN");
	}
	return end;
}

static void *thread_main(void *arg)
{
	struct vmm_vcpu *vcpu = arg;
	const uint64_t cpu_before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	char name[16];

	/* 15 characters at most: see VMM_GUEST_NAME_BYTES. Recorders read the vCPU number here. */
	snprintf(name, sizeof(name), "vhalt-%.7s/%u", vcpu->vm->guest->name, vcpu->n % 10);
	pthread_setname_np(pthread_self(), name);
	vcpu->tid = (int)gettid();
	vcpu->end = run(vcpu);
	vcpu->cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before_ns;
	atomic_store(&vcpu->ended, true);
	vmm_event_signal(vcpu->vm->event_fd);
	return NULL;
}

int vmm_vcpu_start(struct vmm_vcpu *vcpu, int cpu, struct vmm_error *error)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int err = pthread_attr_init(&attr);

	if (!err && cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET((unsigned int)cpu, &set);
		err = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	if (!err)
		err = pthread_create(&vcpu->thread, &attr, thread_main, vcpu);
	pthread_attr_destroy(&attr);
	if (err)
		return vmm_error_set(error, -err,
				     "cannot start the thread of vCPU %u on CPU %d: %s", vcpu->n,
				     cpu, strerror(err));
	vcpu->started = true;
	return 0;
}

void vmm_vcpu_forget_kick(struct vmm_vcpu *vcpu)
{
	const struct timespec at_once = {0, 0};
	sigset_t kick;

	__atomic_store_n(&vcpu->run->immediate_exit, 0, __ATOMIC_SEQ_CST);
	sigemptyset(&kick);
	sigaddset(&kick, KICK_SIGNAL);
	while (sigtimedwait(&kick, NULL, &at_once) == KICK_SIGNAL)
		;
}

void vmm_vcpu_kick(struct vmm_vcpu *vcpu)
{
	__atomic_store_n(&vcpu->run->immediate_exit, 1, __ATOMIC_SEQ_CST);
	pthread_kill(vcpu->thread, KICK_SIGNAL);
	vhalt_waiter_kick(&vcpu->irqchip.waiter);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The supervisor thread of a VM: starts its vCPUs, waits for what ends the run, brings them back.
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "vmm/internal.h"

/*
 * How long a kicked thread may take to leave KVM_RUN before the run counts as failed. Microseconds
 * in practice; seconds under an emulator on a loaded machine. Too short would fail healthy runs,
 * too long only delays the message about a kernel defect.
 */
#define LEAVE_LIMIT_NS 10000000000ULL

void vmm_event_await(struct vmm *vm, uint64_t until_ns)
{
	struct pollfd p = {.fd = vm->event_fd, .events = POLLIN};
	const uint64_t now_ns = clock_now_ns();
	const uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec left = {(time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000)};
	uint64_t count;

	/* All signals are blocked here: a failure can only be "nothing yet", and the caller looks.
	 */
	if (ppoll(&p, 1, until_ns == UINT64_MAX ? NULL : &left, NULL) > 0 &&
	    read(vm->event_fd, &count, sizeof(count)) < 0)
		return;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static unsigned int nr_running(const struct vmm *vm)
{
	unsigned int nr = 0;

	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++)
		nr += vm->vcpus[n].started && !atomic_load(&vm->vcpus[n].ended);
	return nr;
}

bool vmm_all_running(const struct vmm *vm)
{
	return nr_running(vm) == vm->config.nr_vcpus;
}

static uint64_t deadline_ns(uint64_t start_ns, uint64_t after_ns)
{
	return after_ns ? start_ns + after_ns : UINT64_MAX;
}

static int start_vcpus(struct vmm *vm)
{
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++) {
		int err = vmm_vcpu_start(&vm->vcpus[n], vm->pin.cpu[n], &vm->result.error_text);

		if (err)
			return err;
	}
	return 0;
}

/* Waits for the first thing that ends the run. NONE: a vCPU has ended by itself and knows why. */
static enum vmm_end watch(struct vmm *vm, uint64_t start_ns)
{
	const uint64_t end_ns = deadline_ns(start_ns, vm->config.duration_ns);
	const uint64_t bite_ns = deadline_ns(start_ns, vm->config.watchdog_ns);
	uint64_t reset_ns = deadline_ns(start_ns, vm->config.reset_ns);

	for (;;) {
		uint64_t now_ns = clock_now_ns();

		if (!vmm_all_running(vm))
			return VMM_END_NONE;
		if (atomic_load(&vm->stop_requested))
			return VMM_END_STOPPED;
		if (now_ns >= end_ns)
			return VMM_END_TIME;
		if (now_ns >= bite_ns) {
			vm->result.error = vmm_error_set(
				&vm->result.error_text, -ETIMEDOUT,
				"guest %s did not finish within %" PRIu64 " ms (watchdog)",
				vm->guest->name, vm->config.watchdog_ns / 1000000);
			return VMM_END_FAILED;
		}
		if (now_ns >= reset_ns) {
			vm->result.error = vmm_reset(vm, &vm->result.error_text);
			if (vm->result.error)
				return VMM_END_FAILED;
			reset_ns = clock_now_ns() + vm->config.reset_ns;
			continue;
		}
		vmm_event_await(vm, min_u64(min_u64(end_ns, bite_ns), reset_ns));
	}
}

/* Takes all threads out of the guest; those that do not come back in time are given up. */
static void bring_back(struct vmm *vm)
{
	const uint64_t until_ns = clock_now_ns() + LEAVE_LIMIT_NS;

	atomic_store(&vm->leaving, true);
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++)
		if (vm->vcpus[n].started)
			vmm_vcpu_kick(&vm->vcpus[n]);
	while (nr_running(vm) && clock_now_ns() < until_ns)
		vmm_event_await(vm, until_ns);
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++) {
		struct vmm_vcpu *vcpu = &vm->vcpus[n];

		if (!vcpu->started)
			continue;
		if (atomic_load(&vcpu->ended)) {
			pthread_join(vcpu->thread, NULL);
			continue;
		}
		pthread_detach(vcpu->thread);
		vm->stuck = true;
	}
}

/* A failure outranks "done", which outranks whatever else ended the run at the same time. */
static void decide(struct vmm *vm, enum vmm_end end)
{
	struct vmm_result *r = &vm->result;

	r->end = end;
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++)
		if (vm->vcpus[n].end == VMM_END_DONE && end != VMM_END_FAILED)
			r->end = VMM_END_DONE;
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++) {
		if (vm->vcpus[n].end != VMM_END_FAILED)
			continue;
		r->end = VMM_END_FAILED;
		r->error = vm->vcpus[n].error;
		r->error_text = vm->vcpus[n].error_text;
		break;
	}
	if (vm->stuck) {
		r->end = VMM_END_FAILED;
		r->error = vmm_error_set(&r->error_text, -ETIMEDOUT,
					 "guest %s: a vCPU thread does not leave KVM_RUN; its "
					 "memory is given up",
					 vm->guest->name);
	}
}

void *vmm_supervise(void *arg)
{
	struct vmm *vm = arg;
	const uint64_t start_ns = clock_now_ns();
	enum vmm_end end;
	int err = start_vcpus(vm);

	if (err) {
		vm->result.error = err;
		end = VMM_END_FAILED;
	} else {
		end = watch(vm, start_ns);
	}
	bring_back(vm);
	vm->result.elapsed_ns = clock_now_ns() - start_ns;
	decide(vm, end);
	vmm_report_collect(vm);
	atomic_store(&vm->ended, true);
	vmm_event_signal(vm->end_fd);
	return NULL;
}

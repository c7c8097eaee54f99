// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Keeps one idle vCPU with a disabled local APIC alive, so that KVM never patches its own code.
//
// KVM counts such vCPUs in static keys: the first one to come and the last one to go rewrite
// instructions of kvm.ko under the running vCPUs. On hardware that is safe; under QEMU's multi-threaded
// software emulation another CPU can run into the breakpoint half-way and the kernel dies of it. With
// this vCPU the counts never pass through zero. It never runs.
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm;

	if (kvm < 0 || (vm = ioctl(kvm, KVM_CREATE_VM, 0)) < 0 || ioctl(vm, KVM_CREATE_IRQCHIP, 0) ||
	    ioctl(vm, KVM_CREATE_VCPU, 0) < 0) {
		perror("keeper");
		return 1;
	}
	if (daemon(0, 1))
		return 1;
	for (;;)
		pause();
}

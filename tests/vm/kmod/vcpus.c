// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vCPUs that come to a running VM, and VMs that come and go in one process, as the host module sees
// them. The guests only halt; each interrupt sent to one is one wake-up.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl/ctl.h"

/* Guest memory, in 32-bit protected mode without paging. */
enum {
	MAX_VCPUS = 4,
	MEMORY_BYTES = 0x10000,
	GDT = 0x400,
	IDT = 0x800,
	CODE = 0x1000,
	HANDLER = 0x2000,
	STACK = 0x4000, /* top of the stack of vCPU 0; 0x1000 for each */
	VECTOR = 0x20,
	SELECTOR_CODE = 0x08,
	SELECTOR_DATA = 0x10,
	HALTS = 50, /* wake-ups asked of each vCPU */
};

/* sti; hlt; jmp to the sti */
static const uint8_t code[] = {0xfb, 0xf4, 0xeb, 0xfc};
/* movl $0, 0xfee000b0 (end of interrupt); iret */
static const uint8_t handler[] = {0xc7, 0x05, 0xb0, 0, 0xe0, 0xfe, 0, 0, 0, 0, 0xcf};
static const uint64_t gdt[] = {0, 0x00cf9b000000ffff, 0x00cf93000000ffff};
static const uint64_t gate = 0x00008e0000000000 | SELECTOR_CODE << 16 | HANDLER;

struct vcpu {
	int fd, run_bytes;
	struct kvm_run *run;
	pthread_t thread;
};

struct vm {
	int kvm, fd;
	uint8_t *memory;
	int nr_vcpus;
	struct vcpu vcpus[MAX_VCPUS];
};

static struct ctl *ctl;
static atomic_int stopping;

static void die(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static int do_ioctl(int fd, unsigned long request, void *arg, const char *name)
{
	int ret = ioctl(fd, request, arg);

	if (ret < 0)
		die(name);
	return ret;
}

static void on_signal(int number)
{
	(void)number;
}

/* Until a signal finds the VM stopping. */
static void *run_vcpu(void *arg)
{
	struct vcpu *v = arg;

	while (!atomic_load(&stopping)) {
		if (!ioctl(v->fd, KVM_RUN, NULL)) {
			printf("unexpected exit %u\n", v->run->exit_reason);
			exit(1);
		}
		if (errno != EINTR)
			die("KVM_RUN");
	}
	return NULL;
}

static void vm_create(struct vm *vm)
{
	struct kvm_userspace_memory_region region = {.memory_size = MEMORY_BYTES};

	memset(vm, 0, sizeof(*vm));
	vm->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm < 0)
		die("/dev/kvm");
	vm->fd = do_ioctl(vm->kvm, KVM_CREATE_VM, NULL, "KVM_CREATE_VM");
	do_ioctl(vm->fd, KVM_CREATE_IRQCHIP, NULL, "KVM_CREATE_IRQCHIP");
	vm->memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	if (vm->memory == MAP_FAILED)
		die("mmap");
	region.userspace_addr = (uint64_t)(uintptr_t)vm->memory;
	do_ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region, "KVM_SET_USER_MEMORY_REGION");
	memcpy(vm->memory + GDT, gdt, sizeof(gdt));
	memcpy(vm->memory + IDT + 8 * VECTOR, &gate, sizeof(gate));
	memcpy(vm->memory + CODE, code, sizeof(code));
	memcpy(vm->memory + HANDLER, handler, sizeof(handler));
}

static struct kvm_segment segment(uint16_t selector, uint8_t type)
{
	struct kvm_segment s = {.limit = 0xffffffff, .selector = selector, .type = type};

	s.present = s.s = s.db = s.g = 1;
	return s;
}

static void set_registers(const struct vcpu *v, int number)
{
	struct kvm_regs regs = {
		.rip = CODE, .rsp = (uint64_t)(STACK + 0x1000 * number), .rflags = 2};
	struct kvm_mp_state state = {KVM_MP_STATE_RUNNABLE};
	struct kvm_lapic_state lapic;
	struct kvm_sregs sregs;

	do_ioctl(v->fd, KVM_GET_SREGS, &sregs, "KVM_GET_SREGS");
	sregs.cr0 |= 1;
	sregs.cs = segment(SELECTOR_CODE, 0xb);
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss = segment(SELECTOR_DATA, 0x3);
	sregs.gdt.base = GDT;
	sregs.gdt.limit = sizeof(gdt) - 1;
	sregs.idt.base = IDT;
	sregs.idt.limit = 8 * (VECTOR + 1) - 1;
	do_ioctl(v->fd, KVM_SET_SREGS, &sregs, "KVM_SET_SREGS");
	do_ioctl(v->fd, KVM_SET_REGS, &regs, "KVM_SET_REGS");
	do_ioctl(v->fd, KVM_SET_MP_STATE, &state, "KVM_SET_MP_STATE");
	/* The spurious-interrupt register, 0xf0: software enable. */
	do_ioctl(v->fd, KVM_GET_LAPIC, &lapic, "KVM_GET_LAPIC");
	lapic.regs[0xf1] |= 1;
	do_ioctl(v->fd, KVM_SET_LAPIC, &lapic, "KVM_SET_LAPIC");
}

/* To a VM whose other vCPUs are running. */
static void add_vcpu(struct vm *vm)
{
	struct vcpu *v = &vm->vcpus[vm->nr_vcpus];

	v->fd = do_ioctl(vm->fd, KVM_CREATE_VCPU, (void *)(uintptr_t)vm->nr_vcpus,
			 "KVM_CREATE_VCPU");
	v->run_bytes = do_ioctl(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "KVM_GET_VCPU_MMAP_SIZE");
	v->run = mmap(NULL, (size_t)v->run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
	if (v->run == MAP_FAILED)
		die("mmap of kvm_run");
	set_registers(v, vm->nr_vcpus);
	if (pthread_create(&v->thread, NULL, run_vcpu, v))
		die("pthread_create");
	vm->nr_vcpus++;
}

static void send_interrupt(const struct vm *vm, int vcpu)
{
	struct kvm_msi msi = {.address_lo = 0xfee00000U | (uint32_t)vcpu << 12, .data = VECTOR};

	do_ioctl(vm->fd, KVM_SIGNAL_MSI, &msi, "KVM_SIGNAL_MSI");
}

/* The module's record of a vCPU of this process with at least one halt, or false. */
static bool look(uint32_t number, struct ctl_vcpu *found)
{
	struct ctl_error error;
	struct ctl_vcpu *list;
	bool there = false;
	size_t n;

	if (ctl_get_vcpus(ctl, &list, &n, &error)) {
		printf("%s\n", error.text);
		exit(1);
	}
	for (size_t i = 0; i < n; i++) {
		/* Of several with this number, from VMs that ended, the one with the latest thread.
		 */
		if (list[i].pid == (uint32_t)getpid() && list[i].number == number &&
		    (!there || list[i].tid > found->tid)) {
			*found = list[i];
			there = true;
		}
	}
	free(list);
	return there;
}

/* Wake vCPU @number until the module has seen it halt @halts times. */
static void wake_until(const struct vm *vm, int number, uint64_t halts)
{
	struct ctl_vcpu v = {0};

	for (int sent = 0; sent < 10000; sent++) {
		send_interrupt(vm, number);
		usleep(1000);
		if (sent % 16 == 15 && look((uint32_t)number, &v) && v.halts >= halts)
			return;
	}
	printf("vCPU %d: the module saw only %" PRIu64 " halts\n", number, v.halts);
	exit(1);
}

static void vm_destroy(struct vm *vm)
{
	atomic_store(&stopping, 1);
	for (int i = 0; i < vm->nr_vcpus; i++) {
		struct vcpu *v = &vm->vcpus[i];

		/* immediate_exit closes the gap between the test of `stopping` and KVM_RUN. */
		v->run->immediate_exit = 1;
		pthread_kill(v->thread, SIGUSR1);
		pthread_join(v->thread, NULL);
		munmap(v->run, (size_t)v->run_bytes);
		close(v->fd);
	}
	close(vm->fd);
	close(vm->kvm);
	munmap(vm->memory, MEMORY_BYTES);
	atomic_store(&stopping, 0);
}

/* vCPUs join one after the other, all others halting and waking meanwhile. */
static void hot_add(void)
{
	struct vm vm;

	vm_create(&vm);
	for (int n = 0; n < MAX_VCPUS; n++) {
		add_vcpu(&vm);
		for (int i = 0; i <= n; i++)
			wake_until(&vm, i, (uint64_t)HALTS * (uint64_t)(n - i + 1));
	}
	vm_destroy(&vm);
	printf("%d vCPUs added to a running VM, all seen\n", MAX_VCPUS);
}

/* KVM uses a vCPU's memory again for the next: its record must not be taken for the old one's. */
static void reuse(int times)
{
	for (int i = 0; i < times; i++) {
		struct ctl_vcpu v;
		struct vm vm;

		vm_create(&vm);
		add_vcpu(&vm);
		wake_until(&vm, 0, 1);
		if (!look(0, &v) || v.halts >= HALTS) {
			printf("a new VM's vCPU begins with %" PRIu64 " halts\n", v.halts);
			exit(1);
		}
		wake_until(&vm, 0, HALTS);
		vm_destroy(&vm);
	}
	printf("%d VMs one after the other in one process\n", times);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct ctl_setting setting = {.policy = "auto"};
	struct ctl_error error;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGUSR1, &action, NULL);
	if (ctl_open(&ctl, &error) || ctl_set(ctl, 0, &setting, &error)) {
		printf("%s\n", error.text);
		return 1;
	}
	hot_add();
	reuse(20);
	if (ctl_reset(ctl, 0, &error)) {
		printf("%s\n", error.text);
		return 1;
	}
	ctl_close(ctl);
	return 0;
}

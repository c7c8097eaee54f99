// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Makes the nested machine's VM and vCPUs, and puts them back to that state at a reset.
#include "vmm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define MSR_IA32_TSC	   0x10
#define CPUID_TSC_DEADLINE (1u << 24) /* leaf 1, ECX; KVM has it, but wants to be asked */
#define CPUID_HYPERVISOR   (1u << 31) /* leaf 1, ECX: look for KVM's own leaves */
#define KVM_CPUID_LEAF	   0x40000001

/* EAX of that leaf */
#define STEAL_TIME (1u << 5)
#define PV_EOI	   (1u << 6)

#define TRY(expr) ((void)((expr) < 0 ? nested_die("%s", #expr) : (void)0))

/*
 * What a guest of this machine sees of a vCPU: what KVM can offer, but PV_EOI. The emulator can
 * deliver an injected interrupt a second time, at any moment until the next exit (README.md); with
 * PV_EOI this is long, and once in interrupt-disabled code the guest waits for a lock it holds
 * itself. Without, every handler begins with an exit.
 */
static void set_cpuid(struct nested_vm *vm, const struct nested_vcpu *vcpu)
{
	enum { MOST = 256 };
	struct kvm_cpuid2 *c = calloc(1, sizeof(*c) + MOST * sizeof(c->entries[0]));

	if (!c)
		nested_die("CPUID");
	c->nent = MOST;
	TRY(ioctl(vm->kvm_fd, KVM_GET_SUPPORTED_CPUID, c));
	for (unsigned int i = 0; i < c->nent; i++) {
		struct kvm_cpuid_entry2 *e = &c->entries[i];

		switch (e->function) {
		case 1:
			e->ebx = (e->ebx & 0xffff) | vcpu->n << 24 | vm->config.cpus << 16;
			e->ecx |= CPUID_TSC_DEADLINE | CPUID_HYPERVISOR;
			break;
		case 0xb: e->edx = vcpu->n; break;
		case KVM_CPUID_LEAF:
			e->eax &= ~PV_EOI;
			if (vm->config.no_steal)
				e->eax &= ~STEAL_TIME;
			break;
		default: break;
		}
	}
	TRY(ioctl(vcpu->fd, KVM_SET_CPUID2, c));
	free(c);
}

/* All MSRs that KVM saves, but the clock, which goes on over a reset. */
static struct kvm_msrs *get_msrs(const struct nested_vm *vm, int fd)
{
	enum { MOST = 1024 };
	struct kvm_msr_list *list = calloc(1, sizeof(*list) + MOST * sizeof(list->indices[0]));
	struct kvm_msrs *all = calloc(1, sizeof(*all) + MOST * sizeof(all->entries[0]));

	if (!list || !all)
		nested_die("MSRs");
	list->nmsrs = MOST;
	TRY(ioctl(vm->kvm_fd, KVM_GET_MSR_INDEX_LIST, list));
	for (unsigned int i = 0; i < list->nmsrs; i++) {
		struct kvm_msrs *one = calloc(1, sizeof(*one) + sizeof(one->entries[0]));

		if (!one)
			nested_die("MSRs");
		one->nmsrs = 1;
		one->entries[0].index = list->indices[i];
		/* Some are listed but depend on what the vCPU has: those are not ours to save. */
		if (list->indices[i] != MSR_IA32_TSC && ioctl(fd, KVM_GET_MSRS, one) == 1 &&
		    ioctl(fd, KVM_SET_MSRS, one) == 1)
			all->entries[all->nmsrs++] = one->entries[0];
		free(one);
	}
	free(list);
	return all;
}

static void save(struct nested_vm *vm, struct nested_vcpu *vcpu)
{
	struct nested_vcpu_state *s = &vcpu->at_start;

	TRY(ioctl(vcpu->fd, KVM_GET_REGS, &s->regs));
	TRY(ioctl(vcpu->fd, KVM_GET_SREGS, &s->sregs));
	TRY(ioctl(vcpu->fd, KVM_GET_FPU, &s->fpu));
	TRY(ioctl(vcpu->fd, KVM_GET_LAPIC, &s->lapic));
	TRY(ioctl(vcpu->fd, KVM_GET_VCPU_EVENTS, &s->events));
	TRY(ioctl(vcpu->fd, KVM_GET_DEBUGREGS, &s->debugregs));
	TRY(ioctl(vcpu->fd, KVM_GET_MP_STATE, &s->mp_state));
	s->msrs = get_msrs(vm, vcpu->fd);
}

static void restore(struct nested_vcpu *vcpu)
{
	struct nested_vcpu_state *s = &vcpu->at_start;

	TRY(ioctl(vcpu->fd, KVM_SET_SREGS, &s->sregs));
	TRY(ioctl(vcpu->fd, KVM_SET_REGS, &s->regs));
	TRY(ioctl(vcpu->fd, KVM_SET_FPU, &s->fpu));
	if (ioctl(vcpu->fd, KVM_SET_MSRS, s->msrs) != (int)s->msrs->nmsrs)
		nested_die("KVM_SET_MSRS");
	TRY(ioctl(vcpu->fd, KVM_SET_LAPIC, &s->lapic));
	TRY(ioctl(vcpu->fd, KVM_SET_VCPU_EVENTS, &s->events));
	TRY(ioctl(vcpu->fd, KVM_SET_DEBUGREGS, &s->debugregs));
	TRY(ioctl(vcpu->fd, KVM_SET_MP_STATE, &s->mp_state));
}

static void create_vcpu(struct nested_vm *vm, unsigned int n)
{
	struct nested_vcpu *vcpu = &vm->vcpus[n];

	vcpu->n = n;
	TRY(vcpu->fd = ioctl(vm->fd, KVM_CREATE_VCPU, n));
	vcpu->run = mmap(NULL, vm->run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu->fd, 0);
	if (vcpu->run == MAP_FAILED)
		nested_die("mmap of kvm_run");
	set_cpuid(vm, vcpu);
}

void nested_create(struct nested_vm *vm)
{
	struct kvm_pit_config pit = {.flags = KVM_PIT_SPEAKER_DUMMY};
	struct kvm_userspace_memory_region region = {0};
	int run_bytes;

	vm->ram_bytes = (size_t)vm->config.memory_mib << 20;
	vm->ram = mmap(NULL, vm->ram_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (vm->ram == MAP_FAILED)
		nested_die("guest memory");
	TRY(vm->kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC));
	TRY(vm->fd = ioctl(vm->kvm_fd, KVM_CREATE_VM, 0));
	TRY(run_bytes = ioctl(vm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0));
	vm->run_bytes = run_bytes;
	TRY(ioctl(vm->fd, KVM_SET_TSS_ADDR, 0xfffbd000ul)); /* VMX wants three pages there */
	TRY(ioctl(vm->fd, KVM_CREATE_IRQCHIP, 0));
	TRY(ioctl(vm->fd, KVM_CREATE_PIT2, &pit));
	region.memory_size = vm->ram_bytes;
	region.userspace_addr = (uintptr_t)vm->ram;
	TRY(ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region));
	for (unsigned int n = 0; n < vm->config.cpus; n++)
		create_vcpu(vm, n);
	for (unsigned int n = 0; n < vm->config.cpus; n++)
		save(vm, &vm->vcpus[n]);
	for (unsigned int i = 0; i < 3; i++) {
		vm->irqchips[i].chip_id = i;
		TRY(ioctl(vm->fd, KVM_GET_IRQCHIP, &vm->irqchips[i]));
	}
	TRY(ioctl(vm->fd, KVM_GET_PIT2, &vm->pit));
}

void nested_reset(struct nested_vm *vm)
{
	for (unsigned int i = 0; i < 3; i++)
		TRY(ioctl(vm->fd, KVM_SET_IRQCHIP, &vm->irqchips[i]));
	TRY(ioctl(vm->fd, KVM_SET_PIT2, &vm->pit));
	for (unsigned int n = 0; n < vm->config.cpus; n++)
		restore(&vm->vcpus[n]);
}

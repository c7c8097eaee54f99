// SPDX-License-Identifier: GPL-2.0-only OR MIT
// State in which a guest starts: 64-bit mode, CPL3, identity map, tables and parameters in memory.
//
// Every number here is a part of one recipe, explained in vmm/guests/abi.h: the payload must run
// unchanged on VMX, on SVM and on backends which run CPL3 code only.
#include <cpuid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "vmm/internal.h"

/* CR0: PE MP ET NE WP AM PG. CR4: PAE OSFXSR OSXMMEXCPT. EFER: LME LMA NXE. */
#define BOOT_CR0  0x80050033ULL
#define BOOT_CR4  0x620ULL
#define BOOT_EFER 0xd00ULL
/* IOPL 3, interrupts off. IOPL lets CPL3 execute OUT where the TSS bitmap is not looked at. */
#define BOOT_RFLAGS 0x3002ULL

enum selector {
	SEL_KERNEL_CODE = 0x08,
	SEL_KERNEL_DATA = 0x10,
	SEL_USER_DATA = 0x18 | 3,
	SEL_USER_CODE = 0x20 | 3,
	SEL_TSS = 0x28, /* of vCPU 0; each takes two entries */
};

enum page_bits {
	PAGE_PRESENT = 0x01,
	PAGE_WRITE = 0x02,
	PAGE_USER = 0x04,
	PAGE_UNCACHED = 0x10,
	PAGE_LARGE = 0x80,
	PAGE_USUAL = PAGE_PRESENT | PAGE_WRITE | PAGE_USER,
};

enum {
	TSS_RSP0 = 0x04,
	TSS_BITMAP_OFFSET = 0x66,
	TSS_BITMAP = 0x68, /* 24 bytes: ports 0..0xb7, and the last byte has to be all ones */
	GATE_INTERRUPT_DPL3 = 0xee,
	VECTOR_HALT = 3,
	MAX_CPUID_ENTRIES = 256,
};

_Static_assert(VMM_ABI_PORT_LAST < 0xb8, "the TSS bitmap covers the ports");
_Static_assert(VMM_ABI_IMAGE_GPA + VMM_ABI_IMAGE_MAX_BYTES <= VMM_ABI_RAM_BYTES, "image in RAM");

static void put_u64(struct vmm *vm, uint64_t gpa, uint64_t value)
{
	memcpy(vm->ram + gpa, &value, sizeof(value));
}

static uint64_t tss_gpa(unsigned int n)
{
	return VMM_ABI_TSS_GPA + (uint64_t)n * VMM_ABI_TSS_STRIDE;
}

/* Maps 0..2 MiB and the 2 MiB around the LAPIC, both to themselves and open to CPL3. */
static void write_page_tables(struct vmm *vm)
{
	const uint64_t lapic_slot = VMM_ABI_LAPIC_GPA >> 30;
	const uint64_t lapic_large = (VMM_ABI_LAPIC_GPA >> 21) & 511;

	put_u64(vm, VMM_ABI_PML4_GPA, VMM_ABI_PDPT_GPA | PAGE_USUAL);
	put_u64(vm, VMM_ABI_PDPT_GPA, VMM_ABI_PD_RAM_GPA | PAGE_USUAL);
	put_u64(vm, VMM_ABI_PDPT_GPA + 8 * lapic_slot, VMM_ABI_PD_LAPIC_GPA | PAGE_USUAL);
	put_u64(vm, VMM_ABI_PD_RAM_GPA, 0 | PAGE_USUAL | PAGE_LARGE);
	put_u64(vm, VMM_ABI_PD_LAPIC_GPA + 8 * lapic_large,
		(VMM_ABI_LAPIC_GPA & ~0x1fffffULL) | PAGE_USUAL | PAGE_LARGE | PAGE_UNCACHED);
}

static void write_gdt(struct vmm *vm)
{
	const uint64_t gdt = VMM_ABI_GDT_GPA;

	put_u64(vm, gdt + SEL_KERNEL_CODE, 0x00af9b000000ffffULL);
	put_u64(vm, gdt + SEL_KERNEL_DATA, 0x00cf93000000ffffULL);
	put_u64(vm, gdt + (SEL_USER_DATA & ~3), 0x00cff3000000ffffULL);
	put_u64(vm, gdt + (SEL_USER_CODE & ~3), 0x00affb000000ffffULL);
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++) {
		/* Busy 64-bit TSS, present; the base is below 16 MiB. */
		uint64_t low = 0x00008b0000000000ULL | tss_gpa(n) << 16 | (VMM_ABI_TSS_STRIDE - 1);

		put_u64(vm, gdt + SEL_TSS + 16 * n, low);
		put_u64(vm, gdt + SEL_TSS + 16 * n + 8, 0);
	}
}

static void write_tss(struct vmm *vm, unsigned int n)
{
	unsigned char *tss = vm->ram + tss_gpa(n);
	const uint64_t rsp0 = VMM_ABI_KERNEL_STACKS_GPA +
			      (uint64_t)(n + 1) * VMM_ABI_KERNEL_STACK_BYTES;
	const uint16_t bitmap = TSS_BITMAP;

	memcpy(tss + TSS_RSP0, &rsp0, sizeof(rsp0));
	memcpy(tss + TSS_BITMAP_OFFSET, &bitmap, sizeof(bitmap));
	memset(tss + TSS_BITMAP, 0xff, VMM_ABI_TSS_STRIDE - TSS_BITMAP);
	for (unsigned int port = VMM_ABI_PORT_FIRST; port <= VMM_ABI_PORT_LAST; port++)
		tss[TSS_BITMAP + port / 8] &= (unsigned char)~(1U << port % 8);
}

static void write_gate(struct vmm *vm, unsigned int vector, uint32_t handler)
{
	const uint64_t gate = VMM_ABI_IDT_GPA + 16ULL * vector;

	put_u64(vm, gate,
		(handler & 0xffffULL) | (uint64_t)SEL_KERNEL_CODE << 16 |
			(uint64_t)GATE_INTERRUPT_DPL3 << 40 | (uint64_t)(handler >> 16) << 48);
	put_u64(vm, gate + 8, 0);
}

static void write_idt(struct vmm *vm, const struct vmm_abi_image *image)
{
	for (unsigned int v = 0; v < VMM_ABI_NR_FAULTS; v++)
		write_gate(vm, v, image->fault_stubs + v * VMM_ABI_FAULT_STRIDE);
	for (unsigned int v = VMM_ABI_NR_FAULTS; v < 256; v++)
		write_gate(vm, v, image->irq_stub);
	write_gate(vm, VECTOR_HALT, image->halt_stub);
}

/* The wrong one of the two would be an invalid instruction, or make KVM patch the guest. */
static uint32_t hypercall_instruction(void)
{
	unsigned int eax, ebx, ecx, edx;

	/* "Auth", "Hygo" */
	if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) && (ebx == 0x68747541 || ebx == 0x6f677948))
		return VMM_ABI_VMMCALL;
	return VMM_ABI_VMCALL;
}

static void write_params(struct vmm *vm)
{
	const struct vmm_config *c = &vm->config;
	const struct vmm_abi_params p = {
		.magic = VMM_ABI_MAGIC,
		.version = VMM_ABI_VERSION,
		.nr_vcpus = vm->config.nr_vcpus,
		.fault = (uint32_t)c->fault,
		.tsc_khz = vm->tsc_khz,
		.rounds = c->rounds,
		.period_ns = 1000000000ULL / c->hz,
		.think_ns = c->think_ns,
		.seed = c->seed,
		.short_ns = c->short_ns,
		.long_ns = c->long_ns,
		.short_percent = c->short_percent,
		.hold_ns = c->hold_ns,
		.gap_ns = c->gap_ns,
		.share = (uint32_t)c->share,
		.hypercall = hypercall_instruction(),
		.guest_polls = c->guest_polls,
		.guest_policy = c->guest_policy,
	};

	memcpy(vm->ram + VMM_ABI_PARAMS_GPA, &p, sizeof(p));
}

static bool image_holds(const struct vmm *vm, uint32_t address)
{
	size_t bytes = (size_t)(vm->guest->image_end - vm->guest->image);

	return address >= VMM_ABI_IMAGE_GPA && address - VMM_ABI_IMAGE_GPA < bytes;
}

static int check_image(const struct vmm *vm, const struct vmm_abi_image *image)
{
	if (image->magic != VMM_ABI_MAGIC || image->version != VMM_ABI_VERSION)
		return -EINVAL;
	if (!image_holds(vm, image->entry) || !image_holds(vm, image->halt_stub) ||
	    !image_holds(vm, image->irq_stub) || !image_holds(vm, image->fault_stubs))
		return -EINVAL;
	return 0;
}

int vmm_boot_memory(struct vmm *vm, struct vmm_error *error)
{
	const size_t bytes = (size_t)(vm->guest->image_end - vm->guest->image);
	struct vmm_abi_image image;
	int err = -EINVAL;

	if (bytes >= sizeof(image) && bytes <= VMM_ABI_IMAGE_MAX_BYTES) {
		memcpy(&image, vm->guest->image, sizeof(image));
		err = check_image(vm, &image);
	}
	if (err)
		return vmm_error_set(error, err, "the image of guest %s is not of ABI version %d",
				     vm->guest->name, VMM_ABI_VERSION);
	memcpy(vm->ram + VMM_ABI_IMAGE_GPA, vm->guest->image, bytes);
	write_page_tables(vm);
	write_gdt(vm);
	write_idt(vm, &image);
	for (unsigned int n = 0; n < vm->config.nr_vcpus; n++)
		write_tss(vm, n);
	write_params(vm);
	return 0;
}

/* Without it KVM knows no long mode, no NX and 36 address bits. */
static int set_cpuid(struct vmm_vcpu *vcpu)
{
	struct kvm_cpuid2 *cpuid;
	int err = 0;

	cpuid = calloc(1, sizeof(*cpuid) + MAX_CPUID_ENTRIES * sizeof(cpuid->entries[0]));
	if (!cpuid)
		return -ENOMEM;
	cpuid->nent = MAX_CPUID_ENTRIES;
	if (ioctl(vcpu->vm->kvm_fd, KVM_GET_SUPPORTED_CPUID, cpuid) ||
	    ioctl(vcpu->fd, KVM_SET_CPUID2, cpuid))
		err = -errno;
	free(cpuid);
	return err;
}

static struct kvm_segment flat_segment(uint16_t selector, uint8_t type, bool code)
{
	return (struct kvm_segment){
		.limit = 0xffffffff,
		.selector = selector,
		.type = type,
		.present = 1,
		.dpl = selector & 3,
		.db = !code,
		.s = 1,
		.l = code,
		.g = 1,
	};
}

static int set_sregs(struct vmm_vcpu *vcpu)
{
	const struct kvm_segment data = flat_segment(SEL_USER_DATA, 3, false);
	struct kvm_sregs s;

	/* What is not set below stays as reset left it, the LAPIC's base among it. */
	if (ioctl(vcpu->fd, KVM_GET_SREGS, &s))
		return -errno;
	s.cr0 = BOOT_CR0;
	s.cr3 = VMM_ABI_PML4_GPA;
	s.cr4 = BOOT_CR4;
	s.efer = BOOT_EFER;
	s.cs = flat_segment(SEL_USER_CODE, 11, true);
	s.ss = s.ds = s.es = s.fs = s.gs = data;
	s.tr = (struct kvm_segment){
		.base = tss_gpa(vcpu->n),
		.limit = VMM_ABI_TSS_STRIDE - 1,
		.selector = (uint16_t)(SEL_TSS + 16 * vcpu->n),
		.type = 11,
		.present = 1,
	};
	s.ldt = (struct kvm_segment){.type = 2, .unusable = 1};
	s.gdt = (struct kvm_dtable){
		.base = VMM_ABI_GDT_GPA,
		.limit = (uint16_t)(SEL_TSS + 16 * VMM_MAX_VCPUS - 1),
	};
	s.idt = (struct kvm_dtable){.base = VMM_ABI_IDT_GPA, .limit = 256 * 16 - 1};
	return ioctl(vcpu->fd, KVM_SET_SREGS, &s) ? -errno : 0;
}

static int set_regs(struct vmm_vcpu *vcpu)
{
	struct vmm_abi_image image;
	struct kvm_regs r = {
		.rdi = vcpu->n,
		.rsp = VMM_ABI_USER_STACKS_GPA + (uint64_t)(vcpu->n + 1) * VMM_ABI_USER_STACK_BYTES,
		.rflags = BOOT_RFLAGS,
	};

	memcpy(&image, vcpu->vm->guest->image, sizeof(image));
	r.rip = image.entry;
	return ioctl(vcpu->fd, KVM_SET_REGS, &r) ? -errno : 0;
}

/* Only vCPU 0 would run after reset; the others would wait for a start-up IPI. */
static int set_runnable(struct vmm_vcpu *vcpu)
{
	struct kvm_mp_state state = {.mp_state = KVM_MP_STATE_RUNNABLE};

	return ioctl(vcpu->fd, KVM_SET_MP_STATE, &state) ? -errno : 0;
}

static int set_share(struct vmm_vcpu *vcpu)
{
	const enum vmm_share share = vcpu->vm->config.share;

	if (share == VMM_SHARE_STEAL || share == VMM_SHARE_HOSTILE)
		return vmm_steal_time_set(vcpu, true);
	return 0;
}

int vmm_boot_vcpu(struct vmm_vcpu *vcpu, struct vmm_error *error)
{
	int err = set_cpuid(vcpu);

	if (err)
		return vmm_error_set(error, err, "KVM refuses the CPUID of vCPU %u: %s", vcpu->n,
				     strerror(-err));
	return vmm_boot_registers(vcpu, error);
}

int vmm_boot_registers(struct vmm_vcpu *vcpu, struct vmm_error *error)
{
	const struct {
		int (*set)(struct vmm_vcpu *vcpu);
		const char *what;
	} steps[] = {
		{set_sregs, "system registers"},
		{set_regs, "registers"},
		{set_runnable, "run state"},
		{set_share, "steal time"},
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int err = steps[i].set(vcpu);

		if (err)
			return vmm_error_set(error, err, "KVM refuses the %s of vCPU %u: %s",
					     steps[i].what, vcpu->n, strerror(-err));
	}
	return 0;
}

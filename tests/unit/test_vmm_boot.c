// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Micro-VMM: what guest memory holds before the first instruction.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/internal.h"

static unsigned char ram[VMM_ABI_RAM_BYTES];

static uint64_t u64_at(uint64_t gpa)
{
	uint64_t v;

	memcpy(&v, ram + gpa, sizeof(v));
	return v;
}

static int boot(struct vmm *vm, const struct vmm_guest *guest)
{
	memset(ram, 0, sizeof(ram));
	memset(vm, 0, sizeof(*vm));
	assert_int_equal(vmm_config_init(&vm->config, guest->name), 0);
	vm->guest = guest;
	vm->ram = ram;
	vm->tsc_khz = 2000000;
	return vmm_boot_memory(vm, NULL);
}

/* Walks the tables like the processor does; 0 when the address is not mapped. */
static uint64_t large_entry_of(uint64_t address)
{
	uint64_t pdpt = u64_at(VMM_ABI_PML4_GPA + 8 * (address >> 39 & 511));
	uint64_t pd, entry;

	if ((pdpt & 7) != 7)
		return 0;
	pd = u64_at((pdpt & ~0xfffULL) + 8 * (address >> 30 & 511));
	if ((pd & 7) != 7)
		return 0;
	entry = u64_at((pd & ~0xfffULL) + 8 * (address >> 21 & 511));
	return (entry & 0x87) == 0x87 ? entry : 0;
}

static void test_map(void **state)
{
	struct vmm vm;

	(void)state;
	assert_int_equal(boot(&vm, vmm_guest_find("rr")), 0);
	assert_int_equal(large_entry_of(0), 0x87);
	assert_int_equal(large_entry_of(VMM_ABI_IMAGE_GPA), 0x87);
	assert_int_equal(large_entry_of(VMM_ABI_LAPIC_GPA), 0xfee00000 | 0x97); /* with PCD */
	assert_int_equal(large_entry_of(VMM_ABI_RAM_BYTES), 0);
	assert_int_equal(large_entry_of(256ULL << 39), 0);
}

static uint64_t gate_target(unsigned int vector)
{
	uint64_t low = u64_at(VMM_ABI_IDT_GPA + 16ULL * vector);

	/* 64-bit interrupt gate, present, DPL 3, CPL0 code. */
	assert_int_equal(low >> 40 & 0xff, 0xee);
	assert_int_equal(low >> 16 & 0xffff, 0x08);
	assert_int_equal(u64_at(VMM_ABI_IDT_GPA + 16ULL * vector + 8), 0);
	return (low & 0xffff) | (low >> 48) << 16;
}

static void test_gates(void **state)
{
	struct vmm_abi_image image;
	struct vmm vm;

	(void)state;
	assert_int_equal(boot(&vm, vmm_guest_find("tick")), 0);
	memcpy(&image, ram + VMM_ABI_IMAGE_GPA, sizeof(image));
	assert_int_equal(gate_target(3), image.halt_stub);
	assert_int_equal(gate_target(0), image.fault_stubs);
	assert_int_equal(gate_target(14), image.fault_stubs + 14 * VMM_ABI_FAULT_STRIDE);
	for (unsigned int v = 32; v < 256; v++)
		assert_int_equal(gate_target(v), image.irq_stub);
	/* sti; hlt; jmp back, and or $0xfff,%rsp; sub $39,%rsp; iretq */
	assert_memory_equal(ram + image.halt_stub, "\xfb\xf4\xeb\xfc", 4);
	assert_memory_equal(ram + image.irq_stub,
			    "\x48\x81\xcc\xff\x0f\x00\x00\x48\x83\xec\x27\x48\xcf", 13);
}

/* Each stub pushes an error code where the processor does not, then its vector. */
static void test_fault_stubs(void **state)
{
	static const unsigned int with_code[] = {8, 10, 11, 12, 13, 14, 17, 21, 29, 30};
	struct vmm_abi_image image;
	struct vmm vm;

	(void)state;
	assert_int_equal(boot(&vm, vmm_guest_find("crash")), 0);
	memcpy(&image, ram + VMM_ABI_IMAGE_GPA, sizeof(image));
	for (unsigned int v = 0, i = 0; v < VMM_ABI_NR_FAULTS; v++) {
		const unsigned char *p = ram + image.fault_stubs + v * VMM_ABI_FAULT_STRIDE;
		unsigned char push_vector[] = {0x6a, (unsigned char)v};

		if (i < sizeof(with_code) / sizeof(with_code[0]) && with_code[i] == v)
			i++;
		else
			assert_memory_equal(p, "\x6a\x00", 2), p += 2;
		assert_memory_equal(p, push_vector, 2);
	}
}

static void test_tss_per_vcpu(void **state)
{
	struct vmm vm;

	(void)state;
	assert_int_equal(boot(&vm, vmm_guest_find("rr")), 0);
	for (unsigned int n = 0; n < 2; n++) {
		uint64_t tss = VMM_ABI_TSS_GPA + n * VMM_ABI_TSS_STRIDE;
		uint64_t gdt = u64_at(VMM_ABI_GDT_GPA + 0x28 + 16 * n);

		assert_int_equal(gdt >> 16 & 0xffffff, tss);
		assert_int_equal(gdt & 0xffff, 0x7f);
		assert_int_equal(gdt >> 40 & 0xff, 0x8b);
		assert_int_equal(u64_at(tss + 4),
				 VMM_ABI_KERNEL_STACKS_GPA + (n + 1) * VMM_ABI_KERNEL_STACK_BYTES);
		assert_int_equal(u64_at(tss + 4) % VMM_ABI_KERNEL_STACK_BYTES, 0);
		assert_int_equal(ram[tss + 0x66], 0x68);
		/* Only our eight ports are open, and the last byte ends the bitmap. */
		for (unsigned int i = 0; i < 24; i++)
			assert_int_equal(ram[tss + 0x68 + i],
					 i == VMM_ABI_PORT_FIRST / 8 ? 0 : 0xff);
	}
}

static void test_params(void **state)
{
	const struct vmm_abi_params *p = (const void *)(ram + VMM_ABI_PARAMS_GPA);
	struct vmm vm;

	(void)state;
	assert_int_equal(boot(&vm, vmm_guest_find("tick")), 0);
	assert_int_equal(p->magic, VMM_ABI_MAGIC);
	assert_int_equal(p->version, VMM_ABI_VERSION);
	assert_int_equal(p->period_ns, 4000000);
	assert_int_equal(p->tsc_khz, 2000000);
	assert_int_equal(p->nr_vcpus, 1);
}

static void test_every_image_boots_and_damaged_ones_do_not(void **state)
{
	static unsigned char copy[VMM_ABI_IMAGE_MAX_BYTES];
	const struct vmm_guest *g;
	struct vmm_guest bad;
	struct vmm vm;

	(void)state;
	for (size_t i = 0; (g = vmm_guest_at(i)); i++)
		assert_int_equal(boot(&vm, g), 0);
	bad = *vmm_guest_find("tick");
	assert_true(bad.image_end - bad.image < (long)sizeof(copy));
	memcpy(copy, bad.image, (size_t)(bad.image_end - bad.image));
	bad.image_end = copy + (bad.image_end - bad.image);
	bad.image = copy;
	assert_int_equal(boot(&vm, &bad), 0);
	copy[4]++; /* version */
	assert_int_equal(boot(&vm, &bad), -EINVAL);
	copy[4]--;
	copy[11] = 0x7f; /* entry far outside */
	assert_int_equal(boot(&vm, &bad), -EINVAL);
	copy[11] = 0;
	bad.image_end = copy + 8; /* shorter than the header */
	assert_int_equal(boot(&vm, &bad), -EINVAL);
}

static void test_guest_memory_accessor(void **state)
{
	struct vmm vm;

	(void)state;
	boot(&vm, vmm_guest_find("idle"));
	assert_ptr_equal(vmm_ram_at(&vm, 0, VMM_ABI_RAM_BYTES), ram);
	assert_ptr_equal(vmm_ram_at(&vm, VMM_ABI_RAM_BYTES - 8, 8), ram + VMM_ABI_RAM_BYTES - 8);
	assert_null(vmm_ram_at(&vm, VMM_ABI_RAM_BYTES - 7, 8));
	assert_null(vmm_ram_at(&vm, UINT64_MAX, 8));
	assert_null(vmm_ram_at(&vm, 8, SIZE_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_gates),
		cmocka_unit_test(test_fault_stubs),
		cmocka_unit_test(test_tss_per_vcpu),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_every_image_boots_and_damaged_ones_do_not),
		cmocka_unit_test(test_guest_memory_accessor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

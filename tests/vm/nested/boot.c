// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Puts an uncompressed Linux kernel into the nested machine, by its 64-bit boot protocol.
//
// Documentation/arch/x86/boot.rst, "64-bit Boot Protocol": paging on with an identity map, RSI at
// the boot parameters. The ELF file instead of the bzImage saves the guest the unpacking, which
// takes many seconds under two levels of emulation.
#include "vmm.h"

#include <asm/bootparam.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Guest-physical addresses below 1 MiB. */
#define AT_GDT	   0x500
#define AT_PARAMS  0x7000
#define AT_PML4	   0x9000 /* then one PDPT and one PD: the first GiB */
#define AT_CMDLINE 0x20000
#define AT_ACPI	   0xe0000 /* the BIOS area: not in the memory map */
#define LOW_END	   0x9fc00
#define HIGH_BEGIN 0x100000

#define CMDLINE_BYTES 2048

/*
 * pci=off: there is none. tsc=reliable, no_timer_check, nokaslr: as in the rig itself. reboot=k: by
 * port 0x64. The console is polled; what is printed there costs two exits a byte, so only errors
 * are.
 */
static const char base_cmdline[] =
	"earlyprintk=ttyS0,keep loglevel=4 pci=off nokaslr reboot=k panic=-1 "
	"tsc=reliable no_timer_check";

/* A whole file, mapped for reading; *@bytes its length. */
static const uint8_t *map_file(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st))
		nested_die("%s", path);
	p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		nested_die("%s", path);
	close(fd);
	*bytes = st.st_size;
	return p;
}

/* Copies the segments; returns the first address behind them. */
static uint64_t load_elf(struct nested_vm *vm, const uint8_t *file, size_t bytes)
{
	const Elf64_Ehdr *eh = (const void *)file;
	const Elf64_Phdr *ph;
	uint64_t end = 0;

	if (bytes < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) ||
	    eh->e_phoff + eh->e_phnum * sizeof(*ph) > bytes) {
		errno = ENOEXEC;
		nested_die("%s", vm->config.kernel);
	}
	ph = (const void *)(file + eh->e_phoff);
	for (unsigned int i = 0; i < eh->e_phnum; i++, ph++) {
		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_offset + ph->p_filesz > bytes || ph->p_filesz > ph->p_memsz ||
		    ph->p_paddr < HIGH_BEGIN || ph->p_paddr + ph->p_memsz > vm->ram_bytes) {
			errno = ENOMEM;
			nested_die("%s: segment %u", vm->config.kernel, i);
		}
		memcpy(vm->ram + ph->p_paddr, file + ph->p_offset, ph->p_filesz);
		if (ph->p_paddr + ph->p_memsz > end)
			end = ph->p_paddr + ph->p_memsz;
	}
	return end;
}

static uint64_t kernel_entry(const uint8_t *file)
{
	return ((const Elf64_Ehdr *)(const void *)file)->e_entry;
}

static void write_params(struct nested_vm *vm, uint64_t initrd, size_t initrd_bytes)
{
	struct boot_params *p = (void *)(vm->ram + AT_PARAMS);
	char *cmdline = (char *)vm->ram + AT_CMDLINE;

	/* Names the kernel does not know end in the environment of PID 1. */
	if (snprintf(cmdline, CMDLINE_BYTES, "%s VHALT_BOOT=%u %s", base_cmdline, vm->boots,
		     vm->config.append) >= CMDLINE_BYTES) {
		errno = E2BIG;
		nested_die("the kernel command line");
	}
	p->hdr.boot_flag = 0xaa55;
	memcpy(&p->hdr.header, "HdrS", 4);
	p->hdr.version = 0x20c;
	p->hdr.type_of_loader = 0xff;
	p->hdr.loadflags = LOADED_HIGH;
	p->hdr.cmd_line_ptr = AT_CMDLINE;
	p->hdr.cmdline_size = strlen(cmdline);
	p->hdr.ramdisk_image = initrd;
	p->hdr.ramdisk_size = initrd_bytes;
	p->acpi_rsdp_addr = nested_write_acpi(vm->ram, AT_ACPI, vm->config.cpus);
	p->e820_table[0] = (struct boot_e820_entry){0, LOW_END, 1};
	p->e820_table[1] = (struct boot_e820_entry){HIGH_BEGIN, vm->ram_bytes - HIGH_BEGIN, 1};
	p->e820_entries = 2;
}

static void write_tables(uint8_t *ram)
{
	uint64_t *gdt = (void *)(ram + AT_GDT), *pml4 = (void *)(ram + AT_PML4);
	uint64_t *pdpt = pml4 + 512, *pd = pdpt + 512;

	gdt[2] = 0x00af9b000000ffff; /* selector 0x10: 64-bit code */
	gdt[3] = 0x00cf93000000ffff; /* selector 0x18: data */
	pml4[0] = (AT_PML4 + 0x1000) | 3;
	pdpt[0] = (AT_PML4 + 0x2000) | 3;
	for (uint64_t i = 0; i < 512; i++)
		pd[i] = i << 21 | 0x83; /* 2 MiB pages */
}

void nested_load(struct nested_vm *vm)
{
	size_t kernel_bytes, initrd_bytes;
	const uint8_t *kernel = map_file(vm->config.kernel, &kernel_bytes);
	const uint8_t *initrd = map_file(vm->config.initrd, &initrd_bytes);
	uint64_t end, at;

	/* A reboot finds memory as at power-on. */
	if (madvise(vm->ram, vm->ram_bytes, MADV_DONTNEED))
		nested_die("madvise");
	end = load_elf(vm, kernel, kernel_bytes);
	at = (vm->ram_bytes - initrd_bytes) & ~0xfffull;
	if (initrd_bytes > vm->ram_bytes || at < end) {
		errno = ENOMEM;
		nested_die("%s", vm->config.initrd);
	}
	memcpy(vm->ram + at, initrd, initrd_bytes);
	write_tables(vm->ram);
	write_params(vm, at, initrd_bytes);
	munmap((void *)(uintptr_t)kernel, kernel_bytes);
	munmap((void *)(uintptr_t)initrd, initrd_bytes);
}

void nested_set_entry(struct nested_vm *vm)
{
	struct kvm_segment code = {.base = 0,
				   .limit = 0xffffffff,
				   .selector = 0x10,
				   .type = 11,
				   .present = 1,
				   .s = 1,
				   .l = 1,
				   .g = 1};
	struct kvm_segment data = {.base = 0,
				   .limit = 0xffffffff,
				   .selector = 0x18,
				   .type = 3,
				   .present = 1,
				   .s = 1,
				   .db = 1,
				   .g = 1};
	struct kvm_regs regs = {.rflags = 2, .rsi = AT_PARAMS, .rsp = AT_PARAMS};
	struct kvm_sregs s;
	size_t bytes;
	const uint8_t *kernel = map_file(vm->config.kernel, &bytes);

	regs.rip = kernel_entry(kernel);
	munmap((void *)(uintptr_t)kernel, bytes);
	if (ioctl(vm->vcpus[0].fd, KVM_GET_SREGS, &s))
		nested_die("KVM_GET_SREGS");
	s.cs = code;
	s.ds = s.es = s.fs = s.gs = s.ss = data;
	s.gdt.base = AT_GDT;
	s.gdt.limit = 4 * 8 - 1;
	s.cr0 = 0x80050033; /* PG AM WP NE ET MP PE */
	s.cr3 = AT_PML4;
	s.cr4 = 0x20;	/* PAE */
	s.efer = 0x500; /* LMA LME */
	if (ioctl(vm->vcpus[0].fd, KVM_SET_SREGS, &s) ||
	    ioctl(vm->vcpus[0].fd, KVM_SET_REGS, &regs))
		nested_die("the vCPU's registers");
}

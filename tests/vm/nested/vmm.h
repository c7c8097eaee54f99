/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * nested-vmm: just enough of a machine to boot a stock Linux kernel on KVM inside the rig.
 *
 * The machine: in-kernel interrupt controllers and timer, ACPI tables that say so, memory from 0,
 * no PCI, no disk. It talks to the outside by ports, see vmm.c. One VM per process.
 */
#ifndef VHALT_TESTS_VM_NESTED_VMM_H
#define VHALT_TESTS_VM_NESTED_VMM_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NESTED_MAX_VCPUS 16

/* A write here with NESTED_SLEEP_ENABLE set is ACPI's power-off. The tables name it. */
#define NESTED_PORT_SLEEP   0x600
#define NESTED_SLEEP_ENABLE 0x20

/* How a run ends: exit codes; nested-run knows the numbers. FAIL: the guest's verdict. */
enum {
	NESTED_PASS = 0,
	NESTED_FAIL = 1,
	NESTED_SETUP = 2,
	NESTED_LIMIT = 3,
	NESTED_DIED = 4,
};

/* What the command line asks for. */
struct nested_config {
	const char *kernel; /* vmlinux, the ELF file */
	const char *initrd;
	const char *append;  /* more kernel command line */
	const char *console; /* file for the kernel's console */
	const char *report;  /* file for the guest's report */
	const char *threads; /* file for the ids of the vCPU threads, or NULL */
	const char *phase;   /* file whose first byte the guest may read, or NULL */
	const char *pin;     /* CPU of each vCPU, "0,1", or NULL */
	unsigned int cpus;
	unsigned int memory_mib;
	unsigned int limit_s;	  /* whole run */
	unsigned int max_reboots; /* one more is an error */
	bool no_steal;		  /* hide steal time */
};

/* Everything of a vCPU that a reset puts back. */
struct nested_vcpu_state {
	struct kvm_regs regs;
	struct kvm_sregs sregs;
	struct kvm_fpu fpu;
	struct kvm_lapic_state lapic;
	struct kvm_vcpu_events events;
	struct kvm_debugregs debugregs;
	struct kvm_mp_state mp_state;
	struct kvm_msrs *msrs;
};

struct nested_vcpu {
	unsigned int n; /* number, APIC id */
	int fd;
	struct kvm_run *run;
	struct nested_vcpu_state at_start;
	int tid;
	unsigned int seen_peek; /* last request this thread has answered */
};

struct nested_vm {
	struct nested_config config;
	int kvm_fd, fd;
	uint8_t *ram; /* config.memory_mib, at guest-physical 0 */
	size_t ram_bytes;
	size_t run_bytes;
	struct nested_vcpu vcpus[NESTED_MAX_VCPUS];
	struct kvm_irqchip irqchips[3]; /* at start: PIC, PIC, IO-APIC */
	struct kvm_pit_state2 pit;
	unsigned int boots;
	FILE *console, *report;
};

/* Print "nested-vmm: ...: strerror" on standard error and exit with 2. For set-up only. */
__attribute__((format(printf, 1, 2), noreturn)) void nested_die(const char *format, ...);

/* options.c: the command line into @c; exits with 2 when it is wrong. */
void nested_parse(int argc, char **argv, struct nested_config *c);

/* options.c: pin this thread to the CPU that the configuration has for vCPU @n, if any. */
void nested_pin_self(const struct nested_config *config, unsigned int n);

/* options.c: write the file that tells others the threads' ids; it appears complete. */
void nested_write_threads(const struct nested_vm *vm);

/*
 * boot.c: fill the guest's memory for the next boot (kernel, initrd, tables), from scratch. Exits
 * with 2 when a file cannot be read or does not fit.
 */
void nested_load(struct nested_vm *vm);

/* boot.c: registers of the first vCPU at the kernel's 64-bit entry. */
void nested_set_entry(struct nested_vm *vm);

/* acpi.c: write ACPI's tables at guest-physical @at. Returns the address of the root pointer. */
uint64_t nested_write_acpi(uint8_t *ram, uint64_t at, unsigned int cpus);

/* state.c: make VM and vCPUs as configured; remember their state. Exits with 2 on failure. */
void nested_create(struct nested_vm *vm);

/* state.c: put all vCPUs and interrupt controllers back; no vCPU may be running. */
void nested_reset(struct nested_vm *vm);

/*
 * peek.c: say into @text what the guest publishes about this vCPU (uapi/vhalt_guest.h), read from
 * its steal-time page as the host would. Call in the vCPU's thread, outside KVM_RUN.
 */
void nested_peek(const struct nested_vm *vm, const struct nested_vcpu *vcpu, char *text,
		 size_t text_bytes);

/* peek.c: may the host poll when this vCPU halts, by the guest's word: "yes", "no", "unknown". As
 * above. */
const char *nested_host_polls(const struct nested_vcpu *vcpu);

/* peek.c: say into @text where this vCPU stands: halted or not, program counter, interrupt flag. As
 * above. */
void nested_where(const struct nested_vcpu *vcpu, char *text, size_t text_bytes);

#endif

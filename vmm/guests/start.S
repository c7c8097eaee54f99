/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* First bytes of every guest image: its header, its entry and the CPL0 stubs (see abi.h). */
#include "vmm/guests/abi.h"

	.section .header, "a"
	.long	VMM_ABI_MAGIC
	.long	VMM_ABI_VERSION
	.long	guest_entry
	.long	halt_stub
	.long	irq_stub
	.long	fault_stubs

	.text
	.globl	guest_entry
guest_entry:
	xorl	%ebp, %ebp
	call	guest_main		/* RDI = vCPU number, does not return */
	ud2

	/*
	 * CPL0. STI holds interrupts off for one instruction: none can slip in before the HLT. The
	 * loop is for a HLT that ends without an interrupt, by an NMI say.
	 */
	.balign	16
halt_stub:
	sti
	hlt
	jmp	halt_stub

	/*
	 * CPL0. Whatever lies above it, the frame with which the payload was left is the topmost of
	 * this stack, whose end is page-aligned: 40 bytes below the end. Returning through that one
	 * leads to CPL3 behind the INT3, with interrupts off. Not by the saved RSP of the interrupt's
	 * own frame: QEMU's nested SVM was seen to deliver an interrupt twice, once in 20000, the
	 * second time at the start of this stub or in the payload.
	 */
	.balign	16
irq_stub:
	orq	$(VMM_ABI_KERNEL_STACK_BYTES - 1), %rsp
	subq	$39, %rsp
	iretq

	/* Exceptions: make the stack a struct vmm_abi_fault and tell the VMM. */
	.balign	16
fault_stubs:
	vector = 0
	.rept	VMM_ABI_NR_FAULTS
	.balign	VMM_ABI_FAULT_STRIDE
	/* These push an error code themselves: 8, 10-14, 17, 21, 29, 30. */
	.if	!((1 << vector) & 0x60227d00)
	pushq	$0
	.endif
	pushq	$vector
	jmp	fault_common
	vector = vector + 1
	.endr

	.balign	16
fault_common:
	outb	%al, $VMM_ABI_PORT_FAULT
	hlt
	jmp	fault_common

	.section .note.GNU-stack, "", @progbits

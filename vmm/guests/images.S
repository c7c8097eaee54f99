/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The guests' flat images as read-only data; the assembler finds them in the build folder. */
	.macro	image name
	.balign	16
	.globl	vmm_image_\name
	.globl	vmm_image_\name\()_end
vmm_image_\name:
	.incbin	"\name\().bin"
vmm_image_\name\()_end:
	.byte	0		/* the end has an address of its own */
	.endm

	.section .rodata, "a"
	image	tick
	image	idle
	image	rr
	image	burst
	image	lock
	image	crash

	.section .note.GNU-stack, "", @progbits

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Guest "crash": misbehaves as told, to test what the VMM says and that only this VM ends.
#include "vmm/guests/guest.h"

_Noreturn void guest_main(unsigned int n)
{
	volatile uint64_t *idt = (volatile uint64_t *)VMM_ABI_IDT_GPA;

	guest_init(n);
	switch (guest_params()->fault) {
	case VMM_ABI_FAULT_PORT: guest_out(VMM_ABI_PORT_UNKNOWN); break;
	case VMM_ABI_FAULT_TRIPLE:
		for (int i = 0; i < 512; i++)
			idt[i] = 0;
		break;
	case VMM_ABI_FAULT_SPIN:
		for (;;)
			__asm__ volatile("pause");
	default: break;
	}
	__asm__ volatile("ud2");
	__builtin_unreachable();
}

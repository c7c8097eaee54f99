// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Guest "idle": a system without a periodic tick; a rare one-shot timer is all that wakes it.
#include "vmm/guests/poll.h"

_Noreturn void guest_main(unsigned int n)
{
	volatile struct vmm_abi_result *r = guest_init(n);

	guest_timer_init();
	while (!guest_rounds_complete(r))
		poll_timer_sleep(r, n, guest_params()->period_ns);
	guest_done();
}

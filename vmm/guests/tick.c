// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Guest "tick": a timer at N Hz and nothing else, like an idle system with a periodic tick.
#include "vmm/guests/poll.h"

/*
 * Due times lie on a fixed grid, so that a late wake-up does not move the ones after it. Periods
 * that have passed already are left out and counted: catching up would turn lateness into a burst.
 */
_Noreturn void guest_main(unsigned int n)
{
	const uint64_t period_ns = guest_params()->period_ns;
	const uint64_t period = guest_cycles(period_ns);
	volatile struct vmm_abi_result *r = guest_init(n);
	uint64_t due, now;

	guest_timer_init();
	due = guest_tsc();
	while (!guest_rounds_complete(r)) {
		due += period;
		now = guest_tsc();
		if (now >= due) {
			uint64_t behind = (now - due) / period + 1;

			r->missed += behind;
			due += behind * period;
		}
		/* At most one period is left, so the product fits 64 bits: periods are <= 1 s. */
		poll_timer_sleep(r, n, period_ns * (due - now) / period);
	}
	guest_done();
}

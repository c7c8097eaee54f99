// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Guest "burst": one-shot timers drawn from a seeded mix of short and long.
#include "vmm/guests/draw.h"
#include "vmm/guests/poll.h"

_Noreturn void guest_main(unsigned int n)
{
	const struct vmm_abi_params *p = guest_params();
	volatile struct vmm_abi_result *r = guest_init(n);
	uint64_t state = p->seed;

	r->digest = DRAW_DIGEST_INIT;
	guest_timer_init();
	while (!guest_rounds_complete(r)) {
		uint64_t ns = draw_timer_ns(&state, p->short_ns, p->long_ns, p->short_percent);

		poll_timer_sleep(r, n, ns);
		r->digest = draw_digest(r->digest, ns);
	}
	guest_done();
}

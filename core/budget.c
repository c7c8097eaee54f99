// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The controller of a polling budget shared by all vCPUs of a host.
/*
 * Many vCPUs, one cap on the CPU time they poll away. Giving each a share would need an account per
 * vCPU and would cut the useful polls with the useless ones. Instead the price does it, as the
 * multiplier of a constrained optimum: with factor mu every vCPU decides as if blocking cost B /
 * mu. Each then drops first the polls that save least latency per ns burnt, and at any mu the
 * marginal saving is the same everywhere. One number, read once per halt.
 *
 * The controller finds mu. Each tick, by what was burnt in it and by a mean over about 8 ticks:
 *	burnt > 1.5 cap		mu += mu / 8	doubles in 6 ticks
 *	mean > 1.1 cap		mu += mu / 32	the gate below holds it there, the price must follow
 *	mean > cap		mu += mu / 64
 *	mean < 0.5 cap		mu -= mu / 32
 *	mean < 0.95 cap		mu -= mu / 128
 * Between 0.95 and 1 it rests. Near the goal it rises faster than it falls, which keeps the mean
 * below the cap. Windows lie on a grid, so burning answers to mu in steps: mu may circle around a
 * step, and a cap may stay partly unused.
 *
 * Price reacts in some ticks; a gate at 1.2 cap holds within one (allowance_ns).
 */

#include <vhalt/budget.h>

#include "core/deps.h"

enum {
	PPM = 1000000,
	PPM_MOST = 16 * PPM,   /* of what is reported; more is nonsense and would not fit */
	SMOOTH_SHIFT = 3,      /* the mean reaches over 8 ticks ... */
	SMOOTHED_SHIFT = 8,    /* ... and is kept in 1/256 ppm */
	FACTOR_MOST = 1 << 24, /* 16384 times the price: no B is left */
};

void vhalt_budget_init(struct vhalt_budget *budget, uint32_t cap_ppm)
{
	budget->factor = VHALT_FACTOR_ONE;
	budget->smoothed = 0;
	budget->reserved = 0;
	budget->allowance_ns = ~0ULL;
	vhalt_budget_set_cap(budget, cap_ppm);
}

void vhalt_budget_set_cap(struct vhalt_budget *budget, uint32_t cap_ppm)
{
	budget->cap_ppm = (uint32_t)core_clamp64(cap_ppm, 1, PPM);
}

/* part / whole in ppm, at most PPM_MOST. */
static uint32_t share_ppm(uint64_t part, uint64_t whole)
{
	while (part > ~0ULL / PPM) {
		part >>= 1;
		whole >>= 1;
	}
	return (uint32_t)core_min64(core_div64(part * PPM, core_max64(whole, 1)), PPM_MOST);
}

static uint64_t share_of(uint64_t whole, uint32_t ppm)
{
	uint64_t units = core_div64(whole, PPM);

	return units * ppm + core_div64((whole - units * PPM) * ppm, PPM);
}

uint32_t vhalt_budget_tick(struct vhalt_budget *budget, uint64_t burnt_ns, uint64_t host_ns)
{
	uint32_t now_ppm, mean_ppm, cap = budget->cap_ppm, factor = budget->factor;
	int64_t step;

	if (!host_ns)
		return factor;
	now_ppm = share_ppm(burnt_ns, host_ns);
	step = ((int64_t)now_ppm << SMOOTHED_SHIFT) - (int64_t)budget->smoothed;
	budget->smoothed = (uint32_t)(budget->smoothed + step / (1 << SMOOTH_SHIFT));
	mean_ppm = budget->smoothed >> SMOOTHED_SHIFT;
	if (now_ppm > cap + cap / 2)
		factor += factor / 8;
	else if (mean_ppm > cap + cap / 10)
		factor += factor / 32;
	else if (mean_ppm > cap)
		factor += factor / 64;
	else if (mean_ppm < cap / 2)
		factor -= factor / 32;
	else if (mean_ppm < cap - cap / 20)
		factor -= factor / 128;
	budget->factor = (uint32_t)core_clamp64(factor, VHALT_FACTOR_ONE, FACTOR_MOST);
	budget->allowance_ns = share_of(host_ns, cap + cap / 5);
	return budget->factor;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The engine: one config for many waiters, and the budget they keep together.

/*
 * No thread keeps the budget: the first waiter that comes by after a tick is over settles it. It
 * tries @ticking, once; whoever finds it taken goes on with the old figures. So a waiter that is
 * preempted while it does the sums makes the budget late, and nobody wait.
 */
#include <errno.h>
#include <unistd.h>

#include <vhalt/auto.h>

#include "lib/spec.h"
#include "lib/wait_futex.h"
#include "lib/wait_internal.h"
#include "util/clock.h"

enum {
	PPM = 1000000,
	TICKS_MOST = 64, /* ticks nobody came by for that are made up for */
};

int vhalt_config_parse(const char *text, struct vhalt_config *config, char *error,
		       size_t error_bytes)
{
	struct vhalt_spec spec;
	int err = vhalt_spec_parse(text ? text : "auto", &spec, error, error_bytes);

	return err ? err : vhalt_spec_config(&spec, config);
}

void vhalt_engine_init(struct vhalt_engine *engine, const struct vhalt_config *config)
{
	*wait_engine_of(engine) = (struct wait_engine){
		.config = *config,
		.factor = VHALT_FACTOR_ONE,
		.fast = wait_barrier_register(),
	};
}

int vhalt_engine_set_budget(struct vhalt_engine *engine, uint32_t cap_ppm, uint32_t cpus)
{
	struct wait_engine *e = wait_engine_of(engine);
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (cap_ppm > PPM)
		return -ERANGE;
	if (!cpus)
		cpus = online > 0 ? (uint32_t)online : 1;
	vhalt_budget_init(&e->budget, cap_ppm);
	vhalt_auto_scale(&e->config, VHALT_FACTOR_ONE);
	e->gate_ns = ~0ULL;
	e->tick_began_ns = clock_now_ns();
	e->tick_at_ns = e->tick_began_ns + VHALT_BUDGET_TICK_NS;
	e->tick_burnt_ns = e->burnt_ns;
	e->cpus = cap_ppm ? cpus : 0;
	return 0;
}

/* If nobody came by for several ticks, what was burnt is spread over them. */
static void settle(struct wait_engine *e, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - e->tick_began_ns;
	uint64_t ticks = elapsed_ns / VHALT_BUDGET_TICK_NS;
	uint64_t burnt_ns = __atomic_load_n(&e->burnt_ns, __ATOMIC_RELAXED);
	uint64_t each_ns;
	uint32_t factor = VHALT_FACTOR_ONE;

	ticks = ticks < 1 ? 1 : ticks > TICKS_MOST ? TICKS_MOST : ticks;
	each_ns = (burnt_ns - e->tick_burnt_ns) / ticks;
	for (uint64_t i = 0; i < ticks; i++)
		factor = vhalt_budget_tick(&e->budget, each_ns,
					   VHALT_BUDGET_TICK_NS * (uint64_t)e->cpus);
	vhalt_auto_scale(&e->config, factor);
	__atomic_store_n(&e->factor, factor, __ATOMIC_RELAXED);
	e->tick_began_ns = now_ns;
	e->tick_burnt_ns = burnt_ns;
	wait_add32(&e->ticks, 1);
	__atomic_store_n(&e->gate_ns, burnt_ns + e->budget.allowance_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&e->tick_at_ns, now_ns + VHALT_BUDGET_TICK_NS, __ATOMIC_RELAXED);
}

bool wait_budget_gated(struct wait_engine *engine, uint64_t now_ns)
{
	uint64_t burnt_ns;

	if (now_ns >= __atomic_load_n(&engine->tick_at_ns, __ATOMIC_RELAXED) &&
	    !__atomic_exchange_n(&engine->ticking, 1, __ATOMIC_ACQUIRE)) {
		/* Another waiter may have settled it between the two. */
		if (now_ns >= engine->tick_at_ns)
			settle(engine, now_ns);
		__atomic_store_n(&engine->ticking, 0, __ATOMIC_RELEASE);
	}
	burnt_ns = __atomic_load_n(&engine->burnt_ns, __ATOMIC_RELAXED);
	if (burnt_ns <= __atomic_load_n(&engine->gate_ns, __ATOMIC_RELAXED))
		return false;
	__atomic_fetch_add(&engine->gated, 1, __ATOMIC_RELAXED);
	return true;
}

void vhalt_engine_stats(const struct vhalt_engine *engine, struct vhalt_engine_stats *stats)
{
	const struct wait_engine *e = (const struct wait_engine *)engine->opaque;

	stats->burnt_ns = __atomic_load_n(&e->burnt_ns, __ATOMIC_RELAXED);
	stats->gated = __atomic_load_n(&e->gated, __ATOMIC_RELAXED);
	stats->factor = __atomic_load_n(&e->factor, __ATOMIC_RELAXED);
	stats->ticks = __atomic_load_n(&e->ticks, __ATOMIC_RELAXED);
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the simulator's tests share: worlds from a list of settings, run under their invariants. */
#ifndef VHALT_TESTS_SIM_RIG_H
#define VHALT_TESTS_SIM_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/metric.h"
#include "sim/world.h"

#define RIG_MS 1000000ULL

/** Fills @config from "KIND" (adds one) and "KEY=VALUE" words separated by blanks. */
static inline void rig_config(struct sim_config *config, const char *text)
{
	char copy[2048], error[SIM_ERROR_BYTES], *save = NULL;

	sim_config_init(config);
	assert_true(strlen(text) < sizeof(copy));
	memcpy(copy, text, strlen(text) + 1);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');

		if (!equals) {
			assert_non_null(sim_config_kind(config, word, true));
			continue;
		}
		*equals = '\0';
		if (sim_config_set(config, word, equals + 1, error))
			fail_msg("%s", error);
	}
	if (sim_config_check(config, error))
		fail_msg("%s", error);
}

/** Runs a world to its end, the invariants checked after every event; the caller destroys it. */
static inline struct sim_world *rig_run(const struct sim_config *config, uint64_t seed)
{
	struct sim_world *world;

	assert_int_equal(sim_world_create(&world, config, seed), 0);
	world->check_every = 1;
	if (sim_world_run(world))
		fail_msg("at %llu ns: %s", (unsigned long long)world->now_ns,
			 sim_world_check(world));
	return world;
}

/** rig_run() of a text, its metrics into @result. */
static inline void rig_measure(const char *text, struct sim_result *result)
{
	struct sim_config config;
	struct sim_world *world;

	rig_config(&config, text);
	world = rig_run(&config, 1);
	sim_result_take(world, result);
	sim_world_destroy(world);
}

#endif

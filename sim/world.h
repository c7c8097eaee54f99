/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One simulation: built from a configuration and a seed, run, asked for its results. */
#ifndef VHALT_SIM_WORLD_H
#define VHALT_SIM_WORLD_H

#include "sim/model.h"

/**
 * sim_world_create - build a host with its VMs at time 0.
 * @config:  checked by sim_config_check(); must outlive the world
 * @seed:    everything random comes from it: same config and seed, same run, anywhere
 *
 * Return: 0 or -ENOMEM.
 */
int sim_world_create(struct sim_world **world, const struct sim_config *config, uint64_t seed);

/** sim_world_destroy - NULL is allowed. */
void sim_world_destroy(struct sim_world *world);

/**
 * sim_world_run - simulate warm-up and duration.
 * Return: 0, or -EPROTO: an invariant was found broken (only when world->check_every is set).
 */
int sim_world_run(struct sim_world *world);

/** sim_world_step - one event. Return: false: the end is reached. For tests. */
bool sim_world_step(struct sim_world *world);

/**
 * sim_world_check - the invariants.
 *
 * No vCPU runs on two pCPUs, none is queued twice or lost; CPU time is conserved; nobody sleeps who
 * was woken; no lock is held by a thread that does not exist or free with a spinner that could have
 * it. Return: NULL, or what is wrong.
 */
const char *sim_world_check(struct sim_world *world);

/** sim_world_bytes - memory in use, per vCPU and in all. */
uint64_t sim_world_bytes(const struct sim_world *world);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Fetches into the caches what events that come soon will touch; no result depends on it. */
#ifndef VHALT_SIM_AHEAD_H
#define VHALT_SIM_AHEAD_H

#include "sim/model.h"

/*
 * With thousands of mostly idle vCPUs each event is about one whose state has long left the caches:
 * some twenty lines, many of them found through others. The event queue knows long before who is
 * next, so they are fetched in steps while other events are worked off, each step from what the one
 * before it has brought. A world that fits the caches gains nothing and is spared the instructions.
 */

/** Worlds of fewer bytes than this are not worth it: they stay in a core's own caches. */
#define SIM_AHEAD_MIN_BYTES (1ULL << 20)

/** sim_ahead_fetch - begin to fetch what came closer to the queue's top in the present event. */
void sim_ahead_fetch(const struct sim_world *w);

#endif

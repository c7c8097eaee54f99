/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Replay results as JSON: the keys are documented in docs/replay.md and stay as they are. */
#ifndef VHALT_REPLAY_JSON_H
#define VHALT_REPLAY_JSON_H

#include <jansson.h>

#include "replay/engine.h"

/**
 * replay_json - a finished replay.
 * @groups:  also list every group under "groups", not only the total
 *
 * Return: a new object owned by the caller, NULL: out of memory.
 */
json_t *replay_json(const struct replay *replay, bool groups);

/** replay_json_metrics - the figures of one policy, without its name. New object or NULL. */
json_t *replay_json_metrics(const struct replay_metrics *metrics);

/** replay_json_params - {"halt_poll_ns":200000, ...}: all parameters of @spec. New object or NULL.
 */
json_t *replay_json_params(const struct vhalt_spec *spec);

/** replay_json_text - as text that ends with a newline; the caller frees it. NULL: out of memory.
 */
char *replay_json_text(const json_t *object);

#endif

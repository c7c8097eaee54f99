/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A policy and its parameters as one word of text: "kvm:halt_poll_ns=50us,shrink=0". */
#ifndef VHALT_LIB_SPEC_H
#define VHALT_LIB_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include <vhalt/policy.h>

/*
 *	spec  = name [ ":" key "=" value { "," key "=" value } ]
 *
 * name is a policy of the core's table, key a parameter of that policy; a key that ends in "_ns"
 * may be written without it. Values of parameters in nanoseconds are durations ("200us", "1.5ms")
 * or whole nanoseconds ("200000"), the others whole numbers; booleans are 0 or 1. Each key at most
 * once; what is not written has the policy's default.
 */
struct vhalt_spec {
	uint32_t policy;		   /* enum vhalt_policy_id */
	uint32_t given;			   /* bit i: parameter i was written, not defaulted */
	uint64_t values[VHALT_PARAMS_MAX]; /* one per parameter, in the order of the policy's table
					    */
};

/** Room for what vhalt_spec_format() writes of any policy. */
#define VHALT_SPEC_TEXT_BYTES 320

/** Room for any message of vhalt_spec_parse(); shorter buffers get a shortened message. */
#define VHALT_SPEC_ERROR_BYTES 512

/**
 * vhalt_spec_parse - read a spec.
 * @text:         the whole word
 * @spec:         receives the policy and all its values; unchanged on error
 * @error:        receives one sentence that names what is wrong and what is allowed; NULL is
 * allowed
 * @error_bytes:  size of @error
 *
 * Values are checked against the bounds of the policy's table, so vhalt_config_init() accepts them.
 * Any context that may format text. Return: 0, -EINVAL (syntax, unknown name or key), -ERANGE
 * (value out of bounds).
 */
int vhalt_spec_parse(const char *text, struct vhalt_spec *spec, char *error, size_t error_bytes);

/** vhalt_spec_init - @spec becomes policy @id (below VHALT_NR_POLICIES) with its defaults. */
void vhalt_spec_init(struct vhalt_spec *spec, uint32_t id);

/** vhalt_spec_param - index of parameter @key of policy @id, with or without "_ns"; -1: none. */
int vhalt_spec_param(uint32_t id, const char *key);

/**
 * vhalt_spec_set - set parameter @key to @value, clamped to its bounds, unless it was given.
 * Return: 0, -ENOENT when the policy has no such parameter.
 */
int vhalt_spec_set(struct vhalt_spec *spec, const char *key, uint64_t value);

/**
 * vhalt_spec_format - write @spec so that vhalt_spec_parse() gives the same values back.
 * @text:  at least VHALT_SPEC_TEXT_BYTES
 *
 * Only parameters that were given or differ from their default are written.
 * Return: @text. Cannot fail.
 */
const char *vhalt_spec_format(const struct vhalt_spec *spec, char text[VHALT_SPEC_TEXT_BYTES]);

/** vhalt_spec_config - prepare the config of @spec; vhalt_config_init()'s result. */
int vhalt_spec_config(const struct vhalt_spec *spec, struct vhalt_config *config);

#endif

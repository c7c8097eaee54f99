/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What all results as JSON have in common. */
#ifndef VHALT_UTIL_RESULTS_H
#define VHALT_UTIL_RESULTS_H

#include <jansson.h>
#include <math.h>

/** results_rounded - six digits after the point are more than any figure of a result means. */
static inline double results_rounded(double value)
{
	return round(value * 1e6) / 1e6;
}

/**
 * results_append - append @value, which is taken over, NULL too.
 *
 * json_array_append_new() takes NULL as "failed before" and drops what it is given: then the list
 * is given up. Return: @array, or NULL in its place when memory ran out, here or before.
 */
static inline json_t *results_append(json_t *array, json_t *value)
{
	if (array && !json_array_append_new(array, value))
		return array;
	json_decref(array);
	return NULL;
}

#endif

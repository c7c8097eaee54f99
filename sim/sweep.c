// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Sweeps: the values one parameter takes in turn.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/study.h"
#include "util/units.h"

enum { STEPS_DEFAULT = 8 };

static int bad(char error[SIM_ERROR_BYTES], const char *text, const char *why)
{
	snprintf(error, SIM_ERROR_BYTES, "\"%.100s\": %s", text, why);
	return -EINVAL;
}

static int parse_value(const struct sim_param *p, const char *text, size_t n, uint64_t *value)
{
	char word[UNITS_DURATION_BYTES];

	if (n >= sizeof(word))
		return -EINVAL;
	memcpy(word, text, n);
	word[n] = '\0';
	return p->type == SIM_PARAM_NS ? units_parse_duration(word, value)
				       : units_parse_u64(word, value);
}

static void write_value(const struct sim_param *p, uint64_t value, char text[SIM_VALUE_BYTES])
{
	if (p->type == SIM_PARAM_NS)
		units_format_exact(value, text);
	else
		snprintf(text, SIM_VALUE_BYTES, "%llu", (unsigned long long)value);
}

/* "A..B" or "A..B:STEP". */
static int parse_range(const struct sim_param *p, const char *text, struct sim_sweep *sweep,
		       char error[SIM_ERROR_BYTES])
{
	const char *dots = strstr(text, ".."), *colon = strchr(dots, ':');
	size_t high_n = colon ? (size_t)(colon - dots - 2) : strlen(dots + 2);
	uint64_t low, high, step;

	if (p->type != SIM_PARAM_NS && p->type != SIM_PARAM_NUMBER)
		return bad(error, text, "a range of what is neither a duration nor a number");
	if (parse_value(p, text, (size_t)(dots - text), &low) ||
	    parse_value(p, dots + 2, high_n, &high) || low > high)
		return bad(error, text, "not a range (write host.slice=1ms..8ms:1ms)");
	step = (high - low) / STEPS_DEFAULT;
	if (colon && parse_value(p, colon + 1, strlen(colon + 1), &step))
		return bad(error, text, "not a step");
	if (!step && (colon || low == high))
		step = colon ? 0 : 1;
	else if (!step)
		step = 1;
	if (!step || (high - low) / step >= SIM_SWEEP_MAX)
		return bad(error, text, "more than 64 values, or a step of nothing");
	for (uint64_t v = low;; v += step) {
		write_value(p, v, sweep->values[sweep->nr++]);
		if (high - v < step)
			return 0;
	}
}

static int parse_list(const char *text, struct sim_sweep *sweep, char error[SIM_ERROR_BYTES])
{
	while (*text) {
		size_t n = strcspn(text, ",");

		if (!n || n >= SIM_VALUE_BYTES || sweep->nr == SIM_SWEEP_MAX)
			return bad(error, text, "not a list of up to 64 values");
		memcpy(sweep->values[sweep->nr], text, n);
		sweep->values[sweep->nr++][n] = '\0';
		text += n + (text[n] == ',');
	}
	return sweep->nr ? 0 : bad(error, text, "no values");
}

int sim_sweep_parse(const struct sim_config *config, const char *text, struct sim_sweep *sweep,
		    char error[SIM_ERROR_BYTES])
{
	const char *equals = strchr(text, '=');
	size_t n = equals ? (size_t)(equals - text) : 0;
	const struct sim_param *p;

	memset(sweep, 0, sizeof(*sweep));
	if (!equals || n >= sizeof(sweep->key))
		return bad(error, text, "write KEY=A..B, KEY=A..B:STEP or KEY=V,V,...");
	memcpy(sweep->key, text, n);
	p = sim_config_find(config, sweep->key);
	if (!p)
		return bad(error, sweep->key, "no such parameter (--list shows them)");
	if (strstr(equals + 1, ".."))
		return parse_range(p, equals + 1, sweep, error);
	return parse_list(equals + 1, sweep, error);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A policy and its parameters as one word of text, read and written.
#include "lib/spec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/units.h"

enum { WORD_BYTES = 64 };

/* Where the message of a parse goes. */
struct complaint {
	char *text;
	size_t bytes;
};

__attribute__((format(printf, 2, 3))) static void say(const struct complaint *to,
						      const char *format, ...)
{
	size_t used = to->text && to->bytes ? strlen(to->text) : 0;
	va_list args;

	if (used >= to->bytes)
		return;
	va_start(args, format);
	vsnprintf(to->text + used, to->bytes - used, format, args);
	va_end(args);
}

static void say_policies(const struct complaint *to)
{
	const struct vhalt_policy *p;

	for (uint32_t id = 0; (p = vhalt_policy_get(id)); id++)
		say(to, "%s%s", id ? ", " : "", p->name);
}

static void say_params(const struct complaint *to, const struct vhalt_policy *policy)
{
	if (!policy->nr_params)
		say(to, "it has no parameters");
	for (uint32_t i = 0; i < policy->nr_params; i++)
		say(to, "%s%s", i ? ", " : "it has ", policy->params[i].name);
}

/* The bounds in the unit of the parameter, so that the message can be typed back. */
static void say_bounds(const struct complaint *to, const struct vhalt_param *param)
{
	char lo[UNITS_DURATION_BYTES], hi[UNITS_DURATION_BYTES];

	if (param->unit == VHALT_UNIT_NS)
		say(to, "%s to %s", units_format_exact(param->min, lo),
		    units_format_exact(param->max, hi));
	else
		say(to, "%" PRIu64 " to %" PRIu64, param->min, param->max);
}

/* Copies the part of *text before any of @stops and moves *text to the stop. */
static int take_word(const char **text, const char *stops, char word[WORD_BYTES])
{
	size_t n = strcspn(*text, stops);

	if (!n || n >= WORD_BYTES)
		return -EINVAL;
	memcpy(word, *text, n);
	word[n] = '\0';
	*text += n;
	return 0;
}

static int parse_value(const struct vhalt_param *param, const char *word, uint64_t *value)
{
	int err = units_parse_u64(word, value);

	if (err == -EINVAL && param->unit == VHALT_UNIT_NS)
		err = units_parse_duration(word, value);
	if (!err && (*value < param->min || *value > param->max))
		err = -ERANGE;
	return err;
}

static int parse_param(const char **text, const struct vhalt_policy *policy,
		       struct vhalt_spec *spec, const struct complaint *to)
{
	char key[WORD_BYTES], word[WORD_BYTES];
	const struct vhalt_param *param;
	const char *begin = *text;
	int err, i;

	if (take_word(text, "=,", key) || **text != '=') {
		say(to, "policy %s: \"%.*s\" is not key=value", policy->name,
		    (int)strcspn(begin, ","), begin);
		return -EINVAL;
	}
	++*text;
	i = vhalt_spec_param(spec->policy, key);
	if (i < 0) {
		say(to, "policy %s has no parameter \"%s\": ", policy->name, key);
		say_params(to, policy);
		return -EINVAL;
	}
	param = &policy->params[i];
	if (spec->given & 1U << i) {
		say(to, "policy %s: %s is given twice", policy->name, param->name);
		return -EINVAL;
	}
	if (take_word(text, ",", word)) {
		say(to, "policy %s: %s has no usable value: ", policy->name, param->name);
		say_bounds(to, param);
		return -EINVAL;
	}
	err = parse_value(param, word, &spec->values[i]);
	if (err) {
		say(to, "policy %s: %s=%s is %s: ", policy->name, param->name, word,
		    err == -ERANGE		   ? "out of range"
		    : param->unit == VHALT_UNIT_NS ? "not a duration"
						   : "not a whole number");
		say_bounds(to, param);
	}
	spec->given |= 1U << i;
	return err;
}

int vhalt_spec_parse(const char *text, struct vhalt_spec *spec, char *error, size_t error_bytes)
{
	struct complaint to = {error, error ? error_bytes : 0};
	const struct vhalt_policy *policy;
	struct vhalt_spec parsed;
	char name[WORD_BYTES];
	const char *at = text;
	int err;

	if (to.bytes)
		*error = '\0';
	err = take_word(&at, ":", name);
	policy = err ? NULL : vhalt_policy_get(vhalt_policy_find(name));
	if (!policy) {
		say(&to, "\"%.80s\" is not a policy: ", text);
		say_policies(&to);
		return -EINVAL;
	}
	vhalt_spec_init(&parsed, vhalt_policy_find(name));
	if (*at)
		do {
			at++;
			err = parse_param(&at, policy, &parsed, &to);
			if (err)
				return err;
		} while (*at);
	*spec = parsed;
	return 0;
}

void vhalt_spec_init(struct vhalt_spec *spec, uint32_t id)
{
	memset(spec, 0, sizeof(*spec));
	spec->policy = id;
	vhalt_policy_defaults(id, spec->values);
}

int vhalt_spec_param(uint32_t id, const char *key)
{
	const struct vhalt_policy *policy = vhalt_policy_get(id);
	size_t n = strlen(key);

	for (uint32_t i = 0; policy && i < policy->nr_params; i++) {
		const char *name = policy->params[i].name;

		if (!strcmp(name, key) || (!strncmp(name, key, n) && !strcmp(name + n, "_ns")))
			return (int)i;
	}
	return -1;
}

int vhalt_spec_set(struct vhalt_spec *spec, const char *key, uint64_t value)
{
	const struct vhalt_policy *policy = vhalt_policy_get(spec->policy);
	int i = vhalt_spec_param(spec->policy, key);
	const struct vhalt_param *param;

	if (i < 0)
		return -ENOENT;
	if (spec->given & 1U << i)
		return 0;
	param = &policy->params[i];
	spec->values[i] = value < param->min ? param->min : value > param->max ? param->max : value;
	return 0;
}

const char *vhalt_spec_format(const struct vhalt_spec *spec, char text[VHALT_SPEC_TEXT_BYTES])
{
	const struct vhalt_policy *policy = vhalt_policy_get(spec->policy);
	struct complaint to = {text, VHALT_SPEC_TEXT_BYTES};
	char separator = ':';

	*text = '\0';
	if (!policy)
		return text;
	say(&to, "%s", policy->name);
	for (uint32_t i = 0; i < policy->nr_params; i++) {
		const struct vhalt_param *param = &policy->params[i];
		char ns[UNITS_DURATION_BYTES];

		if (!(spec->given & 1U << i) && spec->values[i] == param->dflt)
			continue;
		if (param->unit == VHALT_UNIT_NS)
			say(&to, "%c%s=%s", separator, param->name,
			    units_format_exact(spec->values[i], ns));
		else
			say(&to, "%c%s=%" PRIu64, separator, param->name, spec->values[i]);
		separator = ',';
	}
	return text;
}

int vhalt_spec_config(const struct vhalt_spec *spec, struct vhalt_config *config)
{
	return vhalt_config_init(config, spec->policy, spec->values, NULL);
}

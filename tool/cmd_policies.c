// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt policies: the policies and their parameters, straight from the core's tables.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include <vhalt/policy.h>
#include "replay/text.h"
#include "tool/commands.h"
#include "tool/options.h"
#include "util/units.h"

static bool json;

static const struct option_row rows[] = {
	{"json", 'j', OPTION_FLAG, &json, NULL, "print JSON", 0, 0, NULL},
	{0},
};

static const struct option_spec spec = {
	.command = "policies",
	.usage = "[options]",
	.summary = "Lists the policies and their parameters, with units, defaults and bounds.",
	.rows = rows,
};

static const char *unit_name(enum vhalt_unit unit)
{
	return unit == VHALT_UNIT_NS ? "ns" : unit == VHALT_UNIT_BOOL ? "bool" : "number";
}

static const char *format(const struct vhalt_param *p, uint64_t value,
			  char text[UNITS_DURATION_BYTES])
{
	if (p->unit == VHALT_UNIT_NS && value)
		return units_format_exact(value, text);
	snprintf(text, UNITS_DURATION_BYTES, "%" PRIu64, value);
	return text;
}

static void print_policy(const struct vhalt_policy *policy)
{
	char left[32];

	snprintf(left, sizeof(left), "%-9s ", policy->name);
	replay_text_wrap(stdout, left, "%s", policy->summary);
	for (uint32_t i = 0; i < policy->nr_params; i++) {
		const struct vhalt_param *p = &policy->params[i];
		char dflt[UNITS_DURATION_BYTES], min[UNITS_DURATION_BYTES],
			max[UNITS_DURATION_BYTES];
		char range[2 * UNITS_DURATION_BYTES + 3], columns[160];

		snprintf(range, sizeof(range), "%s..%s", format(p, p->min, min),
			 format(p, p->max, max));
		snprintf(columns, sizeof(columns), "    %-13s %-8s %-17s ", p->name,
			 format(p, p->dflt, dflt), range);
		replay_text_wrap(stdout, columns, "%s", p->help);
	}
}

static void print_all(void)
{
	const struct vhalt_policy *policy;

	printf("A policy is written NAME or NAME:parameter=value,...; each parameter below has "
	       "its\n"
	       "default, its bounds and its meaning. \"_ns\" may be left out; times may have "
	       "units.\n\n");
	for (uint32_t id = 0; (policy = vhalt_policy_get(id)); id++)
		print_policy(policy);
	printf("%-9s %s\n", "oracle", "knows each halt's length (replay only)");
}

static json_t *policy_json(const struct vhalt_policy *policy)
{
	json_t *params = json_array();

	for (uint32_t i = 0; i < policy->nr_params; i++) {
		const struct vhalt_param *p = &policy->params[i];

		if (json_array_append_new(params,
					  json_pack("{s:s,s:s,s:I,s:I,s:I,s:s}", "name", p->name,
						    "unit", unit_name(p->unit), "default",
						    (json_int_t)p->dflt, "min", (json_int_t)p->min,
						    "max", (json_int_t)p->max, "help", p->help))) {
			json_decref(params);
			return NULL;
		}
	}
	return json_pack("{s:s,s:s,s:i,s:o}", "name", policy->name, "summary", policy->summary,
			 "state_bytes", (int)policy->state_bytes, "params", params);
}

static int print_json(void)
{
	json_t *all = json_array(), *root;
	const struct vhalt_policy *policy;
	char *text;

	for (uint32_t id = 0; (policy = vhalt_policy_get(id)); id++)
		if (json_array_append_new(all, policy_json(policy))) {
			fprintf(stderr, "vhalt policies: out of memory\n");
			json_decref(all);
			return 1;
		}
	root = json_pack("{s:o}", "policies", all);
	text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
	if (text)
		puts(text);
	else
		fprintf(stderr, "vhalt policies: out of memory\n");
	json_decref(root);
	free(text);
	return text ? 0 : 1;
}

int cmd_policies(int argc, char **argv)
{
	int first = options_parse(&spec, argc, argv);

	if (first < 0)
		return options_exit(first);
	if (first < argc) {
		fprintf(stderr, "vhalt policies: \"%s\": no argument expected\n", argv[first]);
		return 2;
	}
	if (json)
		return print_json();
	print_all();
	return 0;
}

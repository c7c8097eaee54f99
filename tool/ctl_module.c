// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt ctl set, reset, budget: what is asked of the host module.
#include "tool/ctl_module.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/check.h"
#include "ctl/ctl.h"
#include "lib/spec.h"
#include "replay/apply.h"
#include "util/units.h"

static int complain(const char *what, const char *text)
{
	fprintf(stderr, "vhalt ctl: %s%s%s\n", what, *what ? ": " : "", text);
	return 1;
}

/* A spec as the module wants it: by name, only what was written. */
static void to_setting(const struct vhalt_spec *spec, struct ctl_setting *setting)
{
	const struct vhalt_policy *policy = vhalt_policy_get(spec->policy);

	snprintf(setting->policy, sizeof(setting->policy), "%s", policy->name);
	setting->nr_params = 0;
	for (uint32_t i = 0; i < policy->nr_params; i++) {
		if (!(spec->given & 1U << i))
			continue;
		snprintf(setting->params[setting->nr_params].name, VHALT_NAME_BYTES, "%s",
			 policy->params[i].name);
		setting->params[setting->nr_params++].value = spec->values[i];
	}
}

/* The longest window the policy may choose; 0: none. */
static uint64_t longest_ns(const struct vhalt_spec *spec)
{
	static const char *const names[] = {"max_ns", "halt_poll_ns"};
	uint64_t longest = 0;

	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
		int i = vhalt_spec_param(spec->policy, names[n]);

		if (i >= 0 && spec->values[i] > longest)
			longest = spec->values[i];
	}
	return longest;
}

/*
 * Windows above KVM's ceiling are cut. Without --raise that is only said. With it the ceiling is
 * set once the policy is in force, so it is asked beforehand whether that could work.
 */
static int mind_ceiling(struct ctl *ctl, uint64_t longest, bool *raise)
{
	char have[UNITS_DURATION_BYTES], want[UNITS_DURATION_BYTES], text[APPLY_ERROR_BYTES];
	struct apply_value value = {"halt_poll_ns", longest};
	struct ctl_error error;
	struct ctl_info info;

	if (ctl_get_info(ctl, &info, &error))
		return complain("", error.text);
	if (info.ceiling_ns == VHALT_UNKNOWN_U32 || info.ceiling_ns >= longest) {
		*raise = false;
	} else if (*raise) {
		if (apply_check(&value, 1, text))
			return complain("--raise", text);
	} else {
		fprintf(stderr,
			"vhalt ctl: KVM polls at most %s (its halt_poll_ns); the policy may ask "
			"for %s. "
			"--raise raises the ceiling\n",
			units_format_exact(info.ceiling_ns, have),
			units_format_exact(longest, want));
	}
	return 0;
}

static int raise_ceiling(uint64_t ns)
{
	struct apply_value value = {"halt_poll_ns", ns};
	char error[APPLY_ERROR_BYTES], text[UNITS_DURATION_BYTES];

	if (apply_set(&value, 1, error))
		return complain("the policy is set, but --raise failed", error);
	printf("KVM's halt_poll_ns is %s now; vhalt ctl restore puts the old value back.\n",
	       units_format_exact(ns, text));
	return 0;
}

int ctl_module_set(const char *text, uint64_t pid, bool raise)
{
	struct ctl_setting setting = {.policy = VHALT_POLICY_NAME_KERNEL};
	char message[VHALT_SPEC_ERROR_BYTES];
	struct ctl_error error;
	struct vhalt_spec spec;
	uint64_t longest = 0;
	struct ctl *ctl;
	int code;

	if (strcmp(text, VHALT_POLICY_NAME_KERNEL)) {
		if (vhalt_spec_parse(text, &spec, message, sizeof(message))) {
			complain("set", message);
			return 2;
		}
		to_setting(&spec, &setting);
		longest = longest_ns(&spec);
	}
	if (ctl_open(&ctl, &error))
		return complain("", error.text);
	code = mind_ceiling(ctl, longest, &raise);
	if (!code && ctl_set(ctl, (uint32_t)pid, &setting, &error))
		code = complain("set", error.text);
	if (!code && raise)
		code = raise_ceiling(longest);
	ctl_close(ctl);
	return code;
}

int ctl_module_reset(uint64_t pid)
{
	struct ctl_error error;
	struct ctl *ctl;
	int code = 0;

	if (ctl_open(&ctl, &error))
		return complain("", error.text);
	if (ctl_reset(ctl, (uint32_t)pid, &error))
		code = complain("reset", error.text);
	ctl_close(ctl);
	return code;
}

/* "2.5" or "2.5%" to 25000: at most four decimals. Return: 0 or -EINVAL, -ERANGE. */
static int parse_percent(const char *text, uint32_t *ppm)
{
	uint64_t value = 0, unit = 10000;
	bool fraction = false, digits = false;

	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !fraction); text++) {
		if (*text == '.') {
			fraction = true;
			continue;
		}
		if (fraction && unit == 1)
			return -EINVAL;
		unit = fraction ? unit / 10 : unit;
		value = fraction ? value + unit * (uint64_t)(*text - '0')
				 : value * 10 + 10000 * (uint64_t)(*text - '0');
		digits = true;
		if (value > 1000000)
			return -ERANGE;
	}
	if (!digits || (*text && strcmp(text, "%")))
		return -EINVAL;
	*ppm = (uint32_t)value;
	return 0;
}

int ctl_module_budget(const char *text)
{
	struct ctl_error error;
	struct ctl *ctl;
	uint32_t ppm;
	int code = 0;

	if (parse_percent(text, &ppm)) {
		fprintf(stderr,
			"vhalt ctl: budget: \"%s\" is not a percentage from 0 to 100 "
			"with at most four decimals\n",
			text);
		return 2;
	}
	if (ctl_open(&ctl, &error))
		return complain("", error.text);
	if (ctl_set_budget(ctl, ppm, &error))
		code = complain("budget", error.text);
	ctl_close(ctl);
	return code;
}

int ctl_module_check(const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *in = is_stdin ? stdin : fopen(path, "r");
	struct ctl_check result;
	int err;

	if (!in)
		return complain(path, strerror(errno));
	err = ctl_check_stream(in, is_stdin ? "standard input" : path, &result);
	if (!is_stdin)
		fclose(in);
	if (err)
		return complain(path, strerror(-err));
	printf("%" PRIu64 " of %" PRIu64 " module decisions reproduced", result.same,
	       result.events);
	if (result.unchecked)
		printf(", %" PRIu64 " not checked: what came before them is not in the trace",
		       result.unchecked);
	printf("\n");
	if (*result.first)
		complain("", result.first);
	if (!result.events)
		return complain(path, "no event vhalt_window in it");
	return result.same == result.events ? 0 : 1;
}

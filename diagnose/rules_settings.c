// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The rules about settings, for lint. docs/diagnosis.md explains each by its name.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/rules.h"
#include "diagnose/rules_settings.h"

static bool not_a_number(const struct stats *s, const struct diagnose_context *c, char *subject,
			 char *e)
{
	const struct stats_setting *first = NULL;
	uint32_t others = 0;
	uint64_t v;

	(void)c;
	for (uint32_t i = 0; i < s->nr_settings; i++) {
		const struct stats_setting *one = &s->settings[i];
		bool ours = strcmp(one->module, "event") != 0 &&
			    (!strncmp(one->name, "halt_poll_ns", 12) ||
			     (!strncmp(one->name, "guest_halt_poll_", 16) &&
			      !strstr(one->name, "allow_shrink")));

		if (!ours || (stats_number(one, &v) && v <= UINT32_MAX))
			continue;
		others += first != NULL;
		first = first ? first : one;
	}
	if (!first)
		return false;
	snprintf(subject, FINDING_SUBJECT_BYTES, "%.60s", first->name);
	return finding_evidence(e,
				"Its value \"%.40s\" (line %" PRIu64
				") is no number the kernel can have: 0 to 4294967295.%s",
				first->value, first->place,
				others ? " Nor are those of others." : "");
}

static bool start_above(const struct stats *s, const struct diagnose_context *c, char *subject,
			char *e)
{
	uint64_t start, ceiling;

	(void)c;
	diagnose_subject(subject, "kvm.halt_poll_ns_grow_start");
	if (!diagnose_number(s, "kvm", "halt_poll_ns_grow_start", &start) ||
	    !diagnose_number(s, "kvm", "halt_poll_ns", &ceiling) || !ceiling || start <= ceiling)
		return false;
	return finding_evidence(
		e,
		"It is %s, above the ceiling halt_poll_ns of %s: the first grow already "
		"hits the ceiling, so windows are 0 or all of it.",
		DURATION(start), DURATION(ceiling));
}

static bool grow_nothing(const struct stats *s, const struct diagnose_context *c, char *subject,
			 char *e)
{
	static const char *const where[][3] = {
		{"kvm", "halt_poll_ns_grow", "halt_poll_ns"},
		{"haltpoll", "guest_halt_poll_grow", "guest_halt_poll_ns"},
	};
	uint64_t grow, ceiling;

	(void)c;
	for (size_t i = 0; i < 2; i++) {
		if (!diagnose_number(s, where[i][0], where[i][1], &grow) || grow > 1 ||
		    !diagnose_number(s, where[i][0], where[i][2], &ceiling) || !ceiling)
			continue;
		snprintf(subject, FINDING_SUBJECT_BYTES, "%s.%s", where[i][0], where[i][1]);
		return finding_evidence(
			e,
			"It is %" PRIu64 ": windows %s, so the ceiling of %s is never "
			"reached.",
			grow, grow ? "stay where growing starts" : "never grow", DURATION(ceiling));
	}
	return false;
}

static bool shrink_one(const struct stats *s, const struct diagnose_context *c, char *subject,
		       char *e)
{
	uint64_t shrink;

	(void)c;
	diagnose_subject(subject, "kvm.halt_poll_ns_shrink");
	if (!diagnose_number(s, "kvm", "halt_poll_ns_shrink", &shrink) || shrink != 1)
		return false;
	return finding_evidence(e, "It is 1: dividing by 1 shrinks nothing, so a window that has "
				   "grown stays.");
}

static bool shrink_zero(const struct stats *s, const struct diagnose_context *c, char *subject,
			char *e)
{
	uint64_t shrink, ceiling;

	(void)c;
	diagnose_subject(subject, "kvm.halt_poll_ns_shrink");
	if (!diagnose_number(s, "kvm", "halt_poll_ns_shrink", &shrink) || shrink ||
	    !diagnose_number(s, "kvm", "halt_poll_ns", &ceiling) || !ceiling)
		return false;
	return finding_evidence(e,
				"It is 0, the default before 6.12 or so: one halt longer than %s "
				"drops the window to 0.",
				DURATION(ceiling));
}

/* What modprobe.d or a command line asks for is not what is in force. */
static bool not_in_force(const struct stats *s, const struct diagnose_context *c, char *subject,
			 char *e)
{
	(void)c;
	for (uint32_t i = 0; i < s->nr_settings; i++) {
		const struct stats_setting *want = &s->settings[i], *have;

		if (!want->configured || !strstr(want->name, "halt_poll"))
			continue;
		have = stats_setting(s, want->module, want->name);
		if (!have || !strcmp(have->value, want->value))
			continue;
		snprintf(subject, FINDING_SUBJECT_BYTES, "%.60s.%.60s", want->module, want->name);
		return finding_evidence(e,
					"Configured as %.30s (line %" PRIu64
					"), in force is %.30s: "
					"the configured value is not active.",
					want->value, want->place, have->value);
	}
	return false;
}

/* modprobe passes both on; the kernel takes the last, and which that is depends on file names. */
static bool configured_twice(const struct stats *s, const struct diagnose_context *c, char *subject,
			     char *e)
{
	(void)c;
	for (uint32_t i = 0; i < s->nr_settings; i++) {
		const struct stats_setting *a = &s->settings[i], *b;

		for (uint32_t j = 0; a->configured && j < i; j++) {
			b = &s->settings[j];
			if (!b->configured || strcmp(a->name, b->name) != 0 ||
			    strcmp(a->module, b->module) != 0 || !strcmp(a->value, b->value))
				continue;
			snprintf(subject, FINDING_SUBJECT_BYTES, "%.60s.%.60s", a->module, a->name);
			return finding_evidence(e,
						"Configured as %.30s (line %" PRIu64
						") and as %.30s (line %" PRIu64 ").",
						b->value, b->place, a->value, a->place);
		}
	}
	return false;
}

static bool tick_under(const struct stats *s, const struct diagnose_context *c, char *subject,
		       char *e)
{
	bool hz = diagnose_is(s, "config", "CONFIG_HZ", "1000") ||
		  diagnose_is(s, "config", "CONFIG_HZ_1000", "y");
	bool seen = c && c->tick_ns != UINT64_MAX && c->tick_ns >= 900000 && c->tick_ns < 1100000;
	uint64_t host = 0, guest = 0, ceiling;

	diagnose_number(s, "kvm", "halt_poll_ns", &host);
	diagnose_number(s, "haltpoll", "guest_halt_poll_ns", &guest);
	/* CONFIG_HZ is this machine's own: of its guests' ticks that says nothing. */
	if (c && c->one_machine)
		host = 0;
	if (c && c->param_ns != UINT64_MAX && c->param_ns > host)
		host = c->param_ns;
	if (c && c->vm_ceiling_ns != UINT64_MAX && c->vm_ceiling_ns > host)
		host = c->vm_ceiling_ns;
	ceiling = host > guest ? host : guest;
	diagnose_subject(subject,
			 host >= guest ? "kvm.halt_poll_ns" : "haltpoll.guest_halt_poll_ns");
	if (ceiling < 1000000 || !(hz || seen))
		return false;
	return finding_evidence(e,
				"The ceiling is %s and %s: an idle vCPU is polled for from tick to "
				"tick and never sleeps.",
				DURATION(ceiling),
				seen ? "a guest ticks at 1 kHz in the recording"
				     : "the kernel's tick is 1 kHz (CONFIG_HZ)");
}

static bool above_ms(const struct stats *s, const struct diagnose_context *c, char *subject,
		     char *e)
{
	char ignored[FINDING_SUBJECT_BYTES];
	uint64_t ceiling;

	if (tick_under(s, c, ignored, e))
		return false;
	diagnose_subject(subject, "kvm.halt_poll_ns");
	if (!diagnose_number(s, "kvm", "halt_poll_ns", &ceiling) || ceiling < 1000000)
		return false;
	return finding_evidence(
		e,
		"The ceiling is %s: a guest with a tick of 1 kHz would be polled for "
		"without a break. Which tick the guests have is not known here.",
		DURATION(ceiling));
}

static bool own_ceiling(const struct stats *s, const struct diagnose_context *c, char *subject,
			char *e)
{
	uint64_t ceiling;

	if (!c || c->vm_ceiling_ns == UINT64_MAX)
		return false;
	if (!diagnose_number(s, "kvm", "halt_poll_ns", &ceiling))
		ceiling = c->param_ns;
	if (ceiling == UINT64_MAX || ceiling == c->vm_ceiling_ns)
		return false;
	diagnose_subject(subject, "kvm.halt_poll_ns");
	return finding_evidence(
		e,
		"It is %s, but a VM has a ceiling of its own, %s (KVM_CAP_HALT_POLL): "
		"the parameter does not reach that VM.",
		ceiling ? DURATION(ceiling) : "0",
		c->vm_ceiling_ns ? DURATION(c->vm_ceiling_ns) : "0");
}

/* clang-format off */
const struct diagnose_settings_rule diagnose_settings_rules[] = {
	{{"bad-value", "a value that cannot be",
	  "Read it again from /sys/module; this one was mistyped or damaged.", FINDING_PROBLEM},
	 not_a_number},
	{{"start-above-ceiling", "growing starts above the ceiling",
	  "Lower halt_poll_ns_grow_start below halt_poll_ns.", FINDING_PROBLEM}, start_above},
	{{"guest-start-above-ceiling", "growing starts above the ceiling, in the guest",
	  "Lower guest_halt_poll_grow_start below guest_halt_poll_ns.", FINDING_PROBLEM},
	 diagnose_guest_start_above},
	{{"no-growth", "windows do not grow", "Set it to 2, or the ceiling to 0 if no polling is "
	  "meant.",
	  FINDING_PROBLEM}, grow_nothing},
	{{"no-shrinking", "windows do not shrink", "Set it to 2.", FINDING_PROBLEM}, shrink_one},
	{{"shrink-zero", "one long halt drops the window to 0",
	  "Set it to 2 if short halts follow long ones; vhalt advise tells whether they do.",
	  FINDING_NOTE}, shrink_zero},
	{{"allow-shrink-off", "the guest's windows never shrink",
	  "Set guest_halt_poll_allow_shrink to Y.", FINDING_PROBLEM}, diagnose_guest_no_shrink},
	{{"both-poll", "host and guest both poll",
	  "Let one of them poll: halt_poll_ns 0 for such guests (KVM_CAP_HALT_POLL), or the "
	  "haltpoll cpuidle driver in the guest, which tells the "
	  "host.", FINDING_PROBLEM}, diagnose_both_poll},
	{{"guest-inactive", "guest polling is configured but not active",
	  "Load cpuidle_haltpoll (force=1 where the hypervisor does not hint at it), and see that "
	  "the haltpoll governor is chosen.", FINDING_PROBLEM}, diagnose_guest_inactive},
	{{"guest-zero", "guest polling is set up with a ceiling of 0",
	  "Set guest_halt_poll_ns, or unload cpuidle_haltpoll.", FINDING_PROBLEM},
	 diagnose_guest_zero},
	{{"not-in-force", "a configured value is not in force",
	  "Reload the module, reboot, or write the value to /sys/module.", FINDING_PROBLEM},
	 not_in_force},
	{{"configured-twice", "a setting is configured twice, differently",
	  "Keep one of the lines. If they are of two hosts, give each host's in a file of its own.",
	  FINDING_PROBLEM}, configured_twice},
	{{"guest-unreached", "modprobe.d does not reach the guest's setting",
	  "Put it on the guest's kernel command line (haltpoll.NAME=VALUE), or write it to "
	  "/sys/module/haltpoll/parameters at boot.", FINDING_PROBLEM}, diagnose_guest_unreached},
	{{"tick-under-ceiling", "ceiling above the guest's tick",
	  "Keep the ceiling below 1 ms, or stop the tick of idle CPUs in the guest.",
	  FINDING_PROBLEM}, tick_under},
	{{"ceiling-above-1ms", "ceiling above 1 ms",
	  "Know the guests' tick, or keep it below 1 ms.", FINDING_NOTE}, above_ms},
	{{"vm-ceiling", "a VM's own ceiling hides the parameter",
	  "Change it in the VM's own VMM; vhalt advise shows the figures per VM.", FINDING_PROBLEM},
	 own_ceiling},
};
/* clang-format on */

const uint32_t diagnose_nr_settings_rules = sizeof(diagnose_settings_rules) /
					    sizeof(diagnose_settings_rules[0]);

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The rules about settings of a guest that polls itself (the haltpoll governor), for lint.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/rules.h"
#include "diagnose/rules_settings.h"

/* Does this machine, a guest, poll by the haltpoll governor? */
static bool guest_polls(const struct stats *s, uint64_t *window_ns)
{
	bool governor = diagnose_is(s, "cpuidle", "current_governor", "haltpoll") ||
			diagnose_is(s, "cpuidle", "current_governor_ro", "haltpoll");

	return diagnose_number(s, "haltpoll", "guest_halt_poll_ns", window_ns) && *window_ns &&
	       governor;
}

bool diagnose_guest_start_above(const struct stats *s, const struct diagnose_context *c,
				char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES])
{
	uint64_t start, ceiling;

	(void)c;
	diagnose_subject(subject, "haltpoll.guest_halt_poll_grow_start");
	if (!diagnose_number(s, "haltpoll", "guest_halt_poll_grow_start", &start) ||
	    !diagnose_number(s, "haltpoll", "guest_halt_poll_ns", &ceiling) || !ceiling ||
	    start <= ceiling)
		return false;
	return finding_evidence(
		e,
		"It is %s, above the ceiling guest_halt_poll_ns of %s: windows are 0 or "
		"all of it.",
		DURATION(start), DURATION(ceiling));
}

bool diagnose_guest_no_shrink(const struct stats *s, const struct diagnose_context *c,
			      char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES])
{
	const struct stats_setting *setting = stats_setting(s, "haltpoll",
							    "guest_halt_poll_allow_shrink");
	uint64_t ceiling;

	(void)c;
	diagnose_subject(subject, "haltpoll.guest_halt_poll_allow_shrink");
	/* sysfs has Y and N; who configures it may write what the kernel takes for the same. */
	if (!setting || !*setting->value ||
	    (!strchr("nNfF0", *setting->value) && strcmp(setting->value, "off") != 0))
		return false;
	if (diagnose_number(s, "haltpoll", "guest_halt_poll_ns", &ceiling) && !ceiling)
		return false;
	return finding_evidence(e,
				"It is off: once grown, a guest CPU's window never shrinks, and an "
				"idle CPU polls it out before each halt.");
}

bool diagnose_both_poll(const struct stats *s, const struct diagnose_context *c,
			char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES])
{
	uint64_t guest, host;
	bool driver = diagnose_is(s, "cpuidle", "current_driver", "haltpoll");

	if (!guest_polls(s, &guest))
		return false;
	diagnose_subject(subject, "haltpoll.guest_halt_poll_ns");
	if (c && c->one_machine)
		return !driver && stats_setting(s, "cpuidle", "current_driver") &&
		       finding_evidence(
			       e,
			       "This guest polls up to %s, and its cpuidle driver is not "
			       "haltpoll: nothing tells the host to stop its own polling, if "
			       "it does any.",
			       DURATION(guest));
	diagnose_subject(subject, "kvm.halt_poll_ns, haltpoll.guest_halt_poll_ns");
	if (!diagnose_number(s, "kvm", "halt_poll_ns", &host) || !host)
		return false;
	return finding_evidence(
		e,
		"If these are a host and its guest: the guest polls up to %s before a halt and the "
		"host "
		"up to %s after it. %s",
		DURATION(guest), DURATION(host),
		driver ? "The guest's haltpoll driver tells its host to stop; that the host obeys "
			 "(MSR_KVM_POLL_CONTROL) these files do not show."
		       : "The guest's cpuidle driver is not haltpoll, so nothing tells the host to "
			 "stop: every halt is polled for twice.");
}

/* What a kernel with the governor built in has by itself, as most have: nobody has chosen it. */
#define GUEST_DEFAULT_NS 200000

/* Guest values are raised, but the governor that would use them is another. */
bool diagnose_guest_inactive(const struct stats *s, const struct diagnose_context *c,
			     char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES])
{
	const struct stats_setting *governor = stats_setting(s, "cpuidle", "current_governor");
	const struct stats_setting *driver = stats_setting(s, "cpuidle", "current_driver");
	uint64_t window;

	(void)c;
	diagnose_subject(subject, "haltpoll.guest_halt_poll_ns");
	if (!governor)
		governor = stats_setting(s, "cpuidle", "current_governor_ro");
	if (!diagnose_number(s, "haltpoll", "guest_halt_poll_ns", &window) || !window ||
	    window == GUEST_DEFAULT_NS)
		return false;
	if (governor && strcmp(governor->value, "haltpoll") != 0)
		return finding_evidence(e,
					"It is %s, but the cpuidle governor is \"%.30s\": guest "
					"polling is not active and the value has no effect.",
					DURATION(window), governor->value);
	if (driver && !strcmp(driver->value, "none"))
		return finding_evidence(
			e,
			"It is %s, but no cpuidle driver is bound: guest polling is "
			"not active and the value has no effect.",
			DURATION(window));
	return false;
}

bool diagnose_guest_zero(const struct stats *s, const struct diagnose_context *c,
			 char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES])
{
	uint64_t window;
	bool driver = diagnose_is(s, "cpuidle", "current_driver", "haltpoll");

	(void)c;
	diagnose_subject(subject, "haltpoll.guest_halt_poll_ns");
	if (!diagnose_number(s, "haltpoll", "guest_halt_poll_ns", &window) || window ||
	    !(driver || diagnose_is(s, "cpuidle", "current_governor", "haltpoll")))
		return false;
	return finding_evidence(
		e, "It is 0 while haltpoll is the cpuidle %s: the guest does not poll%s.",
		driver ? "driver" : "governor",
		driver ? ", and its driver asks the host not to poll either" : "");
}

/*
 * The haltpoll governor is no module (CPU_IDLE_GOV_HALTPOLL is y or n), and its parameters are not
 * those of the driver cpuidle_haltpoll, which has force alone.
 */
bool diagnose_guest_unreached(const struct stats *s, const struct diagnose_context *c,
			      char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES])
{
	(void)c;
	for (uint32_t i = 0; i < s->nr_settings; i++) {
		const struct stats_setting *one = &s->settings[i];

		if (!one->modprobe || strncmp(one->name, "guest_halt_poll_", 16) != 0)
			continue;
		snprintf(subject, FINDING_SUBJECT_BYTES, "%.60s.%.60s", one->module, one->name);
		return finding_evidence(
			e,
			"modprobe.d sets it to %.30s (line %" PRIu64
			"), but these are parameters of the "
			"haltpoll governor, which is built into the kernel: modprobe.d does not "
			"reach it.",
			one->value, one->place);
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Judging settings: every rule for every list, by what is in force and by what is configured.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/rules_settings.h"

bool diagnose_number(const struct stats *s, const char *module, const char *name, uint64_t *v)
{
	/* What no kernel can have is said as that, and nothing is concluded from it. */
	return stats_number(stats_setting(s, module, name), v) && *v <= UINT32_MAX;
}

bool diagnose_is(const struct stats *s, const char *module, const char *name, const char *value)
{
	const struct stats_setting *setting = stats_setting(s, module, name);

	return setting && !strcmp(setting->value, value);
}

void diagnose_subject(char subject[FINDING_SUBJECT_BYTES], const char *text)
{
	snprintf(subject, FINDING_SUBJECT_BYTES, "%s", text);
}

/* The settings of one list alone, so that no rule mixes two hosts; and kvm's of list @host. */
static bool view_set(struct stats *view, const struct stats *stats, uint32_t set, uint32_t host)
{
	*view = *stats;
	view->nr_sets = 1;
	view->nr_settings = 0;
	view->settings = calloc(stats->nr_settings + 1U, sizeof(*view->settings));
	if (!view->settings)
		return false;
	for (uint32_t i = 0; i < stats->nr_settings; i++) {
		const struct stats_setting *s = &stats->settings[i];

		if (s->set != set && !(s->set == host && !strcmp(s->module, "kvm")))
			continue;
		view->settings[view->nr_settings] = stats->settings[i];
		view->settings[view->nr_settings++].set = 0;
	}
	return true;
}

static bool in_force(const struct stats *stats, uint32_t set, const struct stats_setting *like)
{
	for (uint32_t i = 0; i < stats->nr_settings; i++) {
		const struct stats_setting *s = &stats->settings[i];

		if (s->set == set && !s->configured && !strcmp(s->name, like->name) &&
		    !strcmp(s->module, like->module))
			return true;
	}
	return false;
}

/* What is configured as if it were in force, where the list does not say what is; the last wins. */
static bool view_configured(struct stats *view, const struct stats *stats, uint32_t set)
{
	bool any = false;

	for (uint32_t i = 0; i < view->nr_settings; i++) {
		struct stats_setting *s = &view->settings[i];

		if (!s->configured || in_force(stats, set, s))
			continue;
		s->configured = false;
		any = true;
	}
	return any;
}

/* Every rule once: @fired says which have spoken. */
static void judge(const struct stats *view, const struct diagnose_context *context,
		  const char *whose, bool configured, bool *fired, struct findings *findings)
{
	char subject[FINDING_SUBJECT_BYTES], evidence[FINDING_EVIDENCE_BYTES];

	for (uint32_t i = 0; i < diagnose_nr_settings_rules; i++) {
		size_t used;

		if (fired[i] || !diagnose_settings_rules[i].holds(view, context, subject, evidence))
			continue;
		fired[i] = true;
		used = strlen(subject);
		if (whose)
			snprintf(subject + used, sizeof(subject) - used, " (%.60s)", whose);
		used = strlen(evidence);
		if (configured)
			snprintf(evidence + used, sizeof(evidence) - used,
				 " By what modprobe.d or the command line configure: what is in "
				 "force is not listed.");
		findings_add(findings, &diagnose_settings_rules[i].rule, subject, evidence);
	}
}

static bool has_module(const struct stats *s, uint32_t set, const char *module)
{
	for (uint32_t i = 0; i < s->nr_settings; i++)
		if (s->settings[i].set == set && !strcmp(s->settings[i].module, module))
			return true;
	return false;
}

/* The one rule about two machines: a list of a guest without kvm's parameters, one of its host. */
static void judge_host_and_guest(const struct stats *s, uint32_t guest, uint32_t host,
				 struct findings *findings)
{
	char subject[FINDING_SUBJECT_BYTES], evidence[FINDING_EVIDENCE_BYTES];
	struct stats view;

	if (guest == host || !has_module(s, guest, "haltpoll") || has_module(s, guest, "kvm") ||
	    !has_module(s, host, "kvm"))
		return;
	if (!view_set(&view, s, guest, host)) {
		findings->left_out++;
		return;
	}
	for (uint32_t i = 0; i < diagnose_nr_settings_rules; i++)
		if (diagnose_settings_rules[i].holds == diagnose_both_poll &&
		    diagnose_both_poll(&view, NULL, subject, evidence))
			findings_add(findings, &diagnose_settings_rules[i].rule, subject, evidence);
	free(view.settings);
}

static const struct finding_rule two_values = {
	"two-values", "two values of one setting",
	"Give each host's list in a file of its own, or only what holds now.", FINDING_PROBLEM};

/* Lists that do not agree, where no prompt says that they are of two hosts. */
static void judge_lists(const struct stats *s, struct findings *findings)
{
	char subject[FINDING_SUBJECT_BYTES], evidence[FINDING_EVIDENCE_BYTES];
	const struct stats_setting *one, *other;

	for (uint32_t b = 1; b < s->nr_sets; b++)
		for (uint32_t a = 0; a < b; a++) {
			if (stats_sets_named_apart(s, a, b) ||
			    !stats_sets_differ(s, a, b, &one, &other))
				continue;
			snprintf(subject, sizeof(subject), "%.60s.%.60s", one->module, one->name);
			finding_evidence(evidence,
					 "It is %.30s in line %" PRIu64
					 " and %.30s in line %" PRIu64
					 ": lists of two hosts, or of one at two times. They are "
					 "judged apart.",
					 one->value, one->place, other->value, other->place);
			findings_add(findings, &two_values, subject, evidence);
			break;
		}
}

void diagnose_settings(const struct stats *stats, const struct diagnose_context *context,
		       struct findings *findings)
{
	uint32_t nr = stats->nr_sets ? stats->nr_sets : 1;
	bool *fired = calloc(diagnose_nr_settings_rules, sizeof(*fired));
	struct stats view;

	for (uint32_t set = 0; set < nr; set++) {
		const char *whose = nr > 1 ? stats->sets[set].label : NULL;

		if (!fired || !view_set(&view, stats, set, set)) {
			findings->left_out++;
			continue;
		}
		memset(fired, 0, diagnose_nr_settings_rules * sizeof(*fired));
		judge(&view, context, whose, false, fired, findings);
		if (view_configured(&view, stats, set))
			judge(&view, context, whose, true, fired, findings);
		free(view.settings);
	}
	free(fired);
	for (uint32_t guest = 0; guest < stats->nr_sets; guest++)
		for (uint32_t host = 0; host < stats->nr_sets; host++)
			judge_host_and_guest(stats, guest, host, findings);
	judge_lists(stats, findings);
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the rules about settings share, and those about guests that poll, for the table of all. */
#ifndef VHALT_DIAGNOSE_RULES_SETTINGS_H
#define VHALT_DIAGNOSE_RULES_SETTINGS_H

#include "diagnose/stats.h"

/** diagnose_number - a setting as a number that a kernel can have: false if it is not there. */
bool diagnose_number(const struct stats *s, const char *module, const char *name, uint64_t *v);

/** diagnose_is - does a setting have this value? */
bool diagnose_is(const struct stats *s, const char *module, const char *name, const char *value);

/** diagnose_subject - name the setting that is wrong. */
void diagnose_subject(char subject[FINDING_SUBJECT_BYTES], const char *text);

/* Each as diagnose_settings_rule.holds. */
bool diagnose_guest_start_above(const struct stats *s, const struct diagnose_context *c,
				char subject[FINDING_SUBJECT_BYTES],
				char e[FINDING_EVIDENCE_BYTES]);
bool diagnose_guest_no_shrink(const struct stats *s, const struct diagnose_context *c,
			      char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES]);
bool diagnose_both_poll(const struct stats *s, const struct diagnose_context *c,
			char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES]);
bool diagnose_guest_inactive(const struct stats *s, const struct diagnose_context *c,
			     char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES]);
bool diagnose_guest_zero(const struct stats *s, const struct diagnose_context *c,
			 char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES]);
bool diagnose_guest_unreached(const struct stats *s, const struct diagnose_context *c,
			      char subject[FINDING_SUBJECT_BYTES], char e[FINDING_EVIDENCE_BYTES]);

#endif

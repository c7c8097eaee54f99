/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A finding: what is the matter with whom, the figures that show it, and what to do about it. */
#ifndef VHALT_DIAGNOSE_FINDING_H
#define VHALT_DIAGNOSE_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#define FINDING_SUBJECT_BYTES  160
#define FINDING_EVIDENCE_BYTES 512

enum finding_weight {
	FINDING_NOTE,	 /* worth knowing; nothing is wrong */
	FINDING_PROBLEM, /* costs something, or makes no sense */
};

/** A row of a table of rules; everything but the condition. */
struct finding_rule {
	const char *name;  /* stable: "ticks-polled"; docs/diagnosis.md explains each */
	const char *title; /* a few words */
	const char *todo;  /* what to do, whole sentences */
	enum finding_weight weight;
};

struct finding {
	const struct finding_rule *rule;
	char subject[FINDING_SUBJECT_BYTES]; /* vCPU, table or parameter */
	char evidence[FINDING_EVIDENCE_BYTES];
};

/** A list of findings, at most FINDINGS_MAX of them. Zeroed it is empty. */
struct findings {
	struct finding *list;
	uint32_t nr, room;
	uint64_t left_out; /* beyond FINDINGS_MAX, or for want of memory */
};

#define FINDINGS_MAX 1024U

/** findings_add - copy @subject and @evidence into a new finding. Cannot fail; see left_out. */
void findings_add(struct findings *findings, const struct finding_rule *rule, const char *subject,
		  const char *evidence);

/** findings_fini - free what it holds; it is empty then. */
void findings_fini(struct findings *findings);

/** findings_problems - how many are FINDING_PROBLEM. */
uint32_t findings_problems(const struct findings *findings);

/** findings_has - is there one of this rule? The first, or NULL. */
const struct finding *findings_has(const struct findings *findings, const char *rule);

/**
 * finding_evidence - write evidence: sentences with the figures. Return: true, so that a rule's
 * condition can end with it.
 */
bool finding_evidence(char text[FINDING_EVIDENCE_BYTES], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The list of findings.
#include "diagnose/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void findings_add(struct findings *f, const struct finding_rule *rule, const char *subject,
		  const char *evidence)
{
	struct finding *finding;

	if (f->nr == f->room && f->nr < FINDINGS_MAX) {
		uint32_t room = f->room ? 2 * f->room : 16;
		struct finding *list = reallocarray(f->list, room, sizeof(*list));

		if (list) {
			f->list = list;
			f->room = room;
		}
	}
	if (f->nr == f->room || f->nr == FINDINGS_MAX) {
		f->left_out++;
		return;
	}
	finding = &f->list[f->nr++];
	finding->rule = rule;
	snprintf(finding->subject, sizeof(finding->subject), "%s", subject);
	snprintf(finding->evidence, sizeof(finding->evidence), "%s", evidence);
}

void findings_fini(struct findings *f)
{
	free(f->list);
	*f = (struct findings){.list = NULL};
}

uint32_t findings_problems(const struct findings *f)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < f->nr; i++)
		nr += f->list[i].rule->weight == FINDING_PROBLEM;
	return nr;
}

const struct finding *findings_has(const struct findings *f, const char *rule)
{
	for (uint32_t i = 0; i < f->nr; i++)
		if (!strcmp(f->list[i].rule->name, rule))
			return &f->list[i];
	return NULL;
}

bool finding_evidence(char text[FINDING_EVIDENCE_BYTES], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, FINDING_EVIDENCE_BYTES, format, args);
	va_end(args);
	return true;
}

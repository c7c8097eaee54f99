/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Advice in words a host operator understands, and as JSON. */
#ifndef VHALT_REPLAY_ADVICE_TEXT_H
#define VHALT_REPLAY_ADVICE_TEXT_H

#include <jansson.h>

#include "replay/advice.h"

#define ADVICE_NOTES_MAX  16
#define ADVICE_NOTE_BYTES 320

/** Remarks that belong to a piece of advice. Zero it before the first. */
struct advice_notes {
	char text[ADVICE_NOTES_MAX][ADVICE_NOTE_BYTES];
	uint32_t nr;
};

/** advice_note - add a remark: whole sentences. Beyond ADVICE_NOTES_MAX they are left out. */
__attribute__((format(printf, 2, 3))) void advice_note(struct advice_notes *notes,
						       const char *format, ...);

/** advice_note_findings - add what the recording itself calls for: lost events, assumptions, ... */
void advice_note_findings(struct advice_notes *notes, const struct advice *advice);

/** A parameter of the kernel that the advice changes. */
struct advice_change {
	const char *parameter; /* as in /sys/module/kvm/parameters */
	uint64_t from, to;
};

#define ADVICE_CHANGES_MAX 4

/** advice_changes - what to set; in the order to set it. Return: how many, 0: nothing. */
uint32_t advice_changes(const struct advice *advice,
			struct advice_change changes[ADVICE_CHANGES_MAX]);

/** advice_setting - the whole recommended setting, changed or not. Return: ADVICE_CHANGES_MAX. */
uint32_t advice_setting(const struct advice *advice,
			struct advice_change setting[ADVICE_CHANGES_MAX]);

/** advice_text - the whole advice for people. @out is written to only; check it for errors. */
void advice_text(FILE *out, const struct advice *advice, const struct advice_notes *notes);

/** advice_json - the keys of replay_json() and more, see docs/replay.md. New object or NULL. */
json_t *advice_json(const struct advice *advice, const struct advice_notes *notes);

#endif

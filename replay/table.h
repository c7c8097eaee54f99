/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Results as a table for people. */
#ifndef VHALT_REPLAY_TABLE_H
#define VHALT_REPLAY_TABLE_H

#include <stdio.h>

#include "replay/engine.h"

/** replay_table_head - the two lines above the rows. */
void replay_table_head(FILE *out);

/**
 * replay_table_row - one policy.
 * @label:    its name; a long one gets a line of its own
 * @wall_ns:  the group's; 0 leaves out what is a share of time
 */
void replay_table_row(FILE *out, const char *label, const struct replay_metrics *metrics,
		      uint64_t wall_ns);

/** replay_table_group - head and all rows of one group of a finished replay. */
void replay_table_group(FILE *out, const struct replay *replay, uint32_t group);

/** replay_row_label - what to call a row: "oracle", "kvm, present setting", or the spec as given.
 */
const char *replay_row_label(const struct replay_row *row, char text[VHALT_SPEC_TEXT_BYTES]);

/** replay_text_model - one or two lines that say what a halt costs here, and where L comes from. */
void replay_text_model(FILE *out, const struct replay_model *model);

/**
 * replay_text_missing - a line that says what a recording lacks; nothing where it is whole.
 * @lost, @damaged_frames:  as in struct trace_info, of all recordings
 */
void replay_text_missing(FILE *out, uint64_t lost, uint64_t damaged_frames);

#endif

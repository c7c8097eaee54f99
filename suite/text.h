/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The suite's results as text. */
#ifndef VHALT_SUITE_TEXT_H
#define VHALT_SUITE_TEXT_H

#include <stdio.h>

#include "suite/budget.h"
#include "suite/table.h"
#include "suite/target.h"
#include "suite/trial.h"

/** suite_text_table - every setting's table, then the summary; @brief: the summary alone. */
void suite_text_table(FILE *out, const struct suite_table *table, bool brief);

/** suite_text_trial - the quantiles of a trial of the policy called @name. */
void suite_text_trial(FILE *out, const struct suite_trial *trial, const char *name);

/** suite_text_budget - the table of suite_budget_run(). */
void suite_text_budget(FILE *out, const struct suite_budget_row *rows, uint32_t nr);

/** suite_text_targets - one line each; returns how many are missed. */
uint32_t suite_text_targets(FILE *out, const struct suite_target *targets, uint32_t nr);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The suite's results as JSON; the keys are documented in docs/measurements.md and stay. */
#ifndef VHALT_SUITE_JSON_H
#define VHALT_SUITE_JSON_H

#include <jansson.h>

#include "suite/budget.h"
#include "suite/table.h"
#include "suite/target.h"
#include "suite/trial.h"

/** Each returns a new reference, or NULL when memory ran out. */
json_t *suite_json_table(const struct suite_table *table);
json_t *suite_json_trial(const struct suite_trial *trial, const char *name);
json_t *suite_json_budget(const struct suite_budget_row *rows, uint32_t nr);
json_t *suite_json_targets(const struct suite_target *targets, uint32_t nr);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A study's results as text and as JSON. */
#ifndef VHALT_SIM_REPORT_H
#define VHALT_SIM_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "sim/study.h"

/** sim_report_text - the table of each point; @detail: also every metric of every cell. */
void sim_report_text(FILE *out, const struct sim_study *study, bool detail);

/** sim_report_json - all of it; the keys are in vhalt-sim(1). A new reference, NULL: no memory. */
json_t *sim_report_json(const struct sim_study *study, const char *name);

#endif

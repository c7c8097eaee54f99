/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Diagnosis of statistics: sums of many halts show less than the halts, and some things as well. */
#ifndef VHALT_DIAGNOSE_STATS_H
#define VHALT_DIAGNOSE_STATS_H

#include "diagnose/finding.h"
#include "diagnose/halts.h"
#include "stats/summary.h"

/** What polling cost and bought, from sums. Coarse: blocked halts' own lengths are not known. */
struct diagnose_coarse {
	bool known;	      /* the counters for it are there; else nothing below is */
	uint64_t hits, fails; /* polls that met a wake-up; that did not */
	uint64_t useful_ns, wasted_ns;
	uint64_t block_ns; /* B: what blocking once is taken to cost */
	double paid_ns;	   /* polling plus B for each poll that met nothing */
	double none_ns;	   /* B for each of these halts: what no polling would cost */
	bool has_best;	   /* histograms are there: lower ceilings can be compared */
	uint64_t best_ns;  /* the cheapest ceiling, a power of two or 0; not above the present */
	double best_cost_ns;
	uint64_t longest_ns; /* no poll was longer than this power of two */
};

/** diagnose_coarse - @model: NULL: the defaults. */
void diagnose_coarse(struct diagnose_coarse *coarse, const struct stats_summary *s,
		     const struct diagnose_model *model);

/** A rule about one table, VM or vCPU of a statistics file. */
struct diagnose_stats_rule {
	struct finding_rule rule;
	bool (*holds)(const struct stats_summary *s, const struct diagnose_coarse *coarse,
		      char evidence[FINDING_EVIDENCE_BYTES]);
};

extern const struct diagnose_stats_rule diagnose_stats_rules[];
extern const uint32_t diagnose_nr_stats_rules;

/**
 * diagnose_stats - judge every table of a file.
 * @label:  before the names of the tables when not NULL
 * Return: 0 or -ENOMEM.
 */
int diagnose_stats(const struct stats *stats, const struct diagnose_model *model, const char *label,
		   struct findings *findings);

/** Where settings come from, beside a listing. UINT64_MAX: not known. */
struct diagnose_context {
	uint64_t vm_ceiling_ns; /* a VM's own ceiling seen in a recording */
	uint64_t tick_ns;	/* period of a guest's tick seen in a recording */
	uint64_t param_ns;	/* halt_poll_ns of that recording */
	bool one_machine; /* all settings are of this machine: its host's are not among them */
};

/** A rule about settings, for lint. */
struct diagnose_settings_rule {
	struct finding_rule rule;
	/* @subject is set too: the setting that is wrong. */
	bool (*holds)(const struct stats *stats, const struct diagnose_context *context,
		      char subject[FINDING_SUBJECT_BYTES], char evidence[FINDING_EVIDENCE_BYTES]);
};

extern const struct diagnose_settings_rule diagnose_settings_rules[];
extern const uint32_t diagnose_nr_settings_rules;

/** diagnose_settings - judge the settings of a listing; @context: NULL: nothing more is known. */
void diagnose_settings(const struct stats *stats, const struct diagnose_context *context,
		       struct findings *findings);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What a statistics file holds, for people and as JSON.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/text.h"
#include "tool/diagnose_print.h"
#include "util/units.h"

enum { SCOPES_SHOWN = 32, STATES_SHOWN = 16, LIST_BYTES = 900 };

#define DURATION(ns) units_format_duration((uint64_t)(ns), (char[UNITS_DURATION_BYTES]){0})

static bool known(uint64_t value)
{
	return value != STATS_UNKNOWN;
}

/* "text, text", each bit of @bits by its name. */
static void list_supports(uint32_t bits, char text[LIST_BYTES])
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < STATS_NR_SUPPORTS; i++)
		if (bits & 1U << i)
			used += (size_t)snprintf(text + used, LIST_BYTES - used, "%s%s",
						 used ? "; " : "", stats_support_text(1U << i));
}

static void print_polls(const struct stats_summary *s)
{
	if (known(s->attempted) && known(s->successful) && s->attempted)
		printf("      polls      %" PRIu64 ", %" PRIu64 " met a wake-up (%.1f %%)\n",
		       s->attempted, s->successful,
		       100 * (double)s->successful / (double)s->attempted);
	else if (known(s->attempted))
		printf("      polls      %" PRIu64 "\n", s->attempted);
	if (known(s->success_ns) && known(s->fail_ns))
		printf("      polled     %s that met a wake-up, %s in vain\n",
		       DURATION(s->success_ns), DURATION(s->fail_ns));
	if (known(s->wait_ns))
		printf("      blocked    %s\n", DURATION(s->wait_ns));
	if (known(s->wakeups))
		printf("      woken      %" PRIu64 "%s", s->wakeups,
		       known(s->invalid) ? ", " : "\n");
	if (known(s->wakeups) && known(s->invalid))
		printf("invalid %" PRIu64 "\n", s->invalid);
}

static void print_traced(const struct stats_summary *s)
{
	if (known(s->ev_wakeup)) {
		printf("      wake-ups   %" PRIu64, s->ev_wakeup);
		if (known(s->wakeup_rate_milli))
			printf(", now %.0f a second", (double)s->wakeup_rate_milli / 1000);
		printf("\n");
	}
	if (known(s->ev_halt))
		printf("      HLT exits  %" PRIu64 "\n", s->ev_halt);
	if (known(s->ev_window))
		printf("      windows    %" PRIu64 " changes\n", s->ev_window);
	if (s->halt_name)
		printf("      %-10s %" PRIu64 " exits, %.2f %% of all; %s on average, %s to %s\n",
		       s->halt_name, s->halt_samples, (double)s->halt_share_ppm / 1e4,
		       DURATION(s->halt_mean_ns),
		       known(s->halt_min_ns) ? DURATION(s->halt_min_ns) : "?",
		       known(s->halt_max_ns) ? DURATION(s->halt_max_ns) : "?");
	else if (s->scope->kind == STATS_PERF)
		printf("      %s\n", s->scope->nr_values ? "no exit that was read is a halt's"
							 : "no row of it was read");
}

static void print_coarse(const struct stats_summary *s, const struct diagnose_model *model)
{
	struct diagnose_coarse c;

	diagnose_coarse(&c, s, model);
	if (!c.known || !s->attempted)
		return;
	replay_text_wrap(
		stdout, "      coarse     ",
		"if blocking once costs %s: polling as it was costs %s, never polling %s%s%s%s",
		DURATION(c.block_ns), DURATION(c.paid_ns), DURATION(c.none_ns),
		c.has_best ? ", a ceiling of " : "",
		c.has_best ? c.best_ns ? DURATION(c.best_ns) : "0" : "",
		c.has_best ? " the least of those that are not above it" : "");
}

static void print_scope(const struct stats *stats, const struct stats_summary *s, uint32_t scope,
			const struct diagnose_model *model)
{
	uint32_t supports = stats_supports(s);
	char list[LIST_BYTES];

	(void)stats;
	printf("    %s: %" PRIu32 " %s%s\n", s->scope->label, s->scope->nr_values,
	       s->scope->by_guest	      ? "guests"
	       : s->scope->kind == STATS_PERF ? "kinds of exits"
					      : "counters",
	       s->scope->kind == STATS_KVM_STAT_LOG ? ", summed over a log" : "");
	(void)scope;
	if (s->scope->kind == STATS_KVM_STAT_LOG)
		printf("      log        %" PRIu64 " lines%s%s\n", s->scope->samples,
		       known(s->scope->window_ms) ? " in " : "",
		       known(s->scope->window_ms) ? DURATION(s->scope->window_ms * 1000000) : "");
	print_polls(s);
	print_traced(s);
	if (s->lost_events || s->lost_chunks)
		printf("      lost       %" PRIu64 " %s, as it says itself\n",
		       s->lost_chunks ? s->lost_chunks : s->lost_events,
		       s->lost_chunks ? "chunks" : "events");
	print_coarse(s, model);
	list_supports(supports, list);
	replay_text_wrap(stdout, "      it says    ", "%s", *list ? list : "nothing about halts");
	list_supports(~supports & ((1U << STATS_NR_SUPPORTS) - 1), list);
	replay_text_wrap(stdout, "      it cannot  ",
			 "%s%severy halt's own length: it cannot be replayed", list,
			 *list ? "; " : "");
}

static void print_settings(const struct stats *stats)
{
	uint32_t others = 0, states = 0;

	for (uint32_t i = 0; i < stats->nr_settings; i++) {
		const struct stats_setting *s = &stats->settings[i];
		/* Idle states are many files of each CPU. */
		bool state = !strcmp(s->module, "cpuidle") && strchr(s->name, '/');
		bool ours = strstr(s->name, "halt_poll") || !strcmp(s->module, "event") ||
			    (!strcmp(s->module, "cpuidle") && !state) ||
			    !strcmp(s->name, "CONFIG_HZ") ||
			    !strncmp(s->module, "cpuidle_haltpoll", 16) ||
			    (state && ++states <= STATES_SHOWN);

		if (ours)
			printf("    %s%s%s = %s%s%s%s%s\n", s->module, s->module[0] ? "." : "",
			       s->name, s->value, s->configured ? " (configured)" : "",
			       stats->nr_sets > 1 ? " (" : "",
			       stats->nr_sets > 1 ? stats->sets[s->set].label : "",
			       stats->nr_sets > 1 ? ")" : "");
		others += !ours;
	}
	if (others)
		printf("    and %" PRIu32 " settings more, kept (--json lists them)\n", others);
}

void print_stats(const struct stats *stats, const struct diagnose_model *model)
{
	struct stats_summary *all = stats_summarise(stats);

	for (uint32_t i = 0; all && i < stats->nr_scopes && i < SCOPES_SHOWN; i++)
		print_scope(stats, &all[i], i, model);
	if (stats->nr_scopes > SCOPES_SHOWN)
		printf("    ... and %" PRIu32 " more (--json lists all)\n",
		       stats->nr_scopes - SCOPES_SHOWN);
	print_settings(stats);
	if (stats->kinds & STATS_MODINFO)
		printf("    modinfo names parameters and their types, not their values\n");
	free(all);
}

static json_t *number(uint64_t value)
{
	return known(value) ? json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value)
			    : json_null();
}

static json_t *json_hist(const struct stats_hist *h)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < h->nr; i++)
		json_array_append_new(list, number(h->bucket[i]));
	return json_pack("{s:s,s:o}", "kind", h->log2 ? "log2" : "linear", "buckets", list);
}

static json_t *json_value(const struct stats *stats, const struct stats_value *v)
{
	json_t *o = json_pack("{s:s,s:I,s:s,s:b,s:o,s:I}", "name", v->name, "scope",
			      (json_int_t)v->scope, "unit", stats_unit_name(v->unit), "instant",
			      v->instant, "total", number(v->total), "place", (json_int_t)v->place);

	if (!o)
		return NULL;
	if (known(v->rate_milli))
		json_object_set_new(o, "per_second", json_real((double)v->rate_milli / 1000));
	if (known(v->share_ppm))
		json_object_set_new(o, "share_pct", json_real((double)v->share_ppm / 1e4));
	if (known(v->time_ppm))
		json_object_set_new(o, "time_pct", json_real((double)v->time_ppm / 1e4));
	if (known(v->mean_ns))
		json_object_set_new(o, "mean_ns", number(v->mean_ns));
	if (known(v->min_ns)) {
		json_object_set_new(o, "min_ns", number(v->min_ns));
		json_object_set_new(o, "max_ns", number(v->max_ns));
	}
	if (v->hist != STATS_NO_HIST)
		json_object_set_new(o, "histogram", json_hist(&stats->hists[v->hist]));
	return o;
}

static json_t *json_scope(const struct stats_summary *s, const struct diagnose_model *model)
{
	json_t *says = json_array(), *cannot = json_array(), *coarse = json_null();
	uint32_t supports = stats_supports(s);
	struct diagnose_coarse c;

	for (uint32_t i = 0; i < STATS_NR_SUPPORTS; i++)
		json_array_append_new(supports & 1U << i ? says : cannot,
				      json_string(stats_support_text(1U << i)));
	json_array_append_new(cannot, json_string("every halt's own length"));
	diagnose_coarse(&c, s, model);
	if (c.known)
		coarse = json_pack("{s:I,s:I,s:I,s:I,s:f,s:f,s:o}", "hits", (json_int_t)c.hits,
				   "fails", (json_int_t)c.fails, "useful_ns",
				   (json_int_t)c.useful_ns, "wasted_ns", (json_int_t)c.wasted_ns,
				   "paid_ns", c.paid_ns, "none_ns", c.none_ns, "best_ceiling_ns",
				   c.has_best ? number(c.best_ns) : json_null());
	return json_pack(
		"{s:s,s:s,s:I,s:o,s:o,s:o,s:I,s:I,s:o,s:o,s:o}", "label", s->scope->label, "kind",
		stats_kind_name(s->scope->kind), "place", (json_int_t)s->scope->place, "total",
		number(s->scope->total), "window_ms", number(s->scope->window_ms), "total_time_ns",
		number(s->scope->total_time_ns), "samples", (json_int_t)s->scope->samples, "lost",
		(json_int_t)s->lost_events, "says", says, "cannot_say", cannot, "coarse", coarse);
}

json_t *json_stats(const struct stats *stats, const struct diagnose_model *model)
{
	json_t *values = json_array(), *scopes = json_array(), *settings = json_array();
	struct stats_summary *all = stats_summarise(stats);

	for (uint32_t i = 0; i < stats->nr_values; i++)
		json_array_append_new(values, json_value(stats, &stats->values[i]));
	for (uint32_t i = 0; all && i < stats->nr_scopes; i++)
		json_array_append_new(scopes, json_scope(&all[i], model));
	for (uint32_t i = 0; i < stats->nr_settings; i++) {
		const struct stats_setting *s = &stats->settings[i];

		json_array_append_new(settings,
				      json_pack("{s:s,s:s,s:s,s:b,s:I,s:s}", "module", s->module,
						"name", s->name, "value", s->value, "configured",
						s->configured, "line", (json_int_t)s->place, "list",
						stats->sets[s->set].label));
	}
	free(all);
	return json_pack("{s:o,s:o,s:o}", "scopes", scopes, "counters", values, "settings",
			 settings);
}

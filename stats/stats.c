// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What a statistics file said: the container, its growth within bounds, and look-ups.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/internal.h"

const char *stats_kind_name(uint32_t kind)
{
	switch (kind) {
	case STATS_KVM_STAT: return "kvm_stat table";
	case STATS_KVM_STAT_LOG: return "kvm_stat log";
	case STATS_PERF: return "perf kvm stat report";
	case STATS_BINARY: return "KVM binary statistics";
	case STATS_COUNTERS: return "list of KVM counters";
	case STATS_SETTINGS: return "parameter listing";
	case STATS_MODINFO: return "modinfo";
	case STATS_FORMAT: return "tracepoint format files";
	default: return "?";
	}
}

const char *stats_unit_name(enum stats_unit unit)
{
	switch (unit) {
	case STATS_NS: return "ns";
	case STATS_BYTES: return "bytes";
	case STATS_CYCLES: return "cycles";
	case STATS_BOOLEAN: return "boolean";
	case STATS_SECONDS: return "s";
	case STATS_COUNT: break;
	}
	return "";
}

struct stats *stats_create(void)
{
	return calloc(1, sizeof(struct stats));
}

void stats_destroy(struct stats *stats)
{
	if (!stats)
		return;
	free(stats->values);
	free(stats->hists);
	free(stats->scopes);
	free(stats->settings);
	free(stats);
}

/* Room for one more of @bytes in *@list, doubling; NULL when @max is reached or memory is out. */
static void *grow(struct stats *stats, void **list, uint32_t *nr, uint32_t *room, uint32_t max,
		  size_t bytes)
{
	if (*nr == max) {
		stats->left_out++;
		return NULL;
	}
	if (*nr == *room) {
		uint32_t wanted = *room ? 2 * *room : 16;
		void *larger = reallocarray(*list, wanted, bytes);

		if (!larger)
			return NULL;
		*list = larger;
		*room = wanted;
	}
	return memset((char *)*list + (size_t)(*nr)++ * bytes, 0, bytes);
}

void stats_printable(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* Keeps what can be printed; names come from strangers. */
static void keep(char *to, size_t room, const char *from, size_t nr)
{
	size_t i = 0;

	for (; i < nr && i + 1 < room; i++)
		to[i] = isprint((unsigned char)from[i]) ? from[i] : '?';
	to[i] = '\0';
}

uint32_t stats_add_scope(struct stats *stats, enum stats_kind kind, uint64_t place,
			 const char *format, ...)
{
	void *list = stats->scopes;
	struct stats_scope *scope = grow(stats, &list, &stats->nr_scopes, &stats->scopes_room,
					 STATS_SCOPES_MAX, sizeof(*scope));
	va_list args;

	stats->scopes = list;
	if (!scope)
		return UINT32_MAX;
	scope->kind = kind;
	scope->place = place;
	scope->window_ms = scope->total = scope->total_rate_milli = STATS_UNKNOWN;
	scope->total_time_ns = STATS_UNKNOWN;
	va_start(args, format);
	vsnprintf(scope->label, sizeof(scope->label), format, args);
	va_end(args);
	keep(scope->label, sizeof(scope->label), scope->label, strlen(scope->label));
	return stats->nr_scopes - 1;
}

uint32_t stats_scope_named(struct stats *stats, enum stats_kind kind, uint64_t place,
			   const char *label)
{
	/* The latest first: lists name one scope many times in a row. */
	for (uint32_t i = stats->nr_scopes; i-- > 0 && stats->nr_scopes - i < 256;)
		if (stats->scopes[i].kind == kind && !strcmp(stats->scopes[i].label, label))
			return i;
	return stats_add_scope(stats, kind, place, "%s", label);
}

struct stats_value *stats_add_value(struct stats *stats, uint32_t scope, const char *name,
				    size_t nr)
{
	void *list = stats->values;
	struct stats_value *value;

	if (scope >= stats->nr_scopes)
		return NULL;
	if (stats->scopes[scope].nr_values == STATS_SCOPE_VALUES) {
		stats->left_out++;
		return NULL;
	}
	value = grow(stats, &list, &stats->nr_values, &stats->values_room, STATS_VALUES_MAX,
		     sizeof(*value));
	stats->values = list;
	if (!value)
		return NULL;
	if (!stats->scopes[scope].nr_values++)
		stats->scopes[scope].first_value = stats->nr_values - 1;
	keep(value->name, sizeof(value->name), name, nr);
	value->scope = scope;
	value->total = value->rate_milli = value->share_ppm = value->time_ppm = STATS_UNKNOWN;
	value->min_ns = value->max_ns = value->mean_ns = STATS_UNKNOWN;
	value->hist = STATS_NO_HIST;
	nr = strlen(value->name);
	if (nr > 3 && !strcmp(value->name + nr - 3, "_ns"))
		value->unit = STATS_NS;
	return value;
}

struct stats_hist *stats_add_hist(struct stats *stats, uint32_t *index)
{
	void *list = stats->hists;
	struct stats_hist *hist = grow(stats, &list, &stats->nr_hists, &stats->hists_room,
				       STATS_HISTS_MAX, sizeof(*hist));

	stats->hists = list;
	if (hist)
		*index = stats->nr_hists - 1;
	return hist;
}

void stats_add_setting(struct stats *stats, const char *module, const char *name, size_t name_nr,
		       const char *value, uint64_t place, bool configured)
{
	void *list = stats->settings;
	struct stats_setting *setting = grow(stats, &list, &stats->nr_settings,
					     &stats->settings_room, STATS_SETTINGS_MAX,
					     sizeof(*setting));

	stats->settings = list;
	if (!setting)
		return;
	keep(setting->module, sizeof(setting->module), module, strlen(module));
	keep(setting->name, sizeof(setting->name), name, name_nr);
	keep(setting->value, sizeof(setting->value), value, strlen(value));
	setting->place = place;
	setting->configured = configured;
	if (strcmp(module, "event") != 0)
		stats->kinds |= STATS_SETTINGS;
}

const struct stats_value *stats_find(const struct stats *stats, uint32_t scope, const char *name)
{
	for (uint32_t i = 0; i < stats->nr_values; i++)
		if (stats->values[i].scope == scope && !strcmp(stats->values[i].name, name))
			return &stats->values[i];
	return NULL;
}

const struct stats_setting *stats_setting(const struct stats *stats, const char *module,
					  const char *name)
{
	const struct stats_setting *of_set[STATS_SETS_MAX] = {NULL}, *last = NULL;
	bool about[STATS_SETS_MAX] = {false};

	for (uint32_t i = stats->nr_settings; i-- > 0;) {
		const struct stats_setting *s = &stats->settings[i];

		if (s->configured || (*module && strcmp(s->module, module) != 0))
			continue;
		about[s->set] = true;
		if (of_set[s->set] || strcmp(s->name, name) != 0)
			continue;
		of_set[s->set] = s;
		last = last ? last : s;
	}
	for (uint32_t set = 0; last && set < STATS_SETS_MAX; set++)
		if (about[set] && (!of_set[set] || strcmp(of_set[set]->value, last->value) != 0))
			return NULL;
	return last;
}

bool stats_number(const struct stats_setting *setting, uint64_t *number)
{
	struct stats_word word;

	if (!setting)
		return false;
	word = (struct stats_word){setting->value, strlen(setting->value)};
	return !stats_u64(&word, number);
}

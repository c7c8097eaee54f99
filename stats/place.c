// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What the name or path of a listed value stands for: a counter of whom, or a setting of what.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "stats/internal.h"

/* The part of a path behind the last '/'. */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ".../debug/kvm/1234-12/vcpu0/halt_exits": whose counter it is. */
static bool place_debugfs(const struct stats_text *text, const char *path,
			  struct stats_place *place)
{
	static const char debug[] = "debug/kvm/";
	const char *at = strstr(path, debug);
	char vm[STATS_NAME_BYTES] = "host";
	unsigned pid, fd, vcpu;
	int used = 0;

	if (!at)
		return false;
	at += sizeof(debug) - 1;
	stats_copy(place->name, sizeof(place->name), last_part(at), strlen(last_part(at)));
	if (sscanf(at, "%9u-%9u/vcpu%9u/%n", &pid, &fd, &vcpu, &used) == 3 && used)
		snprintf(vm, sizeof(vm), "VM %u-%u vCPU %u", pid, fd, vcpu);
	else if (sscanf(at, "%9u-%9u/%n", &pid, &fd, &used) == 2 && used)
		snprintf(vm, sizeof(vm), "VM %u-%u", pid, fd);
	snprintf(place->scope, sizeof(place->scope), "%.40s%s%.50s",
		 text->prefixed ? text->host : "", text->prefixed ? ": " : "", vm);
	return true;
}

static bool place_parameter(const char *path, struct stats_place *place)
{
	static const char parameters[] = "/parameters/";
	const char *at = strstr(path, parameters), *begin;

	if (!at)
		return false;
	for (begin = at; begin > path && begin[-1] != '/'; begin--)
		;
	stats_copy(place->module, sizeof(place->module), begin, (size_t)(at - begin));
	at += sizeof(parameters) - 1;
	stats_copy(place->name, sizeof(place->name), at, strlen(at));
	return place->module[0] && place->name[0] && !strchr(place->name, '/');
}

/* ".../cpu3/cpuidle/state1/usage" is one CPU's, "cpu3/state1/usage"; others are of all CPUs. */
static bool place_cpuidle(const char *path, struct stats_place *place)
{
	static const char cpuidle[] = "/cpuidle/";
	const char *at = strstr(path, cpuidle), *cpu, *file;

	if (!at)
		return false;
	file = at + sizeof(cpuidle) - 1;
	for (cpu = at; cpu > path && cpu[-1] != '/'; cpu--)
		;
	stats_copy(place->module, sizeof(place->module), "cpuidle", 7);
	if (!strncmp(cpu, "cpu", 3) && isdigit((unsigned char)cpu[3]))
		snprintf(place->name, sizeof(place->name), "%.*s/%s", (int)(at - cpu), cpu, file);
	else
		stats_copy(place->name, sizeof(place->name), file, strlen(file));
	return *file != '\0';
}

bool stats_place_name(const char *name, struct stats_place *place)
{
	static const char *const cpuidle[] = {"current_driver", "current_governor",
					      "current_governor_ro", "available_governors"};

	if (!strncmp(name, "guest_halt_poll_", 16))
		stats_copy(place->module, sizeof(place->module), "haltpoll", 8);
	else if (!strcmp(name, "halt_poll_ns") || !strncmp(name, "halt_poll_ns_", 13))
		stats_copy(place->module, sizeof(place->module), "kvm", 3);
	for (size_t i = 0; i < sizeof(cpuidle) / sizeof(cpuidle[0]); i++)
		if (!strcmp(name, cpuidle[i]))
			stats_copy(place->module, sizeof(place->module), "cpuidle", 7);
	stats_copy(place->name, sizeof(place->name), name, strlen(name));
	return place->module[0] || stats_known_counter(name, strlen(name));
}

bool stats_place_of(const struct stats_text *text, const char *path, struct stats_place *place)
{
	struct stats_word word = {path, strlen(path)};

	*place = (struct stats_place){.module = ""};
	if (strchr(path, '/'))
		return place_debugfs(text, path, place) || place_parameter(path, place) ||
		       place_cpuidle(path, place);
	if (!stats_identifier(&word) || word.nr >= STATS_NAME_BYTES)
		return false;
	if (stats_place_name(path, place)) {
		if (!place->module[0])
			snprintf(place->scope, sizeof(place->scope), "%s",
				 text->section == STATS_COUNTERS &&
						 text->scope < text->stats->nr_scopes
					 ? text->stats->scopes[text->scope].label
					 : "counters");
		return true;
	}
	/* Others of the same list: what their neighbours are. */
	if (text->section == STATS_COUNTERS && text->scope < text->stats->nr_scopes)
		snprintf(place->scope, sizeof(place->scope), "%s",
			 text->stats->scopes[text->scope].label);
	else if (text->section != STATS_SETTINGS)
		return false;
	return true;
}

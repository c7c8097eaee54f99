// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What virsh domstats prints: KVM's counters as "vcpu.0.halt_wakeup.sum=12", domain by domain.
#include <stdio.h>
#include <string.h>

#include "stats/internal.h"

/*
 * virsh(1): "vcpu.<num>.$NAME.$TYPE" and "vm.$NAME.$TYPE" are the hypervisor's own counters, $TYPE
 * one of sum, cur and max, with a number or yes or no; no histograms. "cpu.haltpoll.success.time"
 * and "cpu.haltpoll.fail.time" are halt_poll_success_ns and _fail_ns of all vCPUs together.
 */

/* Groups of domstats that say nothing of halting. */
static const char *const groups[] = {"state.",	"cpu.",	      "balloon.", "vcpu.",
				     "net.",	"block.",     "perf.",	  "iothread.",
				     "memory.", "dirtyrate.", "vm."};

/* "Domain: 'web 01'" */
static bool domain(struct stats_text *text, const char *line, size_t nr)
{
	static const char head[] = "Domain:";

	if (nr < sizeof(head) || memcmp(line, head, sizeof(head) - 1) != 0)
		return false;
	line += sizeof(head) - 1;
	nr -= sizeof(head) - 1;
	while (nr && strchr(" '\"", *line)) {
		line++;
		nr--;
	}
	while (nr && strchr(" '\"", line[nr - 1]))
		nr--;
	if (!nr)
		return false;
	stats_copy(text->domain, sizeof(text->domain), line, nr);
	text->domain_line = text->line;
	return true;
}

/* A domain that is printed again is so at another time. */
static void select_scope(struct stats_text *text, int vcpu)
{
	const struct stats *s = text->stats;
	char label[STATS_LABEL_BYTES], suffix[24] = "";
	const char *name = text->domain;

	if (vcpu >= 0)
		snprintf(suffix, sizeof(suffix), "%svCPU %d", name[0] ? " " : "", vcpu);
	snprintf(label, sizeof(label), "%s%.40s%s", name[0] ? "VM " : "",
		 name[0] || vcpu >= 0 ? name : "VM", suffix);
	for (uint32_t i = s->nr_scopes; i-- > 0 && s->nr_scopes - i < 256;)
		if (!strcmp(s->scopes[i].label, label) && s->scopes[i].place < text->domain_line) {
			snprintf(label, sizeof(label), "%s%.40s%s, line %llu", name[0] ? "VM " : "",
				 name, suffix, (unsigned long long)text->domain_line);
			break;
		}
	text->scope = stats_scope_named(text->stats, STATS_COUNTERS, text->line, label);
}

static void add(struct stats_text *text, struct stats_word name, struct stats_word value,
		bool instant)
{
	bool yes = stats_word_is(&value, "yes"), boolean = yes || stats_word_is(&value, "no");
	uint64_t number = yes;
	struct stats_value *v;

	if (!boolean && stats_u64(&value, &number)) {
		stats_damaged(text, "%.*s: \"%.*s\" is no number below 2^64-1",
			      (int)(name.nr < 60 ? name.nr : 60), name.text,
			      (int)(value.nr < 40 ? value.nr : 40), value.text);
		return;
	}
	v = stats_add_value(text->stats, text->scope, name.text, name.nr);
	if (!v)
		return;
	v->total = number;
	v->place = text->line;
	v->instant = instant;
	v->unit = boolean ? STATS_BOOLEAN : v->unit;
	text->stats->kinds |= STATS_COUNTERS;
}

static const char *const types[] = {".sum", ".cur", ".max"};

/* The index of the type that a name ends in, or 3. */
static size_t type_of(const struct stats_word *name)
{
	size_t i = 0;

	while (i < 3 && (name->nr <= 4 || memcmp(name->text + name->nr - 4, types[i], 4) != 0))
		i++;
	return i;
}

/* "NAME.TYPE" of the hypervisor, else libvirt's own: not kept. */
static void counter(struct stats_text *text, struct stats_word name, struct stats_word value,
		    int vcpu)
{
	size_t type = type_of(&name);

	if (type == 3)
		return;
	name.nr -= 4;
	select_scope(text, vcpu);
	add(text, name, value, type > 0);
}

static void haltpoll(struct stats_text *text, const struct stats_word *name,
		     struct stats_word value)
{
	static const char *const names[][2] = {
		{"cpu.haltpoll.success.time", "halt_poll_success_ns"},
		{"cpu.haltpoll.fail.time", "halt_poll_fail_ns"},
	};

	for (size_t i = 0; i < 2; i++) {
		if (!stats_word_is(name, names[i][0]))
			continue;
		select_scope(text, -1);
		add(text, (struct stats_word){names[i][1], strlen(names[i][1])}, value, false);
	}
}

/* Outside of a domain only what no other list has: sysctl's names begin with "vm." as well. */
static bool is_ours(const struct stats_text *text, const struct stats_word *name,
		    const struct stats_word *value)
{
	if (memchr(name->text, ' ', name->nr) ||
	    (memchr(value->text, ' ', value->nr) && !stats_word_begins(name, "block.")))
		return false;
	if (!text->domain[0])
		return stats_word_begins(name, "cpu.haltpoll.") ||
		       (type_of(name) < 3 &&
			(stats_word_begins(name, "vcpu.") || stats_word_begins(name, "vm.")));
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (stats_word_begins(name, groups[i]))
			return true;
	return false;
}

bool stats_domstats_line(struct stats_text *text, const char *line, size_t nr)
{
	struct stats_word name, value;
	const char *equal;
	char number[16];
	int vcpu, used = 0;

	while (nr && *line == ' ') {
		line++;
		nr--;
	}
	if (domain(text, line, nr))
		return true;
	equal = memchr(line, '=', nr);
	if (!equal)
		return false;
	name = (struct stats_word){line, (size_t)(equal - line)};
	value = (struct stats_word){equal + 1, nr - name.nr - 1};
	if (!is_ours(text, &name, &value))
		return false;
	text->section = STATS_COUNTERS;
	stats_copy(number, sizeof(number), name.text, name.nr);
	if (sscanf(number, "vcpu.%9d.%n", &vcpu, &used) == 1 && used && vcpu >= 0) {
		name.text += used;
		name.nr -= (size_t)used;
		counter(text, name, value, vcpu);
	} else if (stats_word_begins(&name, "vm.")) {
		counter(text, (struct stats_word){name.text + 3, name.nr - 3}, value, -1);
	} else {
		haltpoll(text, &name, value);
	}
	return true;
}

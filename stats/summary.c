// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What statistics say of halting, table by table, and what they can and cannot support.
#include "stats/summary.h"

#include <stdlib.h>
#include <string.h>

#define FIELD(f) offsetof(struct stats_summary, f)

static const struct {
	const char *name;
	size_t field;
} counters[] = {
	{"halt_exits", FIELD(halt_exits)},
	{"halt_attempted_poll", FIELD(attempted)},
	{"halt_successful_poll", FIELD(successful)},
	{"halt_poll_invalid", FIELD(invalid)},
	{"halt_wakeup", FIELD(wakeups)},
	{"halt_poll_success_ns", FIELD(success_ns)},
	{"halt_poll_fail_ns", FIELD(fail_ns)},
	{"halt_wait_ns", FIELD(wait_ns)},
	{"kvm_vcpu_wakeup", FIELD(ev_wakeup)},
	{"kvm_halt_poll_ns", FIELD(ev_window)},
	{"kvm_exit", FIELD(ev_exit)},
	{"kvm_exit(HLT)", FIELD(ev_halt)},
	{"kvm_exit(hlt)", FIELD(ev_halt)},
	{"kvm_exit(WFx)", FIELD(ev_halt)},
	{"kvm_exit(WFX)", FIELD(ev_halt)},
	{"kvm_exit(WFI)", FIELD(ev_halt)},
	{"kvm_userspace_exit", FIELD(ev_user)},
	{"kvm_userspace_exit(HLT)", FIELD(ev_user_halt)},
	{"kvm_hv_timer_state", FIELD(ev_timer)},
	{"kvm_wait_lapic_expire", FIELD(ev_apic_timer)},
};

/* What perf calls the exit of a halting guest, on one architecture or another. */
static bool is_halt(const char *name)
{
	static const char *const names[] = {"HLT", "hlt",  "WFx",    "WFX",	   "WFI",
					    "WFE", "wait", "H_CEDE", "Wait state", "WAIT"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return b > STATS_UNKNOWN - 1 - a ? STATS_UNKNOWN - 1 : a + b;
}

static void take_perf(struct stats_summary *s, const struct stats_value *v)
{
	s->samples = add(s->samples, v->total);
	if (!s->longest || (v->time_ppm != STATS_UNKNOWN && v->time_ppm > s->longest->time_ppm))
		s->longest = v;
	/* A hundredth of a us is lost in print. */
	if (v->min_ns != STATS_UNKNOWN &&
	    (v->mean_ns + 10 < v->min_ns || v->mean_ns > add(v->max_ns, 10) ||
	     v->min_ns > v->max_ns))
		s->broken = v;
	if (v->share_ppm > 1000000 || v->time_ppm > 1000000)
		s->broken = v;
	if (!is_halt(v->name))
		return;
	s->halt_name = v->name;
	s->halt_samples = v->total;
	s->halt_mean_ns = v->mean_ns;
	s->halt_min_ns = v->min_ns;
	s->halt_max_ns = v->max_ns;
	s->halt_time_ppm = v->time_ppm;
	s->halt_share_ppm = v->share_ppm;
}

static const struct stats_hist **hist_of(struct stats_summary *s, const char *name)
{
	if (!strcmp(name, "halt_poll_success_hist"))
		return &s->success_hist;
	if (!strcmp(name, "halt_poll_fail_hist"))
		return &s->fail_hist;
	return !strcmp(name, "halt_wait_hist") ? &s->wait_hist : NULL;
}

static void take(struct stats_summary *s, const struct stats *stats, const struct stats_value *v)
{
	if (v->hist != STATS_NO_HIST) {
		const struct stats_hist **hist = hist_of(s, v->name);

		if (hist && stats->hists[v->hist].log2)
			*hist = &stats->hists[v->hist];
		return;
	}
	if (s->scope->kind == STATS_PERF) {
		take_perf(s, v);
		return;
	}
	if (!strchr(v->name, '(')) {
		s->rows_sum = add(s->rows_sum, v->total);
		s->rows++;
	}
	if (v->rate_milli != STATS_UNKNOWN && v->rate_milli / 1000 > v->total)
		s->rate_above_total = true;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (!strcmp(v->name, counters[i].name))
			memcpy((char *)s + counters[i].field, &v->total, sizeof(v->total));
	if (!strcmp(v->name, "kvm_vcpu_wakeup"))
		s->wakeup_rate_milli = v->rate_milli;
	else if (!strcmp(v->name, "halt_exits"))
		s->halt_rate_milli = v->rate_milli;
	else if (!strcmp(v->name, "halt_attempted_poll"))
		s->attempted_rate_milli = v->rate_milli;
	else if (!strcmp(v->name, "kvm_exit") || !strcmp(v->name, "exits"))
		s->exit_rate_milli = v->rate_milli;
}

static uint64_t number(const struct stats *stats, const char *name)
{
	uint64_t v;

	return stats_number(stats_setting(stats, "kvm", name), &v) ? v : STATS_UNKNOWN;
}

struct stats_summary *stats_summarise(const struct stats *stats)
{
	struct stats_summary unknown, *all;

	memset(&unknown, 0xff, sizeof(unknown)); /* STATS_UNKNOWN everywhere ... */
	unknown.success_hist = unknown.fail_hist = unknown.wait_hist = NULL;
	unknown.halt_name = NULL;
	unknown.longest = unknown.broken = NULL;
	unknown.samples = unknown.rows_sum = unknown.rows = 0;
	unknown.lost_events = unknown.lost_chunks = unknown.lost_samples_ppm = 0;
	unknown.rate_above_total = false;
	unknown.halt_poll_ns = number(stats, "halt_poll_ns");
	unknown.grow = number(stats, "halt_poll_ns_grow");
	unknown.grow_start_ns = number(stats, "halt_poll_ns_grow_start");
	unknown.shrink = number(stats, "halt_poll_ns_shrink");
	if (!stats->nr_scopes)
		return NULL;
	all = calloc(stats->nr_scopes, sizeof(*all));
	if (!all)
		return NULL;
	for (uint32_t i = 0; i < stats->nr_scopes; i++) {
		all[i] = unknown;
		all[i].scope = &stats->scopes[i];
		if (stats->scopes[i].kind != STATS_PERF)
			continue;
		all[i].lost_events = add(stats->scopes[i].lost, stats->lost_events);
		all[i].lost_chunks = stats->lost_chunks;
		all[i].lost_samples_ppm = stats->lost_samples_ppm;
	}
	for (uint32_t i = 0; i < stats->nr_values; i++)
		if (!stats->scopes[stats->values[i].scope].by_guest)
			take(&all[stats->values[i].scope], stats, &stats->values[i]);
	return all;
}

uint32_t stats_supports(const struct stats_summary *s)
{
	bool known_rate = s->wakeup_rate_milli != STATS_UNKNOWN ||
			  s->scope->window_ms != STATS_UNKNOWN;
	uint32_t bits = 0;

	if (s->wakeups != STATS_UNKNOWN || s->halt_exits != STATS_UNKNOWN ||
	    s->ev_wakeup != STATS_UNKNOWN || s->ev_halt != STATS_UNKNOWN || s->halt_name)
		bits |= STATS_SAYS_HALTS;
	if (s->attempted != STATS_UNKNOWN && s->successful != STATS_UNKNOWN)
		bits |= STATS_SAYS_HITS;
	if (s->success_ns != STATS_UNKNOWN && s->fail_ns != STATS_UNKNOWN)
		bits |= STATS_SAYS_POLL_TIME;
	if (s->success_hist || s->fail_hist || s->wait_hist)
		bits |= STATS_SAYS_LENGTHS;
	if (s->halt_name)
		bits |= STATS_SAYS_MEAN;
	if ((bits & STATS_SAYS_HALTS) && known_rate)
		bits |= STATS_SAYS_RATE;
	if (s->ev_window != STATS_UNKNOWN)
		bits |= STATS_SAYS_WINDOW;
	if (s->invalid != STATS_UNKNOWN)
		bits |= STATS_SAYS_INVALID;
	return bits;
}

const char *stats_support_text(uint32_t bit)
{
	switch (bit) {
	case STATS_SAYS_HALTS: return "how many halts there were";
	case STATS_SAYS_HITS: return "which share of the polls met a wake-up";
	case STATS_SAYS_POLL_TIME: return "how long was polled, in vain and not";
	case STATS_SAYS_LENGTHS: return "how long polls and waits were, to a power of two";
	case STATS_SAYS_MEAN: return "how long the exits of halting took on average";
	case STATS_SAYS_RATE: return "how many wake-ups a second";
	case STATS_SAYS_WINDOW: return "how often windows changed";
	case STATS_SAYS_INVALID: return "how many wake-ups were invalid";
	default: return "?";
	}
}

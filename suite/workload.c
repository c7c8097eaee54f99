// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The suite's workloads: one short generator each, and their table.
#include "suite/workload.h"

#include <math.h>
#include <string.h>

#include "suite/draw.h"

/* So many halts of a phase whose length is exponential: at least one. */
static uint32_t phase(struct suite_draw *d, double mean)
{
	return 1 + (uint32_t)suite_draw_exp(d, mean);
}

static void idle_nohz(struct suite_draw *d)
{
	suite_draw_timer(d, suite_draw_ln(d, 120 * SUITE_MS, 1.2));
	if (!suite_draw_chance(d, .35))
		return;
	for (uint32_t n = 1 + suite_rng_below(&d->rng, 3); n; n--)
		suite_draw_event(d, suite_draw_ln(d, 15 * SUITE_US, .8));
}

static void tick100(struct suite_draw *d)
{
	suite_draw_timer(d, 10 * SUITE_MS - suite_draw_ln(d, 6 * SUITE_US, .4));
}

static void tick250(struct suite_draw *d)
{
	suite_draw_timer(d, 4 * SUITE_MS - suite_draw_ln(d, 6 * SUITE_US, .4));
}

static void tick1000(struct suite_draw *d)
{
	suite_draw_timer(d, 1 * SUITE_MS - suite_draw_ln(d, 6 * SUITE_US, .4));
}

static void win64(struct suite_draw *d)
{
	suite_draw_timer(d, 15.6 * SUITE_MS - suite_draw_ln(d, 15 * SUITE_US, .5));
	if (suite_draw_chance(d, .2))
		suite_draw_event(d, suite_draw_ln(d, 40 * SUITE_US, 1));
}

static void win1k(struct suite_draw *d)
{
	suite_draw_timer(d, 1 * SUITE_MS - suite_draw_ln(d, 15 * SUITE_US, .5));
	if (suite_draw_chance(d, .1))
		suite_draw_event(d, suite_draw_ln(d, 40 * SUITE_US, 1));
}

static void win2k_rtc(struct suite_draw *d)
{
	suite_draw_event(d, 500 * SUITE_US - suite_draw_ln(d, 15 * SUITE_US, .5));
}

static void request_response(struct suite_draw *d, double period_ns)
{
	d->run_ns = suite_draw_ln(d, 4 * SUITE_US, .4);
	suite_draw_ticked(d, suite_draw_ln(d, 27 * SUITE_US, .25), period_ns);
}

static void rr_250hz(struct suite_draw *d)
{
	request_response(d, 4 * SUITE_MS);
}

static void rr_1khz(struct suite_draw *d)
{
	request_response(d, 1 * SUITE_MS);
}

static void ctxsw(struct suite_draw *d)
{
	if (suite_draw_chance(d, .995))
		suite_draw_event(d, suite_draw_ln(d, 2.5 * SUITE_US, .5));
	else
		suite_draw_event(d, suite_draw_ln(d, 300 * SUITE_US, 1));
}

static void mc_exp10(struct suite_draw *d)
{
	suite_draw_event(d, suite_draw_exp(d, 10 * SUITE_US));
}

static void mc_exp30(struct suite_draw *d)
{
	suite_draw_event(d, suite_draw_exp(d, 30 * SUITE_US));
}

static void mc_exp100(struct suite_draw *d)
{
	suite_draw_ticked(d, suite_draw_exp(d, 100 * SUITE_US), 4 * SUITE_MS);
}

static void mc_exp1ms(struct suite_draw *d)
{
	suite_draw_ticked(d, suite_draw_exp(d, 1 * SUITE_MS), 4 * SUITE_MS);
}

static void burst_onoff(struct suite_draw *d)
{
	for (uint32_t n = phase(d, 200); n; n--)
		suite_draw_event(d, suite_draw_ln(d, 30 * SUITE_US, .5));
	for (uint32_t n = phase(d, 20); n; n--)
		suite_draw_event(d, suite_draw_ln(d, 1 * SUITE_MS, .7));
}

static void nvme80(struct suite_draw *d)
{
	if (suite_draw_chance(d, .98))
		suite_draw_event(d, suite_rng_normal(&d->rng, 80 * SUITE_US, 8 * SUITE_US));
	else
		suite_draw_event(d, suite_draw_ln(d, 1.5 * SUITE_MS, .4));
}

static void fsync_log(struct suite_draw *d)
{
	suite_draw_event(d, suite_draw_ln(d, 25 * SUITE_US, .2));
	suite_draw_event(d, suite_draw_ln(d, 25 * SUITE_US, .2));
	suite_draw_event(d, suite_draw_ln(d, 2.2 * SUITE_MS, .45));
}

static void hackb_par(struct suite_draw *d)
{
	suite_draw_event(d, suite_rng_pareto(&d->rng, 2 * SUITE_US, 1.1));
}

static void phase_chg(struct suite_draw *d)
{
	for (uint32_t n = phase(d, 1500); n; n--)
		suite_draw_event(d, suite_draw_ln(d, 25 * SUITE_US, .35));
	for (uint32_t n = phase(d, 60); n; n--)
		suite_draw_timer(d, 4 * SUITE_MS);
	for (uint32_t n = phase(d, 400); n; n--)
		suite_draw_event(d, suite_draw_exp(d, 60 * SUITE_US));
	for (uint32_t n = phase(d, 150); n; n--)
		suite_draw_timer(d, suite_draw_ln(d, 2 * SUITE_MS, .8));
}

static void past_max(struct suite_draw *d)
{
	suite_draw_event(d, d->setting.max_ns * 1.03 + suite_draw_ln(d, 500, .3));
}

static void square(struct suite_draw *d)
{
	for (int n = 0; n < 8; n++)
		suite_draw_event(d, 1.25 * d->setting.b_ns);
	for (int n = 0; n < 8; n++)
		suite_draw_event(d, .15 * d->setting.b_ns);
}

static void alternate(struct suite_draw *d)
{
	suite_draw_event(d, suite_draw_ln(d, 20 * SUITE_US, .2));
	suite_draw_event(d, suite_draw_ln(d, 1 * SUITE_MS, .3));
}

static void short_rr60(struct suite_draw *d)
{
	d->fresh = true;
	for (int n = 0; n < 60; n++)
		suite_draw_event(d, suite_draw_ln(d, 25 * SUITE_US, .35));
}

static void short_idle(struct suite_draw *d)
{
	d->fresh = true;
	for (int n = 0; n < 40; n++)
		suite_draw_timer(d, 4 * SUITE_MS);
}

static void many_idle(struct suite_draw *d)
{
	d->fresh = true;
	for (int n = 0; n < 80; n++) {
		suite_draw_timer(d, suite_draw_ln(d, 30 * SUITE_MS, 1));
		if (!suite_draw_chance(d, .3))
			continue;
		for (uint32_t m = phase(d, 2); m; m--)
			suite_draw_event(d, suite_draw_ln(d, 12 * SUITE_US, .9));
	}
}

/* Independent halts: lognormal around @near with probability @p, else around @far. */
static void two_modes(struct suite_draw *d, double p, double near, double near_sd, double far,
		      double far_sd)
{
	if (suite_draw_chance(d, p))
		suite_draw_event(d, suite_draw_ln(d, near, near_sd));
	else
		suite_draw_event(d, suite_draw_ln(d, far, far_sd));
}

static void iid90short(struct suite_draw *d)
{
	two_modes(d, .9, 15 * SUITE_US, .3, 500 * SUITE_US, .3);
}

static void iid15short(struct suite_draw *d)
{
	two_modes(d, .15, 15 * SUITE_US, .3, 1 * SUITE_MS, .3);
}

static void iid_bim50(struct suite_draw *d)
{
	two_modes(d, .5, 20 * SUITE_US, .3, 2 * SUITE_MS, .5);
}

static void ln300us(struct suite_draw *d)
{
	suite_draw_event(d, suite_draw_ln(d, 300 * SUITE_US, .2));
}

static void ln150us(struct suite_draw *d)
{
	suite_draw_event(d, suite_draw_ln(d, 150 * SUITE_US, .6));
}

/* A generator draws one or more halts per call. */
static const struct workload {
	const char *name;
	void (*generate)(struct suite_draw *d);
	const char *summary;
} workloads[] = {
	{"idle_nohz", idle_nohz, "idle tickless guest: rare timers, a few device interrupts"},
	{"tick100", tick100, "idle guest ticking at 100 Hz"},
	{"tick250", tick250, "idle guest ticking at 250 Hz"},
	{"tick1000", tick1000, "idle guest ticking at 1000 Hz"},
	{"win64", win64, "idle guest ticking at 64 Hz, some device interrupts"},
	{"win1k", win1k, "guest with a 1 ms timer, some device interrupts"},
	{"win2k_rtc", win2k_rtc, "guest with an emulated 2 kHz clock: no deadline known"},
	{"rr+250Hz", rr_250hz, "request and response in 27 us, 250 Hz tick"},
	{"rr+1kHz", rr_1khz, "request and response in 27 us, 1 kHz tick"},
	{"ctxsw", ctxsw, "context switches between two vCPUs, rarely a long wait"},
	{"mc_exp10", mc_exp10, "open-loop cache server, mean gap 10 us"},
	{"mc_exp30", mc_exp30, "open-loop cache server, mean gap 30 us"},
	{"mc_exp100", mc_exp100, "open-loop cache server, mean gap 100 us, 250 Hz tick"},
	{"mc_exp1ms", mc_exp1ms, "open-loop cache server, mean gap 1 ms, 250 Hz tick"},
	{"burst_onoff", burst_onoff, "bursts of 30 us halts, pauses of 1 ms ones"},
	{"nvme80", nvme80, "reads from a disk that takes 80 us"},
	{"fsync", fsync_log, "two short halts, then a 2.2 ms flush"},
	{"hackb_par", hackb_par, "heavy tail: Pareto 1.1 from 2 us"},
	{"phase_chg", phase_chg, "busy, idle, half busy and timer phases in turn"},
	{"past_max", past_max, "every halt just longer than the largest window"},
	{"square", square, "eight halts of 1.25 B, eight of 0.15 B"},
	{"alternate", alternate, "20 us and 1 ms in turn"},
	{"short_rr60", short_rr60, "vCPUs that live for 60 short halts"},
	{"short_idle", short_idle, "vCPUs that live for 40 ticks"},
	{"many_idle", many_idle, "idle vCPUs that live for 80 timers"},
	{"iid90short", iid90short, "nine in ten halts short, no pattern"},
	{"iid15short", iid15short, "one halt in seven short, no pattern"},
	{"iid_bim50", iid_bim50, "half the halts short, no pattern"},
	{"ln300us", ln300us, "every halt about 300 us"},
	{"ln150us", ln150us, "halts around 150 us, wide"},
};

enum { NR_WORKLOADS = sizeof(workloads) / sizeof(workloads[0]) };

uint32_t suite_nr_workloads(void)
{
	return NR_WORKLOADS;
}

const char *suite_workload_name(uint32_t workload)
{
	return workload < NR_WORKLOADS ? workloads[workload].name : NULL;
}

const char *suite_workload_summary(uint32_t workload)
{
	return workload < NR_WORKLOADS ? workloads[workload].summary : NULL;
}

int suite_workload_find(const char *name)
{
	for (int i = 0; i < NR_WORKLOADS; i++)
		if (!strcmp(workloads[i].name, name))
			return i;
	return -1;
}

void suite_workload_generate(uint32_t workload, const struct suite_setting *setting, uint64_t seed,
			     struct suite_halt *halts, uint32_t nr)
{
	struct suite_draw d;

	suite_draw_init(&d, setting, seed, workload + 1, halts, nr);
	while (suite_draw_more(&d))
		workloads[workload].generate(&d);
}

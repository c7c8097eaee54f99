// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How many recorded halts per second the replay takes through a policy, from decoded batches, one
// core.

/*
 * The halts are drawn once (seeded) and lie decoded in memory as a reader's batches would: bursts
 * of short halts between long ones, four vCPUs in turn. Each figure is the best of three passes,
 * each of at least PASS_NS: the best is what the code can do, the rest is what else the machine
 * did.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/draw.h"
#include "replay/engine.h"
#include "util/clock.h"

enum { FRAME_HALTS = 4096, FRAMES = 64, VCPUS = 4, PASSES = 3 };
#define PASS_NS 100000000ULL

/* CPU time: one thread does all the work, and others may want the machine meanwhile. */
static void make_halts(struct trace_halt *halts)
{
	uint64_t start_ns = 0;

	for (uint32_t i = 0; i < FRAMES * FRAME_HALTS; i++) {
		bool is_long = draw(16) == 0;
		struct trace_halt *h = &halts[i];

		memset(h, 0, sizeof(*h));
		h->halt_ns = is_long ? 300000 + draw(4000000) : 5000 + draw(60000);
		h->run_ns = 3000 + draw(10000);
		h->start_ns = start_ns += h->run_ns;
		start_ns += h->halt_ns;
		h->deadline_ns = VHALT_NO_DEADLINE_NS;
		h->window_ns = 0;
		h->flags = TRACE_HALT_WAITED;
		h->latency_ns = 8000 + (uint32_t)draw(9000);
		h->vcpu = i / FRAME_HALTS % VCPUS;
	}
}

static int replay_all(const struct trace_halt *halts, const char *text, unsigned int passes)
{
	static struct trace_vm vm = {.name = "bench"};
	static struct trace_vcpu vcpus[VCPUS];
	struct trace_info info = {
		.has_latency = true, .vms = &vm, .nr_vms = 1, .vcpus = vcpus, .nr_vcpus = VCPUS};
	struct replay_options options = {.by = REPLAY_BY_TOTAL, .threads = 1};
	struct vhalt_spec spec;
	struct replay *replay;
	int err;

	replay_model_init(&options.model);
	options.model.source = REPLAY_LATENCY_MEASURED;
	err = vhalt_spec_parse(text, &spec, NULL, 0);
	if (err)
		return err;
	err = replay_create(&replay, &options);
	if (err)
		return err;
	err = replay_add_policy(replay, &spec, 0);
	for (unsigned int i = 0; i < passes * FRAMES && err >= 0; i++)
		err = replay_feed(replay, &info, halts + (size_t)(i % FRAMES) * FRAME_HALTS,
				  FRAME_HALTS);
	if (err >= 0) {
		replay_end_recording(replay, &info, NULL);
		err = replay_finish(replay);
	}
	replay_destroy(replay);
	return err;
}

/* Halts per second through one policy; 0 when it failed. */
static uint64_t measure(const struct trace_halt *halts, const char *text)
{
	uint64_t best = 0;
	unsigned int passes = 1;

	for (int pass = 0; pass < PASSES;) {
		uint64_t began_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID), taken_ns, rate;

		if (replay_all(halts, text, passes) < 0)
			return 0;
		taken_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - began_ns;
		if (taken_ns < PASS_NS) {
			passes *= 2;
			continue;
		}
		rate = (uint64_t)((double)passes * FRAMES * FRAME_HALTS * 1e9 / (double)taken_ns);
		best = rate > best ? rate : best;
		pass++;
	}
	return best;
}

int main(void)
{
	struct trace_halt *halts = calloc((size_t)FRAMES * FRAME_HALTS, sizeof(*halts));
	const struct vhalt_policy *policy;

	if (!halts)
		return 1;
	make_halts(halts);
	printf("{\"name\":\"replay\",\"threads\":1,\"unit\":\"halts/s\",\"with_oracle\":true,"
	       "\"policies\":{");
	for (uint32_t id = 0; (policy = vhalt_policy_get(id)); id++) {
		uint64_t rate = measure(halts, policy->name);

		if (!rate) {
			fprintf(stderr, "replay_bench: %s failed\n", policy->name);
			return 1;
		}
		printf("%s\"%s\":%" PRIu64, id ? "," : "", policy->name, rate);
		fflush(stdout);
	}
	printf("}}\n");
	free(halts);
	return 0;
}

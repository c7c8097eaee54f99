// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What one halt costs a policy: decide and update, warm and cold, over the suite's workloads.

/*
 * Warm: one vCPU per workload, its halts in the cache; per workload the best of PASSES passes,
 * since the best is what the code does and the rest is what else the machine did. The mean and the
 * worst over the workloads are printed. Cold: one halt each for many vCPUs in random order, so that
 * the state has to come from memory. The harness itself (a policy that does nothing) is measured
 * the same way and printed, not subtracted.
 *
 * `core_bench --halts POLICY N` runs N halts of each workload and prints nothing: for counting
 * instructions, see bench/core_instructions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/spec.h"
#include "suite/rng.h"
#include "suite/workload.h"
#include "util/clock.h"

enum { HALTS = 2000, ROUNDS = 4, PASSES = 15, COLD_VCPUS = 16384, LEARN = 300 };

static const char *const policies[] = {"none", "kvm", "auto", "auto:sleep=1"};
static const struct suite_setting setting = {.b_ns = 133000, .max_ns = 200000};
static struct suite_halt halts[HALTS];

static void halt(struct vhalt_state *state, const struct vhalt_config *config,
		 const struct suite_halt *h)
{
	struct vhalt_hint hint = {h->run_ns, h->deadline_ns, false};
	struct vhalt_plan plan = vhalt_decide(state, config, &hint);
	uint64_t end_ns = (uint64_t)plan.sleep_ns + plan.window_ns;
	bool polled = h->t_ns <= end_ns;
	struct vhalt_outcome outcome = {
		.halt_ns = h->t_ns + (polled ? 0 : h->latency_ns),
		.wake_ns = VHALT_UNKNOWN_NS,
		.window_ns = plan.window_ns,
		.flags = (polled ? VHALT_OUTCOME_POLLED : 0U) |
			 (h->own_timer ? VHALT_OUTCOME_OWN_TIMER : 0U),
	};

	vhalt_update(state, config, &outcome);
}

static double warm_ns(const struct vhalt_config *config, uint32_t workload)
{
	struct vhalt_state state;
	double best = 1e9;

	suite_workload_generate(workload, &setting, 1, halts, HALTS);
	vhalt_state_init(&state, config);
	for (int pass = 0; pass < PASSES; pass++) {
		uint64_t start = clock_now_ns();
		double ns;

		for (uint32_t i = 0; i < ROUNDS * HALTS; i++)
			halt(&state, config, &halts[i % HALTS]);
		ns = (double)(clock_now_ns() - start) / (ROUNDS * HALTS);
		best = ns < best ? ns : best;
	}
	return best;
}

/* Every vCPU has learnt from some halts of a workload of its own. */
static double cold_ns(const struct vhalt_config *config)
{
	struct vhalt_state *states = calloc(COLD_VCPUS, sizeof(*states));
	struct suite_rng rng;
	uint64_t start;
	double ns;

	if (!states)
		return -1;
	for (uint32_t v = 0; v < COLD_VCPUS; v++) {
		if (v % 512 == 0)
			suite_workload_generate(v / 512 % suite_nr_workloads(), &setting, 1, halts,
						HALTS);
		vhalt_state_init(&states[v], config);
		for (uint32_t i = 0; i < LEARN; i++)
			halt(&states[v], config, &halts[(v + i) % HALTS]);
	}
	suite_rng_init(&rng, 1, 0);
	start = clock_now_ns();
	for (uint32_t i = 0; i < COLD_VCPUS; i++)
		halt(&states[suite_rng_below(&rng, COLD_VCPUS)], config, &halts[i % HALTS]);
	ns = (double)(clock_now_ns() - start) / COLD_VCPUS;
	free(states);
	return ns;
}

static int config_of(const char *text, struct vhalt_config *config)
{
	struct vhalt_spec spec;
	int err = vhalt_spec_parse(text, &spec, NULL, 0);

	return err ? err : vhalt_spec_config(&spec, config);
}

static int measure(const char *text, const char *separator)
{
	struct vhalt_config config;
	double sum = 0, worst = 0;
	int err = config_of(text, &config);

	if (err)
		return err;
	for (uint32_t w = 0; w < suite_nr_workloads(); w++) {
		double ns = warm_ns(&config, w);

		sum += ns;
		worst = ns > worst ? ns : worst;
	}
	printf("%s{\"policy\":\"%s\",\"warm_mean_ns\":%.1f,\"warm_worst_ns\":%.1f,\"cold_ns\":%."
	       "1f}",
	       separator, text, sum / suite_nr_workloads(), worst, cold_ns(&config));
	return 0;
}

static int run_silently(const char *text, uint32_t nr)
{
	struct vhalt_config config;
	struct vhalt_state state;
	int err = config_of(text, &config);

	if (err)
		return err;
	for (uint32_t w = 0; w < suite_nr_workloads(); w++) {
		suite_workload_generate(w, &setting, 1, halts, HALTS);
		vhalt_state_init(&state, &config);
		for (uint32_t i = 0; i < nr; i++)
			halt(&state, &config, &halts[i % HALTS]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--halts"))
		return run_silently(argv[2], (uint32_t)strtoul(argv[3], NULL, 10)) ? 2 : 0;
	printf("{\"name\":\"core\",\"unit\":\"ns per decide and update, harness included\","
	       "\"policies\":[");
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if (measure(policies[i], i ? "," : ""))
			return 1;
	puts("]}");
	return 0;
}

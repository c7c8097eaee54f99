// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What one could have chosen had one known the halts: yardsticks between a policy and the oracle.
#include "suite/hindsight.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/spec.h"
#include "util/units.h"

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Windows at each halt's own length: longer ones meet no further halt, shorter ones not this. */
static uint32_t best_window_ns(const struct suite_host *host, const uint64_t *sorted, uint32_t nr)
{
	uint64_t best = (uint64_t)nr * host->b_ns, met = 0;
	uint32_t window = 0;

	for (uint32_t i = 0; i < nr && sorted[i] <= host->max_ns; i++) {
		uint64_t cost;

		met += sorted[i];
		cost = met + (nr - 1 - i) * (sorted[i] + host->b_ns);
		if (cost < best) {
			best = cost;
			window = (uint32_t)sorted[i];
		}
	}
	return window;
}

int suite_best_fixed(const struct suite_host *host, const struct suite_halt *halts, uint32_t nr,
		     struct suite_sum *sum)
{
	uint64_t *sorted = malloc((size_t)nr * sizeof(*sorted));
	struct vhalt_config config;
	struct vhalt_spec spec;

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		sorted[i] = halts[i].t_ns;
	qsort(sorted, nr, sizeof(*sorted), by_length);
	vhalt_spec_init(&spec, VHALT_POLICY_ALWAYS);
	vhalt_spec_set(&spec, "max_ns", best_window_ns(host, sorted, nr));
	free(sorted);
	vhalt_spec_config(&spec, &config);
	*sum = suite_drive(&config, host, halts, nr);
	return 0;
}

void suite_tuning(uint32_t tuning, uint32_t max_ns, struct vhalt_config *config, char *name)
{
	static const uint32_t poll_us[SUITE_TUNINGS / 2] = {
		0, 5, 10, 15, 20, 25, 30, 40, 50, 65, 80, 100, 130, 200, 400, 1000,
	};
	uint64_t poll_ns = poll_us[tuning / 2] * 1000ULL, shrink = tuning % 2 * 2;
	char text[UNITS_DURATION_BYTES];
	struct vhalt_spec spec;

	if (poll_ns > max_ns)
		poll_ns = max_ns;
	vhalt_spec_init(&spec, VHALT_POLICY_KVM);
	vhalt_spec_set(&spec, "halt_poll_ns", poll_ns);
	vhalt_spec_set(&spec, "shrink", shrink);
	vhalt_spec_config(&spec, config);
	if (name)
		snprintf(name, 32, "%s/%" PRIu64, units_format_exact(poll_ns, text), shrink);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The suite's table in few figures: means, worst cases.
#include <math.h>
#include <string.h>

#include "suite/table.h"

double suite_table_ratio(const struct suite_table *table, uint32_t setting, uint32_t workload,
			 uint32_t row)
{
	const struct suite_sum *sum = suite_table_sum(table, setting, workload, row);

	return (double)sum->cost_ns / (double)sum->oracle_ns;
}

double suite_table_geomean(const struct suite_table *table, uint32_t setting, uint32_t row)
{
	uint32_t nr = table->options.nr_workloads;
	double sum = 0;

	for (uint32_t w = 0; w < nr; w++)
		sum += log(suite_table_ratio(table, setting, w, row));
	return exp(sum / nr);
}

double suite_table_excess(const struct suite_table *table, uint32_t setting, uint32_t row)
{
	uint32_t nr = table->options.nr_workloads;
	double sum = 0;

	for (uint32_t w = 0; w < nr; w++)
		sum += suite_table_ratio(table, setting, w, row) - 1;
	return sum / nr;
}

double suite_table_worst(const struct suite_table *table, uint32_t setting, uint32_t row,
			 bool tuned, uint32_t *workload)
{
	double worst = 0;

	for (uint32_t w = 0; w < table->options.nr_workloads; w++) {
		double kvm = fmin(suite_table_ratio(table, setting, w, SUITE_KVM0),
				  suite_table_ratio(table, setting, w, SUITE_KVM2));
		double ratio;

		if (tuned)
			kvm = fmin(kvm, suite_table_ratio(table, setting, w, SUITE_TUNED));
		ratio = suite_table_ratio(table, setting, w, row) / kvm;
		if (ratio <= worst)
			continue;
		worst = ratio;
		*workload = w;
	}
	return worst;
}

int suite_table_row(const struct suite_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->nr_rows; i++)
		if (!strcmp(table->row_names[i], name))
			return (int)i;
	return -1;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Micro-VMM: which CPUs the vCPU threads are bound to.
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/pin.h"

struct spread_case {
	const char *what;
	unsigned int nr_cpus;
	struct vmm_pin_cpu cpus[8];
	unsigned int nr_vcpus;
	int expected[4];
	unsigned int nr_distinct;
};

static const struct spread_case spread_cases[] = {
	{"two cores", 2, {{0, 0}, {1, 1}}, 2, {0, 1}, 2},
	{"neighbouring siblings", 4, {{0, 0}, {1, 0}, {2, 1}, {3, 1}}, 2, {0, 2}, 2},
	{"siblings at the end", 4, {{0, 0}, {1, 1}, {2, 0}, {3, 1}}, 2, {0, 1}, 2},
	{"one core, two threads", 2, {{4, 7}, {5, 7}}, 2, {4, 5}, 2},
	{"gaps in the affinity", 2, {{3, 9}, {17, 2}}, 2, {3, 17}, 2},
	{"a single CPU", 1, {{6, 0}}, 2, {6, 6}, 1},
	{"siblings after all cores", 4, {{0, 0}, {1, 0}, {2, 1}, {3, 1}}, 4, {0, 2, 1, 3}, 4},
	{"more vCPUs than CPUs", 3, {{0, 0}, {1, 1}, {2, 2}}, 4, {0, 1, 2, 0}, 3},
	{"one vCPU", 2, {{1, 0}, {2, 1}}, 1, {1}, 1},
};

static void test_spread(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(spread_cases) / sizeof(spread_cases[0]); i++) {
		const struct spread_case *c = &spread_cases[i];
		struct vmm_pin_plan plan;

		vmm_pin_spread(c->cpus, c->nr_cpus, c->nr_vcpus, &plan);
		for (unsigned int v = 0; v < c->nr_vcpus; v++)
			if (plan.cpu[v] != c->expected[v])
				fail_msg("%s: vCPU %u on CPU %d, not %d", c->what, v, plan.cpu[v],
					 c->expected[v]);
		assert_int_equal(plan.nr_distinct, c->nr_distinct);
	}
}

static int first_allowed_cpu(cpu_set_t *set)
{
	assert_int_equal(sched_getaffinity(0, sizeof(*set), set), 0);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((unsigned int)i, set))
			return i;
	fail_msg("no CPU is allowed");
	return -1;
}

static void test_plan_by_mode(void **state)
{
	struct vmm_error note = {""}, error = {""};
	struct vmm_pin_plan plan;
	struct vmm_config c;

	(void)state;
	vmm_config_init(&c, "tick");
	assert_int_equal(vmm_pin_plan_make(&c, 1, &plan, &note, &error), 0);
	assert_int_equal(plan.cpu[0], -1);
	vmm_config_init(&c, "rr");
	c.pin = VMM_PIN_NONE;
	assert_int_equal(vmm_pin_plan_make(&c, 2, &plan, &note, &error), 0);
	assert_int_equal(plan.cpu[0], -1);
	assert_int_equal(plan.cpu[1], -1);
	assert_string_equal(note.text, "");
}

static void test_one_allowed_cpu_is_said(void **state)
{
	struct vmm_error note = {""}, error = {""};
	struct vmm_pin_plan plan;
	struct vmm_config c;
	cpu_set_t all, one;
	int cpu = first_allowed_cpu(&all);

	(void)state;
	CPU_ZERO(&one);
	CPU_SET((unsigned int)cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	vmm_config_init(&c, "rr");
	assert_int_equal(vmm_pin_plan_make(&c, 2, &plan, &note, &error), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(plan.cpu[0], cpu);
	assert_int_equal(plan.cpu[1], cpu);
	assert_non_null(strstr(note.text, "2 vCPUs share 1 CPU:"));
}

static void test_list(void **state)
{
	struct vmm_error note = {""}, error = {""};
	struct vmm_pin_plan plan;
	struct vmm_config c;
	cpu_set_t all;
	int cpu = first_allowed_cpu(&all);

	(void)state;
	vmm_config_init(&c, "rr");
	c.pin = VMM_PIN_LIST;
	c.nr_pin_cpus = 1;
	c.pin_cpus[0] = (unsigned int)cpu;
	assert_int_equal(vmm_pin_plan_make(&c, 2, &plan, &note, &error), 0);
	assert_int_equal(plan.cpu[1], cpu);
	assert_int_equal(plan.nr_distinct, 1);
	assert_non_null(strstr(note.text, "share"));

	c.pin_cpus[0] = VMM_MAX_CPUS - 1;
	assert_false(CPU_ISSET(VMM_MAX_CPUS - 1, &all));
	assert_int_equal(vmm_pin_plan_make(&c, 2, &plan, &note, &error), -EINVAL);
	assert_non_null(strstr(error.text, "CPU 1023"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_plan_by_mode),
		cmocka_unit_test(test_one_allowed_cpu_is_said),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Micro-VMM: guest table, defaults and bounds of the configuration.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/child.h"
#include "vmm/internal.h"

static void test_guest_names_fit_a_thread_name(void **state)
{
	const struct vmm_guest *g;
	size_t nr = 0;

	(void)state;
	for (; (g = vmm_guest_at(nr)); nr++) {
		char name[64];
		int length = snprintf(name, sizeof(name), "vhalt-%s/%d", g->name,
				      VMM_MAX_VCPUS - 1);

		assert_in_range(length, 1, 15);
		assert_in_range(g->nr_vcpus, 1, VMM_MAX_VCPUS);
		assert_ptr_equal(vmm_guest_find(g->name), g);
	}
	assert_true(nr >= 4);
	assert_null(vmm_guest_find("none"));
	assert_null(vmm_guest_find(""));
}

static void test_defaults_are_valid(void **state)
{
	const struct vmm_guest *g;

	(void)state;
	for (size_t i = 0; (g = vmm_guest_at(i)); i++) {
		struct vmm_config c;
		struct vmm_error e = {""};

		assert_int_equal(vmm_config_init(&c, g->name), 0);
		assert_string_equal(c.guest, g->name);
		assert_int_equal(vmm_config_check(&c, &e), 0);
		assert_string_equal(e.text, "");
	}
}

static void test_unknown_guest(void **state)
{
	struct vmm_config c;
	struct vmm_error e;
	struct vmm *vm;
	struct vmm_child child;

	(void)state;
	assert_int_equal(vmm_config_init(&c, "windows"), -ENOENT);
	assert_int_equal(vmm_config_check(&c, &e), -ENOENT);
	memset(c.guest, 'x', sizeof(c.guest)); /* not terminated */
	assert_int_equal(vmm_config_check(&c, &e), -ENOENT);
	assert_string_equal(e.text, "no guest is called \"xxxxxxxx\"");
	assert_int_equal(vmm_create(&c, &vm, NULL), -ENOENT);
	assert_int_equal(vmm_child_start(&c, &child, &e), -ENOENT);
}

/* A field, a value and the verdict on it. */
struct bound_case {
	size_t offset;
	uint64_t value;
	int expected;
	const char *names; /* in the message */
};

#define CASE(field, value, expected)                                                               \
	{                                                                                          \
		offsetof(struct vmm_config, field), value, expected, #field                        \
	}

static const struct bound_case bound_cases[] = {
	CASE(hz, 0, -EINVAL),
	CASE(hz, 1, 0),
	CASE(hz, VMM_MAX_HZ, 0),
	CASE(hz, VMM_MAX_HZ + 1, -EINVAL),
	CASE(think_ns, VMM_MAX_THINK_NS, 0),
	CASE(think_ns, VMM_MAX_THINK_NS + 1, -EINVAL),
	CASE(short_ns, 999, -EINVAL),
	CASE(short_ns, 1000, 0),
	CASE(short_ns, VMM_MAX_TIMER_NS / 2, -EINVAL), /* above long_ns; named there */
	CASE(long_ns, 29999, -EINVAL),
	CASE(long_ns, 30000, 0),
	CASE(long_ns, VMM_MAX_TIMER_NS / 2, 0),
	CASE(long_ns, VMM_MAX_TIMER_NS / 2 + 1, -EINVAL),
	CASE(short_percent, 100, 0),
	CASE(short_percent, 101, -EINVAL),
	CASE(halt_poll_ns, 0, 0),
	CASE(halt_poll_ns, VMM_MAX_HALT_POLL_NS, 0),
	CASE(halt_poll_ns, VMM_MAX_HALT_POLL_NS + 1, -EINVAL),
	CASE(halt_poll_ns, VMM_HALT_POLL_UNSET, 0),
	CASE(duration_ns, VMM_MIN_DURATION_NS - 1, -EINVAL),
	CASE(duration_ns, VMM_MIN_DURATION_NS, 0),
	CASE(duration_ns, VMM_MAX_DURATION_NS + 1, -EINVAL),
	CASE(duration_ns, 0, -EINVAL), /* nothing else ends the run */
	CASE(watchdog_ns, 1, -EINVAL),
	CASE(watchdog_ns, VMM_MIN_DURATION_NS, 0),
	CASE(rounds, UINT64_MAX, 0),
};

static void test_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bound_cases) / sizeof(bound_cases[0]); i++) {
		const struct bound_case *b = &bound_cases[i];
		struct vmm_error e = {""};
		struct vmm_config c;
		int err;

		assert_int_equal(vmm_config_init(&c, "burst"), 0);
		memcpy((char *)&c + b->offset, &b->value, sizeof(b->value));
		err = vmm_config_check(&c, &e);
		if (err != b->expected)
			fail_msg("%s = %llu gives %d (%s)", b->names, (unsigned long long)b->value,
				 err, e.text);
		if (err && b->value && b->value != VMM_MAX_TIMER_NS / 2)
			assert_non_null(strstr(e.text, b->names));
	}
}

static void test_rounds_or_watchdog_may_replace_the_duration(void **state)
{
	struct vmm_config c;

	(void)state;
	vmm_config_init(&c, "rr");
	c.duration_ns = 0;
	assert_int_equal(vmm_config_check(&c, NULL), -EINVAL);
	c.rounds = 1;
	assert_int_equal(vmm_config_check(&c, NULL), 0);
	c.rounds = 0;
	c.watchdog_ns = VMM_MIN_DURATION_NS;
	assert_int_equal(vmm_config_check(&c, NULL), 0);
}

static void test_pin_list_bounds(void **state)
{
	struct vmm_config c;

	(void)state;
	vmm_config_init(&c, "rr");
	c.pin = VMM_PIN_LIST;
	assert_int_equal(vmm_config_check(&c, NULL), -EINVAL);
	c.nr_pin_cpus = VMM_MAX_VCPUS;
	assert_int_equal(vmm_config_check(&c, NULL), 0);
	c.nr_pin_cpus = VMM_MAX_VCPUS + 1;
	assert_int_equal(vmm_config_check(&c, NULL), -EINVAL);
	c.nr_pin_cpus = 2;
	c.pin_cpus[1] = VMM_MAX_CPUS;
	assert_int_equal(vmm_config_check(&c, NULL), -EINVAL);
	c.pin = (enum vmm_pin)99;
	assert_int_equal(vmm_config_check(&c, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guest_names_fit_a_thread_name),
		cmocka_unit_test(test_defaults_are_valid),
		cmocka_unit_test(test_unknown_guest),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_rounds_or_watchdog_may_replace_the_duration),
		cmocka_unit_test(test_pin_list_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Policy specs: what is read, what is refused with which words, what is written back.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/spec.h"

static uint64_t value(const struct vhalt_spec *spec, const char *key)
{
	int i = vhalt_spec_param(spec->policy, key);

	assert_true(i >= 0);
	return spec->values[i];
}

static struct vhalt_spec parsed(const char *text)
{
	char error[VHALT_SPEC_ERROR_BYTES];
	struct vhalt_spec spec;
	int err = vhalt_spec_parse(text, &spec, error, sizeof(error));

	if (err)
		fail_msg("\"%s\": %s", text, error);
	assert_string_equal(error, "");
	return spec;
}

static void test_every_policy_by_name(void **state)
{
	const struct vhalt_policy *policy;

	(void)state;
	for (uint32_t id = 0; (policy = vhalt_policy_get(id)); id++) {
		struct vhalt_spec spec = parsed(policy->name);
		struct vhalt_config config;

		assert_int_equal(spec.policy, id);
		assert_int_equal(spec.given, 0);
		for (uint32_t i = 0; i < policy->nr_params; i++)
			assert_int_equal(spec.values[i], policy->params[i].dflt);
		assert_int_equal(vhalt_spec_config(&spec, &config), 0);
		assert_int_equal(config.policy, id);
	}
}

static void test_values(void **state)
{
	struct vhalt_spec spec = parsed("kvm:halt_poll_ns=50us,shrink=0,grow_start=20000");

	(void)state;
	assert_int_equal(value(&spec, "halt_poll_ns"), 50000);
	assert_int_equal(value(&spec, "shrink"), 0);
	assert_int_equal(value(&spec, "grow_start"), 20000);
	assert_int_equal(value(&spec, "grow"), 2);
	spec = parsed("kvm:halt_poll=1.5ms");
	assert_int_equal(value(&spec, "halt_poll_ns"), 1500000);
	spec = parsed("always:max=0");
	assert_int_equal(value(&spec, "max_ns"), 0);
	spec = parsed("always:max_ns=4294967295");
	assert_int_equal(value(&spec, "max_ns"), 4294967295U);
}

static void test_refused(void **state)
{
	/* What is wrong, the words that must name it, and those that say what is allowed. */
	static const struct {
		const char *text;
		int err;
		const char *names, *allows;
	} rows[] = {
		{"", -EINVAL, "\"\" is not a policy", "none, always, toggle"},
		{"kwm", -EINVAL, "\"kwm\" is not a policy", "kvm, guest, pv, auto"},
		{":grow=2", -EINVAL, "is not a policy", "kvm"},
		{"kvm:", -EINVAL, "\"\" is not key=value", ""},
		{"kvm:grow", -EINVAL, "\"grow\" is not key=value", ""},
		{"kvm:grow=2,", -EINVAL, "\"\" is not key=value", ""},
		{"kvm:grow=", -EINVAL, "grow has no usable value", "0 to 4294967295"},
		{"kvm:grow=2,,shrink=2", -EINVAL, "is not key=value", ""},
		{"kvm:groww=2", -EINVAL, "no parameter \"groww\"",
		 "halt_poll_ns, grow, grow_start"},
		{"kvm:_ns=2", -EINVAL, "no parameter \"_ns\"", "shrink"},
		{"none:max=2us", -EINVAL, "no parameter \"max\"", "it has no parameters"},
		{"kvm:grow=2,grow=3", -EINVAL, "grow is given twice", ""},
		{"always:max=1us,max_ns=2us", -EINVAL, "max_ns is given twice", ""},
		{"kvm:grow=2us", -EINVAL, "grow=2us is not a whole number", "0 to 4294967295"},
		{"kvm:grow=-1", -EINVAL, "grow=-1 is not a whole number", ""},
		{"kvm:halt_poll_ns=2min", -EINVAL, "halt_poll_ns=2min is not a duration", ""},
		{"kvm:halt_poll_ns=10s", -ERANGE, "halt_poll_ns=10s is out of range", "0ns to "},
		{"kvm:grow=99999999999999999999", -ERANGE, "is out of range", "0 to 4294967295"},
		{"kvm:clamp=2", -ERANGE, "clamp=2 is out of range", "0 to 1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char error[VHALT_SPEC_ERROR_BYTES];
		struct vhalt_spec spec = {.policy = 77};

		assert_int_equal(vhalt_spec_parse(rows[i].text, &spec, error, sizeof(error)),
				 rows[i].err);
		if (!strstr(error, rows[i].names) || !strstr(error, rows[i].allows))
			fail_msg("\"%s\": said \"%s\"", rows[i].text, error);
		assert_int_equal(spec.policy, 77);
	}
}

static void test_short_error_buffers(void **state)
{
	struct vhalt_spec spec;
	char error[8];

	(void)state;
	memset(error, 'x', sizeof(error));
	assert_int_equal(vhalt_spec_parse("kwm", &spec, error, sizeof(error)), -EINVAL);
	assert_string_equal(error, "\"kwm\" i");
	assert_int_equal(vhalt_spec_parse("kwm", &spec, NULL, 0), -EINVAL);
	error[0] = 'x';
	assert_int_equal(vhalt_spec_parse("kwm", &spec, error, 0), -EINVAL);
	assert_int_equal(error[0], 'x');
}

/* Every policy's longest spec comes back as it was. */
static void test_format_round_trip(void **state)
{
	const struct vhalt_policy *policy;

	(void)state;
	for (uint32_t id = 0; (policy = vhalt_policy_get(id)); id++) {
		char text[VHALT_SPEC_TEXT_BYTES];
		struct vhalt_spec spec, back;

		vhalt_spec_init(&spec, id);
		for (uint32_t i = 0; i < policy->nr_params; i++) {
			spec.values[i] = policy->params[i].max - (policy->params[i].max > 1000);
			spec.given |= 1U << i;
		}
		back = parsed(vhalt_spec_format(&spec, text));
		assert_memory_equal(spec.values, back.values, sizeof(spec.values));
		assert_int_equal(spec.given, back.given);
	}
}

static void test_format_leaves_defaults_out(void **state)
{
	char text[VHALT_SPEC_TEXT_BYTES];
	struct vhalt_spec spec;

	(void)state;
	vhalt_spec_init(&spec, VHALT_POLICY_KVM);
	assert_string_equal(vhalt_spec_format(&spec, text), "kvm");
	spec = parsed("kvm:shrink=0,halt_poll_ns=50000");
	assert_string_equal(vhalt_spec_format(&spec, text), "kvm:halt_poll_ns=50us,shrink=0");
	spec = parsed("kvm:grow=2");
	assert_string_equal(vhalt_spec_format(&spec, text), "kvm:grow=2");
}

static void test_set_spares_what_was_given(void **state)
{
	struct vhalt_spec spec = parsed("kvm:halt_poll_ns=50us");

	(void)state;
	assert_int_equal(vhalt_spec_set(&spec, "halt_poll_ns", 7), 0);
	assert_int_equal(value(&spec, "halt_poll_ns"), 50000);
	assert_int_equal(vhalt_spec_set(&spec, "grow", UINT64_MAX), 0);
	assert_int_equal(value(&spec, "grow"), UINT32_MAX);
	assert_int_equal(vhalt_spec_set(&spec, "price", 7), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_policy_by_name),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_short_error_buffers),
		cmocka_unit_test(test_format_round_trip),
		cmocka_unit_test(test_format_leaves_defaults_out),
		cmocka_unit_test(test_set_spares_what_was_given),
	};

	return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
